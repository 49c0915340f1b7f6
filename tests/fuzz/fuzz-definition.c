/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any text at all is loaded as a tree file, with others beside it: either it gives a tree, or errors that have a place
 * inside of a text. What has loaded can be asked for all that it says of its nodes. The files are apart by 0x1e; all
 * but the first are on the search path, as f1.json and so on. In a file, its drop-ins follow after 0x1d each; somebody
 * is writing the first one.
 */

#include <errno.h>
#include <glib.h>
#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "example-types.h"
#include "fuzz.h"
#include "script/blackboard.h"
#include "script/scripts.h"
#include "tree-files.h"

#define SEPARATOR 0x1e
#define DROPIN_SEPARATOR 0x1d
#define NODES_MAX 2000u /* a small text can make many */

typedef struct Input {
        const uint8_t *data;
        size_t size;
} Input;

static const NodeType *const *const *fuzz_tables(void) {
        static const NodeType *const *tables[8];
        size_t n = 0;

        if (!tables[0]) {
                for (size_t i = 0; tree_file_tables[i]; i++)
                        tables[n++] = tree_file_tables[i];
                for (size_t i = 0; example_tables[i]; i++)
                        tables[n++] = example_tables[i];
        }

        return tables;
}

/* The i-th piece; false: there are not so many. */
static bool piece_at(const Input *input, char separator, unsigned i, Input *ret_piece) {
        const uint8_t *p = input->data, *end = input->data + input->size, *next;

        while ((next = p < end ? memchr(p, separator, (size_t) (end - p)) : NULL) && i > 0) {
                p = next + 1;
                i--;
        }

        *ret_piece = (Input){ p, (size_t) ((next ?: end) - p) };
        return i == 0;
}

/* "path/f1.json", or its first drop-in, "path/f1.json.d/1". */
static bool find(const Input *input, const char *path, Input *ret_piece) {
        unsigned i, dropin = 0;
        Input file;
        int n = 0;

        if (sscanf(path, "path/f%2u.json%n.d/%2u%n", &i, &n, &dropin, &n) < 1 || n == 0 || path[n])
                return false;

        return piece_at(input, SEPARATOR, i, &file) && piece_at(&file, DROPIN_SEPARATOR, dropin, ret_piece);
}

static char *on_find(const char *file, void *userdata) {
        g_autofree char *path = g_build_filename("path", file, NULL);
        Input piece;

        return find(userdata, path, &piece) ? g_steal_pointer(&path) : NULL;
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        Input piece;

        for (unsigned i = 1; i <= DROPINS_MAX + 1; i++) {
                g_autofree char *dropin = g_strdup_printf("%s.d/%u", path, i);

                if (!find(userdata, dropin, &piece))
                        break;
                g_ptr_array_add(paths, g_steal_pointer(&dropin));
        }

        return 0;
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        Input piece;

        if (!find(userdata, path, &piece)) {
                *ret_error = g_strdup("is not there");
                return -ENOENT;
        }

        *ret_length = piece.size;
        *ret_text = g_strndup((const char *) piece.data, piece.size);
        memcpy(*ret_text, piece.data, piece.size);
        return 0;
}

static void on_changed(const char *key, json_object *from, json_object *to, void *userdata) {
        g_assert_true(g_utf8_validate(key, -1, NULL));
        g_assert_true(*key && (from || to));
}

static void check_diagnostics(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);
                g_autofree char *text = diagnostics_format(diagnostics, i);

                g_assert_true(g_utf8_validate(text, -1, NULL));
                g_assert_true((diagnostic->line > 0) == (diagnostic->column > 0));
        }
}

static void check_scope(const Definition *definition, NodeId node) {
        unsigned scope = definition_scope(definition, node);
        const ScopeInfo *info;

        g_assert_cmpuint(scope, <, definition_n_scopes(definition));
        info = definition_scope_info(definition, scope);
        g_assert_cmpuint(info->parent, <=, scope);
        g_assert_cmpuint(info->node, <=, node);
        g_assert_true((info->kind == SCOPE_LOCAL) == (info->names != NULL));
        g_assert_true((info->kind == SCOPE_LOCAL) == (info->inputs == NULL));
}

static void check_attributes(const Definition *definition, NodeId node) {
        const Node *n = &definition_tree(definition)->nodes[node];
        bool guarded = false, hooked = false;

        for (Guard guard = 0; guard <= GUARD_WHILE; guard++)
                guarded |= definition_guard(definition, node, guard) != NULL;
        for (Hook hook = 0; hook < HOOK_MAX_; hook++)
                hooked |= definition_hook(definition, node, hook) != NULL;

        g_assert_true(guarded == ((n->flags & NODE_GUARDED) != 0));
        g_assert_true(hooked == ((n->flags & NODE_HOOKED) != 0));
        g_assert_true((definition_lock(definition, node) || n->type->flags & TYPE_INHIBITS) ==
                      ((n->flags & NODE_LOCKED) != 0));
        g_assert_cmpuint(definition_halt_timeout(definition, node), >, 0);
}

static void check_templates(const Definition *definition, NodeId node) {
        for (const Param *param = definition_tree(definition)->nodes[node].type->params; param && param->name;
             param++) {
                json_object *template = definition_template(definition, node, param);

                g_assert_true(!template || json_object_to_json_string(template));
        }
}

static void check_files(const Definition *definition) {
        g_assert_cmpuint(definition_n_files(definition), >, 0);
        g_assert_cmpstr(definition_text(definition), ==, definition_file_text(definition, 0));
        g_assert_cmpuint(strlen(definition_hash(definition)), ==, 64);
        for (size_t i = 0; i < definition_n_files(definition); i++)
                g_assert_cmpuint(strlen(definition_file_hash(definition, i)), ==, 64);
}

/* Before it is started, and while it runs. */
static void check_variables(const Definition *definition) {
        g_autoptr(json_object) variables = json_object_new_object();
        g_autofree char *start = NULL, *set = NULL;

        json_object_object_add(variables, "x", json_object_new_int(1));
        g_assert_true((definition_check_start(definition, NULL, &start) < 0) == (start != NULL));
        g_assert_true((definition_check_set(definition, variables, &set) < 0) == (set != NULL));
}

static void check_nodes(const Definition *definition) {
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        const Tree *tree = definition_tree(definition);

        json_object_object_foreach(definition_blackboard(definition), key, value) {
                blackboard_set(blackboard, key, json_object_get(value));
        }

        for (NodeId node = 0; node < MIN(tree->n_nodes, NODES_MAX); node++) {
                g_autofree char *path = tree_node_path(tree, node), *error = NULL;
                g_auto(Params) params = {};
                int r = definition_params(definition, node, blackboard, &params, &error);

                g_assert_true((r < 0) == (error != NULL));
                g_assert_true(*path);
                check_scope(definition, node);
                check_attributes(definition, node);
                check_templates(definition, node);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Input input = { .data = data, .size = size };
        DefinitionSources sources = { .find = on_find,
                                      .dropins = on_dropins,
                                      .read = on_read,
                                      .draft = "path/f0.json.d/1",
                                      .changed = on_changed,
                                      .userdata = &input };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("fuzz");
        g_autoptr(Definition) definition = NULL;
        int r = definition_load_file("path/f0.json", fuzz_tables(), &sources, diagnostics, &definition);

        g_assert_true((r < 0) == (diagnostics_count_errors(diagnostics) > 0));
        g_assert_true((r < 0) == (definition == NULL));
        check_diagnostics(diagnostics);
        if (definition)
                check_files(definition);
        if (definition && definition_tree(definition)) {
                check_variables(definition);
                check_nodes(definition);
        }

        return 0;
}
