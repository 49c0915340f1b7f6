/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the drop-ins of a tree file, and merges them into its items, so that all that follows reads one text. An item
 * keeps the place where it was written, in the text of all pieces.
 *
 * Objects are merged as in RFC 7396 (JSON Merge Patch): member by member; a null removes a member, anything else
 * replaces it. Only the value of a variable is replaced as a whole. What a drop-in cannot change is an error. What the
 * file does not have is a warning, and left out: a new version of the file must not make the tree useless.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/nearest.h"
#include "definition/hints.h"
#include "definition/load/loader.h"

/* How the members of an object are merged. */
typedef enum Rule {
        RULE_ANY,
        RULE_TOP,
        RULE_INPUTS,
        RULE_INPUT,
        RULE_VALUES, /* of variables */
} Rule;

/* A node of the file. */
typedef struct NodeAt {
        uint32_t item;
        uint32_t parent;  /* index; PLAN_NONE: it is a root */
        const char *tree; /* of a root in "trees"; else NULL */
        const char *name; /* or its type */
        const NodeType *type;
        bool named;
} NodeAt;

typedef struct Merge {
        Loader *loader;
        TreeFile *file;
        bool draft;               /* somebody is writing the drop-in */
        const Text *base, *patch; /* their items */
        uint32_t type_key;        /* the place of the word "type" in the merged text */
        GHashTable *left_out;     /* keys of the drop-in, which were reported */
        GHashTable *nodes;        /* item of a node -> the item that changes it */
        GArray *items;            /* of TextItem: the result */
        GString *place;           /* the key whose value is merged: "nodes.Boot/Start.timeout" */
} Merge;

#define NOTHING 0u /* no value of a key is the first item */

static void leave_out(Merge *merge, uint32_t key, char *text) {
        loader_report(merge->loader, merge->file, text_offset(merge->patch, key), false, NULL, text);
        g_hash_table_add(merge->left_out, GUINT_TO_POINTER(key));
        merge->file->wrong = true;
}

/* The file does not have this, perhaps not any more. */
static void not_there(Merge *merge, uint32_t key, char *where, char *text) {
        g_autofree char *message = text;

        g_hash_table_add(merge->left_out, GUINT_TO_POINTER(key));
        merge->file->wrong |= merge->draft;
        loader_report(merge->loader, merge->file, text_offset(merge->patch, key), !merge->draft, where,
                      merge->draft ? g_steal_pointer(&message) : g_strconcat("ignored: ", message, NULL));
}

static char *word_at(const Merge *merge, const Text *text, uint32_t item) {
        size_t length;
        const char *word = text_string(text, item, merge->loader->scratch, &length);

        return g_strndup(word, length);
}

/* The item of the member's key; 0: there is none. */
static uint32_t find_key(const Merge *merge, const Text *text, uint32_t object, const char *name) {
        if (text_kind(text, object) != TEXT_OBJECT)
                return 0;

        TEXT_KEYS(text, key, object) {
                size_t length;
                const char *word = text_string(text, key, merge->loader->scratch, &length);

                if (strlen(name) == length && memcmp(word, name, length) == 0)
                        return key;
        }

        return 0;
}

/* Adds the key to the place. Returns the length that the place had before. */
static size_t enter(Merge *merge, const char *key) {
        size_t length = merge->place->len;

        g_string_append_printf(merge->place, "%s%s", length > 0 ? "." : "", key);
        return length;
}

static void on_fault(uint32_t item, char *text, void *userdata) {
        g_free(text);
}

static json_object *value_at(const Merge *merge, const Text *text, uint32_t item) {
        json_object *value = NULL;

        if (item != NOTHING)
                (void) text_to_json(text, item, merge->loader->scratch, on_fault, NULL, &value);
        return value;
}

/* from: of the file; to: of the drop-in. */
static void note_change(const Merge *merge, uint32_t from, uint32_t to) {
        const DefinitionSources *sources = merge->loader->sources;
        g_autoptr(json_object) before = NULL, after = NULL;

        if (!merge->draft || !sources->changed)
                return;

        before = value_at(merge, merge->base, from);
        after = value_at(merge, merge->patch, to);
        if (!json_object_equal(before, after))
                sources->changed(merge->place->str, before, after, sources->userdata);
}

/* The merging. */

static void append(Merge *merge, TextItem item) {
        item.next = merge->items->len + 1;
        g_array_append_val(merge->items, item);
}

/* Returns the item, whose members or elements follow. */
static uint32_t begin(Merge *merge, const TextItem *like) {
        TextItem item = *like;

        item.count = 0;
        append(merge, item);
        return merge->items->len - 1;
}

static void end(Merge *merge, uint32_t item, uint32_t count) {
        TextItem *container = &g_array_index(merge->items, TextItem, item);

        container->count = count;
        container->next = merge->items->len;
}

static void merge_object(Merge *merge, uint32_t at, uint32_t patch, Rule rule);

/* A value with all that it contains; nodes of the file are changed on the way. */
static void copy(Merge *merge, const Text *from, uint32_t at) {
        const TextItem *item = text_item(from, at);
        void *patch = from == merge->base ? g_hash_table_lookup(merge->nodes, GUINT_TO_POINTER(at)) : NULL;
        uint32_t container, n = item->kind == TEXT_OBJECT  ? item->count * 2
                                : item->kind == TEXT_ARRAY ? item->count
                                                           : 0;

        if (patch) {
                g_autofree char *around = g_strdup(merge->place->str),
                                *name = word_at(merge, merge->patch, GPOINTER_TO_UINT(patch) - 1);

                g_string_assign(merge->place, "nodes.");
                g_string_append(merge->place, name);
                merge_object(merge, at, GPOINTER_TO_UINT(patch), RULE_ANY);
                g_string_assign(merge->place, around);
                return;
        }
        if (item->kind < TEXT_ARRAY) {
                append(merge, *item);
                return;
        }

        container = begin(merge, item);
        for (uint32_t i = 0, below = at + 1; i < n; i++, below = text_next(from, below))
                copy(merge, from, below);
        end(merge, container, item->count);
}

/* A value of the drop-in in place of something else. There is no member that a null could remove. */
static void copy_new(Merge *merge, uint32_t at) {
        uint32_t object, n = 0;

        if (text_kind(merge->patch, at) != TEXT_OBJECT) {
                copy(merge, merge->patch, at);
                return;
        }

        object = begin(merge, text_item(merge->patch, at));
        TEXT_KEYS(merge->patch, key, at)
                if (text_kind(merge->patch, key + 1) != TEXT_NULL) {
                        n++;
                        copy(merge, merge->patch, key);
                        copy_new(merge, key + 1);
                }
        end(merge, object, n);
}

/* Adds the members of the drop-in's object that are not used. Returns how many. */
static uint32_t add_members(Merge *merge, uint32_t patch, GHashTable *used) {
        uint32_t n = 0;

        TEXT_KEYS(merge->patch, key, patch) {
                g_autofree char *word = NULL;
                size_t around;

                if ((used && g_hash_table_contains(used, GUINT_TO_POINTER(key))) ||
                    g_hash_table_contains(merge->left_out, GUINT_TO_POINTER(key)) ||
                    text_kind(merge->patch, key + 1) == TEXT_NULL)
                        continue;

                n++;
                word = word_at(merge, merge->patch, key);
                around = enter(merge, word);
                note_change(merge, NOTHING, key + 1);
                g_string_truncate(merge->place, around);
                copy(merge, merge->patch, key);
                copy_new(merge, key + 1);
        }

        return n;
}

static Rule rule_below(Rule rule, const char *key) {
        switch (rule) {
        case RULE_TOP:
                return g_str_equal(key, "inputs")       ? RULE_INPUTS
                       : g_str_equal(key, "blackboard") ? RULE_VALUES
                                                        : RULE_ANY;
        case RULE_INPUTS:
                return RULE_INPUT;
        default:
                return RULE_ANY;
        }
}

static void merge_value(Merge *merge, uint32_t at, uint32_t patch, Rule rule) {
        if (text_kind(merge->base, at) == TEXT_OBJECT && text_kind(merge->patch, patch) == TEXT_OBJECT) {
                merge_object(merge, at, patch, rule);
        } else if (rule == RULE_INPUT && text_kind(merge->base, at) == TEXT_STRING) {
                /* "string" is short for {"type": "string"}. */
                uint32_t object = begin(merge, text_item(merge->patch, patch));

                append(merge, (TextItem){ .start = merge->type_key,
                                          .end = merge->type_key + (uint32_t) strlen("type"),
                                          .kind = TEXT_STRING });
                copy(merge, merge->base, at);
                end(merge, object, 1 + add_members(merge, patch, NULL));
        } else {
                note_change(merge, at, patch);
                copy_new(merge, patch);
        }
}

/* The members of the drop-in's object: name -> key. */
static GHashTable *list_members(Merge *merge, uint32_t object) {
        GHashTable *members = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        TEXT_KEYS(merge->patch, key, object) {
                g_autofree char *word = word_at(merge, merge->patch, key);

                if (g_hash_table_contains(merge->left_out, GUINT_TO_POINTER(key)))
                        continue;
                if (g_hash_table_contains(members, word)) {
                        g_autofree char *shown = excerpt(word, strlen(word));

                        leave_out(merge, key, g_strdup_printf("'%s' is given twice", shown));
                } else
                        g_hash_table_insert(members, g_steal_pointer(&word), GUINT_TO_POINTER(key));
        }

        return members;
}

static void merge_object(Merge *merge, uint32_t at, uint32_t patch, Rule rule) {
        g_autoptr(GHashTable) members = list_members(merge, patch), used = g_hash_table_new(NULL, NULL);
        uint32_t object = begin(merge, text_item(merge->base, at)), n = 0;

        TEXT_KEYS(merge->base, key, at) {
                g_autofree char *word = word_at(merge, merge->base, key);
                uint32_t other = GPOINTER_TO_UINT(g_hash_table_lookup(members, word));
                bool whole = rule == RULE_VALUES || (rule == RULE_INPUT && g_str_equal(word, "default"));
                size_t around;

                if (!other) {
                        n++;
                        copy(merge, merge->base, key);
                        copy(merge, merge->base, key + 1);
                        continue;
                }

                g_hash_table_add(used, GUINT_TO_POINTER(other));
                around = enter(merge, word);
                if (!whole && text_kind(merge->patch, other + 1) == TEXT_NULL)
                        note_change(merge, key + 1, NOTHING);
                else {
                        n++;
                        copy(merge, merge->patch, other);
                        if (whole) {
                                note_change(merge, key + 1, other + 1);
                                copy(merge, merge->patch, other + 1);
                        } else
                                merge_value(merge, key + 1, other + 1, rule_below(rule, word));
                }
                g_string_truncate(merge->place, around);
        }

        end(merge, object, n + add_members(merge, patch, used));
}

/* The nodes of the file. */

static void add_nodes(Merge *merge, GArray *nodes, uint32_t item, uint32_t parent, const char *tree) {
        const Text *base = merge->base;
        uint32_t type = find_key(merge, base, item, "type"), name = find_key(merge, base, item, "name"),
                 child = find_key(merge, base, item, "child"), children = find_key(merge, base, item, "children");
        NodeAt node = { .item = item, .parent = parent, .tree = tree, .name = "?" };

        if (text_kind(base, item) != TEXT_OBJECT)
                return;

        node.named = name && text_kind(base, name + 1) == TEXT_STRING;
        if (type && text_kind(base, type + 1) == TEXT_STRING) {
                g_autofree char *word = word_at(merge, base, type + 1);

                node.type = type_index_find(merge->loader->types, word);
                node.name = node.type ? node.type->name : "?";
        }
        if (node.named) {
                g_autofree char *word = word_at(merge, base, name + 1);

                node.name = loader_intern_text(merge->loader, word);
        }

        parent = nodes->len;
        g_array_append_val(nodes, node);
        if (child)
                add_nodes(merge, nodes, child + 1, parent, NULL);
        if (!children || text_kind(base, children + 1) != TEXT_ARRAY)
                return;
        TEXT_ELEMENTS(base, at, children + 1)
                add_nodes(merge, nodes, at, parent, NULL);
}

/* "camera: Boot/Start", as in messages. */
static char *node_path(const GArray *nodes, const NodeAt *node) {
        char *path = g_strdup(node->name);

        while (node->parent != PLAN_NONE) {
                g_autofree char *below = path;

                node = &g_array_index(nodes, NodeAt, node->parent);
                path = g_strconcat(node->name, "/", below, NULL);
        }
        if (node->tree) {
                g_autofree char *below = path;

                path = g_strconcat(node->tree, ": ", below, NULL);
        }

        return path;
}

/* The nodes with this name, or whose path ends so. A whole path is that of one node, even if other paths end so. */
static GPtrArray *find_nodes(GArray *nodes, const char *name) {
        g_autoptr(GPtrArray) found = g_ptr_array_new(), whole = g_ptr_array_new();

        ARRAY_FOREACH(NodeAt, node, nodes) {
                g_autofree char *path = NULL;
                const char *end;

                if (!node->named || !g_str_has_suffix(name, node->name))
                        continue;

                path = node_path(nodes, node);
                end = path + strlen(path) - MIN(strlen(path), strlen(name));
                if (g_str_equal(path, name))
                        g_ptr_array_add(whole, node);
                if (g_str_equal(end, name) && (end == path || end[-1] == '/' || end[-1] == ' '))
                        g_ptr_array_add(found, node);
        }

        return whole->len > 0 ? g_steal_pointer(&whole) : g_steal_pointer(&found);
}

static char *no_node(const Merge *merge, const GArray *nodes, const char *name) {
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };

        ARRAY_FOREACH(const NodeAt, node, nodes)
                if (node->named)
                        nearest_offer(&nearest, node->name);

        return nearest.best ? g_strdup_printf("nodes: no node of %s%s has the name '%s'; did you mean '%s'?",
                                              merge->file->name, TREE_SUFFIX, shown, nearest.best)
                            : g_strdup_printf("nodes: no node of %s%s has the name '%s'; give a node's 'name', or its "
                                              "path, such as 'Boot/Start'",
                                              merge->file->name, TREE_SUFFIX, shown);
}

/* The checks. */

/* The parts of a file that only another file can change. */
static const char *const fixed[] = { "root", "trees", "include", "lua", "outputs", NULL };
static const char *const sections[] = { "inputs", "blackboard", "nodes", NULL };

static char *copy_instead(const Merge *merge, const char *key) {
        return g_strdup_printf("a drop-in cannot change '%s'; 'btctl edit --full %s' copies the file, to change all of "
                               "it",
                               key, merge->file->name);
}

static bool expect_object(Merge *merge, uint32_t key, const char *expected) {
        if (text_kind(merge->patch, key + 1) == TEXT_OBJECT)
                return true;

        leave_out(merge, key, text_unexpected(merge->patch, key + 1, expected));
        return false;
}

static char *unknown_key(const char *word, const char **ret_meant) {
        g_autofree char *shown = excerpt(word, strlen(word)), *why = NULL;
        const Hint *hint = hint_find(HINT_KEY, HINT_TREE_FILE, word);
        Nearest nearest = { .word = word };
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (hint && hint->instead && !g_strv_contains(fixed, hint->instead)) {
                why = hint_format(hint);
                *ret_meant = hint->instead;
                g_string_append(text, why);
                return g_string_free(g_steal_pointer(&text), false);
        }

        for (const char *const *section = sections; *section; section++)
                nearest_offer(&nearest, *section);
        for (const Param *param = header_params; param->name; param++)
                nearest_offer(&nearest, param->name);
        *ret_meant = nearest.best;
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append(text, " (a drop-in takes: inputs, blackboard, nodes");
        for (const Param *param = header_params; param->name; param++)
                g_string_append_printf(text, ", %s", param->name);
        g_string_append_c(text, ')');
        return g_string_free(g_steal_pointer(&text), false);
}

/* section: inputs or blackboard; other: the other of them. */
static void check_variable(Merge *merge, uint32_t key, const char *section, const char *other) {
        g_autofree char *name = word_at(merge, merge->patch, key), *shown = excerpt(name, strlen(name));
        uint32_t own = find_key(merge, merge->base, 0, section), others = find_key(merge, merge->base, 0, other);
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        Nearest nearest = { .word = name };

        if (own && find_key(merge, merge->base, own + 1, name))
                return;
        if (others && find_key(merge, merge->base, others + 1, name)) {
                not_there(merge, key, NULL,
                          g_strdup_printf("%s: '%s' is in '%s' of %s%s; change it there", section, shown, other,
                                          merge->file->name, TREE_SUFFIX));
                return;
        }

        if (own && text_kind(merge->base, own + 1) == TEXT_OBJECT)
                TEXT_KEYS(merge->base, declared, own + 1) {
                        char *word = word_at(merge, merge->base, declared);

                        g_ptr_array_add(words, word);
                        nearest_offer(&nearest, word);
                }
        not_there(merge, key, NULL,
                  nearest.best ? g_strdup_printf("%s: %s%s has no '%s' there; did you mean '%s'?", section,
                                                 merge->file->name, TREE_SUFFIX, shown, nearest.best)
                               : g_strdup_printf("%s: %s%s has no '%s' there; a drop-in only changes what the file "
                                                 "declares",
                                                 section, merge->file->name, TREE_SUFFIX, shown));
        diagnostics_suggest(merge->loader->diagnostics, nearest.best);
}

static void check_variables(Merge *merge, uint32_t section, bool inputs) {
        if (!expect_object(merge, section,
                           inputs ? "inputs: expected an object of variables"
                                  : "blackboard: expected an object of "
                                    "variables"))
                return;

        TEXT_KEYS(merge->patch, key, section + 1) {
                g_autofree char *name = word_at(merge, merge->patch, key),
                                *expected = g_strdup_printf("inputs.%s: expected an object of what changes, such as "
                                                            "{\"default\": ...}",
                                                            name);
                uint32_t type;

                check_variable(merge, key, inputs ? "inputs" : "blackboard", inputs ? "blackboard" : "inputs");
                if (!inputs || g_hash_table_contains(merge->left_out, GUINT_TO_POINTER(key)) ||
                    !expect_object(merge, key, expected))
                        continue;

                type = find_key(merge, merge->patch, key + 1, "type");
                if (type)
                        leave_out(merge, type, g_strdup_printf("inputs.%s: a drop-in cannot change the type", name));
        }
}

/* Keys that the type of the node does not have. */
static void check_keys(Merge *merge, const GArray *nodes, const NodeAt *node, uint32_t object) {
        TEXT_KEYS(merge->patch, key, object) {
                g_autofree char *word = word_at(merge, merge->patch, key), *shown = excerpt(word, strlen(word)),
                                *why = NULL;
                bool known = loader_takes_word(node->type, word), close, other;
                const char *meant;

                for (Key common = 0; common < KEY_MAX_; common++)
                        known |= g_str_equal(loader_key_names[common], word);
                if (known)
                        continue;

                why = loader_explain_key(node->type, word, &meant, &close, &other);
                not_there(merge, key, node_path(nodes, node), g_strdup_printf("unknown key '%s'%s", shown, why));
                diagnostics_suggest(merge->loader->diagnostics, meant);
        }
}

static void check_node(Merge *merge, GArray *nodes, uint32_t key) {
        g_autofree char *name = word_at(merge, merge->patch, key),
                        *expected = g_strdup_printf("nodes: expected an object of what changes at '%s', such as "
                                                    "{\"timeout\": \"30s\"}",
                                                    name);
        g_autoptr(GPtrArray) found = find_nodes(nodes, name);
        const NodeAt *node = found->len > 0 ? found->pdata[0] : NULL;

        if (!node) {
                not_there(merge, key, NULL, no_node(merge, nodes, name));
                return;
        }
        if (found->len > 1) {
                g_autofree char *shown = excerpt(name, strlen(name)), *first = node_path(nodes, node),
                                *second = node_path(nodes, found->pdata[1]);

                not_there(merge, key, NULL,
                          g_str_equal(first, second)
                                  ? g_strdup_printf("nodes: %u nodes have the path '%s', so a drop-in cannot change "
                                                    "one of them",
                                                    found->len, shown)
                                  : g_strdup_printf("nodes: %u nodes have the name '%s'; give the path of one, such as "
                                                    "'%s' or '%s'",
                                                    found->len, shown, first, second));
                return;
        }
        if (!expect_object(merge, key, expected))
                return;

        for (Key below = 0; below < KEY_MAX_; below++) {
                uint32_t member = find_key(merge, merge->patch, key + 1, loader_key_names[below]);

                if (!member || below == KEY_DESCRIPTION ||
                    (below == KEY_NAME && node->type && params_find(node->type->params, "name", strlen("name"))))
                        continue;
                leave_out(merge, member, copy_instead(merge, loader_key_names[below]));
        }
        if (node->type)
                check_keys(merge, nodes, node, key + 1);
        if (g_hash_table_contains(merge->nodes, GUINT_TO_POINTER(node->item)))
                leave_out(merge, key, g_strdup_printf("nodes: the node '%s' is given twice", name));
        else
                g_hash_table_insert(merge->nodes, GUINT_TO_POINTER(node->item), GUINT_TO_POINTER(key + 1));
}

static void check_nodes(Merge *merge, uint32_t section) {
        uint32_t root = find_key(merge, merge->base, 0, "root"), trees = find_key(merge, merge->base, 0, "trees");
        g_autoptr(GArray) nodes = g_array_new(false, false, sizeof(NodeAt));

        if (root)
                add_nodes(merge, nodes, root + 1, PLAN_NONE, NULL);
        if (trees && text_kind(merge->base, trees + 1) == TEXT_OBJECT)
                TEXT_KEYS(merge->base, key, trees + 1) {
                        g_autofree char *tree = word_at(merge, merge->base, key);
                        uint32_t of_tree = find_key(merge, merge->base, key + 1, "root");

                        if (of_tree)
                                add_nodes(merge, nodes, of_tree + 1, PLAN_NONE,
                                          loader_intern_text(merge->loader, tree));
                }

        if (expect_object(merge, section,
                          "nodes: expected an object of nodes, such as {\"NAME\": {\"timeout\": \"30s\"}}"))
                TEXT_KEYS(merge->patch, key, section + 1)
                        check_node(merge, nodes, key);

        /* These are not members of the file. */
        g_hash_table_add(merge->left_out, GUINT_TO_POINTER(section));
}

static void check(Merge *merge) {
        TEXT_KEYS(merge->patch, key, 0) {
                g_autofree char *word = word_at(merge, merge->patch, key);
                const char *meant = NULL;

                if (g_str_equal(word, "nodes") && find_key(merge, merge->patch, 0, word) != key)
                        leave_out(merge, key, g_strdup("'nodes' is given twice"));
                else if (g_str_equal(word, "nodes"))
                        check_nodes(merge, key);
                else if (g_str_equal(word, "inputs") || g_str_equal(word, "blackboard"))
                        check_variables(merge, key, g_str_equal(word, "inputs"));
                else if (g_strv_contains(fixed, word))
                        leave_out(merge, key, copy_instead(merge, word));
                else if (!params_find(header_params, word, strlen(word))) {
                        leave_out(merge, key, unknown_key(word, &meant));
                        diagnostics_suggest(merge->loader->diagnostics, meant);
                }
        }
}

/* type_key: the place of the word "type" in the merged text. */
static void merge_dropin(Loader *loader, TreeFile *file, TreeFile *dropin, size_t type_key) {
        g_autoptr(GHashTable) left_out = g_hash_table_new(NULL, NULL), nodes = g_hash_table_new(NULL, NULL);
        g_autoptr(GArray) items = g_array_new(false, false, sizeof(TextItem));
        g_autoptr(GString) place = g_string_new(NULL);
        Merge merge = { .loader = loader,
                        .file = file,
                        .draft = g_strcmp0(dropin->path, loader->sources->draft) == 0,
                        .base = &file->text,
                        .patch = &dropin->text,
                        .type_key = (uint32_t) type_key,
                        .left_out = left_out,
                        .nodes = nodes,
                        .items = items,
                        .place = place };

        if (text_kind(merge.patch, 0) != TEXT_OBJECT) {
                file->wrong = true;
                loader_report(
                        loader, file, text_offset(merge.patch, 0), false, NULL,
                        text_unexpected(merge.patch, 0, "a drop-in is an object, such as {\"autostart\": false}"));
                return;
        }

        check(&merge);
        merge_object(&merge, 0, 0, RULE_TOP);
        g_free(file->text.items);
        file->text.n_items = items->len;
        file->text.items = (TextItem *) (void *) g_array_free(g_steal_pointer(&items), false);
}

static void read_dropins(Loader *loader, TreeFile *file, const GPtrArray *paths, GString *merged) {
        for (unsigned i = 0; i < paths->len; i++) {
                g_autofree char *error = NULL;
                TreeFile *dropin = NULL;

                if (i >= DROPINS_MAX)
                        error = g_strdup_printf("is one too many: a tree file has at most %u drop-ins", DROPINS_MAX);
                else
                        dropin = loader_read_file(loader, paths->pdata[i], &error);
                if (dropin && dropin->length > DROPIN_LENGTH_MAX)
                        error = g_strdup_printf("is too large: a drop-in has at most %u MiB", DROPIN_LENGTH_MAX >> 20);
                if (error) {
                        file->wrong = true;
                        diagnostics_add(loader->diagnostics, file->number, DIAGNOSTICS_NOWHERE, false, NULL,
                                        g_strdup_printf("the drop-in '%s' %s", (char *) paths->pdata[i], error));
                        return;
                }

                g_assert(dropin);
                file->wrong |= dropin->wrong;
                dropin->extends = file;
                dropin->start = merged->len;
                g_ptr_array_add(file->dropins, dropin);
                g_string_append_len(merged, dropin->contents, (gssize) dropin->length);
                g_string_append_c(merged, '\n');

                /* Its items become places in the merged text. */
                for (uint32_t item = 0; item < dropin->text.n_items; item++) {
                        dropin->text.items[item].start += (uint32_t) dropin->start;
                        dropin->text.items[item].end += (uint32_t) dropin->start;
                }
        }
}

void loader_merge_dropins(Loader *loader, TreeFile *file) {
        const DefinitionSources *sources = loader->sources;
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) merged = NULL;
        g_autofree char *error = NULL;
        size_t type_key;

        if (!file->path || !sources || !sources->dropins)
                return;
        if (sources->dropins(file->path, paths, &error, sources->userdata) < 0) {
                file->wrong = true;
                diagnostics_add(loader->diagnostics, file->number, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup_printf("drop-ins: %s", error));
        }
        if (paths->len == 0)
                return;

        merged = g_string_new_len(file->contents, (gssize) file->length);
        g_string_append_c(merged, '\n');
        file->dropins = g_ptr_array_new();
        read_dropins(loader, file, paths, merged);

        /* A key that a declaration can omit. */
        g_string_append_c(merged, '"');
        type_key = merged->len;
        g_string_append(merged, "type\"");
        file->merged = g_string_free(g_steal_pointer(&merged), false);
        file->text.text = file->merged;
        PTRS_FOREACH(TreeFile, dropin, file->dropins) {
                dropin->text.text = file->merged;
                if (file->text.items && text_kind(&file->text, 0) == TEXT_OBJECT && dropin->text.items)
                        merge_dropin(loader, file, dropin, type_key);
        }
}
