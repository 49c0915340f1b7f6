/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the machine of a simulation asks for: actors for its leaves, entries of the agenda for its timers, and answers
 * about variables. */

#include "definition/reasons.h"
#include "simulation-state.h"

NodeTimer *simulation_timer(Simulation *simulation, NodeId node) {
        return &simulation->timers[MIN(node, simulation->tree->n_nodes)];
}

static void on_timer(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        simulation_timer(simulation, node)->entry = NULL;
        machine_timer_expired(simulation->machine, node);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Simulation *simulation = machine_userdata(machine);
        NodeTimer *timer = simulation_timer(simulation, node);

        agenda_drop(timer->entry);
        timer->entry = agenda_add(simulation->context.agenda, usec, on_timer, node, simulation);
        timer->span = usec;
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        agenda_drop(g_steal_pointer(&simulation_timer(machine_userdata(machine), node)->entry));
}

static Actor *start_actor(Simulation *simulation, NodeId node) {
        Actor *actor = actor_start(&simulation->context, node, simulation->starts[node]++);

        machine_node_set_data(simulation->machine, node, actor);
        return actor;
}

void simulation_drop_actor(Simulation *simulation, Actor *actor) {
        machine_node_set_data(simulation->machine, actor_node(actor), NULL);
        actor_free(actor);
}

/* One that had to wait until what it replaces has ended was called running then; now it is. */
static Status host_leaf_start(Machine *machine, NodeId node) {
        Simulation *simulation = machine_userdata(machine);
        Status status = actor_status(start_actor(simulation, node));

        if (status == STATUS_RUNNING && machine_node_status(machine, node) == STATUS_RUNNING)
                simulation_tell_status(simulation, node, status, NULL);

        return status;
}

static bool host_leaf_halt(Machine *machine, NodeId node) {
        return actor_halt(machine_node_data(machine, node));
}

static Status host_condition_look(Machine *machine, NodeId node) {
        Actor *actor = machine_node_data(machine, node) ?: start_actor(machine_userdata(machine), node);

        return actor_status(actor);
}

static void host_condition_release(Machine *machine, NodeId node) {
        Simulation *simulation = machine_userdata(machine);
        Actor *actor = machine_node_data(machine, node);

        simulation->told[node] = STATUS_IDLE;
        if (actor)
                simulation_drop_actor(simulation, actor);
}

void simulation_on_ended(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;
        NodeId node = actor_node(actor);
        Status status = actor_status(actor);

        if (machine_node_ending(simulation->machine, node) && !machine_node_goes_on(simulation->machine, node)) {
                simulation_drop_actor(simulation, actor);
                simulation_tell_status(simulation, node, STATUS_HALTED, NULL);
        }

        machine_leaf_ended(simulation->machine, node, status);
}

void simulation_on_changed(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;

        machine_condition_changed(simulation->machine, actor_node(actor));
}

void simulation_on_remarked(NodeId node, const char *kind, const char *text, void *userdata) {
        simulation_tell(userdata, node, kind, text);
}

static Variables *variables_of(Machine *machine) {
        const Simulation *simulation = machine_userdata(machine);

        return simulation->context.variables;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        return variables_guard(variables_of(machine), node, guard);
}

static Verdict host_test(Machine *machine, NodeId node, const Script *condition) {
        return variables_test(variables_of(machine), node, condition);
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                           const char *const *cases) {
        return variables_match(variables_of(machine), node, variable, of, cases);
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return variables_next_element(variables_of(machine), node, list, variable, index);
}

static Verdict host_hook(Machine *machine, NodeId node, Hook hook) {
        return variables_hook(variables_of(machine), node, hook);
}

static Verdict host_has_changed(Machine *machine, NodeId node, const Script *of) {
        return variables_has_changed(variables_of(machine), node, of);
}

/* Notes whose variables are wrong. */
static bool accept(Machine *machine, NodeId node, bool fine) {
        Simulation *simulation = machine_userdata(machine);

        if (!fine)
                simulation->refused = node;

        return fine;
}

static uint32_t host_elements(Machine *machine, NodeId node) {
        uint32_t n = variables_elements(variables_of(machine), node);

        accept(machine, node, n != UINT32_MAX);
        return n;
}

static void host_hand_out(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        variables_hand_out(variables_of(machine), for_each, child, index);
}

static bool host_enter(Machine *machine, NodeId node) {
        return accept(machine, node, variables_enter(variables_of(machine), node));
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        return accept(machine, node, variables_leave(variables_of(machine), node, status));
}

static bool host_lock(Machine *machine, NodeId node) {
        Simulation *simulation = machine_userdata(machine);
        g_autofree char *lock = NULL, *text = NULL;

        if (node_locks_take(simulation->node_locks, node))
                return true;

        lock = node_locks_describe(simulation->node_locks, node);
        text = g_strconcat("for ", lock, NULL);
        simulation_tell(simulation, node, "waiting", text);
        return false;
}

static void host_unlock(Machine *machine, NodeId node) {
        const Simulation *simulation = machine_userdata(machine);

        node_locks_drop(simulation->node_locks, node);
}

/* It may have been let go again since. */
static void on_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        if (node_locks_has(simulation->node_locks, node))
                machine_lock_granted(simulation->machine, node);
}

/* While the machine is at work, which takes nothing then. */
void simulation_on_lock_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        agenda_add(simulation->context.agenda, 0, on_granted, node, simulation);
}

static bool host_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        const Simulation *simulation = machine_userdata(machine);

        return cause_matches_any(history_cause(simulation->history, child), patterns);
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        simulation_record(machine_userdata(machine), node, status, reason);
}

const MachineHost simulation_host = {
        .leaf_start = host_leaf_start,
        .leaf_halt = host_leaf_halt,
        .condition_look = host_condition_look,
        .condition_release = host_condition_release,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .guard = host_guard,
        .test = host_test,
        .match = host_match,
        .hook = host_hook,
        .has_changed = host_has_changed,
        .elements = host_elements,
        .hand_out = host_hand_out,
        .enter = host_enter,
        .leave = host_leave,
        .lock = host_lock,
        .unlock = host_unlock,
        .cause_matches = host_cause_matches,
        .next_element = host_next_element,
        .changed = host_changed,
};
