/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a simulation: a tick follows each moment of its agenda, until nothing more can happen. */

#include "basic/span.h"
#include "simulation-state.h"

static void on_halt(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        Progress *progress = simulation->context.progress;

        if (progress_is_halting(progress))
                return;

        simulation_tell(simulation, NODE_NONE, "halting", NULL);
        progress_halt(progress, cause_new(CAUSE_HALTED, NULL, "halted by the script"),
                      agenda_now(simulation->context.agenda));
}

static bool is_going_on(const Simulation *simulation, NodeId node) {
        const Machine *machine = progress_machine(simulation->context.progress);

        return machine_node_status(machine, node) == STATUS_RUNNING || machine_node_ending(machine, node);
}

/* What the run is waiting for, which never comes. To be freed. */
static char *describe_waiting(const Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                if (simulation->tree->nodes[node].flags & NODE_LEAF && is_going_on(simulation, node)) {
                        g_autofree char *path = tree_node_path(simulation->tree, node);

                        return g_strdup_printf("nothing more can happen: %s does not end", path);
                }

        return g_strdup("nothing more can happen");
}

/* Answers why the run is left though it has not ended, or NULL. */
static char *go_on(Simulation *simulation, uint64_t until) {
        Agenda *agenda = simulation->context.agenda;
        uint64_t next;

        if (simulation->n_ticks >= SIMULATION_TICKS_MAX)
                return g_strdup_printf("not over after %u ticks: it seems to be endless", SIMULATION_TICKS_MAX);
        if (progress_wants_tick(simulation->context.progress))
                return NULL;
        if (!agenda_next(agenda, &next))
                return describe_waiting(simulation);

        if (next > until) {
                g_autofree char *span = span_format(until);

                agenda_skip_to(agenda, until);
                return g_strdup_printf("not over after %s", span);
        }

        agenda_advance(agenda);
        return NULL;
}

static Status run(Simulation *simulation, uint64_t until) {
        Progress *progress = simulation->context.progress;
        g_autofree char *left = NULL;
        Status status;

        progress_start(progress, 0);
        while (progress_status(progress) == STATUS_RUNNING && !left) {
                if (progress_wants_tick(progress)) {
                        progress_tick(progress, agenda_now(simulation->context.agenda));
                        simulation->n_ticks++;
                }
                if (progress_status(progress) == STATUS_RUNNING)
                        left = go_on(simulation, until);
        }

        status = progress_status(progress);
        simulation_tell(simulation, NODE_NONE, status_to_string(status),
                        status == STATUS_ERROR ? progress_cause(progress)->text : left);
        return status;
}

/* What is still at work goes with it. */
static void simulation_clear(Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                actor_free(progress_leaf(simulation->context.progress, node));

        progress_free(simulation->context.progress);
        node_locks_free(simulation->node_locks);
        locks_free(simulation->locks);
        agenda_free(simulation->context.agenda);
        g_free(simulation->timers);
        g_free(simulation->starts);
        g_free(simulation->told);
}

Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata) {
        const Tree *tree = definition_tree(definition);
        Simulation simulation = {
                .tree = tree,
                .observer = observer,
                .userdata = userdata,
                .timers = g_new0(AgendaEntry *, tree->n_nodes + 1),
                .starts = g_new0(uint32_t, tree->n_nodes),
                .told = g_new0(uint8_t, tree->n_nodes),
                .locks = locks_new(),
        };
        Progress *progress = progress_new(definition, options->seed, 0, &simulation_host, &simulation);
        Status status;

        simulation.context = (ActorContext){
                .progress = progress,
                .scenario = scenario,
                .agenda = agenda_new(),
                .ended = simulation_on_ended,
                .changed = simulation_on_changed,
                .remarked = simulation_on_remarked,
                .userdata = &simulation,
        };
        simulation.node_locks =
                node_locks_new(simulation.locks, definition, NULL, simulation_on_lock_granted, &simulation);
        if (options->variables)
                progress_give(progress, options->variables);
        progress_observe(progress, &simulation_progress_observer, &simulation);
        agenda_add(simulation.context.agenda, scenario_halt(scenario), on_halt, NODE_NONE, &simulation);

        status = run(&simulation, options->until);
        simulation_clear(&simulation);
        return status;
}
