/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A job for a unit, with a look before it and one behind it.
 *
 * A unit that nobody needs is unloaded when its job has ended, and with it goes what became of its conditions. A
 * reference keeps it, but costs systemd more than everything else here. So a look before the job tells whether
 * there are any conditions, and only then there is a reference from before the job until the end.
 */

#include "leaves/unit-job.h"
#include "basic/cleanup.h"
#include "bus/buses.h"
#include "engine/tree.h"
#include "leaves/dbus-error.h"
#include "leaves/systemd-job.h"
#include "leaves/systemd.h"
#include "leaves/unit-before.h"
#include "leaves/unit-behind.h"
#include "leaves/unit-name.h"
#include "leaves/unit-past.h"

typedef struct UnitJob {
        UnitVerb verb;
        char *unit, *path;
        Connection *connection;
        JobSearch *search; /* where a daemon before this one may have asked */
        UnitPast *past;    /* where a daemon before this one has asked, or what came of it went unheard */
        bool unheard;      /* the latter */
        bool halted;       /* and it is not wanted any more */
        UnitBefore *before;
        bool conditional; /* it has conditions */
        bool referenced;
        Job *job;
        UnitBehind *behind;
        char *result; /* of the job, once it has ended */
        UnitFacts facts;
} UnitJob;

static void unit_job_fail(Leaf *leaf) {
        UnitJob *op = leaf->op;
        const UnitJobParams *params = leaf->params;
        g_autofree char *text = unit_cause(op->unit, op->verb, op->result, &op->facts);

        leaf_set_cause_of(leaf, CAUSE_UNIT_RESULT, unit_cause_facts(op->unit, params->bus, op->result, &op->facts),
                          "%s", text);
        leaf_end(leaf, STATUS_FAILURE);
}

static void unit_job_fail_with(Leaf *leaf, const sd_bus_error *error) {
        UnitJob *op = leaf->op;
        g_autofree char *text = unit_cause_of_error(op->unit, op->verb, error);
        json_object *facts = dbus_error_facts(error);

        json_object_object_add(facts, "unit", fact_text(op->unit));
        leaf_set_cause_of(leaf, dbus_error_kind(error), facts, "%s", text);
        leaf_end(leaf, STATUS_FAILURE);
}

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static void unit_job_look_back(Leaf *leaf, json_object *memory);

/* systemd was executed anew meanwhile, or the bus was. Both come again where the daemon is at home, and what has become
 * of the unit can be seen if it was looked at before. */
static bool goes_unheard(const Leaf *leaf, const sd_bus_error *error) {
        const UnitJobParams *params = leaf->params;

        return leaf->durable && !params->bus &&
               sd_bus_error_has_names(error, SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED);
}

/* Takes the memory. */
static void unit_job_begin_again(Leaf *leaf, json_object *memory) {
        UnitJob *op = leaf->op;

        op->unheard = true;
        g_clear_pointer(&op->before, unit_before_free);
        g_clear_pointer(&op->job, job_free);
        g_clear_pointer(&op->behind, unit_behind_free);
        g_clear_pointer(&op->result, g_free);
        unit_job_look_back(leaf, memory);
        json_object_put(memory);
}

static void unit_job_find_out(Leaf *leaf, bool sent, bool heard) {
        const UnitJob *op = leaf->op;
        json_object *memory =
                unit_past_remember(&op->facts, op->conditional, &(UnitRequest){ .sent = sent, .heard = heard });

        leaf_remember(leaf, json_object_get(memory));
        unit_job_begin_again(leaf, memory);
}

static void on_behind_done(void *userdata) {
        leaf_end(userdata, STATUS_SUCCESS);
}

static void on_behind_failed(const sd_bus_error *error, void *userdata) {
        if (error)
                unit_job_fail_with(userdata, error);
        else
                unit_job_fail(userdata);
}

static bool on_behind_lost(const sd_bus_error *error, void *userdata) {
        bool unheard = goes_unheard(userdata, error);

        if (unheard)
                unit_job_find_out(userdata, true, true);

        return unheard;
}

static UnitBehind *unit_job_look_behind(Leaf *leaf) {
        static const UnitBehindCallbacks callbacks = {
                .done = on_behind_done,
                .failed = on_behind_failed,
                .lost = on_behind_lost,
        };
        UnitJob *op = leaf->op;

        op->behind = unit_behind_new(leaf->services->timers, op->connection, op->unit, op->path, &op->facts, &callbacks,
                                     leaf);
        return op->behind;
}

/* systemd answers as soon as it has read a request: where it has left without, it has not. */
static void on_job_unheard(Leaf *leaf, const sd_bus_error *error) {
        const UnitJob *op = leaf->op;
        bool queued = job_was_queued(op->job);

        unit_job_find_out(leaf, queued || !sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY), queued);
}

static void on_job_done(const char *result, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        if (error && goes_unheard(leaf, error)) {
                on_job_unheard(leaf, error);
                return;
        }
        if (error) {
                unit_job_fail_with(leaf, error);
                return;
        }

        op->result = g_strdup(result);
        op->facts.condition_result = true;
        if (!is(result, "done"))
                unit_behind_explain(unit_job_look_behind(leaf), result);
        else if (op->conditional)
                unit_behind_check_all(unit_job_look_behind(leaf));
        else if (op->verb == UNIT_START || op->verb == UNIT_RESTART)
                unit_behind_check_state(unit_job_look_behind(leaf));
        else
                leaf_end(leaf, STATUS_SUCCESS);
}

static sd_bus_message *unit_message(UnitJob *op, const char *method) {
        return systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, method, "s", op->unit);
}

/* What cannot be seen of the unit afterwards: that it was asked for, and what it was like before. */
static void on_stepped(JobStep step, const char *manager, void *userdata) {
        Leaf *leaf = userdata;
        const UnitJob *op = leaf->op;
        bool lasts = op->connection == leaf->services->lasting;
        g_autofree char *bus = connection_bus_id(op->connection);
        UnitRequest request = {
                .sent = step != JOB_SENDING,
                .manager = step == JOB_SENT && lasts ? manager : NULL,
                .bus = bus,
                .heard = step == JOB_HEARD,
                .serial = connection_last_serial(op->connection),
        };

        if (step == JOB_SENDING && lasts)
                (void) sd_bus_get_unique_name(connection_bus(op->connection), &request.name);
        if (leaf->durable)
                leaf_remember(leaf, unit_past_remember(&op->facts, op->conditional, &request));
}

static void unit_job_ask(Leaf *leaf) {
        static const char *const methods[] = {
                [UNIT_START] = "StartUnit",
                [UNIT_STOP] = "StopUnit",
                [UNIT_RESTART] = "RestartUnit",
                [UNIT_RELOAD] = "ReloadUnit",
        };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autoptr(sd_bus_message) request = NULL, reference = NULL;

        request = systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, methods[op->verb], "ss",
                                  op->unit, unit_job_modes[params->mode]);
        if (op->conditional)
                reference = unit_message(op, "RefUnit");
        op->referenced |= op->conditional;
        op->job = job_new(op->connection, reference, request, on_stepped, on_job_done, leaf);
}

static void on_before(bool conditional, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        op->conditional = conditional;
        if (error && goes_unheard(leaf, error))
                unit_job_begin_again(leaf, NULL);
        else if (error)
                unit_job_fail_with(leaf, error);
        else
                unit_job_ask(leaf);
}

static unsigned looks_before(const Leaf *leaf) {
        const UnitJob *op = leaf->op;
        bool starts = op->verb == UNIT_START || op->verb == UNIT_RESTART;

        return (starts ? UNIT_BEFORE_CONDITIONS : 0) |
               (starts && g_str_has_suffix(op->unit, ".service") ? UNIT_BEFORE_EXEC_CONDITIONS : 0) |
               (starts && leaf->durable ? UNIT_BEFORE_INVOCATION : 0) |
               (op->verb == UNIT_RELOAD && leaf->durable ? UNIT_BEFORE_CHANGE : 0);
}

static void unit_job_look_before(Leaf *leaf) {
        unsigned looks = looks_before(leaf);
        UnitJob *op = leaf->op;

        g_clear_pointer(&op->before, unit_before_free);
        if (looks == 0)
                unit_job_ask(leaf);
        else
                op->before = unit_before_new(op->connection, op->path, looks, &op->facts, on_before, leaf);
}

static Status unit_job_prepare(Leaf *leaf) {
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autofree char *error = NULL;

        op->verb = unit_job_verb(leaf->type);
        if (!params->bus)
                op->connection = leaf->services->lasting;
        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            (!op->connection && buses_get(leaf->services->buses, params->bus, &op->connection, &error) < 0)) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->path = unit_name_path(op->unit);
        return STATUS_RUNNING;
}

static Status unit_job_start(Leaf *leaf) {
        Status status = unit_job_prepare(leaf);

        if (status == STATUS_RUNNING)
                unit_job_look_before(leaf);

        return status;
}

/* A unit that has no invocation any more has done its work and was forgotten. */
static void unit_job_take_result(Leaf *leaf, UnitFacts *facts) {
        UnitJob *op = leaf->op;
        bool failed = is(facts->active_state, "failed");

        if (op->verb == UNIT_STOP || !facts->invocation_id ||
            (op->verb == UNIT_RELOAD && is(facts->active_state, "active"))) {
                leaf_end(leaf, STATUS_SUCCESS);
                return;
        }

        op->result = g_strdup(failed ? "failed" : "done");
        unit_facts_clear(&op->facts);
        op->facts = *facts;
        *facts = (UnitFacts){};
        if (failed)
                unit_job_fail(leaf);
        else
                unit_behind_judge(unit_job_look_behind(leaf));
}

static void on_past_known(UnitPastVerdict verdict, UnitFacts *facts, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autoptr(UnitPast) past G_GNUC_UNUSED = g_steal_pointer(&op->past);

        /* Whether it was done or taken out of the queue, nobody wants to know. */
        if (op->halted) {
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        switch (verdict) {
        case UNIT_PAST_TO_DO:
                unit_job_look_before(leaf);
                break;
        case UNIT_PAST_DONE:
                unit_job_take_result(leaf, facts);
                break;
        case UNIT_PAST_UNKNOWN:
                leaf_set_cause_of(leaf, CAUSE_LOST, facts_new("unit", fact_text(op->unit), NULL),
                                  "%s meanwhile, and systemd has forgotten %s since, so what became of it is not known",
                                  op->unheard ? "the connection to systemd was lost" : "the daemon was restarted",
                                  op->unit);
                leaf_end(leaf, STATUS_FAILURE);
                break;
        }
}

static void on_past_failed(const sd_bus_error *error, void *userdata) {
        unit_job_fail_with(userdata, error);
}

static void unit_job_look_back(Leaf *leaf, json_object *memory) {
        static const UnitPastCallbacks callbacks = { .known = on_past_known, .failed = on_past_failed };
        UnitJob *op = leaf->op;

        op->past = unit_past_new(op->connection, op->path, op->verb, memory, &callbacks, leaf);
}

/* It is noted before it can be seen no more. */
static void on_searched(JobFate fate, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        leaf_remember(leaf, unit_past_settle(leaf->memory, fate));
        g_clear_pointer(&op->search, job_search_free);
        unit_job_look_back(leaf, leaf->memory);
        if (op->halted)
                unit_past_cancel(op->past);
}

static Status unit_job_recover(Leaf *leaf) {
        UnitJob *op = leaf->op;
        Status status;

        if (!leaf->remembers)
                return STATUS_IDLE;

        status = unit_job_prepare(leaf);
        if (status != STATUS_RUNNING)
                return status;

        if (unit_past_is_open(leaf->memory)) {
                op->search = unit_past_search(leaf->memory, leaf->services->replies, on_searched, leaf);
                if (op->search)
                        return STATUS_RUNNING;
                leaf_remember(leaf, unit_past_settle(leaf->memory, JOB_IN_DOUBT));
        }

        unit_job_look_back(leaf, leaf->memory);
        return STATUS_RUNNING;
}

/* What has been started stays as it is; only a job that is still in the queue is taken out of it. */
static bool unit_job_halt(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->halted = true;
        if (op->search)
                return false;
        if (op->past) {
                unit_past_cancel(op->past);
                return false;
        }

        return !op->job || op->result || job_cancel(op->job);
}

static void unit_job_release(Leaf *leaf) {
        UnitJob *op = leaf->op;

        if (op->referenced) {
                g_autoptr(sd_bus_message) message = unit_message(op, "UnrefUnit");

                systemd_send(op->connection, message);
        }

        job_free(op->job);
        job_search_free(op->search);
        unit_past_free(op->past);
        unit_before_free(op->before);
        unit_behind_free(op->behind);
        unit_facts_clear(&op->facts);
        g_free(op->result);
        g_free(op->unit);
        g_free(op->path);
}

static void unit_job_describe(Leaf *leaf, GString *text) {
        UnitJob *op = leaf->op;

        if (!op->result)
                g_string_append_printf(text, "job for %s", op->unit);
        else
                g_string_append_printf(text, "%s to show that it is up", op->unit);
}

const LeafKind unit_job_kind = {
        .op_size = sizeof(UnitJob),
        .has_timeout = true,
        .timeout_offset = offsetof(UnitJobParams, timeout),
        .start = unit_job_start,
        .halt = unit_job_halt,
        .release = unit_job_release,
        .describe = unit_job_describe,
        .recover = unit_job_recover,
};
