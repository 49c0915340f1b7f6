/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any text at all is loaded as a tree file: either it gives a tree, or errors that have a place inside of the text.
 * What has loaded can be asked for the parameters of all of its nodes.
 */

#include <glib.h>
#include <json-c/linkhash.h>

#include "definition/definition.h"
#include "example-types.h"
#include "fuzz.h"
#include "script/blackboard.h"

static const NodeType *const *const *fuzz_tables(void) {
        static const NodeType *const *tables[8];
        size_t n = 0;

        if (!tables[0]) {
                tables[n++] = engine_types;
                for (size_t i = 0; example_tables[i]; i++)
                        tables[n++] = example_tables[i];
        }

        return tables;
}

static void check_diagnostics(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);
                g_autofree char *text = diagnostics_format(diagnostics, i);

                g_assert_true(g_utf8_validate(text, -1, NULL));
                g_assert_true((diagnostic->line > 0) == (diagnostic->column > 0));
        }
}

static void check_params(const Definition *definition) {
        g_autoptr(Blackboard) blackboard = blackboard_new();
        const Tree *tree = definition_tree(definition);

        json_object_object_foreach(definition_blackboard(definition), key, value) {
                blackboard_set(blackboard, key, json_object_get(value));
        }

        for (NodeId node = 0; node < tree->n_nodes; node++) {
                g_autofree char *path = tree_node_path(tree, node), *error = NULL;
                g_auto(Params) params = {};
                int r = definition_params(definition, node, blackboard, &params, &error);

                g_assert_true((r < 0) == (error != NULL));
                g_assert_true(*path);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("fuzz");
        g_autoptr(Definition) definition = NULL;
        int r = definition_load_text((const char *) data, size, fuzz_tables(), NULL, diagnostics, &definition);

        g_assert_true((r < 0) == (diagnostics_count_errors(diagnostics) > 0));
        g_assert_true((r < 0) == (definition == NULL));
        check_diagnostics(diagnostics);
        if (definition)
                check_params(definition);

        return 0;
}
