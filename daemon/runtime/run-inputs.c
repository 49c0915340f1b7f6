/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What happens to a run from outside. The machine takes nothing while it is at work, and what it does can be what
 * changes a condition or frees a lock; so that is kept until it has done.
 */

#include <assert.h>

#include "runtime/run-state.h"

typedef struct Kept {
        RunInput kind;
        NodeId node;
} Kept;

void run_begin(Run *run) {
        assert(!run->busy);

        run->busy = true;
        run->now = (uint64_t) g_get_monotonic_time();
}

/* A lock may have been let go again since. */
static void give(Run *run, const Kept *input) {
        switch (input->kind) {
        case RUN_INPUT_CONDITION:
                machine_condition_changed(run->machine, input->node);
                break;
        case RUN_INPUT_LOCK:
                if (node_locks_has(run->locks, input->node))
                        machine_lock_granted(run->machine, input->node);
                break;
        }
}

void run_end(Run *run) {
        run->busy = false;
        if (variables_have_changed(run->variables))
                machine_variable_set(run->machine);
        if (!run->kept)
                return;

        for (unsigned i = 0; i < run->kept->len; i++)
                give(run, &g_array_index(run->kept, Kept, i));

        g_clear_pointer(&run->kept, g_array_unref);
}

void run_wake(Run *run) {
        if (machine_wants_tick(run->machine) && (!run->paused || run->halting))
                ticker_queue(run->services->ticker, &run->turn);
}

void run_input(Run *run, RunInput kind, NodeId node) {
        Kept input = { .kind = kind, .node = node };

        if (run->busy) {
                run->kept = run->kept ?: g_array_new(FALSE, FALSE, sizeof(Kept));
                g_array_append_val(run->kept, input);
                return;
        }

        run_begin(run);
        give(run, &input);
        run_end(run);
        run_wake(run);
}

void run_on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        run_begin(run);
        machine_timer_expired(run->machine, node);
        run_end(run);
        run_wake(run);
}

void run_on_activity_ended(Activity *activity, void *userdata) {
        Run *run = userdata;
        NodeId node = activity_node(activity);
        Status status = activity_status(activity);

        run_begin(run);
        /* A halted one is of no further interest, any other until the machine has seen its end. */
        if (machine_node_ending(run->machine, node))
                run_drop_activity(run, activity);

        machine_leaf_ended(run->machine, node, status);
        run_end(run);
        run_wake(run);
}

void run_on_activity_changed(Activity *activity, void *userdata) {
        run_input(userdata, RUN_INPUT_CONDITION, activity_node(activity));
}

void run_on_lock_granted(NodeId node, void *userdata) {
        run_input(userdata, RUN_INPUT_LOCK, node);
}

/* What is set by the tree itself is found when its tick is over. */
void run_on_activity_output(Activity *activity, void *userdata) {
        Run *run = userdata;

        if (!run->busy)
                run_variable_changed(run);
}

void run_variable_changed(Run *run) {
        run_begin(run);
        machine_variable_changed(run->machine);
        run_end(run);
        run_wake(run);
}
