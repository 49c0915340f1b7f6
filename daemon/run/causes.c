/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements causes.h. The table has entries only for nodes with a cause, since most nodes never fail. The cause of a
 * guard or a test contains its expression and the values that the expression read. */

#include <string.h>

#include "basic/foreach.h"
#include "basic/span.h"
#include "run/causes.h"
#include "script/script-status.h"
#include "script/scripts.h"

typedef struct Entry {
        Cause *cause;
        uint64_t serial;
} Entry;

struct CauseTable {
        GHashTable *entries; /* by node */
        uint64_t last_serial;
};

static void entry_free(void *data) {
        Entry *entry = data;

        cause_unref(entry->cause);
        g_free(entry);
}

void causes_clear(Causes *causes) {
        if (causes->table)
                g_hash_table_unref(causes->table->entries);
        g_clear_pointer(&causes->table, g_free);
}

void causes_set(Causes *causes, NodeId node, Cause *cause) {
        Entry *entry = g_new(Entry, 1);

        if (!causes->table) {
                causes->table = g_new0(struct CauseTable, 1);
                causes->table->entries = g_hash_table_new_full(NULL, NULL, NULL, entry_free);
        }

        cause->node = node;
        *entry = (Entry){ .cause = cause, .serial = ++causes->table->last_serial };
        g_hash_table_replace(causes->table->entries, GUINT_TO_POINTER(node), entry);
}

void causes_drop(Causes *causes, NodeId node) {
        if (causes->table)
                g_hash_table_remove(causes->table->entries, GUINT_TO_POINTER(node));
}

static Entry *entry_of(const Causes *causes, NodeId node) {
        return causes->table ? g_hash_table_lookup(causes->table->entries, GUINT_TO_POINTER(node)) : NULL;
}

Cause *causes_get(const Causes *causes, NodeId node) {
        const Entry *entry = entry_of(causes, node);

        return entry ? entry->cause : NULL;
}

uint64_t causes_serial(const Causes *causes, NodeId node) {
        const Entry *entry = entry_of(causes, node);

        return entry ? entry->serial : 0;
}

void causes_renew_serial(Causes *causes, NodeId node) {
        Entry *entry = entry_of(causes, node);

        if (entry)
                entry->serial = ++causes->table->last_serial;
}

static gint compare_serials(gconstpointer a, gconstpointer b, gpointer userdata) {
        uint64_t x = causes_serial(userdata, *(const NodeId *) a), y = causes_serial(userdata, *(const NodeId *) b);

        return (x > y) - (x < y);
}

GArray *causes_nodes(const Causes *causes) {
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));

        if (!causes->table)
                return nodes;

        TABLE_PAIRS(void, it, causes->table->entries) {
                NodeId node = GPOINTER_TO_UINT(it.key);

                g_array_append_val(nodes, node);
        }

        g_array_sort_with_data(nodes, compare_serials, (void *) causes);
        return nodes;
}

/* Its text has all that is below it, as that of a Parallel with several children that failed. */
static bool tells_all(const Cause *cause) {
        json_object *failed;

        return g_str_equal(cause->kind, CAUSE_ALL_FAILED) ||
               (g_str_equal(cause->kind, CAUSE_THRESHOLD) &&
                json_object_object_get_ex(cause->facts, "children", NULL) &&
                json_object_object_get_ex(cause->facts, "failed", &failed) && json_object_get_int64(failed) > 1);
}

static bool reports_element(const Tree *tree, const Cause *cause) {
        return g_str_equal(cause->kind, CAUSE_ELEMENT) ||
               (g_str_equal(cause->kind, CAUSE_THRESHOLD) && cause->node != NODE_NONE &&
                tree->nodes[cause->node].type->flags & TYPE_FOR_EACH);
}

bool cause_is_told(const Tree *tree, const Cause *cause) {
        return !cause->because || g_str_equal(cause->kind, CAUSE_ATTEMPTS) || g_str_equal(cause->kind, CAUSE_TIMEOUT) ||
               g_str_equal(cause->kind, CAUSE_ALLOWED) || tells_all(cause) || reports_element(tree, cause);
}

char *cause_describe(const Tree *tree, const Cause *cause, NodeId from) {
        GString *text = g_string_new(NULL);

        for (;; cause = cause->because) {
                while (!cause_is_told(tree, cause))
                        cause = cause->because;
                if (cause->node != from) {
                        g_autofree char *path = tree_node_path(tree, cause->node),
                                        *above = from != NODE_NONE ? tree_node_path(tree, from) : NULL;

                        g_string_append_printf(text, "%s: ", above ? path + strlen(above) + 1 : path);
                }
                g_string_append(text, cause->text);
                if (!cause->because || tells_all(cause))
                        return g_string_free(text, FALSE);

                from = cause->because->node;
                g_string_append(text, reports_element(tree, cause) || g_str_equal(cause->kind, CAUSE_ALLOWED)
                                              ? ": "
                                              : "; last: ");
        }
}

char *cause_describe_one(const Tree *tree, const Cause *cause, Status child) {
        const char *name;

        if (cause->text)
                return g_strdup(cause->text);

        name = tree_node_name(tree, cause->because->node);
        switch (child) {
        case STATUS_SKIPPED:
                return g_strdup_printf("%s was skipped", name);
        case STATUS_ERROR:
                return g_strdup_printf("%s ended with an ERROR", name);
        default:
                return g_strdup_printf("%s failed", name);
        }
}

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
        g_autofree char *explained = traced_inputs_explain(expression, verdict, values), *text = NULL;

        text = g_strdup_printf("its %s%s%s: %s%s", name ?: "", name ? " " : "", verdict, expression, explained);
        return cause_new(name ? CAUSE_GUARD : CAUSE_CONDITION,
                         facts_new("guard", fact_text(name), "expression", fact_text(expression), "seen",
                                   fact_values(values), NULL),
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
        json_object *values = variables_traced(variables, node);
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

Cause *reason_of_timeout(const Tree *tree, NodeId node, uint64_t limit, const char *waited) {
        g_autofree char *span = span_format(limit),
                        *text = g_strdup_printf("timed out after %s%s%s", span, waited ? "; " : "", waited ?: "");
        g_autofree char *path = tree_node_path(tree, node), *where = NULL;
        const NodeType *type = tree->nodes[node].type;
        const Param *param = type->params;

        while (type->has_timeout ? param->offset != type->timeout_offset : param->kind != PARAM_SPAN)
                param++;
        where = g_strdup_printf("%s of %s", param->name, path);

        return cause_new(CAUSE_TIMEOUT,
                         facts_new("limit", fact_text(span), "limit_usec", json_object_new_uint64(limit), "where",
                                   fact_text(where), NULL),
                         text);
}

/* In the fact "where". */
#define HALT_TIMEOUT "halt_timeout"

Cause *reason_of_halt_timeout(const Definition *definition, NodeId node, const Cause *before) {
        g_autofree char *span = span_format(definition_halt_timeout(definition, node));
        g_autofree char *text = g_strdup_printf("%s%sgiven up, because it had not ended %s after it was told to end",
                                                before ? before->text : "", before ? "; " : "", span);

        return cause_new(CAUSE_TIMEOUT, facts_new("limit", fact_text(span), "where", fact_text(HALT_TIMEOUT), NULL),
                         text);
}

bool cause_is_halt_timeout(const Cause *cause) {
        json_object *where;

        return g_str_equal(cause->kind, CAUSE_TIMEOUT) && json_object_object_get_ex(cause->facts, "where", &where) &&
               g_strcmp0(json_object_get_string(where), HALT_TIMEOUT) == 0;
}
