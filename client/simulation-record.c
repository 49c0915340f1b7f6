/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What becomes of the nodes: kept, with causes as a real run has them, and told. */

#include "definition/reasons.h"
#include "engine/error-text.h"
#include "simulation-state.h"

void simulation_tell(Simulation *simulation, NodeId node, const char *what, const char *text) {
        simulation->observer(
                &(SimulationEvent){
                        .time = agenda_now(simulation->context.agenda), .node = node, .what = what, .text = text },
                simulation->userdata);
}

void simulation_tell_status(Simulation *simulation, NodeId node, Status status, const char *text) {
        simulation_tell(simulation, node, status_to_string(status), text);
}

/* For conditions and guards, which are looked at again and again: only what is new is told. */
static void tell_news(Simulation *simulation, NodeId node, Status status, const char *text) {
        if (simulation->told[node] == status)
                return;

        simulation->told[node] = status;
        simulation_tell_status(simulation, node, status, text);
}

/* Of a SubTree or ForEach for which its variables were wrong. */
static Cause *refusal_of(Simulation *simulation, NodeId node) {
        if (simulation->refused != node)
                return NULL;

        simulation->refused = NODE_NONE;
        return cause_ref(variables_error(simulation->context.variables));
}

/* What is not to be found in the children; NULL: nothing. */
static Cause *own_cause(Simulation *simulation, NodeId node, Reason reason, Cause *of_actor) {
        switch (reason) {
        case REASON_NONE:
                return of_actor ? cause_ref(of_actor) : refusal_of(simulation, node);
        case REASON_TIMEOUT:
                return reason_of_timer(simulation->tree, node, simulation_timer(simulation, node)->span);
        default:
                return reason_is_answer(reason) ? reason_of_answer(simulation->context.definition,
                                                                   simulation->context.variables, node, reason)
                                                : NULL;
        }
}

static void keep(Simulation *simulation, NodeId node, Status status, Reason reason, Cause *of_actor) {
        bool failed = status == STATUS_FAILURE || status == STATUS_SKIPPED;

        history_record(simulation->history, node, status, reason,
                       failed ? own_cause(simulation, node, reason, of_actor) : NULL,
                       agenda_now(simulation->context.agenda));
}

/* NULL: nothing of its own. */
static const char *own_text(const Simulation *simulation, NodeId node) {
        const Cause *cause = history_cause(simulation->history, node);

        return cause && !g_str_equal(cause->kind, CAUSE_FAILED) ? cause->text : NULL;
}

static void action_changed(Simulation *simulation, NodeId node, Status status) {
        Actor *actor = machine_node_data(simulation->machine, node);
        const Cause *cause;

        /* It has not been started yet, and what never was is not worth telling. */
        if (!actor)
                return;

        cause = actor_cause(actor);
        keep(simulation, node, status, REASON_NONE, actor_cause(actor));
        simulation->told[node] = STATUS_IDLE;
        if (actor_is_ending(actor)) {
                simulation_tell(simulation, node, "halting", NULL);
                return;
        }

        simulation_tell_status(simulation, node, status, status == STATUS_HALTED || !cause ? NULL : cause->text);
        if (status != STATUS_RUNNING)
                simulation_drop_actor(simulation, actor);
}

static void condition_changed(Simulation *simulation, NodeId node, Status status) {
        const Actor *actor = machine_node_data(simulation->machine, node);
        Cause *cause = actor ? actor_cause(actor) : NULL;

        if (simulation->told[node] == status)
                history_repeat(simulation->history, node, cause);
        else
                keep(simulation, node, status, REASON_NONE, cause);
        tell_news(simulation, node, status, cause ? cause->text : NULL);
}

static void inner_changed(Simulation *simulation, NodeId node, Status status, Reason reason) {
        bool in_error = history_status(simulation->history, node) == STATUS_ERROR;

        keep(simulation, node, status, reason, NULL);
        simulation->told[node] = STATUS_IDLE;
        if (!in_error)
                simulation_tell_status(simulation, node, status, own_text(simulation, node));
}

/* A success_if gives no cause, and yet says why. */
static void answered(Simulation *simulation, NodeId node, Status status, Reason reason) {
        g_autoptr(Cause) cause = own_cause(simulation, node, reason, NULL);

        keep(simulation, node, status, reason, NULL);
        tell_news(simulation, node, status, cause->text);
}

void simulation_record(Simulation *simulation, NodeId node, Status status, Reason reason) {
        if (reason_is_answer(reason)) {
                answered(simulation, node, status, reason);
                return;
        }

        switch (simulation->tree->nodes[node].type->class) {
        case NODE_ACTION:
                action_changed(simulation, node, status);
                break;
        case NODE_CONDITION:
                condition_changed(simulation, node, status);
                break;
        default:
                inner_changed(simulation, node, status, reason);
        }
}

/* Of a guard or a hook, or of a leaf: an action has gone by now, but its cause was recorded. */
static Cause *expression_error(Simulation *simulation, NodeId node) {
        bool leaf = simulation->tree->nodes[node].flags & NODE_LEAF;
        Actor *actor = leaf ? machine_node_data(simulation->machine, node) : NULL;
        Cause *recorded = leaf ? history_cause(simulation->history, node) : NULL;

        if (actor && actor_status(actor) == STATUS_ERROR)
                return actor_cause(actor);
        if (!actor && recorded && g_str_equal(recorded->kind, CAUSE_EXPRESSION))
                return recorded;

        return variables_error(simulation->context.variables);
}

void simulation_record_error(Simulation *simulation) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(simulation->machine, &node);
        Cause *cause = g_str_equal(error, MACHINE_EXPRESSION_FAILED)
                               ? cause_ref(expression_error(simulation, node))
                               : cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), error_text(error));

        history_fail(simulation->history, node, cause, agenda_now(simulation->context.agenda));
        simulation_tell_status(simulation, node, STATUS_ERROR, cause->text);
}
