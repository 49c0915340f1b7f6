/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An expression alone does not tell at night why it was false; the values that it saw do. */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/span.h"
#include "definition/reasons.h"

static const struct {
        const char *name, *verdict;
} guards[] = {
        [GUARD_FAIL_IF] = { "fail_if", "is true" },
        [GUARD_SUCCESS_IF] = { "success_if", "is true" },
        [GUARD_SKIP_IF] = { "skip_if", "is true" },
        [GUARD_WHILE] = { "while", "is false" },
};

/* An object of what the variables are; those that are not set are null. */
static json_object *values_of(const Blackboard *scope, const char *const *names) {
        json_object *values = json_object_new_object();

        for (; *names; names++) {
                json_object *value = NULL;

                (void) blackboard_get(scope, *names, &value);
                json_object_object_add(values, *names, json_object_get(value));
        }

        return values;
}

/* "battery is 15, online is not set" */
static char *describe_values(json_object *values) {
        GString *text = g_string_new(NULL);

        json_object_object_foreach(values, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = value ? excerpt(json, strlen(json)) : g_strdup("not set");

                g_string_append_printf(text, "%s%s is %s", text->len > 0 ? ", " : "", name, shown);
        }

        return g_string_free(text, FALSE);
}

Cause *reason_of_guard(const Definition *definition, Variables *variables, NodeId node, Guard guard) {
        const char *expression = definition_guard(definition, node, guard), *const names[] = { expression, NULL };
        json_object *values = values_of(variables_scope(variables, node), names);
        g_autofree char *shown = describe_values(values), *text = NULL;

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
