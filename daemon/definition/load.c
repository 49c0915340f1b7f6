/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stages of a load: syntax, the top of the file, the nodes, and at last what the types themselves look for. */

#include <errno.h>

#include "basic/cleanup.h"
#include "definition/loader.h"

#define ARENA_SIZE 1024u

static void loader_init(Loader *loader, const NodeType *const *const *tables, Diagnostics *diagnostics,
                        Loaded *loaded) {
        loader->scratch = g_string_new(NULL);
        loader->types = types_new(tables);
        loader->diagnostics = diagnostics;
        loader->arena = loaded->arena;
        loader->names = g_hash_table_new(g_str_hash, g_str_equal);
        loader->defaults = g_hash_table_new(NULL, NULL);
        loader->templates = loaded->templates;
        loader->guarded = loaded->guarded;
        loader->nothing = blackboard_new();
        loader->builder = tree_builder_new();
        loader->origins = g_array_new(false, false, sizeof(Origin));
        loader->open = g_array_new(false, false, sizeof(Frame));
}

static void loader_clear(Loader *loader) {
        text_clear(&loader->text);
        g_string_free(loader->scratch, true);
        types_free(loader->types);
        g_hash_table_unref(loader->names);
        g_hash_table_unref(loader->defaults);
        blackboard_free(loader->nothing);
        tree_builder_free(loader->builder);
        g_array_unref(loader->origins);
        g_array_unref(loader->open);
}

/* What the type's own check says of a node. */
static void check_node(Loader *loader, const Tree *tree, NodeId node, const Origin *origin) {
        bool is_error = true;
        char *text = tree->nodes[node].type->check(tree, node, &is_error);

        if (text)
                diagnostics_add(loader->diagnostics, text_offset(&loader->text, origin->item), !is_error,
                                diagnostics_is_full(loader->diagnostics) ? NULL : tree_node_path(tree, node), text);
}

static Tree *finish_tree(Loader *loader, const Header *header) {
        Tree *tree = tree_builder_finish(loader->builder);

        tree->interval = header->interval;
        for (NodeId node = 0; node < tree->n_nodes; node++) {
                const Origin *origin = &g_array_index(loader->origins, Origin, node);

                if (origin->check && tree->nodes[node].type->check)
                        check_node(loader, tree, node, origin);
        }

        return tree;
}

static void read_file(Loader *loader, const char *text, size_t length, Loaded *loaded) {
        g_autofree char *error = NULL;
        size_t offset;
        uint32_t root;

        if (text_read(text, length, &loader->text, &offset, &error) < 0) {
                diagnostics_add(loader->diagnostics, offset, false, NULL, g_steal_pointer(&error));
                return;
        }
        if (!loader_read_header(loader, loaded, &root))
                return;

        loader_read_nodes(loader, root);
        if (loader->builder)
                loaded->tree = finish_tree(loader, &loaded->header);
}

int load_text(const char *text, size_t length, const NodeType *const *const *tables, Diagnostics *diagnostics,
              Loaded *ret_loaded) {
        Loaded loaded = { .arena = arena_new(ARENA_SIZE),
                          .blackboard = json_object_new_object(),
                          .templates = g_array_new(false, false, sizeof(Template)),
                          .guarded = g_array_new(false, false, sizeof(GuardedNode)) };
        Loader loader = {};

        loader_init(&loader, tables, diagnostics, &loaded);
        read_file(&loader, text, length, &loaded);
        loader_clear(&loader);
        diagnostics_locate(diagnostics, text, length);

        if (diagnostics_count_errors(diagnostics) > 0) {
                loaded_clear(&loaded);
                return -EINVAL;
        }

        *ret_loaded = loaded;
        return 0;
}

void loaded_clear(Loaded *loaded) {
        g_clear_pointer(&loaded->tree, tree_free);
        g_clear_pointer(&loaded->arena, arena_free);
        g_clear_pointer(&loaded->blackboard, json_object_put);
        g_clear_pointer(&loaded->templates, g_array_unref);
        g_clear_pointer(&loaded->guarded, g_array_unref);
}
