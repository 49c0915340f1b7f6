/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a tree in simulated time, for btctl simulate: the run is the one of btd, with simulated leaves and timers. One
 * leaf kind runs all types: the tables of the types say what a leaf does, so that this file knows no type by name. */

#include <json-c/linkhash.h>

#include "basic/cause.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "basic/span.h"
#include "client/simulate/simulation.h"
#include "definition/on-finished.h"
#include "leaf-types/basic.h"
#include "leaf-types/leaf-types.h"
#include "run/activity.h"
#include "run/run-inputs.h"
#include "script/script-status.h"

typedef struct Simulation {
        LeafServices services; /* must be the first member, see simulation_of() */
        const Scenario *scenario;
        const Tree *tree;
        Run *run;
        RunEventObserver observer;
        void *userdata;

        GArray *warnings; /* of RunEvent: not reported yet */
} Simulation;

static uint64_t now(const Simulation *simulation) {
        return timers_now(simulation->services.timers, TIMER_MONOTONIC);
}

static void report(const Simulation *simulation, const RunEvent *event) {
        simulation->observer(event, simulation->userdata);
}

static void add_warning(const Simulation *simulation, NodeId node, const char *text) {
        RunEvent warning = {
                .time = now(simulation),
                .node = node,
                .what = "warning",
                .label = run_node_label(simulation->run, node),
                .text = g_strdup(text),
        };

        g_array_append_val(simulation->warnings, warning);
}

/* One leaf from its start to its end. */
typedef struct SimulatedLeaf {
        const Outcome *outcome;
        const Param *computed;  /* its script, which gives its result; NULL: none, or the scenario says the result */
        BlackboardWatch *reads; /* the variables that the script reads; NULL: it is code, which runs once */
        bool stale;             /* the script is to be evaluated (again) */
        Status value;           /* of a condition */
        uint64_t known_at;      /* of a condition: when its value is first known */
        Timer *next;            /* its end, or the next change of a condition; NULL: never */
        bool stopping;
} SimulatedLeaf;

static const Simulation *simulation_of(const Leaf *leaf) {
        return (const Simulation *) leaf->services;
}

static uint64_t now_of(const Leaf *leaf) {
        return timers_now(leaf->services->timers, TIMER_MONOTONIC);
}

/* The value of the parameter of that name and kind, or NULL. */
static const void *find_param(const Leaf *leaf, const char *name, ParamKind kind, const Param **ret_param) {
        for (const Param *param = leaf->type->params; param && param->name; param++)
                if (param->kind == kind && g_str_equal(param->name, name)) {
                        if (ret_param)
                                *ret_param = param;
                        return (const char *) leaf->params + param->offset;
                }

        return NULL;
}

static Status result_of(const Leaf *leaf) {
        const SimulatedLeaf *op = leaf->op;

        if (op->outcome->result != STATUS_IDLE)
                return op->outcome->result;

        return leaf->type->flags & TYPE_NEVER_SUCCEEDS ? STATUS_FAILURE : STATUS_SUCCESS;
}

/* NULL: the scenario gives none, and none is known. */
static Cause *make_cause(const Leaf *leaf, const char *kind, const char *text) {
        const AlwaysFailureParams *params = leaf->type == &always_failure_type ? leaf->params : NULL;
        const char *known = params ? params->message : NULL;
        Cause *cause = kind || text || known ? cause_of_pattern(kind, text ?: known) : NULL;

        if (cause)
                cause->node = leaf->node;
        return cause;
}

static Status compute(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        const Script *script;
        Cause *cause = NULL;

        if (!op->stale)
                return op->value;

        op->stale = false;
        script = *(const Script *const *) (const void *) ((const char *) leaf->params + op->computed->offset);
        op->value = op->computed->kind == PARAM_CODE
                            ? script_status_of_code(script, leaf->blackboard, &cause)
                            : script_status_of_test(script, leaf->blackboard, NULL, NULL, NULL, &cause);
        leaf_give_cause(leaf, cause);
        return op->value;
}

static Status perform(Leaf *leaf) {
        const Outcome *outcome = ((const SimulatedLeaf *) leaf->op)->outcome;
        Status status = result_of(leaf);

        if (status != STATUS_SUCCESS)
                leaf_give_cause(leaf, make_cause(leaf, outcome->cause_kind, outcome->cause));
        if (outcome->outputs) {
                json_object_object_foreach(outcome->outputs, key, value)
                        leaf_set_output(leaf, key, json_object_get(value));
        }

        return status;
}

static void on_end(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        leaf_end(leaf, op->stopping ? STATUS_SKIPPED : perform(leaf));
}

static Timer *timer_after(const Leaf *leaf, uint64_t delay, TimerCallback callback) {
        return delay < SPAN_INFINITY - now_of(leaf) ? timer_new(leaf->services->timers, delay, callback, (Leaf *) leaf)
                                                    : NULL;
}

static Status start_action(Leaf *leaf) {
        const uint64_t *duration = find_param(leaf, "duration", PARAM_SPAN, NULL);
        const char *const *message = find_param(leaf, "message", PARAM_STRING, NULL);
        SimulatedLeaf *op = leaf->op;
        /* A leaf with a duration takes that time. */
        uint64_t time = op->outcome->timed || !duration ? op->outcome->after : *duration;

        if (message && *message && leaf->type == &log_type)
                leaf_say(leaf, log_params_level(leaf->params), *message);
        if (time == 0 || leaf->type->flags & TYPE_IMMEDIATE)
                return perform(leaf);

        op->next = timer_after(leaf, time, on_end);
        return STATUS_RUNNING;
}

/* Sets the current value of the condition; returns the time of its next change. */
static uint64_t evaluate_condition(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        const Outcome *outcome = op->outcome;
        uint64_t now = now_of(leaf);
        const char *kind = outcome->cause_kind, *cause = outcome->cause;
        uint32_t i;

        op->value = STATUS_RUNNING;
        if (now < op->known_at)
                return op->known_at;

        op->value = result_of(leaf);
        for (i = 0; i < outcome->n_changes && outcome->changes[i].at <= now; i++) {
                op->value = outcome->changes[i].result;
                kind = outcome->changes[i].cause_kind;
                cause = outcome->changes[i].cause;
        }

        leaf_give_cause(leaf, op->value == STATUS_FAILURE ? make_cause(leaf, kind, cause) : NULL);
        return i < outcome->n_changes ? outcome->changes[i].at : SPAN_INFINITY;
}

static void on_change(void *userdata);

static void follow_condition(Leaf *leaf) {
        uint64_t next = evaluate_condition(leaf);
        SimulatedLeaf *op = leaf->op;

        if (next != SPAN_INFINITY)
                op->next = timer_after(leaf, next - now_of(leaf), on_change);
}

static void on_change(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        follow_condition(leaf);
        leaf_set_value(leaf, op->value);
}

static void on_variables_changed(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        if (op->stale)
                return;

        op->stale = true;
        leaf_value_changed(leaf);
}

static Status simulated_start(Leaf *leaf) {
        const Simulation *simulation = simulation_of(leaf);
        SimulatedLeaf *op = leaf->op;

        op->outcome = scenario_outcome(simulation->scenario, simulation->tree, leaf->node, leaf->attempt - 1);
        /* If the scenario does not give the result: the script of a type that does nothing but evaluate it. An
         * expression over more than the variables ("value") cannot be evaluated here. */
        if (op->outcome->result == STATUS_IDLE && !op->outcome->outputs && op->outcome->n_changes == 0)
                for (const Param *param = leaf->type->params; param && param->name && !op->computed; param++)
                        if ((param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSION) && !param->extra)
                                op->computed = param;

        if (op->computed) {
                const Script *script =
                        *(const Script *const *) (const void *) ((const char *) leaf->params + op->computed->offset);

                op->stale = true;
                if (op->computed->kind == PARAM_EXPRESSION)
                        op->reads =
                                blackboard_watch(leaf->blackboard, script_reads(script), on_variables_changed, leaf);
                return compute(leaf);
        }

        if (leaf->type->class == NODE_CONDITION) {
                uint64_t now = now_of(leaf), after = op->outcome->after;

                op->known_at = after < SPAN_INFINITY - now ? now + after : SPAN_INFINITY;
                follow_condition(leaf);
                return op->value;
        }

        return start_action(leaf);
}

static bool simulated_halt(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        op->stopping = true;
        if (op->outcome->halt == 0)
                return true;

        op->next = timer_after(leaf, op->outcome->halt, on_end);
        return false;
}

static bool simulated_halts_at_once(const Leaf *leaf) {
        const SimulatedLeaf *op = leaf->op;

        return op->outcome->halt == 0;
}

static void simulated_release(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        g_clear_pointer(&op->reads, blackboard_watch_free);
}

static Status simulated_evaluate(Leaf *leaf) {
        const SimulatedLeaf *op = leaf->op;

        return op->computed ? compute(leaf) : op->value;
}

/* A variable that a real leaf would set is missing unless the scenario sets it. So this is only a warning here, but btd
 * would fail. */
static void simulated_unresolved(Leaf *leaf, const char *error) {
        const Simulation *simulation = simulation_of(leaf);
        g_autofree char *warning = g_strdup_printf("would fail: %s", error);

        add_warning(simulation, leaf->node, warning);
}

static const LeafKind simulated_kind = {
        .op_size = sizeof(SimulatedLeaf),
        .computes = true,
        .start = simulated_start,
        .halt = simulated_halt,
        .halts_at_once = simulated_halts_at_once,
        .release = simulated_release,
        .evaluate = simulated_evaluate,
        .unresolved = simulated_unresolved,
};

static const LeafKind *kind_of(const NodeType *type) {
        return &simulated_kind;
}

/* The run and its events. */

static bool warn_of_restart(Simulation *simulation, Status result) {
        const RestartPolicy *policy = &definition_header(run_definition(simulation->run))->restart;
        g_autofree char *text = NULL;

        if (!restart_is_wanted(policy, result))
                return false;

        text = g_strdup_printf("btd would start another run, because 'restart' is '%s'; only one is simulated",
                               restart_names[policy->when]);
        add_warning(simulation, NODE_NONE, text);
        return true;
}

static void warn_of_followers(Simulation *simulation, Status result) {
        const Run *run = simulation->run;
        json_object *rules = definition_header(run_definition(run))->on_finished;
        const FinishedRun finished = { run_id(run), run_tree(run), run_instance(run), status_to_string(result),
                                       run_cause(run) };

        for (size_t i = 0; rules && i < json_object_array_length(rules); i++) {
                json_object *rule = json_object_array_get_idx(rules, i);
                g_autofree char *error = NULL, *text = NULL;
                g_auto(Follower) follower = {};

                if (!on_finished_applies(rule, finished.result))
                        continue;
                if (on_finished_expand(rule, &finished, &follower, &error) < 0)
                        text = g_strdup_printf("btd would start nothing: on_finished[%zu]: %s", i, error);
                else if (follower.unit)
                        text = g_strdup_printf("btd would start the unit '%s', because of 'on_finished'",
                                               follower.unit);
                else
                        text = g_strdup_printf("btd would start the tree '%s%s%s', because of 'on_finished'",
                                               follower.tree, *follower.instance ? "@" : "", follower.instance);
                add_warning(simulation, NODE_NONE, text);
        }
}

/* A warning comes in the middle of an input, the events of the input after it. The warnings about a node stand before
 * its next event. */
static void on_event(const RunEvent *event, void *userdata) {
        Simulation *simulation = userdata;

        if (event->node == NODE_NONE && event->status != STATUS_IDLE && !warn_of_restart(simulation, event->status))
                warn_of_followers(simulation, event->status);
        for (unsigned i = 0; i < simulation->warnings->len;) {
                const RunEvent *warning = &g_array_index(simulation->warnings, RunEvent, i);

                if (warning->node != event->node) {
                        i++;
                        continue;
                }
                report(simulation, warning);
                g_array_remove_index(simulation->warnings, i);
        }

        report(simulation, event);
}

/* The log of a real run: events tell all that it has. */
static void on_message(NodeId node, int level, const char *text, void *userdata) {}

static void on_run_changed(Run *run, void *userdata) {}

static const RunCallbacks run_callbacks = {
        .changed = on_run_changed,
        .state_changed = on_run_changed,
        .finished = on_run_changed,
        .message = on_message,
};

static void on_halt(void *userdata) {
        const Simulation *simulation = userdata;

        if (!run_halting(simulation->run))
                run_halt(simulation->run, cause_new(CAUSE_HALTED, NULL, "halted by the script"));
}

/* The timer calls back when a user sets these variables. */
typedef struct Request {
        Simulation *simulation;
        const Setting *setting;
        Timer *timer;
} Request;

static void on_set(void *userdata) {
        const Request *request = userdata;
        Simulation *simulation = request->simulation;
        g_autofree char *error = NULL, *warning = NULL;

        if (run_set_values(simulation->run, request->setting->variables, "the script", &error) >= 0)
                return;

        warning = g_strdup_printf("would be refused: %s", error);
        add_warning(simulation, NODE_NONE, warning);
}

/* NODE_NONE: no leaf is running. */
static NodeId find_running_leaf(const Simulation *simulation) {
        const Machine *machine = run_machine(simulation->run);

        for (NodeId node = 0; node < simulation->tree->n_nodes; node++)
                if (simulation->tree->nodes[node].flags & NODE_LEAF &&
                    (machine_node_status(machine, node) == STATUS_RUNNING || machine_node_ending(machine, node)))
                        return node;

        return NODE_NONE;
}

/* Jumps to the next event. Returns why the simulation stops before the run has finished, or NULL. */
static char *advance(const Simulation *simulation, uint64_t until) {
        Timers *timers = simulation->services.timers;
        uint64_t next = timers_next(timers);

        if (next >= SPAN_INFINITY) {
                NodeId leaf = find_running_leaf(simulation);
                g_autofree char *path = leaf != NODE_NONE ? tree_node_path(simulation->tree, leaf) : NULL;

                return path ? g_strdup_printf("nothing more can happen: %s never ends", path)
                            : g_strdup("nothing more can happen");
        }

        if (next > until) {
                g_autofree char *span = span_format(until);

                timers_jump(timers, until);
                return g_strdup_printf("not finished after %s", span);
        }

        timers_jump(timers, next);
        return NULL;
}

static Status run_to_end(const Simulation *simulation, Ticker *ticker, uint64_t until) {
        Run *run = simulation->run;
        g_autofree char *left = NULL;
        uint32_t n_ticks = 0, n_rounds = 0;

        run_start(run, NULL);
        while (run_status(run) == STATUS_RUNNING && !left) {
                if (n_ticks >= SIMULATION_TICKS_MAX)
                        left = g_strdup_printf("not finished after %u ticks: the run seems endless",
                                               SIMULATION_TICKS_MAX);
                else if (n_rounds >= SIMULATION_ROUNDS_MAX)
                        left = g_strdup_printf("not finished after %u rounds in which no leaf took time: the run "
                                               "seems endless",
                                               SIMULATION_ROUNDS_MAX);
                else if (ticker_tick(ticker))
                        n_ticks++;
                else {
                        /* The run waits for its next round only, since no leaf has anything to wait for. */
                        bool between = find_running_leaf(simulation) == NODE_NONE &&
                                       timers_next(simulation->services.timers) <=
                                               now(simulation) + simulation->tree->interval;

                        n_rounds = between ? n_rounds + 1 : 0;
                        left = advance(simulation, until);
                }
                ARRAY_FOREACH(const RunEvent, warning, simulation->warnings)
                        report(simulation, warning);
                g_array_set_size(simulation->warnings, 0);
        }

        /* As of a recorded run that has not finished, the last event is its status. */
        if (left)
                report(simulation, &(RunEvent){
                                           .time = now(simulation),
                                           .node = NODE_NONE,
                                           .what = status_to_string(STATUS_RUNNING),
                                           .status = STATUS_RUNNING,
                                           .text = left,
                                   });
        return run_status(run);
}

Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                RunEventObserver observer, void *userdata) {
        const Tree *tree = definition_tree(definition);
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Timers) timers = timers_new_simulated();
        g_autoptr(Ticker) ticker = ticker_new(context);
        g_autoptr(Locks) locks = locks_new();
        g_autoptr(GArray) warnings = g_array_new(false, false, sizeof(RunEvent));
        Simulation simulation = {
                .services = { .kind_of = kind_of, .timers = timers },
                .scenario = scenario,
                .tree = tree,
                .observer = observer,
                .userdata = userdata,
                .warnings = warnings,
        };
        RunServices services = { .leaves = &simulation.services, .ticker = ticker, .locks = locks };
        const char *name = options->tree ?: "";
        g_autofree char *id = g_strconcat(name, ".1", NULL);
        RunOrigin origin = { .id = id, .tree = name, .instance = options->instance ?: "", .seed = options->seed };
        g_autoptr(Run) run = run_make_live(&origin, definition, &services, &run_callbacks, &simulation);
        g_autofree Request *requests = NULL;
        const Setting *settings;
        uint32_t n_requests;
        Timer *halt = NULL;
        Status status;

        g_array_set_clear_func(warnings, (GDestroyNotify) run_event_clear);
        simulation.run = run;
        if (options->variables)
                run_give(run, options->variables);
        run_observe_events(run, on_event, &simulation, UINT_MAX);
        settings = scenario_settings(scenario, &n_requests);
        requests = g_new(Request, n_requests);
        for (uint32_t i = 0; i < n_requests; i++) {
                requests[i] = (Request){ .simulation = &simulation, .setting = &settings[i] };
                requests[i].timer = timer_new(timers, settings[i].at, on_set, &requests[i]);
        }
        if (scenario_halt(scenario) != SPAN_INFINITY)
                halt = timer_new(timers, scenario_halt(scenario), on_halt, &simulation);

        status = run_to_end(&simulation, ticker, options->until);
        timer_free(halt);
        for (uint32_t i = 0; i < n_requests; i++)
                timer_free(requests[i].timer);
        return status;
}
