/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "inputs.h"
#include "leaf-types/leaf-types.h"
#include "tree-text.h"

static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };

char *tree_text_to_json(const char *text) {
        return g_strdelimit(g_strdup(text), "'", '"');
}

Definition *tree_text_load_file(const char *file) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("tree");
        g_autofree char *json = tree_text_to_json(file);
        Definition *definition = NULL;

        if (definition_load_text(json, strlen(json), tables, NULL, diagnostics, &definition) < 0) {
                g_autofree char *error = diagnostics_format(diagnostics, 0);

                g_error("%s", error);
        }

        return definition;
}

Definition *tree_text_load(const char *root) {
        g_autofree char *inputs = inputs_of(root);
        g_autofree char *file = g_strdup_printf("{'btd': 1, 'inputs': %s, 'root': %s}", inputs, root);

        return tree_text_load_file(file);
}
