/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Decides by the times of a unit. systemd stores when a unit last left and entered its states, and when it tested its
 * conditions: if such a time is later than the start of the leaf, the request was carried out. These times last as long
 * as the unit is loaded, also through a daemon-reload and a daemon-reexec. A reference keeps the unit loaded: as long
 * as systemd names the holder of the reference, the unit was not forgotten, and a missing time means that nothing has
 * happened.
 *
 * Requests of a lost connection can still be on their way to systemd. When the name of that connection has no owner any
 * more, the bus has delivered all of them, so the unit is read after that.
 */

#include "leaves/unit/unit-recovery.h"
#include "basic/cleanup.h"
#include "bus/names.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-check.h"

struct UnitRecovery {
        Connection *connection;
        char *unit; /* its path */
        UnitVerb verb;
        uint64_t since;
        bool begun; /* systemd was asked, or about to be */
        bool heard;
        char *bus, *holder;
        bool asked_here; /* over a connection; when its unique name has no owner, it is closed */
        NameUse asker;
        bool was_read;
        bool cancelled;       /* the job is not wanted any more */
        bool deadlocked;      /* ... because it would never end */
        uint32_t job;         /* the id of the job that was queued for the request; 0: not known */
        bool own;             /* the request has created it */
        uint32_t queued;      /* the last job that was reported */
        uint32_t other;       /* a job that the request cannot have created; 0: none is known */
        uint32_t typed;       /* the last job whose type was read */
        Call *type;           /* reads it */
        JobInterest interest; /* in that job, or in any of the unit until it was read */
        JobNeed *need;        /* of others, before it is cancelled */
        UnitWatch *watch;
        const UnitRecoveryCallbacks *callbacks;
        void *userdata;
};

json_object *unit_recovery_memo(const UnitRequest *request) {
        json_object *memo = json_object_new_object();

        json_object_object_add(memo, "bus", json_object_new_string(request->bus));
        json_object_object_add(memo, "asker", json_object_new_string(request->asker));
        if (request->holder)
                json_object_object_add(memo, "holder", json_object_new_string(request->holder));
        json_object_object_add(memo, "heard", json_object_new_boolean(request->heard));
        if (request->job > 0)
                json_object_object_add(memo, "job", json_object_new_int64(request->job));
        if (request->own)
                json_object_object_add(memo, "own", json_object_new_boolean(true));
        return memo;
}

/* Anything that the leaf requested happened after its start. A time that is equal to the start belongs to an earlier
 * request. */
static bool is_since(const UnitRecovery *recovery, uint64_t time) {
        return time > recovery->since;
}

static bool is_same_bus(const UnitRecovery *recovery) {
        g_autofree char *bus = connection_bus_id(recovery->connection);

        return unit_fact_is(recovery->bus, bus);
}

/* systemd knows no state changes of a newly loaded unit. If it is reloaded then, it reports that time as the state
 * change of such a unit. */
static bool was_kept(const UnitRecovery *recovery, const UnitFacts *facts) {
        bool known_before = facts->changed > 0 && !is_since(recovery, facts->changed);

        return known_before || facts->left_inactive > 0 ||
               (recovery->holder && facts->referrers && is_same_bus(recovery) &&
                g_strv_contains((const char *const *) facts->referrers, recovery->holder));
}

static bool asserts_failed(const UnitRecovery *recovery, const UnitFacts *facts) {
        return is_since(recovery, facts->tested_asserts) && !facts->assert_result;
}

static UnitRecoveryVerdict judge_start(const UnitRecovery *recovery, const UnitFacts *facts) {
        bool kept = was_kept(recovery, facts);
        /* A unit with RemainAfterExit=yes that is inactive was not started: otherwise it would be active, or failed and
         * kept by systemd. systemd itself stops a unit that is not needed any more. */
        bool not_started = facts->remain_after_exit && !facts->stop_when_unneeded &&
                           unit_fact_is(facts->active_state, "inactive") &&
                           unit_fact_is(facts->collect_mode, "inactive");

        if (is_since(recovery, facts->left_inactive) || asserts_failed(recovery, facts) ||
            (is_since(recovery, facts->tested_conditions) && !facts->condition_result) ||
            (recovery->verb == UNIT_START && unit_facts_are_up(facts)))
                return UNIT_RECOVERY_ENDED;
        if (!recovery->heard)
                return kept || !unit_fact_is(facts->load_state, "loaded") || not_started ? UNIT_RECOVERY_TO_DO
                                                                                         : UNIT_RECOVERY_UNKNOWN;
        /* It may have succeeded, or failed and been reset. */
        if (!kept)
                return UNIT_RECOVERY_UNKNOWN;

        /* The unit was already active, or the job of another client for it was running; the unit has ended since.
         */
        return recovery->verb == UNIT_START && is_since(recovery, facts->became_inactive) ? UNIT_RECOVERY_ENDED
                                                                                          : UNIT_RECOVERY_DROPPED;
}

static UnitRecoveryVerdict judge(const UnitRecovery *recovery, const UnitFacts *facts) {
        bool there = recovery->heard || unit_fact_is(facts->load_state, "loaded"),
             failed = facts->reload_result && !unit_fact_is(facts->reload_result, "success");

        if (!recovery->begun)
                return UNIT_RECOVERY_TO_DO;

        switch (recovery->verb) {
        case UNIT_STOP:
                /* A unit that began to start since then was down until then. */
                if ((unit_facts_are_down(facts) && there) || is_since(recovery, facts->became_inactive) ||
                    is_since(recovery, facts->left_inactive))
                        return UNIT_RECOVERY_SUCCEEDED;

                return recovery->heard ? UNIT_RECOVERY_DROPPED : UNIT_RECOVERY_TO_DO;
        case UNIT_RELOAD:
                if (unit_facts_are_up(facts) && is_since(recovery, facts->changed))
                        return failed ? UNIT_RECOVERY_ENDED : UNIT_RECOVERY_SUCCEEDED;
                if (!recovery->heard)
                        return UNIT_RECOVERY_TO_DO;

                return was_kept(recovery, facts) ? UNIT_RECOVERY_DROPPED : UNIT_RECOVERY_UNKNOWN;
        default:
                return judge_start(recovery, facts);
        }
}

/* A request may still be on its way. */
static void read_unit(void *userdata) {
        const UnitRecovery *recovery = userdata;
        bool asks = recovery->asked_here && name_state(&recovery->asker) != NAME_ABSENT && is_same_bus(recovery);

        if (unit_watch_is_ready(recovery->watch) && !asks)
                unit_watch_read(recovery->watch);
}

/* Discard the facts that were read before. */
static void on_ready(void *userdata) {
        UnitRecovery *recovery = userdata;

        recovery->was_read = false;
        recovery->typed = recovery->other = 0;
        job_interest_take(&recovery->interest, recovery->connection, recovery->unit, NULL);
        g_clear_pointer(&recovery->type, call_free);
        unit_facts_clear(unit_watch_facts(recovery->watch));
        read_unit(recovery);
}

/* The job is left to others, whatever becomes of it. */
static void leave_job(UnitRecovery *recovery) {
        UnitFacts *facts = unit_watch_facts(recovery->watch);

        recovery->callbacks->known(UNIT_RECOVERY_UNKNOWN, "canceled", facts, recovery->userdata);
}

static bool is_own(const UnitRecovery *recovery) {
        return recovery->own && unit_watch_facts(recovery->watch)->job == recovery->job &&
               !job_interest_is_shared(&recovery->interest);
}

static void on_need(bool needed, void *userdata) {
        UnitRecovery *recovery = userdata;
        g_autoptr(sd_bus_message) message = NULL;

        g_clear_pointer(&recovery->need, job_need_free);
        if (needed || !is_own(recovery)) {
                leave_job(recovery);
                return;
        }

        message = systemd_message(recovery->connection, recovery->interest.path, SYSTEMD_JOB, "Cancel", NULL);
        systemd_send(recovery->connection, message);
}

static void cancel_job(UnitRecovery *recovery) {
        if (!recovery->need)
                recovery->need =
                        job_need_new(recovery->connection, recovery->interest.path, unit_verbs[recovery->verb].method,
                                     recovery->deadlocked, on_need, recovery);
}

static void on_changed(void *userdata);

/* A stop is not a part of a start, a restart or a reload, nor the other way round. An error: the job or the bus is
 * gone, which is told otherwise. */
static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitRecovery *recovery = userdata;
        const char *type;

        g_clear_pointer(&recovery->type, call_free);
        if (error)
                return;

        if (sd_bus_message_read(reply, "v", "s", &type) >= 0 &&
            unit_fact_is(type, "stop") != (recovery->verb == UNIT_STOP))
                recovery->other = recovery->typed;
        on_changed(recovery);
}

/* The job of the request is not in the queue: there is none, or it is another one. If the number of the job is not
 * known, a unit that has been up since the request needs no job, so somebody else has queued the one that it has. */
static bool job_has_ended(const UnitRecovery *recovery, const UnitFacts *facts) {
        if (facts->job == 0)
                return true;
        if (recovery->job > 0)
                return facts->job != recovery->job;

        return facts->job == recovery->other || ((recovery->verb == UNIT_START || recovery->verb == UNIT_RESTART) &&
                                                 recovery->begun && unit_was_up_since(facts, recovery->since));
}

/* Signals may come before all properties have been read. */
static void on_changed(void *userdata) {
        UnitRecovery *recovery = userdata;
        UnitFacts *facts = unit_watch_facts(recovery->watch);

        if (!facts->load_state)
                return;

        if (!recovery->was_read && recovery->begun && was_kept(recovery, facts))
                recovery->callbacks->kept(recovery->userdata);
        recovery->was_read = true;
        if (facts->job > 0)
                job_interest_take(&recovery->interest, recovery->connection, recovery->unit, facts->job_path);
        /* Is it still to be found out whether the request can have created the job? */
        if (recovery->begun && recovery->job == 0 && facts->job > 0 &&
            (facts->job != recovery->typed || recovery->type)) {
                if (facts->job == recovery->typed)
                        return;
                call_free(recovery->type);
                recovery->typed = facts->job;
                recovery->type =
                        systemd_get(recovery->connection, facts->job_path, SYSTEMD_JOB, "JobType", on_type, recovery);
        } else if (job_has_ended(recovery, facts)) {
                const char *result = recovery->verb == UNIT_RELOAD                 ? "failed"
                                     : asserts_failed(recovery, facts)             ? "assert"
                                     : unit_fact_is(facts->active_state, "failed") ? "failed"
                                                                                   : "done";

                recovery->callbacks->known(judge(recovery, facts), result, facts, recovery->userdata);
        } else if (recovery->cancelled) {
                if (is_own(recovery))
                        cancel_job(recovery);
                else
                        leave_job(recovery);
        } else if (facts->job != recovery->queued) {
                recovery->queued = facts->job;
                recovery->callbacks->queued(recovery->userdata);
        }
}

/* Ignore that the bus or systemd was lost: the watch reports when it is back. */
static void on_failed(const sd_bus_error *error, void *userdata) {
        const UnitRecovery *recovery = userdata;

        if (!systemd_is_away(error))
                recovery->callbacks->failed(error, recovery->userdata);
}

UnitRecovery *unit_recovery_new(Connection *connection, const char *path, UnitVerb verb, uint64_t since,
                                json_object *memo, const UnitRecoveryCallbacks *callbacks, void *userdata) {
        static const UnitWatchCallbacks watch_callbacks = {
                .ready = on_ready,
                .changed = on_changed,
                .failed = on_failed,
        };
        const char *asker = json_object_get_string(json_object_object_get(memo, "asker")), *own = NULL;
        UnitRecovery *recovery = g_new(UnitRecovery, 1);

        /* Messages over the current connection stay in order. */
        if (connection_is_ready(connection))
                (void) sd_bus_get_unique_name(connection_bus(connection), &own);
        *recovery = (UnitRecovery){
                .connection = connection,
                .unit = g_strdup(path),
                .verb = verb,
                .since = since,
                .begun = memo,
                .heard = json_object_get_boolean(json_object_object_get(memo, "heard")),
                .job = (uint32_t) json_object_get_int64(json_object_object_get(memo, "job")),
                .own = json_object_get_boolean(json_object_object_get(memo, "own")),
                .bus = g_strdup(json_object_get_string(json_object_object_get(memo, "bus"))),
                .holder = g_strdup(json_object_get_string(json_object_object_get(memo, "holder"))),
                .asked_here = asker && sd_bus_service_name_is_valid(asker) && !unit_fact_is(own, asker),
                .asker.follower = { .changed = read_unit, .userdata = recovery },
                .callbacks = callbacks,
                .userdata = userdata,
        };
        if (recovery->asked_here)
                name_use(connection_names(connection), &recovery->asker, asker);
        job_interest_take(&recovery->interest, connection, path, NULL);
        recovery->watch = unit_watch_new(connection, path, &watch_callbacks, recovery);
        return recovery;
}

void unit_recovery_free(UnitRecovery *recovery) {
        if (!recovery)
                return;

        call_free(recovery->type);
        job_need_free(recovery->need);
        job_interest_drop(&recovery->interest);
        unit_watch_free(recovery->watch);
        if (recovery->asked_here)
                name_leave(&recovery->asker);
        g_free(recovery->unit);
        g_free(recovery->bus);
        g_free(recovery->holder);
        g_free(recovery);
}

const char *unit_recovery_job(const UnitRecovery *recovery) {
        const UnitFacts *facts = unit_watch_facts(recovery->watch);

        return facts->job > 0 ? facts->job_path : NULL;
}

bool unit_recovery_cancel(UnitRecovery *recovery, bool deadlocked) {
        recovery->cancelled = true;
        recovery->deadlocked = deadlocked;
        if (unit_watch_facts(recovery->watch)->job == 0)
                return false;
        if (!recovery->interest.path || !is_own(recovery))
                return true;

        cancel_job(recovery);
        return false;
}
