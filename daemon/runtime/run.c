/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a run: its machine gets a tick whenever something has happened, until that says that it is over. */

#include <json-c/linkhash.h>

#include "engine/error-text.h"
#include "runtime/detail.h"
#include "runtime/run-state.h"

/* Of the run, handed on from the root. */
static Cause *root_cause(const Run *run) {
        Cause *below = history_cause(run->history, 0), *cause;
        g_autofree char *text = NULL;

        if (!below)
                return NULL;

        text = cause_describe(definition_tree(run->definition), below, NODE_NONE);
        cause = cause_new(CAUSE_CHILD, NULL, text);
        cause->because = cause_ref(below);
        return cause;
}

static void drop_all(Run *run) {
        while (run->context.activities.head)
                activity_free(run->context.activities.head->data);

        g_clear_pointer(&run->timers, node_timers_free);
        g_clear_pointer(&run->locks, node_locks_free);
        g_clear_pointer(&run->last_look, cause_unref);
        g_clear_pointer(&run->machine, machine_free);
        ticker_remove(run->services->ticker, &run->turn);
}

static void finish(Run *run, Status status) {
        run->status = run->cause ? STATUS_ERROR : status;
        run->finished = (uint64_t) g_get_real_time();
        if (status == STATUS_HALTED && !run->cause)
                run->cause = g_steal_pointer(&run->why);
        else if (!run->cause)
                run->cause = root_cause(run);

        drop_all(run);
        run->callbacks->changed(run, run->userdata);
        run->callbacks->finished(run, run->userdata);
}

/* An expression or code of a leaf. An action has gone by now, but its cause was recorded. */
static Cause *leaf_error(const Run *run, NodeId node) {
        const Activity *activity = machine_node_data(run->machine, node);
        Cause *recorded = history_cause(run->history, node);

        if (activity)
                return activity_status(activity) == STATUS_ERROR ? activity_cause(activity) : NULL;

        return recorded && g_str_equal(recorded->kind, CAUSE_EXPRESSION) ? recorded : NULL;
}

static Cause *error_cause(const Run *run, NodeId node, const char *error) {
        bool leaf = definition_tree(run->definition)->nodes[node].flags & NODE_LEAF;
        Cause *own = leaf ? leaf_error(run, node) : NULL;

        if (!g_str_equal(error, MACHINE_EXPRESSION_FAILED))
                return cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), error_text(error));

        return cause_ref(own ?: variables_error(run->variables));
}

static void record_error(Run *run) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(run->machine, &node);

        history_fail(run->history, node, error_cause(run, node, error), run->now);
        run->cause = root_cause(run);
}

/* What goes wrong while it is halted is no news. */
static void halt_after_error(Run *run) {
        run_pass_breakpoints(run);
        run_begin(run);
        if (!run->cause)
                record_error(run);

        run->halting = true;
        machine_halt(run->machine);
        run_end(run);
}

static void run_tick(void *userdata) {
        Run *run = userdata;
        Status status;

        run_begin(run);
        status = machine_tick(run->machine);
        run_end(run);

        if (status == STATUS_ERROR) {
                halt_after_error(run);
                status = STATUS_RUNNING;
        }

        if (status != STATUS_RUNNING) {
                finish(run, status);
                return;
        }

        /* What is left to do for a run that is being halted does not stop any more. */
        if (run->halting)
                run_pass_breakpoints(run);

        run_wake(run);
        run->callbacks->changed(run, run->userdata);
        run_tell_moved(run);
}

Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata) {
        Run *run = g_new0(Run, 1);
        uint64_t seed = (uint64_t) g_random_int() << 32 | g_random_int();

        run->id = g_strdup(id);
        run->tree = g_strdup(tree);
        run->instance = g_strdup(instance);
        run->definition = definition_ref(definition);
        run->services = services;
        run->turn = (TickerEntry){ .tick = run_tick, .userdata = run };
        run->callbacks = callbacks;
        run->userdata = userdata;
        run->variables = variables_new(definition);
        run->context = (ActivityContext){
                .tree = run->tree,
                .run = run->id,
                .definition = definition,
                .services = services->leaves,
                .variables = run->variables,
                .ended = run_on_activity_ended,
                .changed = run_on_activity_changed,
                .output = run_on_activity_output,
                .userdata = run,
        };
        run->timers = node_timers_new(services->leaves->timers, run_on_timer, run);
        run->locks = node_locks_new(services->locks, definition, run->id, run_on_lock_granted, run);
        run->machine = machine_new(definition_tree(definition), &run_host, run, seed);
        run->refused = NODE_NONE;
        run->status = STATUS_RUNNING;
        run->started = (uint64_t) g_get_real_time();
        run->start = run->now = (uint64_t) g_get_monotonic_time();
        run->history = history_new(definition_tree(definition), run->start);
        return run;
}

void run_free(Run *run) {
        if (!run)
                return;

        drop_all(run);
        g_clear_pointer(&run->kept, g_array_unref);
        g_clear_pointer(&run->breakpoints, g_array_unref);
        g_clear_pointer(&run->stops, g_array_unref);
        history_free(run->history);
        variables_free(run->variables);
        json_object_put(run->given);
        definition_unref(run->definition);
        cause_unref(run->why);
        cause_unref(run->cause);
        g_free(run->id);
        g_free(run->tree);
        g_free(run->instance);
        g_free(run);
}

void run_give(Run *run, json_object *variables) {
        run->given = json_object_get(variables);
        json_object_object_foreach(variables, key, value)
                blackboard_set(variables_outermost(run->variables), key, json_object_get(value));
}

json_object *run_given(const Run *run) {
        return run->given;
}

void run_start(Run *run) {
        run_begin(run);
        machine_start(run->machine);
        run_end(run);
        run_wake(run);
}

void run_halt(Run *run, Cause *why) {
        if (run->halting || run->status != STATUS_RUNNING) {
                cause_unref(why);
                return;
        }

        run_pass_breakpoints(run);
        run_begin(run);
        run->halting = true;
        run->why = why;
        machine_halt(run->machine);
        run_end(run);
        run_wake(run);
}

const char *run_id(const Run *run) {
        return run->id;
}

const char *run_tree(const Run *run) {
        return run->tree;
}

const char *run_instance(const Run *run) {
        return run->instance;
}

const Definition *run_definition(const Run *run) {
        return run->definition;
}

Blackboard *run_blackboard(Run *run) {
        return variables_outermost(run->variables);
}

Status run_status(const Run *run) {
        return run->status;
}

bool run_halting(const Run *run) {
        return run->halting && run->status == STATUS_RUNNING;
}

const char *run_cause(const Run *run) {
        return run->cause ? run->cause->text : NULL;
}

const Cause *run_cause_chain(const Run *run) {
        return run->cause ?: run->why;
}

static Cause *halted_cause(const Run *run, NodeId node) {
        NodeId above = history_halted_by(run->history, node);
        const Cause *of_run = run_cause_chain(run);
        g_autofree char *text = NULL, *path = NULL;
        Cause *cause;

        if (above == NODE_NONE) {
                cause = cause_new(CAUSE_HALTED, of_run ? json_object_get(of_run->facts) : NULL,
                                  of_run ? of_run->text : "the run was halted");
        } else {
                path = tree_node_path(definition_tree(run->definition), above);
                text = g_strdup_printf("stopped by %s", path);
                cause = cause_new(CAUSE_HALTED, facts_new("by", fact_text(path), NULL), text);
                cause->because = history_cause(run->history, above);
                if (cause->because)
                        cause_ref(cause->because);
        }

        cause->node = node;
        return cause;
}

Cause *run_node_cause(const Run *run, NodeId node) {
        Cause *cause = history_cause(run->history, node);

        if (history_status(run->history, node) == STATUS_HALTED)
                return halted_cause(run, node);

        return cause ? cause_ref(cause) : NULL;
}

uint64_t run_started(const Run *run) {
        return run->started;
}

uint64_t run_finished(const Run *run) {
        return run->finished;
}

void run_set_watched(Run *run, bool watched) {
        history_set_watched(run->history, watched);
}

GArray *run_take_changes(Run *run) {
        return history_take_changes(run->history);
}

static char *node_detail(const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        bool leaf = tree->nodes[node].flags & NODE_LEAF;
        Activity *activity = leaf && run->machine ? machine_node_data(run->machine, node) : NULL;
        uint64_t left = run->timers ? node_timers_left(run->timers, node) : UINT64_MAX;
        g_autofree char *lock = run->locks ? node_locks_describe(run->locks, node) : NULL;

        if (run_stands_at(run, node))
                return g_strdup("stands at its breakpoint");

        return lock ? g_strconcat("waits for ", lock, NULL) : detail_text(tree, run->history, node, activity, left);
}

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report) {
        uint64_t now = (uint64_t) g_get_monotonic_time(), since = history_since(run->history, node);

        *ret_report = (NodeReport){
                .status = history_status(run->history, node),
                .since = since > 0 ? run->started + (since - run->start) : 0,
                .duration = history_duration(run->history, node, now),
                .detail = node_detail(run, node),
        };
}
