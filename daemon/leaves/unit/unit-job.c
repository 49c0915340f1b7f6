/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * StartUnit, StopUnit, RestartUnit and ReloadUnit: actions that request a job for a unit and, when it has ended, check
 * that the unit is in the requested state (unit-check.h), or read why not.
 *
 * systemd forgets a unit that nobody needs as soon as it has ended, and its result, too. A reference prevents that. It
 * is taken before the job and held until the end of the leaf. The connection that holds it outlives btd, so the next
 * btd can see what happened to the unit meanwhile; it takes its own reference before it drops the old one. Only jobs
 * that start a unit need a reference: systemd forgets no unit that is up, and a unit that it has forgotten is stopped.
 */

#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit-names.h"
#include "leaf-types/unit.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/log-tail.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-check.h"
#include "leaves/unit/unit-facts.h"
#include "leaves/unit/unit-frozen.h"
#include "leaves/unit/unit-recovery.h"
#include "leaves/unit/unit-search.h"
#include "run/leaf.h"

typedef struct UnitJob {
        Connection *connection; /* for requests and signals */
        UnitVerb verb;
        char *unit, *path;
        JobPermit permit;         /* before anything is asked */
        Connection *keeper;       /* over which the reference is held */
        Call *reference;          /* is being asked for */
        char *holder;             /* unique name of the connection that requested or has the reference; NULL: none */
        Inheritance *inheritance; /* holds a reference as long as this one does not */
        bool away;                /* systemd has left before it was asked */
        json_object *memo;        /* the memo of a request without a reply, or NULL */
        JobInterest interest;     /* in the job that the unit may have because of it, until that is being found out */
        UnitRecovery *recovery;   /* finds out what happened to that request */
        bool recovered;           /* the previous daemon sent the request */
        bool dropped;             /* ... and the request had no effect */
        bool undone;              /* ... and the unit has left the inactive state since, but is inactive again */
        bool halted;              /* the job is not wanted any more */
        Job *job;
        JobOrder *order;     /* which jobs the job waits for, if a unit waits for the run */
        Timer *order_timer;  /* searches the order again; NULL: not due */
        unsigned n_searches; /* so far; the time between them grows */
        uint64_t requested;  /* when the job was, CLOCK_MONOTONIC µs */
        FrozenWatch *frozen; /* while the job lasts */
        Cause *deadlock;     /* it waits for the run itself, so it is being cancelled */
        char *result;        /* of the job, once it has ended */
        uint64_t up_since;   /* it came up then, and a reload was requested after that; 0: no matter when */
        UnitCheck *check;    /* of the state of the unit after that */
        Call *details;       /* why the job failed */
        UnitWatch *restarts; /* systemd starts it again, and the leaf waits for that */
        UnitSearch *search;  /* of another unit that is the reason */
        LogTail *tail;       /* the last lines of the unit, which has failed */
        UnitFacts facts;
} UnitJob;

static bool is_to_be_held(const UnitJob *op) {
        return op->verb == UNIT_START || op->verb == UNIT_RESTART;
}

/* Is the unit one of a user's service manager? */
static bool unit_job_is_of_user(const Leaf *leaf) {
        const UnitJobParams *params = leaf->params;

        return params->bus ? unit_fact_is(params->bus, "session") : leaf->services->user;
}

static void on_words_read(const char *words, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        const UnitJobParams *params = leaf->params;
        g_autofree char *text = NULL;

        /* If no program was executed, systemd says "cam.service: Failed at step EXEC spawning /bin/cam: Permission
         * denied". The exit status tells all of this but the last words. */
        if (words && strstr(words, ": Failed at step "))
                words = g_strrstr(words, ": ") + strlen(": ");
        unit_facts_set(&op->facts.words, words);
        text = unit_cause(op->unit, op->verb, op->result, &op->facts, unit_job_is_of_user(leaf));
        leaf_set_cause_of(leaf, CAUSE_UNIT_RESULT,
                          unit_cause_facts(op->unit, op->verb, params->bus, op->result, &op->facts), "%s", text);
        leaf_end(leaf, STATUS_FAILURE);
}

static void unit_job_fail_with(const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autofree char *text = unit_cause_of_error(op->unit, op->verb, error, leaf->services->goes_down);
        json_object *facts = dbus_error_facts(error);

        json_object_object_add(facts, "unit", fact_text(op->unit));
        leaf_set_cause_of(leaf, dbus_error_kind(error), facts, "%s", text);
        leaf_end(leaf, STATUS_FAILURE);
}

static void unit_job_hold(Leaf *leaf);

/* systemd or the bus was restarted meanwhile. Both come back on the daemon's own bus, and the state of the unit can
 * be read then. A leaf that ends with the daemon does not wait for another bus. */
static bool reply_is_lost(const Leaf *leaf, const sd_bus_error *error) {
        const UnitJobParams *params = leaf->params;
        const UnitJob *op = leaf->op;

        if (params->bus || (!leaf->durable && !connection_is_ready(op->connection)))
                return false;

        return systemd_answer_was_lost(error) || (systemd_is_away(error) && systemd_is_expected(op->connection));
}

static void unit_job_stop_search(UnitJob *op) {
        g_clear_pointer(&op->order, job_order_free);
        g_clear_pointer(&op->order_timer, timer_free);
}

static void unit_job_stop_reading(UnitJob *op) {
        g_clear_pointer(&op->check, unit_check_free);
        g_clear_pointer(&op->details, call_free);
        g_clear_pointer(&op->search, unit_search_free);
        g_clear_pointer(&op->restarts, unit_watch_free);
        g_clear_pointer(&op->tail, log_tail_free);
}

/* Records the memo of the request, if there is one. */
static void unit_job_begin_again(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->away = true;
        unit_job_stop_search(op);
        g_clear_pointer(&op->job, job_free);
        unit_job_stop_reading(op);
        g_clear_pointer(&op->result, g_free);
        unit_job_hold(leaf);
}

/* Takes the text. */
static void unit_job_lose(Leaf *leaf, char *how) {
        const UnitJob *op = leaf->op;
        g_autofree char *text = how;

        leaf_set_cause_of(leaf, CAUSE_LOST, facts_new("unit", fact_text(op->unit), NULL),
                          "%s since, so its result is not known", text);
        leaf_end(leaf, STATUS_FAILURE);
}

static void unit_job_check(Leaf *leaf, bool complete);

/* Is systemd about to start the unit again, and does the leaf wait for that? */
static bool unit_job_awaits_restart(const Leaf *leaf, const UnitFacts *facts) {
        const UnitJobParams *params = leaf->params;
        const UnitJob *op = leaf->op;

        return is_to_be_held(op) && params->wait_for_restarts && !op->dropped && unit_facts_are_restarting(facts);
}

/* When the unit is up, or down for good, the state is checked as after any job. */
static void on_restarts_changed(void *userdata) {
        UnitJob *op = ((Leaf *) userdata)->op;
        const UnitFacts *facts = unit_watch_facts(op->restarts);

        if (!facts->load_state || op->check)
                return;

        op->facts.n_restarts = facts->n_restarts;
        if (unit_facts_are_up(facts) || (unit_facts_are_down(facts) && facts->job == 0))
                unit_job_check(userdata, false);
}

static void on_restarts_failed(const sd_bus_error *error, void *userdata) {
        if (!reply_is_lost(userdata, error))
                unit_job_fail_with(error, userdata);
}

static void unit_job_fail_by_facts(Leaf *leaf) {
        static const UnitWatchCallbacks callbacks = {
                .changed = on_restarts_changed,
                .failed = on_restarts_failed,
        };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        UnitFacts *facts = &op->facts;
        bool starts_here = is_to_be_held(op) && !params->bus, to_blame;

        /* Wait until systemd does not start the unit again any more. The watch reads the unit, so no change is missed.
         */
        if (unit_job_awaits_restart(leaf, facts)) {
                g_clear_pointer(&op->check, unit_check_free);
                g_clear_pointer(&op->search, unit_search_free);
                unit_facts_set(&facts->conflicting, NULL);
                unit_facts_set(&op->result, "done");
                if (!op->restarts)
                        op->restarts = unit_watch_new(op->connection, op->path, &callbacks, leaf);
                else if (unit_watch_is_ready(op->restarts))
                        unit_watch_read(op->restarts);
                return;
        }
        /* A job that was dropped left no other trace. */
        if (op->dropped && !facts->failed_required)
                unit_facts_set(&op->result, "canceled");
        if (op->undone && !facts->conflicting) {
                unit_job_lose(leaf, g_strdup_printf("btd was restarted meanwhile, and %s was stopped, or its failure "
                                                    "was reset",
                                                    op->unit));
                return;
        }

        /* If a unit has failed before, systemd does not set its result when it refuses to start it because of its start
         * limit. But then the unit was down before the job, and the job has not begun to start it; only a lack of
         * resources looks the same. Another machine has another clock. */
        if (starts_here && unit_fact_is(op->result, "failed") && unit_fact_is(facts->active_state, "failed") &&
            !unit_fact_is(facts->result, "resources") && facts->left_inactive > 0 &&
            facts->left_inactive <= leaf->started && facts->became_inactive > 0 &&
            facts->became_inactive <= leaf->started)
                unit_facts_set(&facts->result, UNIT_RESULT_START_LIMIT);

        /* Has a process of the unit ended in the start that has failed, and is the invocation ID still that of this
         * start? */
        to_blame = (unit_fact_is(op->result, "failed") || unit_fact_is(op->result, "done")) && facts->invocation_id &&
                   facts->left_inactive > leaf->started && !unit_fact_is(facts->result, "exec-condition") &&
                   (unit_facts_are_down(facts) || unit_sub_state_restarts(facts->sub_state)) &&
                   (facts->exec_main_code != 0 || (facts->commands.ended && facts->commands.ended->len > 0));
        if (starts_here && leaf->services->journal_readers && to_blame)
                op->tail = log_tail_new(leaf, facts->id ?: op->unit, facts->invocation_id, on_words_read, leaf);
        else
                on_words_read(NULL, leaf);
}

static void on_found(const char *unit, const UnitFacts *facts, void *userdata) {
        UnitJob *op = ((Leaf *) userdata)->op;

        if (unit)
                unit_facts_blame(&op->facts, op->result, unit, facts);
        unit_job_fail_by_facts(userdata);
}

/* Another unit can be the reason: one that this unit requires, or one that conflicts with it. */
static void unit_job_explain(Leaf *leaf) {
        UnitJob *op = leaf->op;
        const UnitFacts *facts = &op->facts;
        bool dependent = unit_fact_is(op->result, "dependency"),
             stopped = is_to_be_held(op) && (unit_fact_is(op->result, "canceled") ||
                                             (unit_fact_is(op->result, "done") && facts->condition_result &&
                                              unit_fact_is(facts->result, "success")));

        if (dependent || stopped)
                op->search = unit_search_new(op->connection, op->path, dependent ? UNIT_REQUIRED : UNIT_CONFLICTING,
                                             on_found, leaf);
        else
                unit_job_fail_by_facts(leaf);
}

static void on_check_known(bool good, void *userdata) {
        Leaf *leaf = userdata;
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        const UnitFacts *facts = &op->facts;
        const LogSubject subject = leaf_log_subject(leaf);
        uint64_t since = MAX(leaf->started, op->up_since);
        bool restarted = op->restarts && facts->n_restarts > 0;
        /* Was the unit starting, or about to, when its reload was requested, and has not ended since? Then systemd has
         * merged the reload into the job of the start, and nothing was reloaded: the reload is requested again. The
         * times of another machine tell nothing; there, a job that the unit had before may have been the start, and a
         * second reload does no harm. */
        bool early = params->bus ? op->job && job_was_joined(op->job) && op->up_since == 0
                                 : !good && facts->became_active > since && facts->became_inactive <= since;
        g_autofree char *note = NULL;

        if (early && op->verb == UNIT_RELOAD && unit_facts_are_up(facts)) {
                op->up_since = MAX(facts->became_active, 1);
                g_clear_pointer(&op->memo, json_object_put);
                g_clear_pointer(&op->job, job_free);
                unit_job_stop_reading(op);
                g_clear_pointer(&op->result, g_free);
                unit_job_hold(leaf);
                return;
        }
        if (!good) {
                unit_job_explain(leaf);
                return;
        }

        /* If systemd has forgotten whether the conditions were met, the unit may not have been started. */
        if (is_to_be_held(op) && !op->holder && facts->conditional && facts->tested_conditions == 0) {
                unit_job_lose(leaf,
                              g_strdup_printf("systemd refused btd a reference to %s and has forgotten it", op->unit));
                return;
        }

        if (op->verb == UNIT_STOP)
                note = unit_note_of_stop(op->unit, facts, params->bus ? UINT64_MAX : leaf->started);
        else if (restarted)
                note = unit_note_of_restarts(op->unit, facts);
        else if (op->verb == UNIT_RESTART && facts->needs_daemon_reload)
                note = unit_note_of_old_files(op->unit, unit_job_is_of_user(leaf));
        if (note) {
                leaf_set_cause_of(leaf, CAUSE_UNIT_RESULT,
                                  unit_cause_facts(op->unit, op->verb, params->bus, op->result, facts), "%s", note);
                log_message(LOG_NOTICE, &subject, "%s", note);
        }
        leaf_end(leaf, STATUS_SUCCESS);
}

/* If the query got no answer, the leaf begins again. */
static void on_check_failed(const sd_bus_error *error, void *userdata) {
        if (reply_is_lost(userdata, error))
                unit_job_begin_again(userdata);
        else
                unit_job_fail_with(error, userdata);
}

/* The job is done: is the unit as it was requested? complete: its facts are known, see unit_check_new(). */
static void unit_job_check(Leaf *leaf, bool complete) {
        static const UnitCheckCallbacks callbacks = { .known = on_check_known, .failed = on_check_failed };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        UnitOrder order = {
                .connection = op->connection,
                .timers = leaf->services->timers,
                .unit = op->unit,
                .path = op->path,
                .verb = op->verb,
                .since = params->bus ? 0 : MAX(leaf->started, op->up_since),
        };

        op->check = unit_check_new(&order, &op->facts, complete, &callbacks, leaf);
}

/* If the details could not be read, the cause is made from what is known. */
static void on_details(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        if (error && reply_is_lost(leaf, error)) {
                unit_job_begin_again(leaf);
                return;
        }

        if (reply)
                (void) unit_facts_read(&op->facts, reply);
        unit_job_explain(leaf);
}

/* The job has failed: reads why. */
static void unit_job_read_details(Leaf *leaf) {
        UnitJob *op = leaf->op;

        call_free(op->details);
        op->details = systemd_get_all(op->connection, op->path, "", on_details, leaf);
}

static void unit_job_fail_for_deadlock(Leaf *leaf) {
        UnitJob *op = leaf->op;

        leaf_give_cause(leaf, g_steal_pointer(&op->deadlock));
        leaf_end(leaf, STATUS_FAILURE);
}

static void on_deadlock(Cause *cause, Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->deadlock = cause;
        /* A stop stays in the queue: the unit is stopped when the run has ended. Others may have requested it, too, as
         * systemd does when it shuts down. */
        if (op->verb == UNIT_STOP)
                unit_job_fail_for_deadlock(leaf);
        else if (op->job ? job_cancel(op->job, true) : unit_recovery_cancel(op->recovery, true))
                unit_job_fail_for_deadlock(leaf);
}

/* Searches a deadlock. If no unit waits for the run, there is none. A unit can begin to wait when the job is already
 * in the queue, for example for a tree with "autostart": see unit_job_awaited(). */
static void unit_job_search_order(void *userdata) {
        static const uint64_t usecs[] = { 1000000, 5000000, 30000000 };
        Leaf *leaf = userdata;
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        const char *job = op->job ? job_path(op->job) : op->recovery ? unit_recovery_job(op->recovery) : NULL;

        if (!job || op->result || op->deadlock || op->halted || params->bus)
                return;
        /* A stop never waits for a start. */
        if (!leaf_is_awaited_by(leaf, NULL, true) && (op->verb == UNIT_STOP || !leaf_is_awaited_by(leaf, NULL, false)))
                return;

        unit_job_stop_search(op);
        op->order = job_order_new(leaf, op->connection, job, op->unit, unit_verbs[op->verb].type, on_deadlock);

        /* A job that is queued later can complete a deadlock. To notice this by signals, btd would have to receive one
         * for each job that systemd queues. So it searches the order again after a while. */
        op->order_timer = timer_new(leaf->services->timers, usecs[op->n_searches], unit_job_search_order, leaf);
        if (op->n_searches + 1 < G_N_ELEMENTS(usecs))
                op->n_searches++;
}

static void unit_job_watch_frozen(Leaf *leaf) {
        UnitJob *op = leaf->op;

        if (!op->frozen)
                op->frozen = frozen_watch_new(op->connection, leaf->services->timers, op->unit);
}

/* The job has ended. If that took long, what is frozen is the reason, unless a unit is up nevertheless. */
static void unit_job_note_frozen(UnitJob *op, const char *result) {
        bool up = unit_fact_is(result, "done") && op->verb != UNIT_STOP;

        unit_facts_set(&op->facts.frozen, up ? NULL : frozen_watch_found(op->frozen));
        g_clear_pointer(&op->frozen, frozen_watch_free);
}

static void unit_job_awaited(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->n_searches = 0;
        unit_job_search_order(leaf);
}

static void on_job_done(const char *result, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        unit_job_stop_search(op);
        if (op->deadlock && (error || !unit_fact_is(result, "done"))) {
                unit_job_fail_for_deadlock(leaf);
                return;
        }
        if (error && reply_is_lost(leaf, error)) {
                /* systemd replies as soon as it has read a request. So if it has left the bus without a reply, it has
                 * not read the request. */
                if (!job_path(op->job) && !sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED))
                        g_clear_pointer(&op->memo, json_object_put);
                unit_job_begin_again(leaf);
                return;
        }
        if (error) {
                unit_job_fail_with(error, leaf);
                return;
        }

        if (op->memo)
                json_object_object_add(op->memo, "heard", json_object_new_boolean(true));
        op->result = g_strdup(result);
        unit_job_note_frozen(op, result);
        if (!job_was_joined(op->job))
                op->facts.job_lasted = timers_now(leaf->services->timers, TIMER_MONOTONIC) - op->requested;
        if (unit_fact_is(result, "done"))
                unit_job_check(leaf, false);
        else
                unit_job_read_details(leaf);
}

/* Called when the new holder of the unit is recorded. */
static void unit_job_leave_inheritance(UnitJob *op) {
        if (op->inheritance)
                inheritance_leave(g_steal_pointer(&op->inheritance));
}

/* Records facts that the unit does not show later: that systemd is about to be asked, and that it has replied. */
static void on_stepped(JobStep step, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autofree char *bus = connection_bus_id(op->connection);
        bool heard = step == JOB_CONFIRMED;
        const char *asker = "";

        if (!heard)
                op->requested = timers_now(leaf->services->timers, TIMER_MONOTONIC);
        (void) sd_bus_get_unique_name(connection_bus(op->connection), &asker);
        json_object_put(op->memo);
        op->memo = unit_recovery_memo(&(UnitRequest){
                .bus = bus,
                .asker = asker,
                .holder = op->holder,
                .heard = heard,
                .job = heard ? job_id(job_path(op->job)) : 0,
                .own = heard && !job_was_joined(op->job),
        });
        leaf_set_memo(leaf, json_object_get(op->memo));
        unit_job_leave_inheritance(op);
        if (heard) {
                unit_job_search_order(leaf);
                unit_job_watch_frozen(leaf);
        }
}

static bool is_held(const UnitJob *op) {
        const char *name;

        return op->holder && connection_is_ready(op->keeper) &&
               sd_bus_get_unique_name(connection_bus(op->keeper), &name) >= 0 && unit_fact_is(op->holder, name);
}

static void unit_job_take_facts(Leaf *leaf, const char *result, UnitFacts *facts) {
        UnitJob *op = leaf->op;

        op->result = g_strdup(result);
        unit_facts_clear(&op->facts);
        op->facts = *facts;
        *facts = (UnitFacts){};
        unit_job_note_frozen(op, result);
}

static void unit_job_take_result(Leaf *leaf, const char *result, UnitFacts *facts) {
        UnitJob *op = leaf->op;

        unit_job_take_facts(leaf, result, facts);
        if (unit_fact_is(result, "done")) {
                if ((op->facts.job > 0 ? !unit_facts_are_up(&op->facts)
                                       : unit_fact_is(op->facts.active_state, "inactive")) &&
                    !unit_was_up_since(&op->facts, leaf->started)) {
                        unit_facts_set(&op->result, "canceled");
                        op->undone = op->recovered && op->facts.job == 0;
                }
                unit_job_check(leaf, true);
        } else if (unit_fact_is(result, "dependency")) {
                unit_job_read_details(leaf);
        } else {
                unit_job_fail_by_facts(leaf);
        }
}

/* Records the new holder before the previous one releases the unit. */
static void on_recovery_kept(void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        json_object *memo = NULL;

        if (!is_held(op))
                return;

        (void) json_object_deep_copy(op->memo, &memo, NULL);
        json_object_object_add(memo, "holder", json_object_new_string(op->holder));
        json_object_put(op->memo);
        op->memo = memo;
        leaf_set_memo(leaf, json_object_get(memo));
        unit_job_leave_inheritance(op);
}

static void on_recovery_queued(void *userdata) {
        leaf_read(userdata, 0);
        unit_job_search_order(userdata);
        unit_job_watch_frozen(userdata);
}

/* When what was requested was done, or failed. A unit that systemd has forgotten may have been down before any limit.
 */
static uint64_t time_of_end(const Leaf *leaf, const UnitFacts *facts) {
        const UnitJob *op = leaf->op;

        if (op->verb == UNIT_STOP)
                return facts->became_inactive > 0 ? facts->became_inactive : leaf->started;
        if (op->verb != UNIT_RELOAD && facts->became_active > leaf->started)
                return facts->became_active;
        if (op->verb != UNIT_RELOAD && facts->became_inactive > leaf->started)
                return facts->became_inactive;
        /* A unit whose condition or assertion was not met has not changed. */
        if (op->verb != UNIT_RELOAD)
                return MAX(facts->changed, MAX(facts->tested_conditions, facts->tested_asserts));

        return facts->changed;
}

static void on_recovery_known(UnitRecoveryVerdict verdict, const char *result, UnitFacts *facts, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        g_autoptr(UnitRecovery) recovery G_GNUC_UNUSED = g_steal_pointer(&op->recovery);
        bool awaits;

        unit_job_stop_search(op);
        if (op->deadlock) {
                unit_job_fail_for_deadlock(leaf);
                return;
        }
        /* Ignore the result of a halted job. */
        if (op->halted) {
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        awaits = verdict == UNIT_RECOVERY_ENDED && !unit_facts_are_up(facts) && unit_job_awaits_restart(leaf, facts);
        leaf_read(leaf, verdict == UNIT_RECOVERY_TO_DO || awaits ? 0 : time_of_end(leaf, facts));
        switch (verdict) {
        case UNIT_RECOVERY_TO_DO:
                op->away = false;
                g_clear_pointer(&op->memo, json_object_put);
                unit_job_hold(leaf);
                break;
        case UNIT_RECOVERY_SUCCEEDED:
                /* The unit must stay as it is, as after any job. But what nothing starts by itself was started by
                 * others since. */
                unit_job_take_facts(leaf, "done", facts);
                if (op->verb == UNIT_STOP && !unit_facts_are_down(&op->facts) && !unit_was_started_again(&op->facts))
                        leaf_end(leaf, STATUS_SUCCESS);
                else
                        unit_job_check(leaf, op->verb != UNIT_STOP);
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
                                                    op->recovered ? "btd was restarted"
                                                                  : "the connection to systemd was lost",
                                                    op->unit));
                break;
        }
}

static void unit_job_request(Leaf *leaf) {
        static const UnitRecoveryCallbacks callbacks = {
                .kept = on_recovery_kept,
                .queued = on_recovery_queued,
                .known = on_recovery_known,
                .failed = unit_job_fail_with,
        };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autoptr(sd_bus_message) request = NULL;

        if (op->memo || op->away) {
                op->recovery = unit_recovery_new(op->connection, op->path, op->verb, leaf->started, op->memo,
                                                 &callbacks, leaf);
                job_interest_drop(&op->interest);
                if (op->halted)
                        (void) unit_recovery_cancel(op->recovery, false);
                return;
        }

        /* systemd answers in this order. A unit that is not loaded has nothing to reset. */
        if (params->reset_failed)
                systemd_tell(op->connection, "ResetFailedUnit", "s", op->unit);
        request = systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER,
                                  params->if_active && op->verb == UNIT_RESTART ? "TryRestartUnit"
                                                                                : unit_verbs[op->verb].method,
                                  "ss", op->unit, unit_job_modes[params->mode]);
        op->job = job_new(op->connection, request, op->path, on_stepped, on_job_done, leaf);
}

static void on_referencing(void *userdata) {
        UnitJob *op = ((Leaf *) userdata)->op;
        const char *name;

        g_clear_pointer(&op->holder, g_free);
        if (sd_bus_get_unique_name(connection_bus(op->keeper), &name) >= 0)
                op->holder = g_strdup(name);
}

/* The bus may permit to start units, but not to hold references; then the leaf continues without a reference. */
static void on_referenced(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        bool lost = error && reply_is_lost(leaf, error);

        g_clear_pointer(&op->reference, call_free);
        if (error)
                g_clear_pointer(&op->holder, g_free);
        op->away |= lost;
        if (op->keeper != op->connection)
                unit_job_request(leaf);
}

/* Over one connection, systemd gets the reference before the request. Over two connections, the leaf has to wait for
 * the reference. */
static void unit_job_hold(Leaf *leaf) {
        UnitJob *op = leaf->op;

        g_clear_pointer(&op->reference, call_free);
        if (is_to_be_held(op) && !is_held(op)) {
                g_autoptr(sd_bus_message) message = systemd_message(op->keeper, op->path, SYSTEMD_UNIT, "Ref", NULL);

                op->reference = connection_call_told(op->keeper, message, on_referencing, on_referenced, leaf);
                if (op->keeper != op->connection)
                        return;
        }

        unit_job_request(leaf);
}

static Status unit_job_prepare(Leaf *leaf) {
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autofree char *error = NULL;

        op->verb = leaf->type == &start_unit_type     ? UNIT_START
                   : leaf->type == &stop_unit_type    ? UNIT_STOP
                   : leaf->type == &restart_unit_type ? UNIT_RESTART
                                                      : UNIT_RELOAD;
        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            dbus_bus_get(leaf, params->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->path = unit_name_path(op->unit);
        op->keeper = leaf->durable && !params->bus && leaf->services->stored ? leaf->services->stored : op->connection;
        return STATUS_RUNNING;
}

/* systemd would do nothing for a unit that is down or stops. If its state cannot be read, the request says why. */
static void on_activity(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;

        g_clear_pointer(&op->details, call_free);
        if (reply && unit_facts_read(&op->facts, reply) >= 0 && unit_fact_is(op->facts.load_state, "loaded") &&
            (unit_facts_are_down(&op->facts) || unit_fact_is(op->facts.active_state, "deactivating"))) {
                leaf_set_cause_of(leaf, CAUSE_UNIT_RESULT,
                                  facts_new("unit", fact_text(op->unit), "bus", fact_text(params->bus), "active_state",
                                            fact_text(op->facts.active_state), NULL),
                                  "%s was not %s, because it is %s", op->unit,
                                  op->verb == UNIT_RESTART ? "restarted" : "reloaded", op->facts.active_state);
                leaf_end(leaf, STATUS_SUCCESS);
                return;
        }

        unit_facts_clear(&op->facts);
        op->facts = (UnitFacts){};
        unit_job_hold(leaf);
}

static void unit_job_begin(void *userdata) {
        Leaf *leaf = userdata;
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;

        if (params->if_active)
                op->details = systemd_get_all(op->connection, op->path, SYSTEMD_UNIT, on_activity, leaf);
        else
                unit_job_hold(leaf);
}

static Status unit_job_start(Leaf *leaf) {
        UnitJob *op = leaf->op;
        Status status = unit_job_prepare(leaf);

        if (status == STATUS_RUNNING &&
            job_permit_acquire(&op->permit, op->connection, op->unit, leaf_user(leaf), unit_job_begin, leaf))
                unit_job_begin(leaf);

        return status;
}

static Status unit_job_recover(Leaf *leaf) {
        UnitJob *op = leaf->op;
        Status status;

        if (!leaf->has_memo)
                return STATUS_IDLE;

        status = unit_job_prepare(leaf);
        if (status != STATUS_RUNNING)
                return status;

        job_permit_adopt(&op->permit, op->connection, op->unit, leaf_user(leaf));
        op->recovered = true;
        op->memo = json_object_get(leaf->memo);
        op->inheritance = is_to_be_held(op) ? leaf->services->inheritance : NULL;
        if (op->inheritance)
                inheritance_use(op->inheritance);
        job_interest_take(&op->interest, op->connection, op->path, NULL);
        unit_job_hold(leaf);
        return STATUS_RUNNING;
}

/* A halt does not undo what was started: it only cancels a job that is still in the queue, and that is the leaf's own.
 */
static bool unit_job_halt(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->halted = true;
        unit_job_stop_search(op);
        if (op->deadlock)
                return false;
        /* A stop has others who need it: whoever has stopped the unit, or systemd when it shuts down. */
        if (op->verb == UNIT_STOP)
                return true;
        if (op->job)
                return op->result || job_cancel(op->job, false);
        if (op->result || !op->memo)
                return true;

        return op->recovery && unit_recovery_cancel(op->recovery, false);
}

/* True if there is no job that the leaf would have to cancel. */
static bool unit_job_halts_at_once(const Leaf *leaf) {
        const UnitJob *op = leaf->op;

        return !op->deadlock && (op->verb == UNIT_STOP || op->result || (!op->job && !op->memo));
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
        unit_job_stop_search(op);
        frozen_watch_free(op->frozen);
        job_free(op->job);
        job_permit_release(&op->permit);
        cause_unref(op->deadlock);
        job_interest_drop(&op->interest);
        unit_recovery_free(op->recovery);
        unit_job_stop_reading(op);
        unit_facts_clear(&op->facts);
        json_object_put(op->memo);
        g_free(op->holder);
        g_free(op->result);
        g_free(op->unit);
        g_free(op->path);
}

static char *unit_job_obstacle(const Leaf *leaf) {
        const UnitJob *op = leaf->op;
        char *obstacle = dbus_leaf_obstacle(leaf);

        if (obstacle || !frozen_watch_found(op->frozen))
                return obstacle;

        return g_strdup_printf("%s to be thawed, see 'systemctl %sthaw'", frozen_watch_found(op->frozen),
                               unit_job_is_of_user(leaf) ? "--user " : "");
}

static void unit_job_describe(Leaf *leaf, GString *text) {
        UnitJob *op = leaf->op;

        if (!op->result)
                g_string_append_printf(text, "job for %s", op->unit);
        else if (op->restarts && !op->check)
                g_string_append_printf(text, "%s to be up; systemd has restarted it %" PRIu32 " time%s", op->unit,
                                       op->facts.n_restarts, op->facts.n_restarts == 1 ? "" : "s");
        else
                g_string_append_printf(text, "%s to show that it is %s", op->unit,
                                       op->verb == UNIT_STOP ? "down" : "up");
}

const LeafKind unit_job_kind = {
        .op_size = sizeof(UnitJob),
        .start = unit_job_start,
        .halt = unit_job_halt,
        .halts_at_once = unit_job_halts_at_once,
        .release = unit_job_release,
        .awaited = unit_job_awaited,
        .obstacle = unit_job_obstacle,
        .describe = unit_job_describe,
        .recover = unit_job_recover,
        .reads = true,
};
