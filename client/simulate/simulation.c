/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a tree in simulated time, for btctl simulate: the run is the one of btd, with simulated leaves and timers. */

#include "client/simulate/simulation.h"
#include "basic/log.h"
#include "basic/span.h"
#include "client/simulate/simulated-leaf.h"
#include "run/activity.h"
#include "run/run-inputs.h"

typedef struct Simulation {
        SimulationContext context;
        Run *run;
        const Tree *tree;
        SimulationObserver observer;
        void *userdata;

        uint8_t *reported; /* by node: a status; see is_news() */
} Simulation;

static uint64_t now(const Simulation *simulation) {
        return timers_now(simulation->context.services.timers, TIMER_MONOTONIC);
}

static void report(Simulation *simulation, NodeId node, const char *what, const char *text) {
        simulation->observer(&(SimulationEvent){ .time = now(simulation), .node = node, .what = what, .text = text },
                             simulation->userdata);
}

static void report_started(Simulation *simulation, NodeId node) {
        simulation->reported[node] = STATUS_RUNNING;
        report(simulation, node, status_to_string(STATUS_RUNNING), NULL);
}

/* The text of a node's own cause; NULL: its children give the reason. A leaf's text always counts. */
static const char *own_text(const Simulation *simulation, NodeId node, const Activity *leaf) {
        const Cause *cause = history_cause(run_history(simulation->run), node);
        bool of_leaf = leaf && cause == activity_cause(leaf);

        return cause && (of_leaf || !g_str_equal(cause->kind, CAUSE_FAILED)) ? cause->text : NULL;
}

static NodeClass class_of(const Simulation *simulation, NodeId node) {
        return simulation->tree->nodes[node].type->class;
}

/* Whether to report a status. Not reported: an action that waits for the node it replaces, and the halt of an action
 * that never started. Guards and conditions are evaluated repeatedly, so only a new status of them is reported. */
static bool is_news(const Simulation *simulation, NodeId node, Status status, const Activity *leaf) {
        bool action = class_of(simulation, node) == NODE_ACTION;

        if (action && status == STATUS_RUNNING)
                return leaf && !activity_is_ending(leaf);
        if (action && status == STATUS_HALTED)
                return simulation->reported[node] == STATUS_RUNNING;

        return simulation->reported[node] != status;
}

/* Whether the node was running and has ended. */
static bool has_ended(const Simulation *simulation, NodeId node, Status status, const Activity *leaf) {
        return class_of(simulation, node) != NODE_CONDITION && status != STATUS_RUNNING &&
               (leaf || simulation->reported[node] == STATUS_RUNNING);
}

static void on_changed(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        const Activity *leaf = run_leaf(simulation->run, node);
        Status status = history_status(run_history(simulation->run), node);
        bool ending = leaf && activity_is_ending(leaf);

        if (!is_news(simulation, node, status, leaf))
                return;

        simulation->reported[node] = has_ended(simulation, node, status, leaf) ? STATUS_IDLE : status;
        report(simulation, node, ending ? "halting" : status_to_string(status), own_text(simulation, node, leaf));
}

static void on_ready(void *userdata) {
        report(userdata, NODE_NONE, "ready", NULL);
}

static void on_waits(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        g_autofree char *lock = run_describe_lock(simulation->run, node), *text = g_strconcat("for ", lock, NULL);

        report(simulation, node, "waiting", text);
}

static void on_halted(NodeId node, void *userdata) {
        report(userdata, node, status_to_string(STATUS_HALTED), NULL);
}

static const RunObserver run_observer = {
        .changed = on_changed,
        .ready = on_ready,
        .waits = on_waits,
        .halted = on_halted,
};

/* A leaf that had to wait for the node it replaces is already RUNNING for its run, so its start is reported here. */
static void on_leaf_started(NodeId node, Status status, void *userdata) {
        Simulation *simulation = userdata;

        simulation->reported[node] = STATUS_IDLE;
        if (status == STATUS_RUNNING && machine_node_status(run_machine(simulation->run), node) == STATUS_RUNNING)
                report_started(simulation, node);
}

static void on_leaf_remarked(NodeId node, const char *kind, const char *text, void *userdata) {
        report(userdata, node, kind, text);
}

/* Only the warnings about leaves that were given up: all else is in the trace. */
static void on_message(NodeId node, int level, const char *text, void *userdata) {
        const Simulation *simulation = userdata;

        if (level <= LOG_WARNING && run_leaf(simulation->run, node))
                report(userdata, node, "warning", text);
}

/* The trace is made of the observer's calls. */
static void on_run_changed(Run *run, void *userdata) {}

static const RunCallbacks run_callbacks = {
        .changed = on_run_changed,
        .state_changed = on_run_changed,
        .finished = on_run_changed,
        .message = on_message,
};

static void on_halt(void *userdata) {
        Simulation *simulation = userdata;

        if (run_halting(simulation->run))
                return;

        report(simulation, NODE_NONE, "halting", NULL);
        run_halt(simulation->run, cause_new(CAUSE_HALTED, NULL, "halted by the script"));
}

static bool is_running(const Simulation *simulation, NodeId node) {
        const Machine *machine = run_machine(simulation->run);

        return machine_node_status(machine, node) == STATUS_RUNNING || machine_node_ending(machine, node);
}

/* Names a node that the run waits for forever. To be freed. */
static char *describe_waiting(const Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                if (simulation->tree->nodes[node].flags & NODE_LEAF && is_running(simulation, node)) {
                        g_autofree char *path = tree_node_path(simulation->tree, node);

                        return g_strdup_printf("nothing more can happen: %s never ends", path);
                }

        return g_strdup("nothing more can happen");
}

/* Jumps to the next event. Returns why the simulation stops before the run has finished, or NULL. */
static char *advance(Simulation *simulation, uint64_t until) {
        Timers *timers = simulation->context.services.timers;
        uint64_t next = timers_next(timers);

        if (next >= SPAN_INFINITY)
                return describe_waiting(simulation);

        if (next > until) {
                g_autofree char *span = span_format(until);

                timers_jump(timers, until);
                return g_strdup_printf("not finished after %s", span);
        }

        timers_jump(timers, next);
        return NULL;
}

/* Reports, before the last line, that btd would restart the run. */
static void report_restart(Simulation *simulation, Status status) {
        const RestartPolicy *policy = definition_restart(run_definition(simulation->run));
        g_autofree char *text = NULL;

        if (!restart_is_wanted(policy, status))
                return;

        text = g_strdup_printf("btd would start another run, since 'restart' is '%s'; only one is simulated",
                               restart_names[policy->when]);
        report(simulation, NODE_NONE, "warning", text);
}

static Status run_to_end(Simulation *simulation, Ticker *ticker, uint64_t until) {
        Run *run = simulation->run;
        g_autofree char *left = NULL;
        uint32_t n_ticks = 0;
        Status status;

        run_start(run);
        while (run_status(run) == STATUS_RUNNING && !left) {
                if (n_ticks >= SIMULATION_TICKS_MAX)
                        left = g_strdup_printf("not finished after %u ticks: the run seems endless",
                                               SIMULATION_TICKS_MAX);
                else if (ticker_tick(ticker))
                        n_ticks++;
                else
                        left = advance(simulation, until);
        }

        status = run_status(run);
        report_restart(simulation, status);
        report(simulation, NODE_NONE, status_to_string(status), status == STATUS_ERROR ? run_cause(run) : left);
        return status;
}

Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata) {
        const Tree *tree = definition_tree(definition);
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Timers) timers = timers_new_simulated();
        g_autoptr(Ticker) ticker = ticker_new(context);
        g_autoptr(Locks) locks = locks_new();
        g_autofree uint8_t *reported = g_new0(uint8_t, tree->n_nodes);
        Simulation simulation = {
                .context = {
                        .services = { .kind_of = simulated_kind_of, .timers = timers },
                        .scenario = scenario,
                        .tree = tree,
                        .started = on_leaf_started,
                        .remarked = on_leaf_remarked,
                        .userdata = &simulation,
                },
                .tree = tree,
                .observer = observer,
                .userdata = userdata,
                .reported = reported,
        };
        RunServices services = { .leaves = &simulation.context.services, .ticker = ticker, .locks = locks };
        RunOrigin origin = { .id = "", .tree = "", .instance = "", .seed = options->seed };
        g_autoptr(Run) run = run_make_live(&origin, definition, &services, &run_callbacks, &simulation);
        Timer *halt = NULL;
        Status status;

        simulation.run = run;
        if (options->variables)
                run_give(run, options->variables);
        run_observe(run, &run_observer, &simulation);
        if (scenario_halt(scenario) != SPAN_INFINITY)
                halt = timer_new(timers, scenario_halt(scenario), on_halt, &simulation);

        status = run_to_end(&simulation, ticker, options->until);
        timer_free(halt);
        return status;
}
