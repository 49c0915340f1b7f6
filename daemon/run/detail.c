/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Describes the state of nodes, without knowing any type by name: a node's timer, its rounds and the status of its
 * child are enough. A leaf of a live run describes itself.
 */

#include <inttypes.h>
#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/span.h"
#include "run/run-state.h"

/* "attempt 2 of 5; before: exited with status 3", "round 3". The maximum number of rounds of a decorator is the only
 * number among its parameters. */
static void append_round(GString *text, const Tree *tree, const void *params, const NodeHistory *history, NodeId node) {
        uint32_t rounds = node_history_rounds(history, node);
        const Cause *before = node_history_last_cause(history, node + 1);
        g_autofree char *failure = before ? cause_describe(tree, before, node + 1) : NULL;
        const Param *param = tree->nodes[node].type->params;
        int64_t max = -1;

        if (rounds == 0)
                return;
        while (param && param->name && param->kind != PARAM_INT)
                param++;
        if (param && param->name)
                max = *(const int64_t *) ((const char *) params + param->offset);
        g_string_append_printf(text, "%s %" PRIu32, failure ? "attempt" : "round", rounds + 1);
        if (max > 0)
                g_string_append_printf(text, " of %" PRIi64, max);
        if (failure)
                g_string_append_printf(text, "; before: %s", failure);
}

static char *running_detail(const Run *run, const Tree *tree, NodeId node, uint64_t timer_left) {
        const NodeHistory *history = run_node_history(run);
        const Machine *machine = run_machine(run);
        GString *text = g_string_new(NULL);
        const NodeType *type = tree->nodes[node].type;
        /* A decorator that evaluates its child again and again waits for it: "not yet: /run/ready does not exist". */
        bool waits = type->flags & TYPE_REACTIVE;
        json_object *filled = variables_filled_in(run->variables, node);
        uint32_t elements, failed;

        if (type->class == NODE_DECORATOR && waits) {
                const Cause *cause = node_history_cause(history, node + 1);
                g_autofree char *obstacle = cause ? cause_describe(tree, cause, node + 1) : NULL;

                if (obstacle)
                        g_string_append_printf(text, "not yet: %s", obstacle);
        } else if (type->class == NODE_DECORATOR && machine && type->flags & TYPE_FOR_EACH) {
                /* "3 of 6 done, 1 failed". */
                machine_elements(machine, node, &elements, &failed);
                g_string_append_printf(text, "%" PRIu32 " of %" PRIu32 " done", node_history_rounds(history, node),
                                       elements);
                if (failed > 0)
                        g_string_append_printf(text, ", %" PRIu32 " failed", failed);
        } else if (type->class == NODE_DECORATOR) {
                append_round(text, tree, variables_params(run->variables, node), history, node);
        }

        /* If the child is running, the timer is a time limit, otherwise a delay. */
        if (timer_left != UINT64_MAX) {
                g_autofree char *span = span_format_rounded(timer_left);
                bool limit = waits || node_history_status(history, node + 1) == STATUS_RUNNING;

                g_string_append_printf(text, "%s%s in %s", text->len > 0 ? "; " : "", limit ? "times out" : "continues",
                                       span);
        }

        /* "{tries} is 5": the variables that gave it parameters. */
        if (filled) {
                json_object_object_foreach(filled, name, value) {
                        g_autofree char *shown = value_to_text(value);

                        g_string_append_printf(text, "%s{%s} is %s", text->len > 0 ? "; " : "", name, shown);
                }
        }
        return g_string_free(text, text->len == 0);
}

/* NULL: nobody has forced the node. */
static char *forced_detail(const Run *run, NodeId node) {
        Status forced = run->machine ? machine_node_forced(run->machine, node) : STATUS_IDLE;

        return forced != STATUS_IDLE ? g_strdup_printf("will be %s, %s", status_to_string(forced),
                                                       causes_get(&run->forced, node)->text)
                                     : NULL;
}

/* For a control or decorator that waits until something below it has ended that it has halted: to end itself, or to go
 * on with another child. NULL: it does not. */
static char *stopping_detail(const Run *run, const Tree *tree, NodeId node) {
        const Machine *machine = run_machine(run);
        const NodeHistory *history = run_node_history(run);
        NodeId last = machine ? machine_last_halting(machine, node) : NODE_NONE;

        if (last == NODE_NONE)
                return NULL;
        if (machine_node_held(machine, node))
                return g_strdup_printf("ends when %s has stopped", tree_node_name(tree, last));

        /* It waits for nothing to stop while another child of it runs on. */
        for (NodeId child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end)
                if (node_history_status(history, child) == STATUS_RUNNING &&
                    node_history_phase(history, child) != PHASE_HALTING)
                        return NULL;

        return g_strdup_printf("waits for %s to stop", tree_node_name(tree, last));
}

/* timer_left: microseconds until the node's own timer expires; UINT64_MAX: it has none. */
static char *detail_of(const Run *run, NodeId node, uint64_t timer_left) {
        const Tree *tree = definition_tree(run_definition(run));
        const NodeHistory *history = run_node_history(run);

        if (timer_left != UINT64_MAX && tree->nodes[node].type->class == NODE_CONDITION) {
                g_autofree char *span = span_format_rounded(timer_left);

                return g_strdup_printf("%s, which counts in %s",
                                       run_leaf(run, node)->status == STATUS_SUCCESS ? "true" : "false", span);
        }
        if (node_history_status(history, node) != STATUS_RUNNING) {
                const Cause *cause = node_history_cause(history, node);
                uint32_t rounds =
                        tree->nodes[node].type->flags & TYPE_FOR_EACH ? node_history_rounds(history, node) : 0;

                if (run_status(run) == STATUS_RUNNING) {
                        char *forced = forced_detail(run, node);

                        if (forced)
                                return forced;
                }
                if (cause)
                        return cause_describe(tree, cause, node);

                return rounds > 0 ? g_strdup_printf("%" PRIu32 " done", rounds) : NULL;
        }
        if (node_history_phase(history, node) == PHASE_WAITING) {
                g_autofree char *reason = run_describe_waiting(run, node), *forced = forced_detail(run, node);

                if (run_is_at_breakpoint(run, node))
                        return g_strconcat("paused at a breakpoint", forced ? "; " : NULL, forced, NULL);

                if (reason)
                        return g_strconcat("waits ", reason, NULL);

                if (run_paused(run))
                        return g_strdup("waits for the run to be resumed");

                return NULL;
        }
        if (node_history_phase(history, node) == PHASE_HALTING)
                return g_strdup("halting");

        return tree->nodes[node].flags & NODE_LEAF ? NULL
                                                   : stopping_detail(run, tree, node)
                                                             ?: running_detail(run, tree, node, timer_left);
}

static char *node_detail(const Run *run, NodeId node, uint64_t now, uint64_t suspended) {
        const NodeHistory *history = run->history;
        Activity *activity = live_run_activity(run, node);
        uint64_t deadline = run_deadline(run, node), left = UINT64_MAX;
        g_autofree char *lock = run->node_locks ? node_locks_describe(run->node_locks, node) : NULL;
        const char *connection = run->node_locks ? node_locks_connection_name(run->node_locks, node) : NULL;
        char *detail;

        if (lock)
                return g_strconcat("waits for ", lock, NULL);
        if (activity && run_holds_until(run, node) == UINT64_MAX &&
            node_history_status(history, node) == STATUS_RUNNING && node_history_phase(history, node) == PHASE_BEGUN)
                return activity_describe(activity);

        if (deadline != UINT64_MAX && definition_uses_boottime(run->definition, node)) {
                deadline = run_boottime_deadline(run, node);
                now += suspended;
        }
        if (deadline != UINT64_MAX)
                left = deadline - MIN(now, deadline);
        if (connection && node_history_phase(history, node) == PHASE_BEGUN)
                return g_strdup_printf("its connection is %s", connection);
        detail = detail_of(run, node, left);
        return detail || !activity ? detail : activity_remark(activity);
}

/* Takes the detail (or NULL) and adds how many signals the node has in its queue, and has missed. */
static char *with_signals(const Run *run, NodeId node, char *detail) {
        const SignalQueue *queue = run_queue(run, node);
        uint64_t missed = queue ? queue->missed + queue->unrecorded : 0;
        size_t n = queue ? json_object_array_length(queue->signals) : 0;
        g_autofree char *before = detail;
        GString *text;

        if (n == 0 && missed == 0)
                return g_steal_pointer(&before);

        text = g_string_new(before);
        if (n > 0)
                g_string_append_printf(text, "%s%zu signal%s queued", text->len > 0 ? "; " : "", n, n == 1 ? "" : "s");
        if (missed > 0)
                g_string_append_printf(text, "%s%" PRIu64 " signal%s missed", text->len > 0 ? "; " : "", missed,
                                       missed == 1 ? "" : "s");
        return g_string_free(text, FALSE);
}

void run_report_at(const Run *run, NodeId node, uint64_t now, uint64_t suspended, NodeReport *ret_report) {
        uint64_t since = node_history_since(run->history, node);

        *ret_report = (NodeReport){
                .status = node_history_status(run->history, node),
                .state = node_history_state(run->history, node),
                .since = since > 0 ? run->started + (since - run->start) : 0,
                .duration = node_history_duration(run->history, node, now),
                .element = g_strdup(run_node_element(run, node)),
                .detail = with_signals(run, node, node_detail(run, node, now, suspended)),
        };
}

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report) {
        run_report_at(run, node, live_run_clock(run), timers_suspended(run->services->leaves->timers), ret_report);
}
