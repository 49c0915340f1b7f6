/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the machine of a run asks for: activities for its leaves, timers, and answers about variables. */

#include <assert.h>

#include "runtime/run-state.h"

void run_begin_input(Run *run) {
        assert(!run->ticking);

        run->now = (uint64_t) g_get_monotonic_time();
}

void run_wake(Run *run) {
        ticker_queue(run->services->ticker, &run->turn);
}

void run_on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        run_begin_input(run);
        machine_timer_expired(run->machine, node);
        run_wake(run);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Run *run = machine_userdata(machine);

        node_timers_arm(run->timers, node, usec);
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        node_timers_drop(run->timers, node);
}

void run_drop_activity(Run *run, Activity *activity) {
        machine_node_set_data(run->machine, activity_node(activity), NULL);
        activity_free(activity);
}

static Activity *start_activity(Run *run, NodeId node) {
        Activity *activity = activity_start(&run->context, node, history_count_start(run->history, node));

        machine_node_set_data(run->machine, node, activity);
        return activity;
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        return activity_status(start_activity(machine_userdata(machine), node));
}

static bool host_leaf_halt(Machine *machine, NodeId node) {
        Activity *activity = machine_node_data(machine, node);

        if (!activity_halt(activity))
                return false;

        run_drop_activity(machine_userdata(machine), activity);
        return true;
}

static Status host_condition_look(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        Activity *activity = machine_node_data(machine, node);

        run->first_look = !activity;
        if (!activity)
                activity = start_activity(run, node);

        cause_unref(run->last_look);
        run->last_look = activity_cause(activity) ? cause_ref(activity_cause(activity)) : NULL;
        return activity_status(activity);
}

static void host_condition_release(Machine *machine, NodeId node) {
        Activity *activity = machine_node_data(machine, node);

        if (activity)
                run_drop_activity(machine_userdata(machine), activity);
}

void run_on_activity_ended(Activity *activity, void *userdata) {
        Run *run = userdata;
        NodeId node = activity_node(activity);
        Status status = activity_status(activity);

        run_begin_input(run);
        /* A halted one is of no further interest, any other until the machine has seen its end. */
        if (machine_node_ending(run->machine, node))
                run_drop_activity(run, activity);

        machine_leaf_ended(run->machine, node, status);
        run_wake(run);
}

void run_on_activity_changed(Activity *activity, void *userdata) {
        Run *run = userdata;

        run_begin_input(run);
        machine_condition_changed(run->machine, activity_node(activity));
        run_wake(run);
}

static Variables *variables_of(Machine *machine) {
        const Run *run = machine_userdata(machine);

        return run->variables;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        Run *run = machine_userdata(machine);

        run->last_guard = guard;
        return variables_guard(run->variables, node, guard);
}

static Verdict host_test(Machine *machine, NodeId node, const char *variable) {
        return variables_test(variables_of(machine), node, variable);
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const char *const *cases) {
        return variables_match(variables_of(machine), node, variable, cases);
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return variables_next_element(variables_of(machine), node, list, variable, index);
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        run_record(machine_userdata(machine), node, status, reason);
}

const MachineHost run_host = {
        .leaf_start = host_leaf_start,
        .leaf_halt = host_leaf_halt,
        .condition_look = host_condition_look,
        .condition_release = host_condition_release,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .guard = host_guard,
        .test = host_test,
        .match = host_match,
        .next_element = host_next_element,
        .changed = host_changed,
};
