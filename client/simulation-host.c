/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The world of a simulation: actors for the leaves of its run, entries of the agenda for its timers. */

#include "simulation-state.h"

static uint64_t now(const Simulation *simulation) {
        return agenda_now(simulation->context.agenda);
}

/* One that had to wait until what it replaces has ended is running already, as its run sees it. */
static void *host_leaf_start(NodeId node, uint32_t attempt, void *userdata) {
        Simulation *simulation = userdata;
        const Machine *machine = progress_machine(simulation->context.progress);
        Actor *actor = actor_start(&simulation->context, node, simulation->starts[node]++);

        simulation->told[node] = STATUS_IDLE;
        if (actor_status(actor) == STATUS_RUNNING && machine_node_status(machine, node) == STATUS_RUNNING)
                simulation_tell_started(simulation, node);

        return actor;
}

static Status host_leaf_status(void *leaf) {
        return actor_status(leaf);
}

static Status host_leaf_look(void *leaf, uint32_t look) {
        return actor_look(leaf);
}

static Cause *host_leaf_cause(void *leaf) {
        return actor_cause(leaf);
}

static bool host_leaf_halt(void *leaf) {
        return actor_halt(leaf);
}

static void host_leaf_free(void *leaf) {
        actor_free(leaf);
}

void simulation_on_ended(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;

        if (!progress_leaf_ended(simulation->context.progress, actor_node(actor), now(simulation)))
                return;

        simulation_tell_halted(simulation, actor_node(actor));
        actor_free(actor);
}

static void on_turned(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        progress_condition_turned(simulation->context.progress, node, now(simulation));
}

/* A run that is at work takes nothing then. */
void simulation_on_changed(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;
        NodeId node = actor_node(actor);

        if (progress_is_busy(simulation->context.progress))
                agenda_add(simulation->context.agenda, 0, on_turned, node, simulation);
        else
                progress_condition_changed(simulation->context.progress, node, now(simulation));
}

void simulation_on_remarked(NodeId node, const char *kind, const char *text, void *userdata) {
        simulation_tell(userdata, node, kind, text);
}

static AgendaEntry **timer_of(const Simulation *simulation, NodeId node) {
        return &simulation->timers[MIN(node, simulation->tree->n_nodes)];
}

static void on_timer(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        *timer_of(simulation, node) = NULL;
        progress_timer_expired(simulation->context.progress, node, now(simulation));
}

static void host_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        Simulation *simulation = userdata;
        AgendaEntry **timer = timer_of(simulation, node);

        agenda_drop(*timer);
        *timer = agenda_add(simulation->context.agenda, deadline - now(simulation), on_timer, node, simulation);
}

static void host_timer_disarm(NodeId node, void *userdata) {
        agenda_drop(g_steal_pointer(timer_of(userdata, node)));
}

static bool host_lock(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        g_autofree char *lock = NULL, *text = NULL;

        if (node_locks_take(simulation->node_locks, node))
                return true;

        lock = node_locks_describe(simulation->node_locks, node);
        text = g_strconcat("for ", lock, NULL);
        simulation_tell(simulation, node, "waiting", text);
        return false;
}

static void host_unlock(NodeId node, void *userdata) {
        const Simulation *simulation = userdata;

        node_locks_drop(simulation->node_locks, node);
}

/* It may have been let go again since. */
static void on_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        if (node_locks_has(simulation->node_locks, node))
                progress_lock_granted(simulation->context.progress, node, now(simulation));
}

/* By a run that is at work. */
void simulation_on_lock_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        agenda_add(simulation->context.agenda, 0, on_granted, node, simulation);
}

const ProgressHost simulation_host = {
        .leaf_start = host_leaf_start,
        .leaf_status = host_leaf_status,
        .leaf_look = host_leaf_look,
        .leaf_cause = host_leaf_cause,
        .leaf_halt = host_leaf_halt,
        .leaf_free = host_leaf_free,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .lock = host_lock,
        .unlock = host_unlock,
};
