/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * StartUnit, StopUnit, RestartUnit and ReloadUnit: actions that request a job for a unit and, when it has ended, verify
 * the unit.
 *
 * systemd forgets a unit that nobody needs as soon as it has ended, and its result, too. A reference prevents that. It
 * is taken before the job and held until the end of the leaf. The connection that holds it outlives btd, so the next
 * btd can see what happened to the unit meanwhile; it takes its own reference before it drops the old one. Only jobs
 * that start a unit need a reference: systemd forgets no unit that is up, and a unit that it has forgotten is stopped.
 */

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit-name.h"
#include "leaf-types/unit.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/unit/job-order.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-recovery.h"
#include "leaves/unit/unit-verify.h"
#include "run/leaf.h"

static UnitVerb unit_job_verb(const NodeType *type) {
        if (type == &start_unit_type)
                return UNIT_START;
        if (type == &stop_unit_type)
                return UNIT_STOP;

        return type == &restart_unit_type ? UNIT_RESTART : UNIT_RELOAD;
}

typedef struct UnitJob {
        UnitVerb verb;
        char *unit, *path;
        Connection *connection;   /* for requests and signals */
        JobPlace place;           /* before anything is asked */
        Connection *keeper;       /* over which the reference is held */
        Call *reference;          /* is being asked for */
        char *holder;             /* unique name of the connection that requested or has the reference; NULL: none */
        Inheritance *inheritance; /* holds a reference as long as this one does not */
        bool away;                /* systemd has left before it was asked */
        json_object *memo;        /* of a request without a reply, or NULL */
        UnitRecovery *recovery;   /* finds out what became of that */
        bool recovered;           /* the previous daemon sent the request */
        bool dropped;             /* ... and the request had no effect */
        bool halted;              /* the job is not wanted any more */
        Job *job;
        JobOrder *order; /* whom the job waits for, where somebody waits for the run */
        Timer *look;     /* at that again; NULL: not due */
        unsigned n_looks;
        Cause *deadlock; /* it waits for the run itself, so it is being cancelled */
        UnitVerify *verify;
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

static bool is_to_be_held(const UnitJob *op) {
        return op->verb == UNIT_START || op->verb == UNIT_RESTART;
}

static void unit_job_hold(Leaf *leaf);

/* systemd or the bus was restarted meanwhile. Both come back on the daemon's own bus, and the state of the unit can
 * be read then. A leaf that ends with the daemon does not wait for another bus. */
static bool goes_unheard(const Leaf *leaf, const sd_bus_error *error) {
        const UnitJobParams *params = leaf->params;
        const UnitJob *op = leaf->op;
        bool lost = sd_bus_error_has_names(error, SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED),
             away = sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER);

        if (params->bus || (!leaf->durable && !connection_is_ready(op->connection)))
                return false;

        return lost || (away && systemd_is_expected(op->connection));
}

static void unit_job_stop_looking(UnitJob *op) {
        g_clear_pointer(&op->order, job_order_free);
        g_clear_pointer(&op->look, timer_free);
}

/* Records the memo of the request, if there is one. */
static void unit_job_begin_again(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->away = true;
        unit_job_stop_looking(op);
        g_clear_pointer(&op->job, job_free);
        g_clear_pointer(&op->verify, unit_verify_free);
        g_clear_pointer(&op->result, g_free);
        unit_job_hold(leaf);
}

static void unit_job_remember(Leaf *leaf, bool heard) {
        UnitJob *op = leaf->op;
        g_autofree char *bus = connection_bus_id(op->connection);
        const char *asker = "";

        (void) sd_bus_get_unique_name(connection_bus(op->connection), &asker);
        json_object_put(op->memo);
        op->memo =
                unit_recovery_memo(&(UnitRequest){ .bus = bus, .asker = asker, .holder = op->holder, .heard = heard });
        leaf_set_memo(leaf, json_object_get(op->memo));
}

/* Takes the text. */
static void unit_job_lose(Leaf *leaf, char *how) {
        const UnitJob *op = leaf->op;
        g_autofree char *text = how;

        leaf_set_cause_of(leaf, CAUSE_LOST, facts_new("unit", fact_text(op->unit), NULL),
                          "%s since, so its result is not known", text);
        leaf_end(leaf, STATUS_FAILURE);
}

/* A unit of which systemd has forgotten whether its conditions were met may not have been started. */
static void on_behind_done(void *userdata) {
        const UnitJob *op = ((Leaf *) userdata)->op;

        if (!op->holder && op->facts.conditional && op->facts.tested_conditions == 0)
                unit_job_lose(userdata,
                              g_strdup_printf("systemd refused btd a reference to %s and has forgotten it", op->unit));
        else
                leaf_end(userdata, STATUS_SUCCESS);
}

/* Of a job that was dropped, only that can be seen. */
static void on_behind_failed(const sd_bus_error *error, void *userdata) {
        UnitJob *op = ((Leaf *) userdata)->op;

        if (op->dropped && !op->facts.failed_required)
                unit_facts_set(&op->result, "canceled");
        if (error)
                unit_job_fail_with(userdata, error);
        else
                unit_job_fail(userdata);
}

static bool on_behind_lost(const sd_bus_error *error, void *userdata) {
        bool unheard = goes_unheard(userdata, error);

        if (unheard)
                unit_job_begin_again(userdata);

        return unheard;
}

static UnitVerify *unit_job_look_behind(Leaf *leaf) {
        static const UnitVerifyCallbacks callbacks = {
                .done = on_behind_done,
                .failed = on_behind_failed,
                .lost = on_behind_lost,
        };
        UnitJob *op = leaf->op;

        op->verify = unit_verify_new(leaf->services->timers, op->connection, op->unit, op->path, &op->facts, &callbacks,
                                     leaf);
        return op->verify;
}

/* systemd answers as soon as it has read a request: if it has left the bus without, it has not read it. */
static void on_job_unheard(Leaf *leaf, const sd_bus_error *error) {
        UnitJob *op = leaf->op;

        if (!job_was_queued(op->job) && !sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED))
                g_clear_pointer(&op->memo, json_object_put);
        unit_job_begin_again(leaf);
}

static void unit_job_fail_for_deadlock(Leaf *leaf) {
        UnitJob *op = leaf->op;

        leaf_give_cause(leaf, g_steal_pointer(&op->deadlock));
        leaf_end(leaf, STATUS_FAILURE);
}

/* A restart is a stop until the unit is down; then systemd turns it into a start. */
static bool is_awaited_job(const char *unit, const char *type, void *userdata) {
        return (is(type, "start") && leaf_is_awaited_by(userdata, unit, false)) ||
               ((is(type, "stop") || is(type, "restart")) && leaf_is_awaited_by(userdata, unit, true));
}

/* "the job for app.service waits for net.service, which waits for btd-run@boot.service, which waits for this run" */
static void on_deadlock(const char *const *units, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autoptr(GString) text = g_string_new("the job for ");
        const char *last = NULL;

        for (size_t i = 0; units[i]; i++) {
                g_string_append_printf(text, "%s%s",
                                       i == 0   ? ""
                                       : i == 1 ? " waits for "
                                                : ", which waits for ",
                                       units[i]);
                last = units[i];
        }
        g_string_append_printf(text, "%s this run, so it would never end",
                               units[1] ? ", which waits for" : " waits for");

        op->deadlock = cause_new(CAUSE_UNIT_RESULT,
                                 facts_new("unit", fact_text(op->unit), "result", fact_text("deadlock"), "waits_for",
                                           fact_text(last), NULL),
                                 text->str);
        /* A stop stays in the queue: the unit is stopped when the run has ended. Others may have requested it, too, as
         * systemd does when it shuts down. */
        if (op->verb == UNIT_STOP)
                unit_job_fail_for_deadlock(leaf);
        else if (!op->job)
                unit_recovery_cancel(op->recovery);
        else if (job_cancel(op->job))
                unit_job_fail_for_deadlock(leaf);
}

/* NULL: none is in the queue, as far as is known. */
static const char *unit_job_queued(const UnitJob *op) {
        if (op->result || op->deadlock)
                return NULL;

        return op->job ? job_path(op->job) : op->recovery ? unit_recovery_job(op->recovery) : NULL;
}

/* A stop never waits for a start. */
static bool unit_job_is_awaited(const Leaf *leaf) {
        const UnitJob *op = leaf->op;

        return leaf_is_awaited_by(leaf, NULL, true) || (op->verb != UNIT_STOP && leaf_is_awaited_by(leaf, NULL, false));
}

static void unit_job_look_ahead(Leaf *leaf);

static void on_look(void *userdata) {
        unit_job_look_ahead(userdata);
}

/* Another job that is queued later can close a circle. To follow that by signals, btd would get one for every job that
 * systemd queues; so the order is searched again after a while. */
static void unit_job_plan_look(Leaf *leaf) {
        static const uint64_t usecs[] = { 1000000, 5000000, 30000000 };
        UnitJob *op = leaf->op;

        op->look = timer_new(leaf->services->timers, usecs[op->n_looks], on_look, leaf);
        if (op->n_looks + 1 < G_N_ELEMENTS(usecs))
                op->n_looks++;
}

/* If no unit waits for the run, there is nothing to search. A unit can begin to wait when the job is already in the
 * queue, for example for a tree with "autostart": see unit_job_awaited(). */
static void unit_job_look_ahead(Leaf *leaf) {
        static const JobOrderCallbacks callbacks = { .is_wanted = is_awaited_job, .found = on_deadlock };
        static const char *const types[] = {
                [UNIT_START] = "start",
                [UNIT_STOP] = "stop",
                [UNIT_RESTART] = "restart",
                [UNIT_RELOAD] = "reload",
        };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        const char *job = unit_job_queued(op);

        if (!job || op->halted || params->bus || !unit_job_is_awaited(leaf))
                return;

        unit_job_stop_looking(op);
        op->order = job_order_new(op->connection, job, op->unit, types[op->verb], &callbacks, leaf);
        unit_job_plan_look(leaf);
}

static void unit_job_awaited(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->n_looks = 0;
        unit_job_look_ahead(leaf);
}

static void on_job_done(const char *result, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        unit_job_stop_looking(op);
        if (op->deadlock && (error || !is(result, "done"))) {
                unit_job_fail_for_deadlock(leaf);
                return;
        }
        if (error && goes_unheard(leaf, error)) {
                on_job_unheard(leaf, error);
                return;
        }
        if (error) {
                unit_job_fail_with(leaf, error);
                return;
        }

        if (op->memo)
                json_object_object_add(op->memo, "heard", json_object_new_boolean(true));
        op->result = g_strdup(result);
        if (!is(result, "done"))
                unit_verify_explain(unit_job_look_behind(leaf), result);
        else if (is_to_be_held(op))
                unit_verify_check(unit_job_look_behind(leaf));
        else
                leaf_end(leaf, STATUS_SUCCESS);
}

/* Called when the new holder of the unit is recorded. */
static void unit_job_leave_inheritance(UnitJob *op) {
        if (op->inheritance)
                inheritance_leave(g_steal_pointer(&op->inheritance));
}

/* Records facts that the unit does not show later: that systemd is about to be asked, and that it has replied. */
static void on_stepped(JobStep step, void *userdata) {
        Leaf *leaf = userdata;

        unit_job_remember(leaf, step == JOB_HEARD);
        unit_job_leave_inheritance(leaf->op);
        if (step == JOB_HEARD)
                unit_job_look_ahead(leaf);
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
        g_autoptr(sd_bus_message) request =
                systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, methods[op->verb], "ss",
                                op->unit, unit_job_modes[params->mode]);

        op->job = job_new(op->connection, request, on_stepped, on_job_done, leaf);
}

static void unit_job_look_back(Leaf *leaf);

static void unit_job_go_on(Leaf *leaf) {
        const UnitJob *op = leaf->op;

        if (op->memo || op->away)
                unit_job_look_back(leaf);
        else
                unit_job_ask(leaf);
}

static bool is_held(const UnitJob *op) {
        const char *name;

        return op->holder && connection_is_ready(op->keeper) &&
               sd_bus_get_unique_name(connection_bus(op->keeper), &name) >= 0 && is(op->holder, name);
}

static void on_referencing(void *userdata) {
        UnitJob *op = ((Leaf *) userdata)->op;
        const char *name;

        g_clear_pointer(&op->holder, g_free);
        if (sd_bus_get_unique_name(connection_bus(op->keeper), &name) >= 0)
                op->holder = g_strdup(name);
}

/* The bus may allow starting units, but not references; then the leaf does without. */
static void on_referenced(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        bool unheard = error && goes_unheard(leaf, error);

        g_clear_pointer(&op->reference, call_free);
        if (error)
                g_clear_pointer(&op->holder, g_free);
        op->away |= unheard;
        if (op->keeper != op->connection)
                unit_job_go_on(leaf);
}

/* Over one connection, systemd gets the reference before the request; over two, it has to be waited for. */
static void unit_job_hold(Leaf *leaf) {
        UnitJob *op = leaf->op;

        g_clear_pointer(&op->reference, call_free);
        if (is_to_be_held(op) && !is_held(op)) {
                g_autoptr(sd_bus_message) message = systemd_message(op->keeper, op->path, SYSTEMD_UNIT, "Ref", NULL);

                op->reference = connection_call_told(op->keeper, message, on_referencing, on_referenced, leaf);
                if (op->keeper != op->connection)
                        return;
        }

        unit_job_go_on(leaf);
}

static Status unit_job_prepare(Leaf *leaf) {
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autofree char *error = NULL;

        op->verb = unit_job_verb(leaf->type);
        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            dbus_bus_get(leaf, params->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->path = unit_name_path(op->unit);
        op->keeper = leaf->durable && !params->bus && leaf->services->stored ? leaf->services->stored : op->connection;
        return STATUS_RUNNING;
}

static void on_place_given(void *userdata) {
        unit_job_hold(userdata);
}

static Status unit_job_start(Leaf *leaf) {
        UnitJob *op = leaf->op;
        Status status = unit_job_prepare(leaf);

        if (status == STATUS_RUNNING && job_place_take(&op->place, op->connection, on_place_given, leaf))
                unit_job_hold(leaf);

        return status;
}

static void unit_job_take_result(Leaf *leaf, const char *result, UnitFacts *facts) {
        UnitJob *op = leaf->op;

        op->result = g_strdup(result);
        unit_facts_clear(&op->facts);
        op->facts = *facts;
        *facts = (UnitFacts){};
        if (is(result, "done"))
                unit_verify_decide(unit_job_look_behind(leaf));
        else if (is(result, "dependency"))
                unit_verify_explain(unit_job_look_behind(leaf), result);
        else
                unit_job_fail(leaf);
}

/* Records the new holder before the previous one releases the unit. */
static void on_past_kept(void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        json_object *memo;

        if (!is_held(op))
                return;

        memo = unit_recovery_hand_over(op->memo, op->holder);
        json_object_put(op->memo);
        op->memo = memo;
        leaf_set_memo(leaf, json_object_get(memo));
        unit_job_leave_inheritance(op);
}

static void on_past_queued(void *userdata) {
        unit_job_look_ahead(userdata);
}

static void on_past_known(UnitRecoveryVerdict verdict, const char *result, UnitFacts *facts, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autoptr(UnitRecovery) recovery G_GNUC_UNUSED = g_steal_pointer(&op->recovery);

        unit_job_stop_looking(op);
        if (op->deadlock) {
                unit_job_fail_for_deadlock(leaf);
                return;
        }
        /* Ignore the result of a halted job. */
        if (op->halted) {
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        switch (verdict) {
        case UNIT_RECOVERY_TO_DO:
                op->away = false;
                g_clear_pointer(&op->memo, json_object_put);
                unit_job_hold(leaf);
                break;
        case UNIT_RECOVERY_SUCCEEDED:
                leaf_end(leaf, STATUS_SUCCESS);
                break;
        case UNIT_RECOVERY_ENDED:
                unit_job_take_result(leaf, result, facts);
                break;
        case UNIT_RECOVERY_DROPPED:
                op->dropped = true;
                unit_job_take_result(leaf, "dependency", facts);
                break;
        case UNIT_RECOVERY_UNKNOWN:
                unit_job_lose(leaf, g_strdup_printf("%s meanwhile, and systemd has forgotten %s",
                                                    op->recovered ? "the daemon was restarted"
                                                                  : "the connection to systemd was lost",
                                                    op->unit));
                break;
        }
}

static void on_past_failed(const sd_bus_error *error, void *userdata) {
        unit_job_fail_with(userdata, error);
}

static void unit_job_look_back(Leaf *leaf) {
        static const UnitRecoveryCallbacks callbacks = {
                .kept = on_past_kept,
                .queued = on_past_queued,
                .known = on_past_known,
                .failed = on_past_failed,
        };
        UnitJob *op = leaf->op;

        op->recovery = unit_recovery_new(op->connection, op->path, op->verb, leaf->started, op->memo, &callbacks, leaf);
        if (op->halted)
                unit_recovery_cancel(op->recovery);
}

static Status unit_job_recover(Leaf *leaf) {
        UnitJob *op = leaf->op;
        Status status;

        if (!leaf->has_memo)
                return STATUS_IDLE;

        status = unit_job_prepare(leaf);
        if (status != STATUS_RUNNING)
                return status;

        job_place_keep(&op->place, op->connection);
        op->recovered = true;
        op->memo = json_object_get(leaf->memo);
        op->inheritance = is_to_be_held(op) ? leaf->services->inheritance : NULL;
        if (op->inheritance)
                inheritance_use(op->inheritance);
        unit_job_hold(leaf);
        return STATUS_RUNNING;
}

/* What has been started stays as it is; only a job that is still in the queue is taken out of it. */
static bool unit_job_halt(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->halted = true;
        unit_job_stop_looking(op);
        if (op->deadlock)
                return false;
        if (op->job)
                return op->result || job_cancel(op->job);
        if (op->result || !op->memo)
                return true;

        if (op->recovery)
                unit_recovery_cancel(op->recovery);
        return false;
}

static void unit_job_release(Leaf *leaf) {
        UnitJob *op = leaf->op;

        if (is_held(op) && !leaf->abandoned) {
                g_autoptr(sd_bus_message) message = systemd_message(op->keeper, op->path, SYSTEMD_UNIT, "Unref", NULL);

                if (op->reference)
                        call_undo(g_steal_pointer(&op->reference), message);
                else
                        systemd_send(op->keeper, message);
        }
        if (!leaf->abandoned)
                unit_job_leave_inheritance(op);

        call_free(op->reference);
        unit_job_stop_looking(op);
        job_free(op->job);
        job_place_leave(&op->place);
        cause_unref(op->deadlock);
        unit_recovery_free(op->recovery);
        unit_verify_free(op->verify);
        unit_facts_clear(&op->facts);
        json_object_put(op->memo);
        g_free(op->holder);
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
        .start = unit_job_start,
        .halt = unit_job_halt,
        .release = unit_job_release,
        .awaited = unit_job_awaited,
        .describe = unit_job_describe,
        .recover = unit_job_recover,
};
