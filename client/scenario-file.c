/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The top of a scenario's file, and which leaves are meant by what it calls them. */

#include <errno.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "file.h"
#include "scenario-reader.h"

/* In the order of the positions that they have below. */
enum {
        TOP_LEAVES,
        TOP_DEFAULT,
        TOP_HALT
};

static const Param top_params[] = {
        [TOP_LEAVES] = { .name = "leaves", .kind = PARAM_JSON },
        [TOP_DEFAULT] = { .name = "default", .kind = PARAM_JSON },
        [TOP_HALT] = { .name = "halt", .kind = PARAM_SPAN, .offset = offsetof(Scenario, halt) },
        {},
};

static const Fields top_fields = { "a script", top_params };

static bool is_leaf(const Tree *tree, NodeId node) {
        return tree->nodes[node].flags & NODE_LEAF;
}

static void add_node(GHashTable *index, char *word, NodeId node) {
        GArray *nodes = g_hash_table_lookup(index, word);

        if (nodes)
                g_free(word);
        else {
                nodes = g_array_new(false, false, sizeof(NodeId));
                g_hash_table_insert(index, word, nodes);
        }

        g_array_append_val(nodes, node);
}

/* Word -> GArray of NodeId: the leaves that have it as their name or, paths, as their path. */
static GHashTable *index_leaves(const Tree *tree, bool paths) {
        GHashTable *index =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) (void *) g_array_unref);

        for (NodeId node = 0; node < tree->n_nodes; node++)
                if (is_leaf(tree, node))
                        add_node(index, paths ? tree_node_path(tree, node) : g_strdup(tree_node_name(tree, node)),
                                 node);

        return index;
}

/* A node of that name or path that is no leaf, or NODE_NONE. */
static NodeId find_inner(const Tree *tree, const char *word) {
        for (NodeId node = 0; node < tree->n_nodes; node++) {
                g_autofree char *path = NULL;

                if (is_leaf(tree, node))
                        continue;
                if (g_str_equal(tree_node_name(tree, node), word))
                        return node;

                path = strchr(word, '/') ? tree_node_path(tree, node) : NULL;
                if (g_strcmp0(path, word) == 0)
                        return node;
        }

        return NODE_NONE;
}

static void offer_all(Nearest *nearest, GHashTable *index) {
        GHashTableIter iter;
        void *word;

        g_hash_table_iter_init(&iter, index);
        while (g_hash_table_iter_next(&iter, &word, NULL))
                nearest_offer(nearest, word);
}

static void report_no_leaf(Reader *reader, uint32_t key, const char *word, GHashTable *names, GHashTable *paths) {
        g_autofree char *shown = excerpt(word, strlen(word));
        NodeId inner = find_inner(reader->tree, word);
        Nearest nearest = { .word = word };

        if (inner != NODE_NONE) {
                reader_error(reader, key,
                             g_strdup_printf("'%s' has the type %s and is no leaf; only leaves are told what to do",
                                             shown, reader->tree->nodes[inner].type->name));
                return;
        }

        offer_all(&nearest, names);
        offer_all(&nearest, paths);
        reader_error(reader, key,
                     nearest.best
                             ? g_strdup_printf("there is no leaf '%s'; did you mean '%s'?", shown, nearest.best)
                             : g_strdup_printf("there is no leaf '%s'; name one, or give its path: Boot/Load", shown));
}

static bool of_one_class(const Tree *tree, const GArray *leaves) {
        for (unsigned i = 1; i < leaves->len; i++)
                if (tree->nodes[g_array_index(leaves, NodeId, i)].type->class !=
                    tree->nodes[g_array_index(leaves, NodeId, 0)].type->class)
                        return false;

        return true;
}

static void read_leaf(Reader *reader, uint32_t key, GHashTable *names, GHashTable *paths) {
        g_autofree char *word = reader_string(reader, key);
        GArray *by_path = g_hash_table_lookup(paths, word), *leaves = by_path ?: g_hash_table_lookup(names, word);
        GHashTable *roles = by_path ? reader->scenario->by_path : reader->scenario->by_name;
        const Role *role;

        if (!leaves) {
                report_no_leaf(reader, key, word, names, paths);
                return;
        }

        if (g_hash_table_contains(roles, GUINT_TO_POINTER(g_array_index(leaves, NodeId, 0)))) {
                reader_error(reader, key, g_strdup_printf("'%s' is given twice", word));
                return;
        }

        if (!of_one_class(reader->tree, leaves)) {
                reader_error(reader, key,
                             g_strdup_printf("'%s' is an action and a condition; give the path of each", word));
                return;
        }

        reader->where = word;
        role = reader_read_role(reader, key + 1, (const NodeId *) (void *) leaves->data, leaves->len);
        for (unsigned i = 0; i < leaves->len; i++)
                g_hash_table_insert(roles, GUINT_TO_POINTER(g_array_index(leaves, NodeId, i)), (Role *) role);
        reader->where = NULL;
}

static void read_leaves(Reader *reader, uint32_t item) {
        g_autoptr(GHashTable) names = NULL, paths = NULL;
        uint32_t n = text_item(&reader->text, item)->count, key = item + 1;

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_error(reader, item,
                             g_strdup_printf("leaves: expected an object, {\"LoadConfig\": \"failure\"}, not %s",
                                             reader_describe(reader, item)));
                return;
        }

        names = index_leaves(reader->tree, false);
        paths = index_leaves(reader->tree, true);
        for (uint32_t i = 0; i < n; i++, key = text_next(&reader->text, key + 1))
                read_leaf(reader, key, names, paths);
}

static void read_top(Reader *reader) {
        uint32_t items[FIELDS_MAX] = {};

        if (text_kind(&reader->text, 0) != TEXT_OBJECT) {
                reader_error(
                        reader, 0,
                        g_strdup_printf("a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}, not %s",
                                        reader_describe(reader, 0)));
                return;
        }

        reader_read_fields(reader, 0, &top_fields, reader->scenario, items);
        if (items[TOP_LEAVES] > 0)
                read_leaves(reader, items[TOP_LEAVES]);
        if (items[TOP_DEFAULT] > 0)
                reader_read_fallback(reader, items[TOP_DEFAULT]);
}

static bool is_blank(const char *text, size_t length) {
        size_t n = 0;

        while (n < length && g_ascii_isspace(text[n]))
                n++;

        return n == length;
}

static void read_text(Reader *reader, const char *text, size_t length) {
        g_autofree char *error = NULL;
        size_t offset = 0;

        if (is_blank(text, length))
                error = g_strdup(
                        "the file is empty; a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}");
        else if (text_read(text, length, &reader->text, &offset, &error) >= 0)
                read_top(reader);

        if (error)
                diagnostics_add(reader->diagnostics, 0, offset, false, NULL, g_steal_pointer(&error));
}

int scenario_read(const char *text, size_t length, const Tree *tree, Diagnostics *diagnostics,
                  Scenario **ret_scenario) {
        g_autoptr(Scenario) scenario = scenario_new();
        g_autoptr(GString) scratch = g_string_new(NULL);
        Reader reader = { .scratch = scratch, .tree = tree, .diagnostics = diagnostics, .scenario = scenario };

        read_text(&reader, text, length);
        text_clear(&reader.text);
        diagnostics_locate(diagnostics, &(DiagnosticsText){ .text = text, .length = length });
        if (diagnostics_count_errors(diagnostics) > 0)
                return -EINVAL;

        *ret_scenario = g_steal_pointer(&scenario);
        return 0;
}

int scenario_read_file(const char *path, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario) {
        g_autofree char *text = NULL;
        size_t length;
        int r;

        r = file_read(path, &text, &length);
        if (r < 0) {
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup_printf("cannot be read: %s", g_strerror(-r)));
                return r;
        }

        return scenario_read(text, length, tree, diagnostics, ret_scenario);
}
