/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The directory of the file stands before the search path. */

#include "tree-load.h"
#include "definition/search-path.h"
#include "node-types.h"

int tree_load(const Client *client, const char *file, Diagnostics *diagnostics, Definition **ret_definition) {
        g_auto(GStrv) path = search_path_new(client->options.given & OPTION_BIT(OPTION_USER));
        g_autofree char *beside = g_path_get_dirname(file);
        g_autoptr(GPtrArray) directories = g_ptr_array_new();
        DefinitionSources sources;

        g_ptr_array_add(directories, beside);
        for (char **directory = path; *directory; directory++)
                g_ptr_array_add(directories, *directory);
        g_ptr_array_add(directories, NULL);

        sources = search_path_sources((const char *const *) directories->pdata);
        return definition_load_file(file, node_type_tables, &sources, diagnostics, ret_definition);
}
