/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a simulation: a tick follows each moment of its agenda, until nothing more can happen. */

#include <json-c/linkhash.h>

#include "basic/span.h"
#include "simulation-state.h"

static void on_halt(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        if (simulation->halting)
                return;

        simulation->halting = true;
        simulation_tell(simulation, NODE_NONE, "halting", NULL);
        machine_halt(simulation->machine);
}

/* RUNNING, or how the run has ended. What is broken is halted, and has ended when all of it has. */
static Status tick(Simulation *simulation) {
        Status status = machine_tick(simulation->machine);

        if (variables_have_changed(simulation->context.variables))
                machine_variable_set(simulation->machine);
        simulation->n_ticks++;
        if (status == STATUS_ERROR) {
                if (!simulation->failed)
                        simulation_record_error(simulation);
                simulation->failed = simulation->halting = true;
                machine_halt(simulation->machine);
                return STATUS_RUNNING;
        }

        return status != STATUS_RUNNING && simulation->failed ? STATUS_ERROR : status;
}

static bool is_leaf(const Simulation *simulation, NodeId node) {
        return simulation->tree->nodes[node].flags & NODE_LEAF;
}

/* What the run is waiting for, which never comes. To be freed. */
static char *describe_waiting(const Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++) {
                bool running = machine_node_status(simulation->machine, node) == STATUS_RUNNING;

                if (is_leaf(simulation, node) && (running || machine_node_ending(simulation->machine, node))) {
                        g_autofree char *path = tree_node_path(simulation->tree, node);

                        return g_strdup_printf("nothing more can happen: %s does not end", path);
                }
        }

        return g_strdup("nothing more can happen");
}

/* Answers why the run is left though it has not ended, or NULL. */
static char *go_on(Simulation *simulation, uint64_t until) {
        Agenda *agenda = simulation->context.agenda;
        uint64_t next;

        if (simulation->n_ticks >= SIMULATION_TICKS_MAX)
                return g_strdup_printf("not over after %u ticks: it seems to be endless", SIMULATION_TICKS_MAX);
        if (machine_wants_tick(simulation->machine))
                return NULL;
        if (!agenda_next(agenda, &next))
                return describe_waiting(simulation);

        if (next > until) {
                g_autofree char *span = span_format(until);

                agenda_skip_to(agenda, until);
                return g_strdup_printf("not over after %s", span);
        }

        agenda_advance(agenda);
        if (variables_have_changed(simulation->context.variables))
                machine_variable_changed(simulation->machine);
        return NULL;
}

static Status run(Simulation *simulation, uint64_t until) {
        Status status = STATUS_RUNNING;
        g_autofree char *left = NULL;

        machine_start(simulation->machine);
        while (status == STATUS_RUNNING && !left) {
                if (machine_wants_tick(simulation->machine))
                        status = tick(simulation);
                if (status == STATUS_RUNNING)
                        left = go_on(simulation, until);
        }

        if (!left && status == STATUS_ERROR)
                left = cause_describe(simulation->tree, history_cause(simulation->history, 0), NODE_NONE);
        simulation_tell_status(simulation, NODE_NONE, status, left);
        return status;
}

static Variables *make_variables(const Definition *definition, json_object *given) {
        Variables *variables = variables_new(definition);

        if (given) {
                json_object_object_foreach(given, name, value)
                        blackboard_set(variables_outermost(variables), name, json_object_get(value));
        }

        return variables;
}

static void simulation_clear(Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                if (is_leaf(simulation, node))
                        actor_free(machine_node_data(simulation->machine, node));

        machine_free(simulation->machine);
        node_locks_free(simulation->node_locks);
        locks_free(simulation->locks);
        agenda_free(simulation->context.agenda);
        variables_free(simulation->context.variables);
        g_free(simulation->timers);
        g_free(simulation->starts);
        g_free(simulation->told);
        history_free(simulation->history);
}

Status simulate(const Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata) {
        const Tree *tree = definition_tree(definition);
        Simulation simulation = {
                .tree = tree,
                .observer = observer,
                .userdata = userdata,
                .timers = g_new0(NodeTimer, tree->n_nodes + 1),
                .starts = g_new0(uint32_t, tree->n_nodes),
                .told = g_new0(uint8_t, tree->n_nodes),
                .history = history_new(tree, 0),
                .locks = locks_new(),
                .refused = NODE_NONE,
        };
        Status status;

        simulation.context = (ActorContext){
                .definition = definition,
                .scenario = scenario,
                .variables = make_variables(definition, options->variables),
                .agenda = agenda_new(),
                .ended = simulation_on_ended,
                .changed = simulation_on_changed,
                .remarked = simulation_on_remarked,
                .userdata = &simulation,
        };
        simulation.node_locks =
                node_locks_new(simulation.locks, definition, NULL, simulation_on_lock_granted, &simulation);
        simulation.machine = machine_new(tree, &simulation_host, &simulation, options->seed);
        agenda_add(simulation.context.agenda, scenario_halt(scenario), on_halt, NODE_NONE, &simulation);

        status = run(&simulation, options->until);
        simulation_clear(&simulation);
        return status;
}
