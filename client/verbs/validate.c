/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl validate: loads tree files as btd does, and prints all errors and warnings. For a drop-in, also prints what it
 * changes. */

#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "client/files.h"
#include "client/verbs/verbs.h"
#include "definition/definition.h"
#include "definition/sources.h"

static json_object *diagnostic_to_json(const Diagnostic *diagnostic) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "file", json_object_new_string(diagnostic->file));
        json_object_object_add(json, "line", json_object_new_uint64(diagnostic->line));
        json_object_object_add(json, "column", json_object_new_uint64(diagnostic->column));
        json_object_object_add(json, "end_line", json_object_new_uint64(diagnostic->end_line));
        json_object_object_add(json, "end_column", json_object_new_uint64(diagnostic->end_column));
        json_object_object_add(json, "severity", json_object_new_string(diagnostic->warning ? "warning" : "error"));
        json_object_object_add(json, "where", diagnostic->where ? json_object_new_string(diagnostic->where) : NULL);
        json_object_object_add(json, "text", json_object_new_string(diagnostic->text));
        json_object_object_add(json, "suggestion",
                               diagnostic->instead ? json_object_new_string(diagnostic->instead) : NULL);

        return json;
}

static json_object *list_of(json_object *value) {
        json_object *list = json_object_new_array();

        json_object_array_add(list, value);
        return list;
}

/* SARIF 2.1.0, section 3.27. A result about the file as a whole has no region. */
static json_object *sarif_result(const Diagnostic *diagnostic) {
        json_object *result = json_object_new_object(), *message = json_object_new_object();
        json_object *location = json_object_new_object(), *physical = json_object_new_object();
        json_object *artifact = json_object_new_object();
        g_autoptr(GString) text = g_string_new(diagnostic->text);
        g_autofree char *uri = g_uri_escape_string(diagnostic->file, "/", false);

        json_object_object_add(artifact, "uri", json_object_new_string(uri));
        json_object_object_add(physical, "artifactLocation", artifact);
        /* Section 3.30: columns are like ours, from 1, and the end is behind the last character. */
        if (diagnostic->line > 0) {
                json_object *region = json_object_new_object();

                json_object_object_add(region, "startLine", json_object_new_uint64(diagnostic->line));
                json_object_object_add(region, "startColumn", json_object_new_uint64(diagnostic->column));
                json_object_object_add(region, "endLine", json_object_new_uint64(diagnostic->end_line));
                json_object_object_add(region, "endColumn", json_object_new_uint64(diagnostic->end_column));
                json_object_object_add(physical, "region", region);
        }
        json_object_object_add(location, "physicalLocation", physical);
        if (diagnostic->where) {
                json_object *logical = json_object_new_object();

                json_object_object_add(logical, "fullyQualifiedName", json_object_new_string(diagnostic->where));
                json_object_object_add(location, "logicalLocations", list_of(logical));
        }

        /* Section 3.11.5: a single brace would begin a placeholder. */
        g_string_replace(text, "{", "{{", 0);
        g_string_replace(text, "}", "}}", 0);
        json_object_object_add(message, "text", json_object_new_string(text->str));
        json_object_object_add(result, "ruleId",
                               json_object_new_string(diagnostic->warning ? "tree-warning" : "tree-error"));
        json_object_object_add(result, "level", json_object_new_string(diagnostic->warning ? "warning" : "error"));
        json_object_object_add(result, "message", message);
        json_object_object_add(result, "locations", list_of(location));
        return result;
}

/* Takes the results. */
static json_object *sarif_log(json_object *results) {
        json_object *log = json_object_new_object(), *run = json_object_new_object();
        json_object *tool = json_object_new_object(), *driver = json_object_new_object();

        json_object_object_add(driver, "name", json_object_new_string("btctl validate"));
        json_object_object_add(driver, "version", json_object_new_string(BTD_VERSION));
        json_object_object_add(tool, "driver", driver);
        json_object_object_add(run, "tool", tool);
        json_object_object_add(run, "columnKind", json_object_new_string("unicodeCodePoints"));
        json_object_object_add(run, "results", results);
        json_object_object_add(log, "$schema", json_object_new_string("https://json.schemastore.org/sarif-2.1.0.json"));
        json_object_object_add(log, "version", json_object_new_string("2.1.0"));
        json_object_object_add(log, "runs", list_of(run));
        return log;
}

/* Warns of a file name that btd would ignore on the search path. */
static void warn_of_name(const char *file) {
        g_autofree char *base = g_path_get_basename(file), *text = NULL;

        if (!g_str_has_suffix(base, TREE_SUFFIX))
                return;

        base[strlen(base) - strlen(TREE_SUFFIX)] = 0;
        if (tree_name_valid(base))
                return;

        text = g_strdup_printf(
                "%s: warning: btd does not load a file of this name, because the name of a tree consists of "
                "letters, digits, '_' and '-', %u at most",
                file, TREE_NAME_MAX);
        report_line(text);
}

/* The changes that a drop-in makes, as they are collected for the output. */
typedef struct Changes {
        const Output *output;
        GString *text;     /* lines */
        json_object *json; /* a list */
} Changes;

static void append_value(const Changes *changes, json_object *value, const char *none) {
        g_autofree char *text = value ? output_json_text(value, JSON_C_TO_STRING_PLAIN) : g_strdup(none);

        g_string_append(changes->text, text);
}

static void on_change(const char *key, json_object *from, json_object *to, void *userdata) {
        const Changes *changes = userdata;
        json_object *json = json_object_new_object();

        g_string_append(changes->text, "\n  ");
        output_appendf(changes->output, changes->text, STYLE_PLAIN, "%s: ", key);
        append_value(changes, from, "not set");
        g_string_append(changes->text, changes->output->ascii ? " -> " : " → ");
        append_value(changes, to, "removed");
        json_object_object_add(json, "key", json_object_new_string(key));
        json_object_object_add(json, "from", json_object_get(from));
        json_object_object_add(json, "to", json_object_get(to));
        json_object_array_add(changes->json, json);
}

static void say_valid(const Client *client, const char *file, const char *tree, const Definition *definition,
                      const Changes *changes) {
        uint32_t n_nodes = definition_tree(definition) ? definition_tree(definition)->n_nodes : 0;

        struct stat st;

        if (client->output.quiet)
                return;
        /* An empty file, or a link to /dev/null. */
        if (tree && stat(file, &st) >= 0 && (search_path_is_mask(&st) || (S_ISREG(st.st_mode) && st.st_size == 0)))
                printf("%s: ok, hides drop-ins of this name in later directories\n", file);
        else if (tree)
                printf("%s: ok, changes %s%s%s\n", file, changes->text->len > 0 ? "" : "nothing in ", tree,
                       changes->text->str);
        else if (n_nodes > 0)
                client_say(client, "%s: ok, %u node%s", file, n_nodes, n_nodes == 1 ? "" : "s");
        else
                client_say(client, "%s: ok, only trees for other files", file);
}

/* json or sarif: the list to add the result to; both NULL: print it. */
static bool validate(const Client *client, const char *file, json_object *json, json_object *sarif) {
        bool dropin = dropin_is(file), valid;
        g_autofree char *tree = dropin ? dropin_tree(client, file) : NULL;
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(tree ?: file);
        g_autoptr(json_object) list = json_object_new_array();
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(Definition) definition = NULL;
        const Changes changes = { &client->output, text, list };

        if (tree)
                valid = dropin_load(client, file, tree, on_change, (void *) &changes, diagnostics, &definition) >= 0;
        else if (dropin) {
                valid = false;
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup("there is no tree file for this drop-in, neither beside its directory nor on "
                                         "the search path"));
        } else
                valid = tree_load(client, file, diagnostics, &definition) >= 0;

        if (json) {
                json_object *result = json_object_new_object(), *found = json_object_new_array();

                for (size_t i = 0; i < diagnostics_count(diagnostics); i++)
                        json_object_array_add(found, diagnostic_to_json(diagnostics_get(diagnostics, i)));
                json_object_object_add(result, "file", json_object_new_string(file));
                json_object_object_add(result, "valid", json_object_new_boolean(valid));
                json_object_object_add(result, "diagnostics", found);

                if (tree) {
                        json_object_object_add(result, "extends", json_object_new_string(tree));
                        json_object_object_add(result, "changes", json_object_get(list));
                }
                json_object_array_add(json, result);
                return valid;
        }

        for (size_t i = 0; sarif && i < diagnostics_count(diagnostics); i++)
                json_object_array_add(sarif, sarif_result(diagnostics_get(diagnostics, i)));
        if (sarif)
                return valid;

        report_diagnostics(diagnostics);
        if (valid && !dropin)
                warn_of_name(file);
        if (valid)
                say_valid(client, file, tree, definition, &changes);

        return valid;
}

int verb_validate(Client *client, char **operands) {
        const char *format = client->options.values[OPTION_FORMAT];
        g_autoptr(json_object) json = NULL, sarif = NULL;
        bool valid = true;

        if (format && !g_str_equal(format, "sarif"))
                return report_usage("'--format' of validate is sarif, not '%s'", format);
        if (format)
                sarif = json_object_new_array();
        else if (client->output.json)
                json = json_object_new_array();

        for (char **file = operands; *file; file++)
                valid &= validate(client, *file, json, sarif);

        if (json)
                output_print_json(json_object_get(json));
        if (sarif)
                output_print_json(sarif_log(json_object_get(sarif)));

        return valid ? EXIT_SUCCESS : EXIT_FAILURE;
}
