/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements causes.h. The table has entries only for nodes with a cause, since most nodes never fail. */

#include <string.h>

#include "run/causes.h"

typedef struct Entry {
        Cause *cause;
        uint64_t serial;
} Entry;

static void entry_free(void *data) {
        Entry *entry = data;

        cause_unref(entry->cause);
        g_free(entry);
}

void causes_clear(Causes *causes) {
        g_clear_pointer(&causes->entries, g_hash_table_unref);
}

void causes_set(Causes *causes, NodeId node, Cause *cause) {
        Entry *entry = g_new(Entry, 1);

        if (!causes->entries)
                causes->entries = g_hash_table_new_full(NULL, NULL, NULL, entry_free);

        cause->node = node;
        *entry = (Entry){ .cause = cause, .serial = ++causes->last_serial };
        g_hash_table_replace(causes->entries, GUINT_TO_POINTER(node), entry);
}

void causes_drop(Causes *causes, NodeId node) {
        if (causes->entries)
                g_hash_table_remove(causes->entries, GUINT_TO_POINTER(node));
}

static const Entry *entry_of(const Causes *causes, NodeId node) {
        return causes->entries ? g_hash_table_lookup(causes->entries, GUINT_TO_POINTER(node)) : NULL;
}

Cause *causes_get(const Causes *causes, NodeId node) {
        const Entry *entry = entry_of(causes, node);

        return entry ? entry->cause : NULL;
}

uint64_t causes_serial(const Causes *causes, NodeId node) {
        const Entry *entry = entry_of(causes, node);

        return entry ? entry->serial : 0;
}

static gint compare_serials(gconstpointer a, gconstpointer b, gpointer userdata) {
        uint64_t x = causes_serial(userdata, *(const NodeId *) a), y = causes_serial(userdata, *(const NodeId *) b);

        return (x > y) - (x < y);
}

GArray *causes_nodes(const Causes *causes) {
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        GHashTableIter iter;
        void *key;

        if (!causes->entries)
                return nodes;

        g_hash_table_iter_init(&iter, causes->entries);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                NodeId node = GPOINTER_TO_UINT(key);

                g_array_append_val(nodes, node);
        }

        g_array_sort_with_data(nodes, compare_serials, (void *) causes);
        return nodes;
}

static bool reports_element(const Tree *tree, const Cause *cause) {
        return g_str_equal(cause->kind, CAUSE_ELEMENT) ||
               (g_str_equal(cause->kind, CAUSE_THRESHOLD) && cause->node != NODE_NONE &&
                tree->nodes[cause->node].type->flags & TYPE_FOR_EACH);
}

/* The text reports attempts, limits and elements of a list in addition to the failure below them. Other causes add no
 * information. */
static const Cause *skip_passed_on(const Tree *tree, const Cause *cause) {
        while (cause->because && !g_str_equal(cause->kind, CAUSE_ATTEMPTS) &&
               !g_str_equal(cause->kind, CAUSE_TIMEOUT) && !reports_element(tree, cause))
                cause = cause->because;

        return cause;
}

static char *place_of(const Tree *tree, NodeId node, NodeId from) {
        g_autofree char *path = tree_node_path(tree, node), *prefix = NULL;

        if (from == NODE_NONE)
                return g_steal_pointer(&path);

        prefix = tree_node_path(tree, from);
        return g_strdup(path + strlen(prefix) + 1);
}

char *cause_describe(const Tree *tree, const Cause *cause, NodeId from) {
        GString *text = g_string_new(NULL);

        for (;; cause = cause->because) {
                g_autofree char *place = NULL;

                cause = skip_passed_on(tree, cause);
                if (cause->node != from) {
                        place = place_of(tree, cause->node, from);
                        g_string_append_printf(text, "%s: ", place);
                }
                g_string_append(text, cause->text);
                if (!cause->because)
                        return g_string_free(text, FALSE);

                from = cause->because->node;
                g_string_append(text, reports_element(tree, cause) ? ": " : "; last: ");
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
                return g_strdup_printf("%s is in error", name);
        default:
                return g_strdup_printf("%s failed", name);
        }
}
