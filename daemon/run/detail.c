/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements detail.h without knowing any type by name: a node's timer, its rounds and the status of its child are
 * enough. */

#include <inttypes.h>

#include "basic/span.h"
#include "run/detail.h"

/* The maximum number of rounds of a decorator, which is the only number among its parameters; -1: none. */
static int64_t rounds_max(const Node *node) {
        for (const Param *param = node->type->params; param && param->name; param++)
                if (param->kind == PARAM_INT)
                        return *(const int64_t *) ((const char *) node->params + param->offset);

        return -1;
}

/* "attempt 2 of 5; before: exited with status 3", "round 3"; for a ForEach, whose rounds overlap: "2 done". */
static void append_round(GString *text, const Tree *tree, const History *history, NodeId node) {
        uint32_t rounds = history_rounds(history, node);
        const Cause *before = history_last_cause(history, node + 1);
        g_autofree char *failure = before ? cause_describe(tree, before, node + 1) : NULL;
        int64_t max = rounds_max(&tree->nodes[node]);

        if (rounds == 0)
                return;
        if (tree->nodes[node].type->flags & TYPE_FOR_EACH) {
                g_string_append_printf(text, "%" PRIu32 " done", rounds);
                return;
        }

        g_string_append_printf(text, "%s %" PRIu32, failure ? "attempt" : "round", rounds + 1);
        if (max > 0)
                g_string_append_printf(text, " of %" PRIi64, max);
        if (failure)
                g_string_append_printf(text, "; before: %s", failure);
}

/* A decorator that evaluates its child again and again waits for it: "not yet: /run/ready does not exist". */
static bool waits_for_child(const Tree *tree, NodeId node) {
        return tree->nodes[node].type->flags & TYPE_REACTIVE;
}

static void append_obstacle(GString *text, const Tree *tree, const History *history, NodeId node) {
        const Cause *cause = history_cause(history, node + 1);
        g_autofree char *obstacle = cause ? cause_describe(tree, cause, node + 1) : NULL;

        if (obstacle)
                g_string_append_printf(text, "not yet: %s", obstacle);
}

/* If the child is running, the timer is a time limit, otherwise a pause. */
static void append_timer(GString *text, const Tree *tree, const History *history, NodeId node, uint64_t left) {
        g_autofree char *span = span_format_rounded(left);
        const char *separator = text->len > 0 ? "; " : "";

        if (history_status(history, node + 1) == STATUS_RUNNING || waits_for_child(tree, node))
                g_string_append_printf(text, "%stimes out in %s", separator, span);
        else
                g_string_append_printf(text, "%scontinues in %s", separator, span);
}

static char *running_detail(const Tree *tree, const History *history, NodeId node, uint64_t timer_left) {
        GString *text = g_string_new(NULL);

        if (tree->nodes[node].type->class == NODE_DECORATOR) {
                if (waits_for_child(tree, node))
                        append_obstacle(text, tree, history, node);
                else
                        append_round(text, tree, history, node);
        }
        if (timer_left != UINT64_MAX)
                append_timer(text, tree, history, node, timer_left);

        return g_string_free(text, text->len == 0);
}

static char *ended_detail(const Tree *tree, const History *history, NodeId node) {
        const Cause *cause = history_cause(history, node);

        return cause ? cause_describe(tree, cause, node) : NULL;
}

char *detail_text(const Tree *tree, const History *history, NodeId node, uint64_t timer_left) {
        if (history_status(history, node) != STATUS_RUNNING)
                return ended_detail(tree, history, node);

        return tree->nodes[node].flags & NODE_LEAF ? NULL : running_detail(tree, history, node, timer_left);
}
