/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Simulates units and jobs, and the D-Bus methods of systemd. A unit has one job: a request joins it, but a stop
 * cancels others, and is cancelled by them. A job waits, then runs. The seed, the unit and the number of starts of its
 * leaf decide how long each step takes and how it ends.
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus.h"
#include "clock.h"
#include "event-queue.h"
#include "ledger.h"
#include "systemd.h"
#include "trace.h"
#include "unit.h"
#include "witness.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define JOB_PREFIX "/org/freedesktop/systemd1/job/"
#define UNIT_PREFIX "/org/freedesktop/systemd1/unit"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define PROPERTIES "org.freedesktop.DBus.Properties"

#define ABSENT_USEC 1000u
#define REFUSAL_USEC 100u
#define LATE_USEC 300000u

static struct {
        uint64_t seed;
        const Peer *peer;
        unsigned n_joined;      /* how often it has joined the bus */
        GHashTable *units;      /* by name */
        GPtrArray *subscribers; /* of Link */
        unsigned n_jobs, n_processes;
        uint64_t n_invocations;
        bool reloading;
        unsigned n_reloads;
        GQueue calls; /* of Early: received during a reload */
        unsigned slow;
        Dice slowness;
        uint64_t busy_until; /* when it handles the last call that it has received */
} systemd;

typedef struct Early {
        Link *link;
        sd_bus_message *call;
        unsigned n_joined; /* the call was sent to this one */
} Early;

/* NULL: it is not loaded. */
static LoadedUnit *systemd_find(const char *name) {
        return g_hash_table_lookup(systemd.units, name);
}

/* Loads the unit if necessary. */
static LoadedUnit *systemd_unit(const char *name) {
        LoadedUnit *unit = g_hash_table_lookup(systemd.units, name);

        if (unit)
                return unit;

        unit = loaded_unit_new(name);
        if (unit->kind == KIND_TRANSIENT)
                unit->kind = KIND_NONE;
        g_hash_table_insert(systemd.units, unit->name, unit);
        return unit;
}

/* Steps that take different times. */
typedef enum Step {
        STEP_QUEUE = 1,
        STEP_PROCESS,
        STEP_END,
        STEP_STOP,
        STEP_RELOAD,
} Step;

typedef void (*PlanDo)(LoadedUnit *unit);

/* The next step with a unit. While systemd is not on the bus, nothing happens. */
typedef struct Plan {
        PlanDo what;
        char *unit;
        bool of_job;
        unsigned job, stage, process;
} Plan;

static void plan_free(void *data) {
        Plan *plan = data;

        g_free(plan->unit);
        g_free(plan);
}

static bool is_up_to_date(const Plan *plan, const LoadedUnit *unit) {
        return plan->of_job ? unit->job && unit->job->id == plan->job && unit->job->stage == plan->stage
                            : unit->process == plan->process;
}

static void on_due(void *userdata) {
        Plan *plan = userdata;
        LoadedUnit *unit = systemd_find(plan->unit);

        if (!systemd_is_at_work()) {
                event_queue_add(ABSENT_USEC, on_due, plan, plan_free);
                return;
        }

        if (unit && is_up_to_date(plan, unit))
                plan->what(unit);
        plan_free(plan);
}

static Dice plan_dice(const LoadedUnit *unit, Step step) {
        unsigned number = unit->kind == KIND_SHARED ? systemd.n_jobs : ledger_n_begun(unit->tree, unit->node);

        return dice_of(systemd.seed, (uint64_t) unit->tree << 32 | unit->node, step, number);
}

/* Most steps are quick, some take long. */
static uint64_t span_of(const LoadedUnit *unit, Step step) {
        bool slow = unit->kind == KIND_SHARED || (unit->job && unit->job->of_administrator);
        Dice dice = plan_dice(unit, step);
        uint64_t most = dice_chance(&dice, slow ? 60 : 20) ? 3000000 : 30000;

        if (unit->kind == KIND_SHARED)
                most *= 3;

        return 100 + dice_below(&dice, most);
}

static void plan_step(const LoadedUnit *unit, Step step, bool of_job, PlanDo what) {
        Plan *plan = g_new(Plan, 1);

        *plan = (Plan){
                .what = what,
                .unit = g_strdup(unit->name),
                .of_job = of_job,
                .job = unit->job ? unit->job->id : 0,
                .stage = unit->job ? unit->job->stage : 0,
                .process = unit->process,
        };
        event_queue_add(span_of(unit, step), on_due, plan, plan_free);
}

/* Runs what later, if the unit then has the same job. */
static void plan_for_job(const LoadedUnit *unit, Step step, PlanDo what) {
        plan_step(unit, step, true, what);
}

/* The same, if it has the same process. */
static void plan_for_process(const LoadedUnit *unit, Step step, PlanDo what) {
        plan_step(unit, step, false, what);
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
        if (unit->kind == KIND_TRANSIENT)
                witness_forgotten(unit->tree, unit->node);
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
        /* Of a job that was cancelled, systemd has no trace but its unit. */
        if (unit->process != 0 && strcmp(result, "canceled") == 0)
                witness_forgotten(unit->tree, unit->node);
        else if (unit->kind != KIND_TRANSIENT)
                witness_ended(unit->tree, unit->node);
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
        unit->exited = clock_now();
        unit->status = fails ? 1 : 0;
        unit->result = fails ? "exit-code" : "success";
        trace("process of %s ends with %i", unit->name, unit->status);
        if (!fails)
                witness_success(unit->tree, unit->node);
        if (unit->kind == KIND_TRANSIENT)
                witness_ended(unit->tree, unit->node);
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

/* Each request of the daemon has one effect; an administrator may let the job run again. */
static void job_has_effect(LoadedUnit *unit) {
        if (unit->job->wanted)
                ledger_effect(unit->tree, unit->node, unit->name);
        unit->job->wanted = false;
}

static void start_process(LoadedUnit *unit) {
        job_has_effect(unit);
        if (unit->kind == KIND_TRANSIENT)
                witness_transient(unit->tree, unit->node, unit->name);
        witness_executed(unit->tree, unit->node);
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
                /* Count what btd has requested, not what an administrator starts later. */
                if (unit->job->wanted)
                        ledger_effect_begins(unit->tree, unit->node);
                loaded_unit_set_state(unit, "activating", "start");
                tell_changes(unit);
        }
}

static void stop_now(LoadedUnit *unit) {
        if (unit->process != 0) {
                ledger_effect_ends(unit->tree, unit->node);
                unit->code = CLD_KILLED;
                unit->exited = clock_now();
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
        if ((g_str_equal(unit->active, "inactive") || g_str_equal(unit->active, "failed")) &&
            g_str_equal(unit->job->type, "stop")) {
                job_end(unit, "done");
                return;
        }

        if (unit->kind != KIND_TRANSIENT && g_str_equal(unit->job->type, "stop"))
                job_has_effect(unit);
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
                job_has_effect(unit);
                loaded_unit_set_state(unit, "reloading", "reload");
                tell_changes(unit);
                plan_for_job(unit, STEP_RELOAD, on_reloaded);
        } else {
                run_stop(unit);
        }
}

/* A job that does what both want; NULL: there is none, so the new one cancels the old one. */
static const char *merged_type(const LoadedUnit *unit, const char *one, const char *other) {
        bool stop = g_str_equal(one, "stop"), other_stop = g_str_equal(other, "stop");

        if (stop || other_stop)
                return stop && other_stop ? one : NULL;
        if (g_str_equal(one, other))
                return one;
        if (g_str_equal(one, "restart") || g_str_equal(other, "restart"))
                return "restart";

        return g_str_equal(unit->active, "active") ? "reload" : "start";
}

static void merge(LoadedUnit *unit, const char *type) {
        if (g_str_equal(unit->job->type, type))
                return;

        trace("job %u is now %s %s", unit->job->id, type, unit->name);
        unit->job->type = type;
        unit->job->running = false;
        unit->job->stage++;
        plan_for_job(unit, STEP_QUEUE, on_job_runs);
        tell_changes(unit);
}

/* Returns the number of the new job. type: "start", "stop", "restart", "reload". asker: NULL: an administrator. */
static unsigned systemd_ask(const char *name, const char *type, Link *asker) {
        LoadedUnit *unit = systemd_unit(name);
        const char *merged = unit->job ? merged_type(unit, unit->job->type, type) : NULL;
        unsigned id;

        if (merged) {
                merge(unit, merged);
        } else if (unit->job) {
                witness_cancelled(unit->tree, unit->node, false);
                job_leave(unit, "canceled");
        }

        if (!unit->job) {
                unit->job = g_new0(UnitJob, 1);
                *unit->job = (UnitJob){
                        .id = ++systemd.n_jobs,
                        .type = type,
                        .unit = unit,
                        .of_administrator = !asker,
                        .askers = g_ptr_array_new(),
                };
                plan_for_job(unit, STEP_QUEUE, on_job_runs);
                tell_changes(unit);
        }
        unit->job->wanted |= asker != NULL;
        if (asker && link_is_open(asker) && !g_ptr_array_find(unit->job->askers, asker, NULL))
                g_ptr_array_add(unit->job->askers, asker);
        id = unit->job->id;
        trace("job %u: %s %s", id, type, name);
        return id;
}

static gint compare_units(gconstpointer a, gconstpointer b) {
        return strcmp(((const LoadedUnit *) a)->name, ((const LoadedUnit *) b)->name);
}

/* All loaded units, by name; free only the list. */
static GList *systemd_units(void) {
        return g_list_sort(g_hash_table_get_values(systemd.units), compare_units);
}

/* The unit with that job in the queue; NULL: there is no such job. */
static LoadedUnit *unit_of_job(sd_bus_message *call) {
        g_autoptr(GList) units = systemd_units();
        unsigned id;

        if (sscanf(sd_bus_message_get_path(call), JOB_PREFIX "%u", &id) != 1)
                return NULL;

        for (GList *i = units; i; i = i->next) {
                LoadedUnit *unit = i->data;

                if (unit->job && unit->job->id == id)
                        return unit;
        }

        return NULL;
}

/* The daemon cancels its job. */
static void systemd_cancel(LoadedUnit *unit) {
        if (unit->job->of_administrator)
                violation("job %u (%s %s) of an administrator is cancelled", unit->job->id, unit->job->type,
                          unit->name);
        witness_cancelled(unit->tree, unit->node, true);
        job_end(unit, "canceled");
}

/* A call can arrive when its sender has left the bus. */
static void systemd_subscribe(Link *link, bool wanted) {
        g_ptr_array_remove(systemd.subscribers, link);
        if (wanted && link_is_open(link))
                g_ptr_array_add(systemd.subscribers, link);
}

/* Ref or Unref. After Unref, the unit may be unloaded and freed. False: there was no reference. */
static bool systemd_refer(LoadedUnit *unit, Link *link, bool wanted) {
        bool held = wanted || g_ptr_array_remove(unit->references, link);

        if (wanted)
                g_ptr_array_add(unit->references, link);
        forget_if_idle(unit);
        return held;
}

/* ResetFailed; the unit may be unloaded. Its result is lost, whatever its state. */
static void systemd_reset(LoadedUnit *unit) {
        unit->result = "success";
        if (!g_str_equal(unit->active, "failed"))
                return;

        loaded_unit_set_state(unit, "inactive", "dead");
        tell_changes(unit);
        forget_if_idle(unit);
}

static void reply_empty(Link *link, sd_bus_message *call) {
        bus_reply(link, bus_reply_new(call));
}

static void reply_job(Link *link, sd_bus_message *call, unsigned job) {
        sd_bus_message *reply = bus_reply_new(call);
        char path[64];

        (void) snprintf(path, sizeof(path), JOB_PREFIX "%u", job);
        (void) sd_bus_message_append(reply, "o", path);
        bus_reply(link, reply);
}

typedef struct Refusal {
        Link *link;
        sd_bus_message *call;
        const char *name, *text;
} Refusal;

static void refusal_free(void *data) {
        Refusal *refusal = data;

        link_unref(refusal->link);
        sd_bus_message_unref(refusal->call);
        g_free(refusal);
}

static void on_refused(void *userdata) {
        Refusal *refusal = userdata;

        bus_reply_error(refusal->link, refusal->call, refusal->name, refusal->text);
        refusal_free(refusal);
}

/* Refuses after a delay, so that other requests of the same time are sent before the failure is known, whenever a
 * daemon dies. */
static void refuse(Link *link, sd_bus_message *call, const char *name, const char *text) {
        Refusal *refusal = g_new(Refusal, 1);

        *refusal = (Refusal){
                .link = link_ref(link),
                .call = sd_bus_message_ref(call),
                .name = name,
                .text = text,
        };
        event_queue_add(REFUSAL_USEC, on_refused, refusal, refusal_free);
}

static bool is_loaded(const LoadedUnit *unit) {
        return unit->kind != KIND_NONE;
}

static void on_job_wanted(Link *link, sd_bus_message *call, const char *type) {
        const char *name;
        LoadedUnit *unit;

        if (sd_bus_message_read(call, "ss", &name, NULL) < 0)
                return;

        unit = systemd_unit(name);
        if (unit->kind == KIND_NEVER && ledger_is_strict(unit->tree))
                violation("%s was asked for: a unit that is always active was taken for another", name);
        if (!is_loaded(unit))
                refuse(link, call, "org.freedesktop.systemd1.NoSuchUnit", "The unit is not loaded.");
        else if (g_str_equal(type, "reload") && !g_str_equal(unit->active, "active"))
                refuse(link, call, "org.freedesktop.systemd1.JobTypeNotApplicable",
                       "Job type reload is not applicable for the unit.");
        else
                reply_job(link, call, systemd_ask(name, type, link));
}

/* Returns the descriptor for its output, if there is one. */
static int read_properties(LoadedUnit *unit, sd_bus_message *call) {
        const char *property, *contents;
        int output = -1, fd;

        if (sd_bus_message_enter_container(call, 'a', "(sv)") < 0)
                return -1;

        while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
                if (sd_bus_message_read(call, "s", &property) < 0 ||
                    sd_bus_message_peek_type(call, NULL, &contents) < 0)
                        break;
                if (g_str_equal(property, "StandardOutputFileDescriptor") &&
                    sd_bus_message_read(call, "v", "h", &fd) >= 0)
                        output = fcntl(fd, F_DUPFD_CLOEXEC, 100);
                else if (g_str_equal(property, "CollectMode") && sd_bus_message_read(call, "v", "s", &contents) >= 0)
                        unit->collects_failures = g_str_equal(contents, "inactive-or-failed");
                else if (sd_bus_message_skip(call, "v") < 0)
                        break;
                (void) sd_bus_message_exit_container(call);
        }

        return output;
}

static void on_transient(Link *link, sd_bus_message *call) {
        const char *name;
        LoadedUnit *unit;

        if (sd_bus_message_read(call, "ss", &name, NULL) < 0)
                return;

        unit = systemd_unit(name);
        if (is_loaded(unit)) {
                bus_reply_error(link, call, "org.freedesktop.systemd1.UnitExists", "The unit is there already.");
                return;
        }

        unit->kind = KIND_TRANSIENT;
        unit->output = read_properties(unit, call);
        reply_job(link, call, systemd_ask(name, "start", link));
}

static void on_load(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);
        const char *name;

        if (sd_bus_message_read(call, "s", &name) >= 0)
                (void) sd_bus_message_append(reply, "o", systemd_unit(name)->path);
        bus_reply(link, reply);
}

static void on_reset_failed(Link *link, sd_bus_message *call) {
        const char *name;

        if (sd_bus_message_read(call, "s", &name) < 0)
                return;

        systemd_reset(systemd_unit(name));
        reply_empty(link, call);
}

/* Ref loads the unit. Only the holder can Unref it. The references of a connection end when it is lost. */
static void on_reference(Link *link, sd_bus_message *call, bool wanted) {
        g_autofree char *name = NULL;

        if (!link_is_open(link))
                return;
        if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) <= 0 ||
            !systemd_refer(systemd_unit(name), link, wanted))
                violation("%s lets go what it does not hold: %s", link_unique(link), name);
        reply_empty(link, call);
}

/* The daemon uses only one pattern: all transient units. */
static void on_list(Link *link, sd_bus_message *call) {
        g_autoptr(GList) units = systemd_units();
        sd_bus_message *reply = bus_reply_new(call);

        (void) sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
        for (GList *i = units; i; i = i->next) {
                const LoadedUnit *unit = i->data;

                if (unit->kind == KIND_TRANSIENT)
                        (void) sd_bus_message_append(reply, "(ssssssouso)", unit->name, "", "loaded", unit->active,
                                                     unit->sub, "", unit->path, 0u, "", "/");
        }
        (void) sd_bus_message_close_container(reply);
        bus_reply(link, reply);
}

/* No unit is ordered after another one. */
static void on_jobs_after(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);

        (void) sd_bus_message_append(reply, "a(usssoo)", 0);
        bus_reply(link, reply);
}

static void on_cancel(Link *link, sd_bus_message *call) {
        LoadedUnit *unit = unit_of_job(call);

        if (!unit) {
                bus_reply_error(link, call, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object");
                return;
        }

        systemd_cancel(unit);
        reply_empty(link, call);
}

static void on_get_of_job(Link *link, sd_bus_message *call, const char *property) {
        const LoadedUnit *unit = unit_of_job(call);
        sd_bus_message *reply;

        if (!unit) {
                bus_reply_error(link, call, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object");
                return;
        }

        reply = bus_reply_new(call);
        (void) sd_bus_message_append(reply, "v", "s",
                                     g_str_equal(property, "JobType") ? unit->job->type
                                     : unit->job->running             ? "running"
                                                                      : "waiting");
        bus_reply(link, reply);
}

static void on_get(Link *link, sd_bus_message *call) {
        sd_bus_message *reply;
        g_autofree char *name = NULL;
        const char *property;

        (void) sd_bus_message_read(call, "ss", NULL, &property);
        if (g_str_equal(property, "JobType") || g_str_equal(property, "State")) {
                on_get_of_job(link, call, property);
                return;
        }

        reply = bus_reply_new(call);
        if (g_str_equal(property, "SystemState"))
                (void) sd_bus_message_append(reply, "v", "s", "running");
        else if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) > 0)
                (void) loaded_unit_append_property(systemd_unit(name), property, reply);
        bus_reply(link, reply);
}

static void on_get_all(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);
        g_autofree char *name = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) > 0)
                loaded_unit_append_all(systemd_unit(name), reply);
        bus_reply(link, reply);
}

/* A method was called. */
static void systemd_called(Link *link, sd_bus_message *call) {
        const char *member = sd_bus_message_get_member(call);

        if (g_str_equal(member, "Get"))
                on_get(link, call);
        else if (g_str_equal(member, "GetAll"))
                on_get_all(link, call);
        else if (g_str_equal(member, "StartUnit"))
                on_job_wanted(link, call, "start");
        else if (g_str_equal(member, "StopUnit"))
                on_job_wanted(link, call, "stop");
        else if (g_str_equal(member, "RestartUnit"))
                on_job_wanted(link, call, "restart");
        else if (g_str_equal(member, "ReloadUnit"))
                on_job_wanted(link, call, "reload");
        else if (g_str_equal(member, "StartTransientUnit"))
                on_transient(link, call);
        else if (g_str_equal(member, "ListUnitsByPatterns"))
                on_list(link, call);
        else if (g_str_equal(member, "LoadUnit"))
                on_load(link, call);
        else if (g_str_equal(member, "GetJobAfter"))
                on_jobs_after(link, call);
        else if (g_str_equal(member, "Cancel"))
                on_cancel(link, call);
        else if (g_str_equal(member, "Subscribe") || g_str_equal(member, "Unsubscribe")) {
                systemd_subscribe(link, g_str_equal(member, "Subscribe"));
                reply_empty(link, call);
        } else if (g_str_equal(member, "ResetFailedUnit"))
                on_reset_failed(link, call);
        else if (g_str_equal(member, "Ref") || g_str_equal(member, "Unref"))
                on_reference(link, call, g_str_equal(member, "Ref"));
        else if (g_str_equal(member, "Ping"))
                reply_empty(link, call);
        else
                violation("systemd was asked for %s", member);
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

static Early *early_new(Link *link, sd_bus_message *call) {
        Early *early = g_new(Early, 1);

        *early = (Early){ .link = link_ref(link), .call = sd_bus_message_ref(call), .n_joined = systemd.n_joined };
        return early;
}

static void early_free(void *data) {
        Early *early = data;

        link_unref(early->link);
        sd_bus_message_unref(early->call);
        g_free(early);
}

static void handle(Link *link, sd_bus_message *call) {
        if (systemd.reloading)
                g_queue_push_tail(&systemd.calls, early_new(link, call));
        else
                systemd_called(link, call);
}

/* The bus has replied to a call if systemd has left since. */
static void on_late(void *userdata) {
        Early *early = userdata;

        if (bus_has(systemd.peer) && early->n_joined == systemd.n_joined)
                handle(early->link, early->call);
        early_free(early);
}

static void on_called(Link *link, sd_bus_message *call) {
        uint64_t now = clock_now();

        if (dice_chance(&systemd.slowness, systemd.slow))
                systemd.busy_until = MAX(systemd.busy_until, now) + dice_below(&systemd.slowness, LATE_USEC);
        if (systemd.busy_until <= now)
                handle(link, call);
        else
                event_queue_add(systemd.busy_until - now, on_late, early_new(link, call), early_free);
}

/* With another unique name each time. */
static void join(void) {
        static char unique[16];
        static Peer peer = { .name = SYSTEMD_NAME, .unique = unique, .called = on_called, .left = on_left };

        (void) snprintf(unique, sizeof(unique), ":2.%u", systemd.n_joined++);
        systemd.peer = &peer;
        bus_join(&peer);
}

void systemd_open(uint64_t seed, unsigned slow) {
        systemd.seed = seed;
        systemd.slow = slow;
        systemd.slowness = dice_of(seed, 7, 0, 0);
        systemd.busy_until = 0;
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

/* Prefers a unit that has something to do. */
char *systemd_pick_unit(Dice *dice, bool failed) {
        g_autoptr(GList) units = systemd_units();
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        bool busy = dice_chance(dice, 60);

        for (GList *i = units; i; i = i->next) {
                const LoadedUnit *unit = i->data;

                if (is_loaded(unit) && unit->kind != KIND_NEVER && ledger_has_leaf(unit->tree, unit->node) &&
                    (!failed || g_str_equal(unit->active, "failed")) &&
                    (!busy || failed || unit->job || unit->process != 0))
                        g_ptr_array_add(names, unit->name);
        }

        return names->len > 0 ? g_strdup(names->pdata[dice_below(dice, names->len)]) : NULL;
}

void systemd_administer(const char *name, const char *type) {
        LoadedUnit *unit = systemd_find(name);

        if (!unit || !systemd_is_at_work())
                return;

        ledger_meddle(unit->tree, unit->node);
        if (g_str_equal(type, "reset-failed"))
                systemd_reset(unit);
        else if (g_str_equal(type, "stop") || (unit->kind != KIND_TRANSIENT &&
                                               (!g_str_equal(type, "reload") || g_str_equal(unit->active, "active"))))
                (void) systemd_ask(name, type, NULL);

        /* To a daemon that has got no answer, a job of the same type can be its own, which is still there then. */
        unit = systemd_find(name);
        if (unit && unit->job && unit->kind != KIND_TRANSIENT && g_str_equal(unit->job->type, type))
                witness_forgotten(unit->tree, unit->node);
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
