/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine's host: leaves are actors, timers are entries of the agenda, and a tick follows each moment of it. */

#include <json-c/linkhash.h>

#include "actor.h"
#include "basic/span.h"
#include "engine/machine.h"
#include "simulation.h"

/* Of a node, or of the machine itself. */
typedef struct NodeTimer {
        AgendaEntry *entry;
        uint64_t span;
} NodeTimer;

typedef struct Simulation {
        const Tree *tree;
        ActorContext context;
        SimulationObserver observer;
        void *userdata;

        Machine *machine;
        NodeTimer *timers; /* by node, the machine's is the last */
        uint32_t *starts;  /* by node */
        uint8_t *told;     /* by node: the status of a condition or by a guard that was told last; else IDLE */
        uint32_t n_ticks;
        bool halting;
        char *cause; /* of an ERROR */
} Simulation;

static void tell(Simulation *simulation, NodeId node, const char *what, const char *text) {
        simulation->observer(
                &(SimulationEvent){
                        .time = agenda_now(simulation->context.agenda), .node = node, .what = what, .text = text },
                simulation->userdata);
}

static void tell_status(Simulation *simulation, NodeId node, Status status, const char *text) {
        tell(simulation, node, status_to_string(status), text);
}

static NodeTimer *timer_of(Simulation *simulation, NodeId node) {
        return &simulation->timers[MIN(node, simulation->tree->n_nodes)];
}

static void on_timer(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        timer_of(simulation, node)->entry = NULL;
        machine_timer_expired(simulation->machine, node);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Simulation *simulation = machine_userdata(machine);
        NodeTimer *timer = timer_of(simulation, node);

        agenda_drop(timer->entry);
        timer->entry = agenda_add(simulation->context.agenda, usec, on_timer, node, simulation);
        timer->span = usec;
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        agenda_drop(g_steal_pointer(&timer_of(machine_userdata(machine), node)->entry));
}

static Actor *start_actor(Simulation *simulation, NodeId node) {
        Actor *actor = actor_start(&simulation->context, node, simulation->starts[node]++);

        machine_node_set_data(simulation->machine, node, actor);
        return actor;
}

static void drop_actor(Simulation *simulation, Actor *actor) {
        machine_node_set_data(simulation->machine, actor_node(actor), NULL);
        actor_free(actor);
}

/* One that had to wait until what it replaces has ended was called running then; now it is. */
static Status host_leaf_start(Machine *machine, NodeId node) {
        Simulation *simulation = machine_userdata(machine);
        Status status = actor_status(start_actor(simulation, node));

        if (status == STATUS_RUNNING && machine_node_status(machine, node) == STATUS_RUNNING)
                tell_status(simulation, node, status, NULL);

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
                drop_actor(simulation, actor);
}

static void on_actor_ended(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;
        NodeId node = actor_node(actor);
        Status status = actor_status(actor);

        if (machine_node_ending(simulation->machine, node)) {
                drop_actor(simulation, actor);
                tell_status(simulation, node, STATUS_HALTED, NULL);
        }

        machine_leaf_ended(simulation->machine, node, status);
}

static void on_actor_changed(Actor *actor, void *userdata) {
        Simulation *simulation = userdata;

        machine_condition_changed(simulation->machine, actor_node(actor));
}

static void on_actor_remarked(NodeId node, const char *kind, const char *text, void *userdata) {
        tell(userdata, node, kind, text);
}

/* For conditions and guards, which are looked at again and again: only what is new is told. */
static void tell_news(Simulation *simulation, NodeId node, Status status, const char *text) {
        if (simulation->told[node] == status)
                return;

        simulation->told[node] = status;
        tell_status(simulation, node, status, text);
}

static void action_changed(Simulation *simulation, NodeId node, Status status) {
        Actor *actor = machine_node_data(simulation->machine, node);

        /* It has not been started yet, and what never was is not worth telling. */
        if (!actor)
                return;

        simulation->told[node] = STATUS_IDLE;
        if (actor_is_ending(actor)) {
                tell(simulation, node, "halting", NULL);
                return;
        }

        tell_status(simulation, node, status, status == STATUS_HALTED ? NULL : actor_cause(actor));
        if (status != STATUS_RUNNING)
                drop_actor(simulation, actor);
}

static void condition_changed(Simulation *simulation, NodeId node, Status status) {
        const Actor *actor = machine_node_data(simulation->machine, node);

        tell_news(simulation, node, status, actor ? actor_cause(actor) : NULL);
}

/* What is not to be seen in the children. To be freed. */
static char *own_reason(Simulation *simulation, NodeId node, Reason reason) {
        g_autofree char *span = NULL;

        switch (reason) {
        case REASON_TIMEOUT:
                span = span_format(timer_of(simulation, node)->span);
                return g_strdup_printf("timed out after %s", span);
        case REASON_ATTEMPTS:
                return g_strdup("no attempts are left");
        case REASON_THRESHOLD:
                return g_strdup("not enough of its children succeeded");
        default:
                return NULL;
        }
}

static void inner_changed(Simulation *simulation, NodeId node, Status status, Reason reason) {
        g_autofree char *text = own_reason(simulation, node, reason);

        simulation->told[node] = STATUS_IDLE;
        tell_status(simulation, node, status, text);
}

static const char *guard_text(const Simulation *simulation, NodeId node, Status status) {
        if (!(simulation->tree->nodes[node].flags & NODE_GUARDED))
                return "its condition does not hold";
        if (status == STATUS_SKIPPED)
                return "its skip_if is true, or its while is false";

        return status == STATUS_FAILURE ? "its fail_if is true" : "its success_if is true";
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        Simulation *simulation = machine_userdata(machine);

        if (reason == REASON_GUARD) {
                tell_news(simulation, node, status, guard_text(simulation, node, status));
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

static Variables *variables_of(Machine *machine) {
        const Simulation *simulation = machine_userdata(machine);

        return simulation->context.variables;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        return variables_guard(variables_of(machine), node, guard);
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

static const MachineHost host = {
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

static void on_halt(NodeId node, void *userdata) {
        Simulation *simulation = userdata;

        if (simulation->halting)
                return;

        simulation->halting = true;
        tell(simulation, NODE_NONE, "halting", NULL);
        machine_halt(simulation->machine);
}

/* What is broken is halted, and has ended when all of it has. */
static void begin_error(Simulation *simulation) {
        NodeId node = 0;
        const char *error = machine_error(simulation->machine, &node);
        g_autofree char *path = tree_node_path(simulation->tree, node);

        tell_status(simulation, node, STATUS_ERROR, error);
        simulation->cause = g_strdup_printf("%s: %s", path, error);
        simulation->halting = true;
        machine_halt(simulation->machine);
}

/* RUNNING, or how the run has ended. */
static Status tick(Simulation *simulation) {
        Status status = machine_tick(simulation->machine);

        simulation->n_ticks++;
        if (status == STATUS_ERROR && !simulation->cause) {
                begin_error(simulation);
                return STATUS_RUNNING;
        }

        return status != STATUS_RUNNING && simulation->cause ? STATUS_ERROR : status;
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

        tell_status(simulation, NODE_NONE, status, left ?: simulation->cause);
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
        agenda_free(simulation->context.agenda);
        variables_free(simulation->context.variables);
        g_free(simulation->timers);
        g_free(simulation->starts);
        g_free(simulation->told);
        g_free(simulation->cause);
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
        };
        Status status;

        simulation.context = (ActorContext){
                .definition = definition,
                .scenario = scenario,
                .variables = make_variables(definition, options->variables),
                .agenda = agenda_new(),
                .ended = on_actor_ended,
                .changed = on_actor_changed,
                .remarked = on_actor_remarked,
                .userdata = &simulation,
        };
        simulation.machine = machine_new(tree, &host, &simulation, options->seed);
        agenda_add(simulation.context.agenda, scenario_halt(scenario), on_halt, NODE_NONE, &simulation);

        status = run(&simulation, options->until);
        simulation_clear(&simulation);
        return status;
}
