/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements reasons.h. The cause of a guard or a test contains its expression and the values that the expression
 * read. */

#include <inttypes.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/span.h"
#include "run/reasons.h"
#include "script/script-status.h"
#include "script/scripts.h"

static const struct {
        const char *name, *verdict;
} guards[] = {
        [GUARD_FAIL_IF] = { "fail_if", "is true" },
        [GUARD_SUCCESS_IF] = { "success_if", "is true" },
        [GUARD_SKIP_IF] = { "skip_if", "is true" },
        [GUARD_WHILE] = { "while", "is false" },
};

/* name: of the guard; NULL: the node's own expression. Takes values. */
static Cause *answer_cause(json_object *values, const char *name, const char *verdict, const Script *script) {
        const char *expression = script_code(script);
        g_autofree char *shown = traced_inputs_describe(values), *text = NULL;

        text = g_strdup_printf("its %s%s%s: %s%s%s%s", name ?: "", name ? " " : "", verdict, expression,
                               *shown ? " (" : "", shown, *shown ? ")" : "");
        return cause_new(name ? CAUSE_GUARD : CAUSE_CONDITION,
                         facts_new("guard", fact_text(name), "expression", fact_text(expression), "seen", values, NULL),
                         text);
}

/* The expression parameter of the node's type, which must have one. */
static const Script *own_expression(const Node *node) {
        const Param *param = node->type->params;

        while (param->kind != PARAM_EXPRESSION)
                param++;

        return *(const Script *const *) (const void *) ((const char *) node->params + param->offset);
}

Cause *reason_of_answer(const Definition *definition, const Variables *variables, NodeId node, Reason reason) {
        json_object *values = variables_seen(variables, node);
        const Node *own = &definition_tree(definition)->nodes[node];
        Guard guard = reason - REASON_FAIL_IF;

        switch (reason) {
        case REASON_TEST:
                return answer_cause(values, NULL, "condition does not hold", own_expression(own));
        case REASON_UNCHANGED:
                return answer_cause(values, NULL, "value has not changed", own_expression(own));
        default:
                return answer_cause(values, guards[guard].name, guards[guard].verdict,
                                    definition_guard(definition, node, guard));
        }
}

/* A long element is cut, because causes are reported often; the index identifies it. */
static json_object *short_fact(json_object *value, const char *shown) {
        return g_str_has_suffix(shown, "...") ? json_object_new_string(shown) : json_object_get(value);
}

Cause *reason_of_element(const Definition *definition, const Variables *variables, NodeId for_each, NodeId child) {
        const ForEachParams *params = definition_tree(definition)->nodes[for_each].params;
        g_autofree char *shown = NULL, *text = NULL;
        json_object *element, *facts;
        uint32_t index, n;
        const char *json;

        element = variables_element(variables, for_each, child, &index, &n);
        json = json_object_to_json_string_ext(element, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        shown = excerpt(json, strlen(json));
        facts = facts_new("index", json_object_new_int64(index), "element", short_fact(element, shown), NULL);
        if (params->max_failures == 0) {
                text = g_strdup_printf("failed for %s", shown);
                return cause_new(CAUSE_ELEMENT, facts, text);
        }

        json_object_object_add(facts, "elements", json_object_new_int64(n));
        json_object_object_add(facts, "failed", json_object_new_int64(params->max_failures + 1));
        text = g_strdup_printf("failed for %" PRIi64 " of %" PRIu32 " elements, last for %s", params->max_failures + 1,
                               n, shown);
        return cause_new(CAUSE_THRESHOLD, facts, text);
}

Cause *reason_of_timer(const Tree *tree, NodeId node, uint64_t limit) {
        const Param *param = tree->nodes[node].type->params;

        while (param->kind != PARAM_SPAN)
                param++;

        return reason_of_timeout(tree, node, param->offset, limit);
}

Cause *reason_of_timeout(const Tree *tree, NodeId node, size_t offset, uint64_t limit) {
        g_autofree char *span = span_format(limit), *text = g_strdup_printf("timed out after %s", span);
        g_autofree char *path = tree_node_path(tree, node), *where = NULL;
        const Param *param = tree->nodes[node].type->params;

        while (param->offset != offset)
                param++;
        where = g_strdup_printf("%s of %s", param->name, path);

        return cause_new(CAUSE_TIMEOUT,
                         facts_new("limit", fact_text(span), "limit_usec", json_object_new_uint64(limit), "where",
                                   fact_text(where), NULL),
                         text);
}

Cause *reason_of_halt_timeout(const Definition *definition, NodeId node, const Cause *before) {
        g_autofree char *span = span_format(definition_halt_timeout(definition, node));
        g_autofree char *text = g_strdup_printf("%s%sgiven up, since it had not ended %s after it was told to",
                                                before ? before->text : "", before ? "; " : "", span);

        return cause_new(CAUSE_TIMEOUT, facts_new("limit", fact_text(span), "where", fact_text("halt_timeout"), NULL),
                         text);
}
