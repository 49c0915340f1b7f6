/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What happens to a run from outside. It takes nothing while it is at work, and what it does then can be what changes a
 * condition or frees a lock; so that is kept until it has done.
 */

#include "runtime/run-state.h"

typedef struct Kept {
        RunInput kind;
        NodeId node;
} Kept;

uint64_t run_now(void) {
        return (uint64_t) g_get_monotonic_time();
}

/* A lock may have been let go again since. */
static void give(Run *run, const Kept *input) {
        switch (input->kind) {
        case RUN_INPUT_CONDITION:
                progress_condition_changed(run->progress, input->node, run_now());
                break;
        case RUN_INPUT_LOCK:
                if (node_locks_has(run->locks, input->node))
                        progress_lock_granted(run->progress, input->node, run_now());
                break;
        }
}

void run_settle(Run *run) {
        g_autoptr(GArray) kept = g_steal_pointer(&run->kept);

        for (unsigned i = 0; kept && i < kept->len; i++)
                give(run, &g_array_index(kept, Kept, i));

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

        give(run, &input);
        run_settle(run);
}

void run_on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        progress_timer_expired(run->progress, node, run_now());
        run_settle(run);
}

bool run_on_activity_ended(Activity *activity, void *userdata) {
        Run *run = userdata;
        bool over = progress_leaf_ended(run->progress, activity_node(activity), run_now());

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
