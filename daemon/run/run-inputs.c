/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Feeds inputs from outside into a run. A run takes no input during a tick, but effects of a tick can change a
 * condition or free a lock; such inputs are kept until the tick is done. A run that only reacts to its own inputs,
 * such as a Script that always changes a Condition before it, is slowed down like any other loop.
 */

#include "run/run-state.h"

#define UNPROMPTED_MAX 1000u

typedef struct Kept {
        RunInput kind;
        NodeId node;
} Kept;

uint64_t run_now(void) {
        return (uint64_t) g_get_monotonic_time();
}

/* Gives one kept input to the run. The run caused it itself, so check it again: the condition may have ended, and the
 * lock may have been released since. */
static void give(Run *run, const Kept *input, bool kept) {
        switch (input->kind) {
        case RUN_INPUT_CONDITION:
                if (!progress_leaf(run->progress, input->node))
                        break;
                if (kept)
                        progress_condition_turned(run->progress, input->node, run_now());
                else
                        progress_condition_changed(run->progress, input->node, run_now());
                break;
        case RUN_INPUT_LOCK:
                if (node_locks_has(run->locks, input->node))
                        progress_lock_granted(run->progress, input->node, run_now());
                break;
        }
}

static void give_kept(Run *run) {
        g_autoptr(GArray) kept = g_steal_pointer(&run->kept);

        g_clear_pointer(&run->later, timer_free);
        for (unsigned i = 0; i < kept->len; i++)
                give(run, &g_array_index(kept, Kept, i), true);
}

static void on_later(void *userdata) {
        Run *run = userdata;

        give_kept(run);
        run_settle(run);
}

static void settle_kept(Run *run) {
        const Tree *tree = definition_tree(run_definition(run));

        if (run->unprompted++ < UNPROMPTED_MAX)
                give_kept(run);
        else if (!run->later)
                run->later = timer_new(run->services->leaves->timers, tree->interval, on_later, run);
}

void run_settle(Run *run) {
        if (run->kept)
                settle_kept(run);

        if (progress_wants_tick(run->progress))
                ticker_queue(run->services->ticker, &run->turn);
}

void run_input(Run *run, RunInput kind, NodeId node) {
        Kept input = { .kind = kind, .node = node };

        if (progress_is_busy(run->progress)) {
                run->kept = run->kept ?: g_array_new(FALSE, FALSE, sizeof(Kept));
                g_array_append_val(run->kept, input);
                return;
        }

        run->unprompted = 0;
        give(run, &input, false);
        run_settle(run);
}

void run_on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        if (node != NODE_NONE)
                run->unprompted = 0;
        progress_timer_expired(run->progress, node, run_now());
        run_settle(run);
}

bool run_on_activity_ended(Activity *activity, void *userdata) {
        Run *run = userdata;
        bool over;

        run->unprompted = 0;
        over = progress_leaf_ended(run->progress, activity_node(activity), run_now());

        run_settle(run);
        return over;
}

void run_on_activity_changed(Activity *activity, void *userdata) {
        run_input(userdata, RUN_INPUT_CONDITION, activity_node(activity));
}

void run_on_lock_granted(NodeId node, void *userdata) {
        run_input(userdata, RUN_INPUT_LOCK, node);
}

void run_on_activity_output(Activity *activity, const char *key, json_object *value, void *userdata) {
        Run *run = userdata;

        progress_set_output(run->progress, activity_node(activity), key, value, run_now());
        if (!progress_is_busy(run->progress))
                run_settle(run);
}

void run_on_activity_remembers(Activity *activity, json_object *memory, void *userdata) {
        const Run *run = userdata;

        progress_remember(run->progress, activity_node(activity), memory, run_now());
}

void run_on_activity_rerun(Activity *activity, void *userdata) {
        const Run *run = userdata;

        progress_rerun(run->progress, activity_node(activity), activity_noted(activity), run_now());
}
