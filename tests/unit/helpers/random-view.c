/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes everything visible of a run as text, so that two runs can be compared. */

#include <inttypes.h>

#include <stdlib.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "random-run.h"

static void add_json(GString *text, json_object *json) {
        g_string_append_printf(text, " %s", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
}

static void add_cause(GString *text, const Cause *cause) {
        g_autoptr(json_object) json = cause_to_json(cause);

        if (cause)
                add_json(text, json);
}

static void add_node(GString *text, const Run *run, NodeId node) {
        const NodeHistory *history = run_node_history(run);
        const Machine *machine = run_machine(run);

        g_string_append_printf(
                text, "#%u %s %i%i%i %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64, node,
                node_history_state(history, node), machine ? (int) machine_node_status(machine, node) : -1,
                machine && machine_node_ending(machine, node), run_is_at_breakpoint(run, node),
                node_history_since(history, node), node_history_duration(history, node, UINT32_MAX),
                node_history_rounds(history, node), run_deadline(run, node), run_boottime_deadline(run, node));
        add_cause(text, node_history_last_cause(history, node));
        if (node_history_status(history, node) == STATUS_HALTED || node_history_phase(history, node) == PHASE_HALTING) {
                g_autoptr(Cause) halted = run_node_cause(run, node);

                add_cause(text, halted);
        }
        g_string_append_c(text, '\n');
}

static void add_variables(GString *text, const Blackboard *scope) {
        g_autoptr(json_object) variables = blackboard_to_json(scope);

        add_json(text, variables);
        g_string_append_c(text, '\n');
}

char *random_run_describe(const Run *run) {
        const GArray *breakpoints = run_breakpoints(run);
        const Blackboard *scope, *last = NULL;
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "%s%s%s%s %" PRIu64, status_to_string(run_status(run)),
                               run_halting(run) ? " halting" : "", run_paused(run) ? " paused" : "",
                               run_wants_tick(run) ? " wants a tick" : "", run_deadline(run, NODE_NONE));
        for (unsigned i = 0; breakpoints && i < breakpoints->len; i++)
                g_string_append_printf(text, " *%u", g_array_index(breakpoints, NodeId, i));
        g_string_append_printf(text, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, run_counts(run)->ticks,
                               run_counts(run)->inputs, run_counts(run)->action_starts,
                               run_counts(run)->action_restarts);
        if (run_was_made_ready(run))
                g_string_append_printf(text, " ready %" PRIu64, run_ready_at(run));
        add_cause(text, run_cause_chain(run));
        g_string_append_c(text, '\n');
        /* Nodes of a scope stand together. */
        for (NodeId node = 0; node < definition_tree(run_definition(run))->n_nodes; node++, last = scope) {
                scope = variables_scope(run_variables(run), node);
                if (scope != last)
                        add_variables(text, scope);
                add_node(text, run, node);
        }

        return g_string_free(text, FALSE);
}

char *random_run_what(const Run *run, NodeId node, json_object *noted) {
        const Definition *definition = run_definition(run);
        const NodeType *type = definition_tree(definition)->nodes[node].type;
        g_autofree char *error = NULL;
        g_auto(Params) params = {};

        if (type != &slow_type && type != &value_type)
                return NULL;
        if (definition_params_revealed(definition, node, variables_scope(run_variables(run), node), noted, NULL,
                                       &params, &error) < 0)
                return g_strdup("none");

        return g_strdup(json_object_to_json_string(((const SlowParams *) params.values)->what));
}

static void add_leaf(GString *text, NodeId node, Status status, bool ending, uint64_t suspended, const Cause *cause,
                     json_object *memory, const char *what) {
        g_string_append_printf(text, "#%u %s%s %" PRIu64 " %s", node, status_to_string(status), ending ? " ending" : "",
                               suspended, what);
        add_cause(text, cause);
        add_json(text, memory);
        g_string_append_c(text, '\n');
}

static void add_lock(GString *text, NodeId node, bool held) {
        g_string_append_printf(text, "#%u %s\n", node, held ? "holds" : "waits");
}

static int compare_lines(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* In which order leaves were started at the same time is nobody's business. */
static void sort_lines(GString *text) {
        g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
        g_autofree char *sorted = NULL;

        qsort(lines, g_strv_length(lines), sizeof(char *), compare_lines);
        sorted = g_strjoinv("\n", lines);
        g_string_assign(text, sorted);
}

/* A condition whose value has never been asked for again may have another one by now. */
static Status known_status(const NodeType *type, Status status) {
        return type->class == NODE_CONDITION ? STATUS_IDLE : status;
}

char *random_run_describe_world(const RandomRun *run) {
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < run->leaves->len; i++) {
                const RandomLeaf *leaf = run->leaves->pdata[i];
                bool action = leaf->type->class == NODE_ACTION;

                add_leaf(text, leaf->node, known_status(leaf->type, leaf->status), leaf->ending, leaf->suspended,
                         action ? leaf->cause : NULL, leaf->memo, leaf->what);
        }
        for (NodeId node = 0; node < run->rules.tree->n_nodes; node++)
                if (run->rules.sites[node].holds_lock || run->rules.sites[node].waits_for_lock)
                        add_lock(text, node, run->rules.sites[node].holds_lock);

        sort_lines(text);
        return g_string_free(text, FALSE);
}

char *random_run_describe_replay(const Replay *replay) {
        const Run *run = replay_run(replay);
        const Tree *tree = definition_tree(run_definition(run));
        GString *text = g_string_new(NULL);

        for (const RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1)) {
                const NodeType *type = tree->nodes[leaf->node].type;
                g_autofree char *what = random_run_what(run, leaf->node, leaf->noted);

                /* It has ended, and the world has forgotten it. */
                if (type->class == NODE_ACTION && leaf->status != STATUS_RUNNING)
                        continue;
                add_leaf(text, leaf->node, known_status(type, leaf->status), leaf->halted, leaf->suspended,
                         type->class == NODE_ACTION ? leaf->cause : NULL, leaf->memo, what);
        }
        for (NodeId node = 0; node < tree->n_nodes; node++)
                for (unsigned i = 0; i < run_locks(run)->len; i++) {
                        const RunLock *lock = &g_array_index(run_locks(run), RunLock, i);

                        if (lock->node == node)
                                add_lock(text, node, lock->held);
                }

        sort_lines(text);
        return g_string_free(text, FALSE);
}

void random_run_assert_same(const char *replayed, const char *original) {
        g_auto(GStrv) is = NULL, was = NULL;

        if (g_str_equal(replayed, original))
                return;

        is = g_strsplit(replayed, "\n", -1);
        was = g_strsplit(original, "\n", -1);
        for (size_t i = 0; is[i] && was[i]; i++)
                g_assert_cmpstr(is[i], ==, was[i]);

        g_assert_not_reached();
}
