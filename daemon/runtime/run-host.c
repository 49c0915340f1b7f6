/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the machine of a run asks for: activities for its leaves, timers, and answers about variables. */

#include "definition/reasons.h"
#include "runtime/run-state.h"

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
        Status status;

        run->first_look = !activity;
        if (!activity)
                activity = start_activity(run, node);

        status = activity_look(activity);
        cause_unref(run->last_look);
        run->last_look = activity_cause(activity) ? cause_ref(activity_cause(activity)) : NULL;
        return status;
}

static void host_condition_release(Machine *machine, NodeId node) {
        Activity *activity = machine_node_data(machine, node);

        if (activity)
                run_drop_activity(machine_userdata(machine), activity);
}

static Variables *variables_of(Machine *machine) {
        const Run *run = machine_userdata(machine);

        return run->variables;
}

static bool host_lock(Machine *machine, NodeId node) {
        const Run *run = machine_userdata(machine);

        return node_locks_take(run->locks, node);
}

static void host_unlock(Machine *machine, NodeId node) {
        const Run *run = machine_userdata(machine);

        node_locks_drop(run->locks, node);
}

static void host_breakpoint(Machine *machine, NodeId node) {
        run_stop_at(machine_userdata(machine), node);
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        Run *run = machine_userdata(machine);

        run->asked = guard;
        return variables_guard(run->variables, node, guard);
}

static Verdict host_hook(Machine *machine, NodeId node, Hook hook) {
        return variables_hook(variables_of(machine), node, hook);
}

static Verdict host_has_changed(Machine *machine, NodeId node, const Script *of) {
        return variables_has_changed(variables_of(machine), node, of);
}

static bool host_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        const Run *run = machine_userdata(machine);

        return cause_matches_any(history_cause(run->history, child), patterns);
}

static Verdict host_test(Machine *machine, NodeId node, const char *variable) {
        Run *run = machine_userdata(machine);

        run->asked = ASKED_TEST;
        return variables_test(run->variables, node, variable);
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const char *const *cases) {
        return variables_match(variables_of(machine), node, variable, cases);
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return variables_next_element(variables_of(machine), node, list, variable, index);
}

static uint32_t host_elements(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        uint32_t n = variables_elements(run->variables, node);

        if (n == UINT32_MAX)
                run->refused = node;

        return n;
}

static void host_hand_out(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        variables_hand_out(variables_of(machine), for_each, child, index);
}

static bool host_enter(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        bool fine = variables_enter(run->variables, node);

        if (!fine)
                run->refused = node;

        return fine;
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        Run *run = machine_userdata(machine);
        bool fine = variables_leave(run->variables, node, status);

        if (!fine)
                run->refused = node;

        return fine;
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
        .lock = host_lock,
        .unlock = host_unlock,
        .breakpoint = host_breakpoint,
        .hook = host_hook,
        .has_changed = host_has_changed,
        .cause_matches = host_cause_matches,
        .test = host_test,
        .match = host_match,
        .next_element = host_next_element,
        .elements = host_elements,
        .hand_out = host_hand_out,
        .enter = host_enter,
        .leave = host_leave,
        .changed = host_changed,
};
