/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the recovery of a live run. What has happened while btd was not running becomes inputs: an expired timer,
 * a free lock, an ended leaf.
 */

#include <assert.h>
#include <string.h>

#include "basic/foreach.h"
#include "engine/machine.h"
#include "run/run-recovery.h"
#include "run/run-state.h"

/* The bytes that a file of secret variables can have besides their values: their names. */
#define SECRETS_MORE_BYTES (UINT64_C(1) << 20)

/* Limits count after this time, even if systemd has not answered. */
#define READING_USEC_MAX UINT64_C(10000000)

typedef struct PastEvent {
        uint64_t time; /* CLOCK_MONOTONIC, microseconds */
        NodeId node;
        bool limit; /* the timer of the node has expired; else the leaf has ended */
} PastEvent;

/* The events from the time without a btd. They are kept until each leaf has been read, and become inputs in the order
 * of their times, so that a limit counts only against what had not ended by then. */
struct Past {
        Timer *reading;
        unsigned n_unread; /* leaves */
        GArray *events;    /* PastEvent */
};

static void past_free(Past *past) {
        if (!past)
                return;

        timer_free(past->reading);
        g_array_unref(past->events);
        g_free(past);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Past, past_free)

void run_forget_past(Run *run) {
        g_clear_pointer(&run->past, past_free);
}

/* At the same time, ends come before limits. */
static int compare_times(const void *a, const void *b) {
        const PastEvent *x = a, *y = b;

        return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->limit - y->limit;
}

static void on_read(void *userdata) {
        Run *run = userdata;
        g_autoptr(Past) past = NULL;

        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                if (leaf->activity)
                        activity_end_reading(leaf->activity);

        past = g_steal_pointer(&run->past);
        g_array_sort(past->events, compare_times);
        ARRAY_FOREACH(const PastEvent, event, past->events) {
                Activity *activity = event->limit ? NULL : live_run_activity(run, event->node);

                if (activity)
                        activity_tell_end(activity);
                else if (event->limit && run_deadline(run, event->node) == event->time)
                        live_run_timer_expired(run, event->node);
                if (!run_wants_tick(run) || ticker_is_held(run->services->ticker))
                        continue;

                ticker_remove(run->services->ticker, &run->turn);
                if (live_run_tick(run))
                        return;
        }
}

static void read_within(Run *run, uint64_t usec) {
        timer_free(run->past->reading);
        run->past->reading = timer_new(run->services->leaves->timers, usec, on_read, run);
}

void run_begin_reading(Run *run) {
        if (!run->past) {
                run->past = g_new0(Past, 1);
                run->past->events = g_array_new(FALSE, FALSE, sizeof(PastEvent));
                read_within(run, READING_USEC_MAX);
        }
        run->past->n_unread++;
}

void run_end_reading(Run *run) {
        assert(run->past->n_unread > 0);

        if (--run->past->n_unread == 0)
                read_within(run, 0);
}

void run_keep(Run *run, NodeId node, bool limit, uint64_t time) {
        PastEvent event = { .time = time, .node = node, .limit = limit };

        g_array_append_val(run->past->events, event);
}

Run *run_recover(const RecordHeader *header, Replay *replay, RecordWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata) {
        bool begun = replay_position(replay) > 0 && !replay_has_finished(replay);
        Run *run = replay_take(replay);
        g_autofree char *secrets = NULL;

        live_run_begin(run, services, callbacks, userdata);
        run_set_caller(run, header->uid);
        run_set_token(run, header->token);
        if (writer) {
                /* The record does not have them. */
                secrets = record_writer_read_secrets(
                        writer, 2 * blackboard_bytes_max(definition_limits(run->definition)) + SECRETS_MORE_BYTES);
                if (secrets) {
                        variables_restore_secrets(run->variables, secrets);
                        explicit_bzero(secrets, strlen(secrets));
                }
                run_set_writer(run, writer);
        }
        if (begun)
                input_recovered(run, live_run_clock(run));

        return run;
}

Run *run_end_lost(const RecordHeader *header, Replay *replay, RecordWriter *writer) {
        bool ended = replay_has_finished(replay);
        Run *run = replay_take(replay);

        run->caller = header->uid;
        run_set_token(run, header->token);
        run_set_writer(run, writer);
        if (!ended) {
                g_autoptr(GString) text = g_string_new(RECORD_MACHINE_WENT_DOWN);

                run_append_doings(run, "; running: ", text);
                input_give_up(run, cause_new(CAUSE_LOST, NULL, text->str), run->now);
        }
        return run;
}

void run_recover_lock(Run *run, const RunLock *lock) {
        bool taken = live_run_take_lock(run, lock->node, lock->held);

        if (taken && !lock->held)
                input_lock_granted(run, lock->node, live_run_clock(run));
        else if (!taken && lock->held && run_is_connection(run, lock->node))
                input_lock_refused(
                        run, lock->node,
                        cause_new(CAUSE_CONNECTION_LOST, NULL, "btd was restarted, so the connection was closed"),
                        live_run_clock(run));
}

/* By the time of the start; for equal times, by the order of nodes. */
static int compare_starts(const void *a, const void *b) {
        const RunLeaf *x = *(const RunLeaf *const *) a, *y = *(const RunLeaf *const *) b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;

        return (x->node > y->node) - (x->node < y->node);
}

void run_recover_leaves(Run *run) {
        g_autoptr(GPtrArray) leaves = NULL;

        if (run_status(run) != STATUS_RUNNING) {
                live_run_finish(run);
                return;
        }
        leaves = g_ptr_array_new();
        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                g_ptr_array_add(leaves, leaf);
        g_ptr_array_sort(leaves, compare_starts);
        PTRS_FOREACH(RunLeaf, leaf, leaves) {
                const Cause *cause;

                /* The outcome of an action may be known already. */
                if (!leaf->known && leaf->status != STATUS_RUNNING)
                        continue;

                leaf->activity = activity_recover(run, leaf);
                /* A condition can be false for a new reason, for example because a secret in its parameters was lost;
                 * and a variable in its parameters can have changed before btd was stopped, but after the last tick. */
                cause = activity_cause(leaf->activity);
                if (activity_status(leaf->activity) == leaf->status &&
                    (!activity_is_condition(leaf->activity) ||
                     (run_is_as_noted(run, leaf) &&
                      g_strcmp0(cause ? cause->text : NULL, leaf->cause ? leaf->cause->text : NULL) == 0)))
                        continue;

                if (activity_is_condition(leaf->activity))
                        input_condition_changed(run, leaf->node, false, live_run_clock(run));
                else
                        live_run_give_end(run, leaf->node);
        }

        if (run->queues) {
                TABLE_PAIRS(SignalQueue, it, run->queues)
                        live_run_listen(run, GPOINTER_TO_UINT(it.key));
        }
        live_run_settle(run);
}
