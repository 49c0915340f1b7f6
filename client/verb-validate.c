/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl validate: loads tree files as btd would, and says all that is wrong with them. */

#include "basic/cleanup.h"
#include "definition/definition.h"
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

/* json: where the result goes; NULL: to the user. */
static bool validate(const Client *client, const char *file, json_object *json) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(file);
        g_autoptr(Definition) definition = NULL;
        bool valid = tree_load(client, file, diagnostics, &definition) >= 0;

        if (json) {
                json_object_array_add(json, file_to_json(file, valid, diagnostics));
                return valid;
        }

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *text = diagnostics_format(diagnostics, i);

                report_line(text);
        }
        if (valid && definition_tree(definition))
                client_say(client, "%s: ok, %u nodes", file, definition_tree(definition)->n_nodes);
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
