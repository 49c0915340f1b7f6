/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What is told of the nodes. Guards and conditions are looked at again and again, so of them only what is new is told:
 * for that the status is kept that was told last, until the leaf is started anew or the node, having worked, is over.
 */

#include "simulation-state.h"

void simulation_tell(Simulation *simulation, NodeId node, const char *what, const char *text) {
        simulation->observer(
                &(SimulationEvent){
                        .time = agenda_now(simulation->context.agenda), .node = node, .what = what, .text = text },
                simulation->userdata);
}

void simulation_tell_started(Simulation *simulation, NodeId node) {
        simulation->told[node] = STATUS_RUNNING;
        simulation_tell(simulation, node, status_to_string(STATUS_RUNNING), NULL);
}

void simulation_tell_halted(Simulation *simulation, NodeId node) {
        simulation_tell(simulation, node, status_to_string(STATUS_HALTED), NULL);
}

/* NULL: nothing of its own. What a leaf says is, however little. */
static const char *own_text(const Simulation *simulation, NodeId node, const Actor *actor) {
        const Cause *cause = history_cause(progress_history(simulation->context.progress), node);
        bool of_actor = actor && cause == actor_cause(actor);

        return cause && (of_actor || !g_str_equal(cause->kind, CAUSE_FAILED)) ? cause->text : NULL;
}

/* Those above it are in error for it. */
static bool is_error_of_child(const Simulation *simulation, NodeId node, Status status) {
        return status == STATUS_ERROR && history_cause(progress_history(simulation->context.progress), node)->because;
}

static NodeClass class_of(const Simulation *simulation, NodeId node) {
        return simulation->tree->nodes[node].type->class;
}

/* An action that waits until what it replaces has ended is no news, nor that one which never was has been halted. */
static bool is_news(const Simulation *simulation, NodeId node, Status status, const Actor *actor) {
        bool action = class_of(simulation, node) == NODE_ACTION;

        if (action && status == STATUS_RUNNING)
                return actor && !actor_is_ending(actor);
        if (action && status == STATUS_HALTED)
                return simulation->told[node] == STATUS_RUNNING;

        return simulation->told[node] != status;
}

/* Has the node been at work, and is it over? */
static bool is_over(const Simulation *simulation, NodeId node, Status status, const Actor *actor) {
        return class_of(simulation, node) != NODE_CONDITION && status != STATUS_RUNNING &&
               (actor || simulation->told[node] == STATUS_RUNNING);
}

static void on_changed(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        const Actor *actor = progress_leaf(simulation->context.progress, node);
        Status status = history_status(progress_history(simulation->context.progress), node);
        bool ending = actor && actor_is_ending(actor);

        if (is_error_of_child(simulation, node, status) || !is_news(simulation, node, status, actor))
                return;

        simulation->told[node] = is_over(simulation, node, status, actor) ? STATUS_IDLE : status;
        simulation_tell(simulation, node, ending ? "halting" : status_to_string(status),
                        own_text(simulation, node, actor));
}

const ProgressObserver simulation_progress_observer = { .changed = on_changed };
