/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a tree in simulated time, for btctl simulate: the run is the one of btd, simulated leaves and the event queue
 * stand in for the world. */

#include "client/simulate/simulation.h"
#include "basic/span.h"
#include "client/simulate/simulated-leaf.h"
#include "run/node-locks.h"

typedef struct Simulation {
        SimulationContext context;
        const Tree *tree;
        SimulationObserver observer;
        void *userdata;

        QueuedEvent **timers; /* by node, the run's is the last */
        uint32_t *starts;     /* by node */
        uint8_t *reported;    /* by node: a status; see is_news() */
        Locks *locks;
        NodeLocks *node_locks;
        uint32_t n_ticks;
} Simulation;

static void report(Simulation *simulation, NodeId node, const char *what, const char *text) {
        simulation->observer(
                &(SimulationEvent){
                        .time = event_queue_now(simulation->context.queue), .node = node, .what = what, .text = text },
                simulation->userdata);
}

static void report_started(Simulation *simulation, NodeId node) {
        simulation->reported[node] = STATUS_RUNNING;
        report(simulation, node, status_to_string(STATUS_RUNNING), NULL);
}

/* The text of a node's own cause; NULL: its children give the reason. A leaf's text always counts. */
static const char *own_text(const Simulation *simulation, NodeId node, const SimulatedLeaf *leaf) {
        const Cause *cause = history_cause(run_history(simulation->context.run), node);
        bool of_leaf = leaf && cause == simulated_leaf_cause(leaf);

        return cause && (of_leaf || !g_str_equal(cause->kind, CAUSE_FAILED)) ? cause->text : NULL;
}

static NodeClass class_of(const Simulation *simulation, NodeId node) {
        return simulation->tree->nodes[node].type->class;
}

/* Whether to report a status. Not reported: an action that waits for the node it replaces, and the halt of an action
 * that never started. Guards and conditions are evaluated repeatedly, so only a new status of them is reported. */
static bool is_news(const Simulation *simulation, NodeId node, Status status, const SimulatedLeaf *leaf) {
        bool action = class_of(simulation, node) == NODE_ACTION;

        if (action && status == STATUS_RUNNING)
                return leaf && !simulated_leaf_is_ending(leaf);
        if (action && status == STATUS_HALTED)
                return simulation->reported[node] == STATUS_RUNNING;

        return simulation->reported[node] != status;
}

/* Whether the node was running and has ended. */
static bool has_ended(const Simulation *simulation, NodeId node, Status status, const SimulatedLeaf *leaf) {
        return class_of(simulation, node) != NODE_CONDITION && status != STATUS_RUNNING &&
               (leaf || simulation->reported[node] == STATUS_RUNNING);
}

static void on_changed(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        const SimulatedLeaf *leaf = run_leaf(simulation->context.run, node);
        Status status = history_status(run_history(simulation->context.run), node);
        bool ending = leaf && simulated_leaf_is_ending(leaf);

        if (!is_news(simulation, node, status, leaf))
                return;

        simulation->reported[node] = has_ended(simulation, node, status, leaf) ? STATUS_IDLE : status;
        report(simulation, node, ending ? "halting" : status_to_string(status), own_text(simulation, node, leaf));
}

static void on_ready(void *userdata) {
        report(userdata, NODE_NONE, "ready", NULL);
}

static const RunObserver run_observer = { .changed = on_changed, .ready = on_ready };

static uint64_t now(const Simulation *simulation) {
        return event_queue_now(simulation->context.queue);
}

/* A leaf that had to wait for the node it replaces is already RUNNING for its run, so its start is reported here. */
static void *host_leaf_start(NodeId node, uint32_t attempt, json_object *noted, void *userdata) {
        Simulation *simulation = userdata;
        const Machine *machine = run_machine(simulation->context.run);
        SimulatedLeaf *leaf = simulated_leaf_start(&simulation->context, node, simulation->starts[node]++);

        simulation->reported[node] = STATUS_IDLE;
        if (simulated_leaf_status(leaf) == STATUS_RUNNING && machine_node_status(machine, node) == STATUS_RUNNING)
                report_started(simulation, node);

        return leaf;
}

static Status host_leaf_status(void *leaf) {
        return simulated_leaf_status(leaf);
}

static Status host_leaf_evaluate(void *leaf, uint32_t evaluation) {
        return simulated_leaf_evaluate(leaf);
}

static Cause *host_leaf_cause(void *leaf) {
        return simulated_leaf_cause(leaf);
}

static bool host_leaf_halt(void *leaf) {
        return simulated_leaf_halt(leaf);
}

static void host_leaf_free(void *leaf) {
        simulated_leaf_free(leaf);
}

static void on_leaf_ended(SimulatedLeaf *leaf, void *userdata) {
        Simulation *simulation = userdata;

        if (!input_leaf_ended(simulation->context.run, simulated_leaf_node(leaf), now(simulation)))
                return;

        report(simulation, simulated_leaf_node(leaf), status_to_string(STATUS_HALTED), NULL);
        simulated_leaf_free(leaf);
}

static void on_turned(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        input_condition_turned(simulation->context.run, node, now(simulation));
}

/* A run that is ticking takes no inputs, so the change is queued. */
static void on_leaf_changed(SimulatedLeaf *leaf, void *userdata) {
        Simulation *simulation = userdata;
        NodeId node = simulated_leaf_node(leaf);

        if (run_is_busy(simulation->context.run))
                event_queue_add(simulation->context.queue, 0, on_turned, node, simulation);
        else
                input_condition_changed(simulation->context.run, node, now(simulation));
}

static void on_leaf_remarked(NodeId node, const char *kind, const char *text, void *userdata) {
        report(userdata, node, kind, text);
}

static QueuedEvent **timer_of(const Simulation *simulation, NodeId node) {
        return &simulation->timers[MIN(node, simulation->tree->n_nodes)];
}

static void on_timer(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        *timer_of(simulation, node) = NULL;
        input_timer_expired(simulation->context.run, node, now(simulation));
}

static void host_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        Simulation *simulation = userdata;
        QueuedEvent **timer = timer_of(simulation, node);

        event_queue_drop(*timer);
        *timer = event_queue_add(simulation->context.queue, deadline - now(simulation), on_timer, node, simulation);
}

static void host_timer_disarm(NodeId node, void *userdata) {
        event_queue_drop(g_steal_pointer(timer_of(userdata, node)));
}

static bool host_lock(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        g_autofree char *lock = NULL, *text = NULL;

        if (node_locks_take(simulation->node_locks, node))
                return true;

        lock = node_locks_describe(simulation->node_locks, node);
        text = g_strconcat("for ", lock, NULL);
        report(simulation, node, "waiting", text);
        return false;
}

static void host_unlock(NodeId node, void *userdata) {
        const Simulation *simulation = userdata;

        node_locks_drop(simulation->node_locks, node);
}

/* The node may have released the lock meanwhile. */
static void on_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        if (node_locks_has(simulation->node_locks, node))
                input_lock_granted(simulation->context.run, node, now(simulation));
}

/* Queued, because the run that released the lock is ticking. */
static void on_lock_granted(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        event_queue_add(simulation->context.queue, 0, on_granted, node, simulation);
}

static const RunHost run_host = {
        .leaf_start = host_leaf_start,
        .leaf_status = host_leaf_status,
        .leaf_evaluate = host_leaf_evaluate,
        .leaf_cause = host_leaf_cause,
        .leaf_halt = host_leaf_halt,
        .leaf_free = host_leaf_free,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .lock = host_lock,
        .unlock = host_unlock,
};

static void on_halt(NodeId node, void *userdata) {
        Simulation *simulation = userdata;
        Run *run = simulation->context.run;

        if (run_halting(run))
                return;

        report(simulation, NODE_NONE, "halting", NULL);
        input_halt(run, cause_new(CAUSE_HALTED, NULL, "halted by the script"),
                   event_queue_now(simulation->context.queue));
}

static bool is_running(const Simulation *simulation, NodeId node) {
        const Machine *machine = run_machine(simulation->context.run);

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
        EventQueue *queue = simulation->context.queue;
        uint64_t next;

        if (simulation->n_ticks >= SIMULATION_TICKS_MAX)
                return g_strdup_printf("not finished after %u ticks: the run seems endless", SIMULATION_TICKS_MAX);
        if (run_wants_tick(simulation->context.run))
                return NULL;
        if (!event_queue_next(queue, &next))
                return describe_waiting(simulation);

        if (next > until) {
                g_autofree char *span = span_format(until);

                event_queue_skip_to(queue, until);
                return g_strdup_printf("not finished after %s", span);
        }

        event_queue_advance(queue);
        return NULL;
}

/* Reports, before the last line, that btd would restart the run. */
static void report_restart(Simulation *simulation, Status status) {
        const RestartPolicy *policy = definition_restart(run_definition(simulation->context.run));
        g_autofree char *text = NULL;

        if (!restart_is_wanted(policy, status))
                return;

        text = g_strdup_printf("btd would start another run, since 'restart' is '%s'; only one is simulated",
                               restart_names[policy->when]);
        report(simulation, NODE_NONE, "warning", text);
}

static Status run_to_end(Simulation *simulation, uint64_t until) {
        Run *run = simulation->context.run;
        g_autofree char *left = NULL;
        Status status;

        input_start(run, 0);
        while (run_status(run) == STATUS_RUNNING && !left) {
                if (run_wants_tick(run)) {
                        input_tick(run, event_queue_now(simulation->context.queue));
                        simulation->n_ticks++;
                }
                if (run_status(run) == STATUS_RUNNING)
                        left = advance(simulation, until);
        }

        status = run_status(run);
        report_restart(simulation, status);
        report(simulation, NODE_NONE, status_to_string(status),
               status == STATUS_ERROR ? run_cause_chain(run)->text : left);
        return status;
}

/* Frees the leaves that are still running. */
static void simulation_clear(Simulation *simulation) {
        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                simulated_leaf_free(run_leaf(simulation->context.run, node));

        run_free(simulation->context.run);
        node_locks_free(simulation->node_locks);
        locks_free(simulation->locks);
        event_queue_free(simulation->context.queue);
        g_free(simulation->timers);
        g_free(simulation->starts);
        g_free(simulation->reported);
}

Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata) {
        const Tree *tree = definition_tree(definition);
        Simulation simulation = {
                .tree = tree,
                .observer = observer,
                .userdata = userdata,
                .timers = g_new0(QueuedEvent *, tree->n_nodes + 1),
                .starts = g_new0(uint32_t, tree->n_nodes),
                .reported = g_new0(uint8_t, tree->n_nodes),
                .locks = locks_new(),
        };
        RunOrigin origin = { .id = "", .tree = "", .instance = "", .seed = options->seed };
        Run *run = run_make(&origin, definition, &run_host, &simulation);
        Status status;

        simulation.context = (SimulationContext){
                .run = run,
                .scenario = scenario,
                .queue = event_queue_new(),
                .ended = on_leaf_ended,
                .changed = on_leaf_changed,
                .remarked = on_leaf_remarked,
                .userdata = &simulation,
        };
        simulation.node_locks = node_locks_new(simulation.locks, definition, NULL, on_lock_granted, &simulation);
        if (options->variables)
                run_give(run, options->variables);
        run_observe(run, &run_observer, &simulation);
        event_queue_add(simulation.context.queue, scenario_halt(scenario), on_halt, NODE_NONE, &simulation);

        status = run_to_end(&simulation, options->until);
        simulation_clear(&simulation);
        return status;
}
