/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Simulates units and jobs. A unit has one job: a request of the same type joins it, one of another type cancels it. A
 * job waits, then runs; the seed, the unit and the number of its starts decide for how long.
 */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus.h"
#include "clock.h"
#include "event-queue.h"
#include "ledger.h"
#include "systemd-plan.h"
#include "systemd-state.h"
#include "trace.h"
#include "unit.h"

#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define PROPERTIES "org.freedesktop.DBus.Properties"

static struct {
        const Peer *peer;
        unsigned n_joined;      /* how often it has joined the bus */
        GHashTable *units;      /* by name */
        GPtrArray *subscribers; /* of Link */
        unsigned n_jobs, n_processes;
        uint64_t n_invocations;
        bool reloading;
        unsigned n_reloads;
        GQueue calls; /* of Early: received during a reload */
} systemd;

typedef struct Early {
        Link *link;
        sd_bus_message *call;
} Early;

LoadedUnit *systemd_find(const char *name) {
        return g_hash_table_lookup(systemd.units, name);
}

LoadedUnit *systemd_unit(const char *name) {
        LoadedUnit *unit = g_hash_table_lookup(systemd.units, name);

        if (unit)
                return unit;

        unit = loaded_unit_new(name);
        if (unit->kind == KIND_TRANSIENT)
                unit->kind = KIND_NONE;
        g_hash_table_insert(systemd.units, unit->name, unit);
        return unit;
}

static void fill_changes(sd_bus_message *signal, const void *userdata) {
        (void) sd_bus_message_append(signal, "s", "org.freedesktop.systemd1.Unit");
        loaded_unit_append_changes(userdata, signal);
        (void) sd_bus_message_append(signal, "as", 0);
}

static void tell_changes(const LoadedUnit *unit) {
        if (systemd.subscribers->len > 0)
                bus_signal(systemd.peer, NULL, unit->path, PROPERTIES, "PropertiesChanged", fill_changes, unit);
}

static void forget_if_idle(LoadedUnit *unit) {
        if (!loaded_unit_is_idle(unit) || unit->process != 0)
                return;
        if (unit->kind == KIND_TRANSIENT || unit->kind == KIND_NONE)
                g_hash_table_remove(systemd.units, unit->name);
        else
                loaded_unit_forget(unit);
}

typedef struct Removed {
        const UnitJob *job;
        const char *result;
} Removed;

static void fill_removed(sd_bus_message *signal, const void *userdata) {
        const Removed *removed = userdata;
        char path[64];

        (void) snprintf(path, sizeof(path), JOB_PREFIX "%u", removed->job->id);
        (void) sd_bus_message_append(signal, "uoss", removed->job->id, path, removed->job->unit->name, removed->result);
}

static void job_free(UnitJob *job) {
        g_ptr_array_unref(job->askers);
        g_free(job);
}

/* Sends the changes of the unit first, as systemd does. */
static void job_leave(LoadedUnit *unit, const char *result) {
        UnitJob *job = unit->job;
        const Removed removed = { job, result };

        trace("job %u (%s %s) ends: %s", job->id, job->type, unit->name, result);
        unit->job = NULL;
        tell_changes(unit);
        if (systemd.subscribers->len > 0)
                bus_signal(systemd.peer, NULL, MANAGER_PATH, MANAGER, "JobRemoved", fill_removed, &removed);
        else
                for (unsigned i = 0; i < job->askers->len; i++)
                        bus_signal(systemd.peer, job->askers->pdata[i], MANAGER_PATH, MANAGER, "JobRemoved",
                                   fill_removed, &removed);
        job_free(job);
}

static void job_end(LoadedUnit *unit, const char *result) {
        job_leave(unit, result);
        forget_if_idle(unit);
}

static void write_output(LoadedUnit *unit) {
        char line[64];
        int n = snprintf(line, sizeof(line), "output of %u\n", unit->node);

        if (unit->output >= 0 && write(unit->output, line, (size_t) n) < 0)
                trace("%s cannot write: its output is gone", unit->name);
}

/* The process of a oneshot or transient unit ends. */
static void on_process_ends(LoadedUnit *unit) {
        Dice dice;
        bool fails;

        dice = plan_dice(unit, STEP_END);
        fails = unit->kind == KIND_FAILING || (unit->kind == KIND_TRANSIENT && dice_chance(&dice, 25));
        unit->process = 0;
        ledger_effect_ends(unit->tree, unit->node);
        unit->code = CLD_EXITED;
        unit->status = fails ? 1 : 0;
        unit->result = fails ? "exit-code" : "success";
        trace("process of %s ends with %i", unit->name, unit->status);
        if (unit->kind == KIND_TRANSIENT) {
                write_output(unit);
                loaded_unit_set_state(unit, fails ? "failed" : "active", fails ? "failed" : "exited");
        } else {
                loaded_unit_set_state(unit, fails ? "failed" : "inactive", fails ? "failed" : "dead");
        }
        if (unit->job && unit->job->running && unit->kind != KIND_TRANSIENT) {
                job_end(unit, fails ? "failed" : "done");
        } else {
                tell_changes(unit);
                forget_if_idle(unit);
        }
}

static void start_process(LoadedUnit *unit) {
        ledger_effect(unit->tree, unit->node, unit->name);
        unit->invocation = ++systemd.n_invocations + 1;
        unit->code = unit->status = 0;
        unit->result = "success";
        unit->condition_result = true;
        trace("%s runs", unit->name);
}

static void run_start(LoadedUnit *unit) {
        if (g_str_equal(unit->active, "active") || g_str_equal(unit->active, "reloading")) {
                job_end(unit, "done");
                return;
        }
        unit->tested_conditions = clock_now();
        if (unit->kind == KIND_UNMET) {
                unit->condition_result = false;
                job_end(unit, "done");
                return;
        }

        /* The cancelled start continues; this job waits for its end. */
        if (unit->process != 0)
                return;

        start_process(unit);
        if (unit->kind == KIND_SIMPLE || unit->kind == KIND_PRESENT) {
                loaded_unit_set_state(unit, "active", "running");
                job_end(unit, "done");
                return;
        }

        unit->process = ++systemd.n_processes;
        plan_for_process(unit, STEP_PROCESS, on_process_ends);
        if (unit->kind == KIND_TRANSIENT) {
                loaded_unit_set_state(unit, "active", "running");
                job_end(unit, "done");
        } else {
                ledger_effect_begins(unit->tree, unit->node);
                loaded_unit_set_state(unit, "activating", "start");
                tell_changes(unit);
        }
}

static void stop_now(LoadedUnit *unit) {
        if (unit->process != 0) {
                ledger_effect_ends(unit->tree, unit->node);
                unit->code = CLD_KILLED;
                unit->status = 15;
                unit->process = 0;
        }
        loaded_unit_set_state(unit, "inactive", "dead");
}

static void on_stopped(LoadedUnit *unit) {
        stop_now(unit);
        if (g_str_equal(unit->job->type, "restart"))
                run_start(unit);
        else
                job_end(unit, "done");
}

static void run_stop(LoadedUnit *unit) {
        if (g_str_equal(unit->active, "inactive") && g_str_equal(unit->job->type, "stop")) {
                job_end(unit, "done");
                return;
        }

        if (unit->kind != KIND_TRANSIENT && g_str_equal(unit->job->type, "stop"))
                ledger_effect(unit->tree, unit->node, unit->name);
        if (!g_str_equal(unit->active, "inactive"))
                loaded_unit_set_state(unit, "deactivating", "stop-sigterm");
        tell_changes(unit);
        plan_for_job(unit, STEP_STOP, on_stopped);
}

static void on_reloaded(LoadedUnit *unit) {
        loaded_unit_set_state(unit, "active", "running");
        job_end(unit, "done");
}

static void on_job_runs(LoadedUnit *unit) {
        unit->job->running = true;
        if (g_str_equal(unit->job->type, "start")) {
                run_start(unit);
        } else if (g_str_equal(unit->job->type, "reload")) {
                ledger_effect(unit->tree, unit->node, unit->name);
                loaded_unit_set_state(unit, "reloading", "reload");
                tell_changes(unit);
                plan_for_job(unit, STEP_RELOAD, on_reloaded);
        } else {
                run_stop(unit);
        }
}

unsigned systemd_ask(const char *name, const char *type, Link *asker) {
        LoadedUnit *unit = systemd_unit(name);
        unsigned id;

        if (unit->job && !g_str_equal(unit->job->type, type))
                job_leave(unit, "canceled");

        if (!unit->job) {
                unit->job = g_new0(UnitJob, 1);
                *unit->job =
                        (UnitJob){ .id = ++systemd.n_jobs, .type = type, .unit = unit, .askers = g_ptr_array_new() };
                plan_for_job(unit, STEP_QUEUE, on_job_runs);
                tell_changes(unit);
        }
        if (asker && !g_ptr_array_find(unit->job->askers, asker, NULL))
                g_ptr_array_add(unit->job->askers, asker);
        id = unit->job->id;
        trace("job %u: %s %s", id, type, name);
        return id;
}

static gint compare_units(gconstpointer a, gconstpointer b) {
        return strcmp(((const LoadedUnit *) a)->name, ((const LoadedUnit *) b)->name);
}

GList *systemd_units(void) {
        return g_list_sort(g_hash_table_get_values(systemd.units), compare_units);
}

bool systemd_cancel(unsigned id) {
        g_autoptr(GList) units = systemd_units();

        for (GList *i = units; i; i = i->next) {
                LoadedUnit *unit = i->data;

                if (unit->job && unit->job->id == id) {
                        job_end(unit, "canceled");
                        return true;
                }
        }

        return false;
}

void systemd_subscribe(Link *link, bool wanted) {
        g_ptr_array_remove(systemd.subscribers, link);
        if (wanted)
                g_ptr_array_add(systemd.subscribers, link);
}

bool systemd_refer(LoadedUnit *unit, Link *link, bool wanted) {
        bool held = wanted || g_ptr_array_remove(unit->references, link);

        if (wanted)
                g_ptr_array_add(unit->references, link);
        forget_if_idle(unit);
        return held;
}

void systemd_reset(LoadedUnit *unit) {
        if (!g_str_equal(unit->active, "failed"))
                return;

        loaded_unit_set_state(unit, "inactive", "dead");
        tell_changes(unit);
        forget_if_idle(unit);
}

static void on_left(Link *link) {
        g_autoptr(GList) units = systemd_units();

        systemd_subscribe(link, false);
        for (GList *i = units; i; i = i->next) {
                LoadedUnit *unit = i->data;

                if (unit->job)
                        g_ptr_array_remove(unit->job->askers, link);
                if (g_ptr_array_remove(unit->references, link)) {
                        while (g_ptr_array_remove(unit->references, link))
                                ;
                        forget_if_idle(unit);
                }
        }
}

static void on_called(Link *link, sd_bus_message *call) {
        Early *early;

        if (!systemd.reloading) {
                systemd_called(link, call);
                return;
        }

        early = g_new(Early, 1);
        *early = (Early){ .link = link_ref(link), .call = sd_bus_message_ref(call) };
        g_queue_push_tail(&systemd.calls, early);
}

static void early_free(void *data) {
        Early *early = data;

        link_unref(early->link);
        sd_bus_message_unref(early->call);
        g_free(early);
}

/* With another unique name each time. */
static void join(void) {
        static char unique[16];
        static Peer peer = { .name = SYSTEMD_NAME, .unique = unique, .called = on_called, .left = on_left };

        (void) snprintf(unique, sizeof(unique), ":2.%u", systemd.n_joined++);
        systemd.peer = &peer;
        bus_join(&peer);
}

void systemd_open(uint64_t seed) {
        plan_open(seed);
        systemd.units = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) loaded_unit_free);
        systemd.subscribers = g_ptr_array_new();
        systemd.n_jobs = systemd.n_processes = 0;
        systemd.n_invocations = 0;
        systemd.n_joined = 0;
        systemd.reloading = false;
        join();
}

void systemd_close(void) {
        g_queue_clear_full(&systemd.calls, early_free);
        g_clear_pointer(&systemd.units, g_hash_table_unref);
        g_clear_pointer(&systemd.subscribers, g_ptr_array_unref);
}

bool systemd_is_at_work(void) {
        return bus_has(systemd.peer) && !systemd.reloading;
}

static void fill_unit(sd_bus_message *signal, const void *userdata) {
        const LoadedUnit *unit = userdata;

        (void) sd_bus_message_append(signal, "so", unit->name, unit->path);
}

static void fill_reloading(sd_bus_message *signal, const void *userdata) {
        (void) sd_bus_message_append(signal, "b", systemd.reloading);
}

static void tell_reloading(void) {
        g_autoptr(GList) units = systemd_units();

        if (systemd.subscribers->len == 0)
                return;

        if (systemd.reloading)
                bus_signal(systemd.peer, NULL, MANAGER_PATH, MANAGER, "Reloading", fill_reloading, NULL);
        for (GList *i = units; i; i = i->next)
                bus_signal(systemd.peer, NULL, MANAGER_PATH, MANAGER, systemd.reloading ? "UnitRemoved" : "UnitNew",
                           fill_unit, i->data);
        if (!systemd.reloading)
                bus_signal(systemd.peer, NULL, MANAGER_PATH, MANAGER, "Reloading", fill_reloading, NULL);
}

/* Then handles the calls that it received during the reload. */
static void on_reloaded_all(void *userdata) {
        Early *early;

        if (!systemd.reloading || GPOINTER_TO_UINT(userdata) != systemd.n_reloads)
                return;

        trace("systemd has its units again");
        systemd.reloading = false;
        if (!bus_has(systemd.peer))
                join();
        tell_reloading();
        while ((early = g_queue_pop_head(&systemd.calls))) {
                systemd_called(early->link, early->call);
                early_free(early);
        }
}

static void on_executed(void *userdata) {
        if (systemd.reloading && GPOINTER_TO_UINT(userdata) == systemd.n_reloads && !bus_has(systemd.peer))
                join();
}

/* The bus replies to the calls that it has not read. */
static void on_executes(void *userdata) {
        if (!systemd.reloading || GPOINTER_TO_UINT(userdata) != systemd.n_reloads)
                return;

        g_queue_clear_full(&systemd.calls, early_free);
        bus_leave(systemd.peer);
}

void systemd_reload(Dice *dice, bool anew) {
        void *number;

        if (!systemd_is_at_work())
                return;

        trace("systemd %s", anew ? "executes itself anew" : "reads its units again");
        systemd.reloading = true;
        number = GUINT_TO_POINTER(++systemd.n_reloads);
        tell_reloading();
        if (anew) {
                event_queue_add(dice_below(dice, 3000), on_executes, number, NULL);
                event_queue_add(3000 + dice_below(dice, 7000), on_executed, number, NULL);
        }
        event_queue_add(11000 + dice_below(dice, 3000), on_reloaded_all, number, NULL);
}

void systemd_set_there(bool there) {
        if (there == bus_has(systemd.peer))
                return;

        systemd.reloading = false;
        g_queue_clear_full(&systemd.calls, early_free);
        if (there)
                join();
        else
                bus_leave(systemd.peer);
}
