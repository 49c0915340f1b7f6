/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A guard is told with its expression and with what that saw. */

#include "definition/reasons.h"
#include "basic/cleanup.h"
#include "basic/span.h"
#include "script/scripts.h"
#include "script/seen.h"

static const struct {
        const char *name, *verdict;
} guards[] = {
        [GUARD_FAIL_IF] = { "fail_if", "is true" },
        [GUARD_SUCCESS_IF] = { "success_if", "is true" },
        [GUARD_SKIP_IF] = { "skip_if", "is true" },
        [GUARD_WHILE] = { "while", "is false" },
};

Cause *reason_of_guard(const Definition *definition, Variables *variables, NodeId node, Guard guard) {
        const Script *script = definition_guard(definition, node, guard);
        const char *expression = script_code(script);
        json_object *values = seen_variables(variables_scope(variables, node), script_reads(script));
        g_autofree char *shown = seen_describe(values), *text = NULL;

        text = g_strdup_printf("its %s %s: %s%s%s%s", guards[guard].name, guards[guard].verdict, expression,
                               *shown ? " (" : "", shown, *shown ? ")" : "");
        return cause_new(CAUSE_GUARD,
                         facts_new("guard", fact_text(guards[guard].name), "expression", fact_text(expression), "seen",
                                   values, NULL),
                         text);
}

Cause *reason_of_timeout(const Tree *tree, NodeId node, const char *parameter, uint64_t limit) {
        g_autofree char *span = span_format(limit), *text = g_strdup_printf("timed out after %s", span);
        g_autofree char *path = tree_node_path(tree, node), *where = g_strdup_printf("%s of %s", parameter, path);

        return cause_new(CAUSE_TIMEOUT,
                         facts_new("limit", fact_text(span), "limit_usec", json_object_new_uint64(limit), "where",
                                   fact_text(where), NULL),
                         text);
}
