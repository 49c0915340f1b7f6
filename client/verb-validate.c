/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl validate: loads tree files as btd would, and says all that is wrong with them. */

#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "definition/tree-name.h"
#include "tree-load.h"
#include "verbs.h"

static json_object *diagnostic_to_json(const Diagnostic *diagnostic) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "file", json_object_new_string(diagnostic->file));
        json_object_object_add(json, "line", json_object_new_uint64(diagnostic->line));
        json_object_object_add(json, "column", json_object_new_uint64(diagnostic->column));
        json_object_object_add(json, "severity", json_object_new_string(diagnostic->warning ? "warning" : "error"));
        json_object_object_add(json, "where", diagnostic->where ? json_object_new_string(diagnostic->where) : NULL);
        json_object_object_add(json, "text", json_object_new_string(diagnostic->text));

        return json;
}

static json_object *file_to_json(const char *file, bool valid, const Diagnostics *diagnostics) {
        json_object *json = json_object_new_object(), *list = json_object_new_array();

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++)
                json_object_array_add(list, diagnostic_to_json(diagnostics_get(diagnostics, i)));

        json_object_object_add(json, "file", json_object_new_string(file));
        json_object_object_add(json, "valid", json_object_new_boolean(valid));
        json_object_object_add(json, "diagnostics", list);

        return json;
}

/* On the search path it would be passed over. */
static void warn_of_name(const char *file) {
        g_autofree char *base = g_path_get_basename(file), *text = NULL;

        if (!g_str_has_suffix(base, TREE_SUFFIX))
                return;

        base[strlen(base) - strlen(TREE_SUFFIX)] = 0;
        if (tree_name_valid(base))
                return;

        text = g_strdup_printf("%s: warning: btd does not load a file of this name: the name of a tree consists of "
                               "letters, digits, '_' and '-', %u at most",
                               file, TREE_NAME_MAX);
        report_line(text);
}

/* json: where the result goes; NULL: to the user. */
static bool validate(const Client *client, const char *file, json_object *json) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(file);
        g_autoptr(Definition) definition = NULL;
        bool valid = tree_load(client, file, diagnostics, &definition) >= 0;
        uint32_t n_nodes;

        if (json) {
                json_object_array_add(json, file_to_json(file, valid, diagnostics));
                return valid;
        }

        n_nodes = valid && definition_tree(definition) ? definition_tree(definition)->n_nodes : 0;
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *text = diagnostics_format(diagnostics, i);

                report_line(text);
        }
        if (valid)
                warn_of_name(file);
        if (n_nodes > 0)
                client_say(client, "%s: ok, %u node%s", file, n_nodes, n_nodes == 1 ? "" : "s");
        else if (valid)
                client_say(client, "%s: ok, only trees to be included", file);

        return valid;
}

int verb_validate(Client *client, char **operands) {
        g_autoptr(json_object) json = client->output.json ? json_object_new_array() : NULL;
        bool valid = true;

        for (char **file = operands; *file; file++)
                valid &= validate(client, *file, json);

        if (json)
                output_print_json(json_object_get(json));

        return valid ? EXIT_SUCCESS : EXIT_FAILURE;
}
