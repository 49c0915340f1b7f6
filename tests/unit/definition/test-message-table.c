/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares the errors and warnings of tree files with the table tests/messages/trees.txt, which is on the command line:
 * their exact texts, and the places that its marks show. */

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "definition/sources.h"
#include "leaf-types/leaf-types.h"

#define MARK "§"

static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };

static bool is_message(const char *line) {
        return g_str_has_prefix(line, "> ") || g_str_has_prefix(line, "? ");
}

/* The text of the file, without marks and messages. */
static char *text_of(char *const *lines) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (unsigned i = 0; lines[i]; i++)
                if (!is_message(lines[i]))
                        g_string_append_printf(text, "%s%s", i > 0 ? "\n" : "", lines[i]);

        g_string_replace(text, MARK, "", 0);
        return g_strdup(text->str);
}

/* Line and column count from 1; a column is a character. */
static size_t offset_of(const char *text, unsigned line, unsigned column) {
        const char *p = text;

        for (; line > 1; line--)
                p = strchr(p, '\n') + 1;
        return (size_t) (g_utf8_offset_to_pointer(p, column - 1) - text);
}

/* They are sorted by their places. */
static void append_marked(GString *part, const char *text, const Diagnostics *diagnostics) {
        size_t done = 0;

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);
                size_t offset = offset_of(text, diagnostic->line, diagnostic->column);

                if (i > 0 && offset <= done)
                        continue;
                g_string_append_len(part, text + done, (gssize) (offset - done));
                g_string_append(part, MARK);
                done = offset;
        }
        g_string_append_printf(part, "%s\n", text + done);
}

/* The part of the table as it should be. */
static char *part_of(const char *directory, const char *text) {
        g_autofree char *path = g_build_filename(directory, "tree.json", NULL);
        const char *const nowhere[] = { NULL };
        DefinitionSources sources = search_path_sources(nowhere);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        g_autoptr(Definition) definition = NULL;
        g_autoptr(GString) part = g_string_new(NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        (void) definition_load_file(path, tables, &sources, diagnostics, &definition);
        append_marked(part, text, diagnostics);
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);

                g_string_append_printf(part, "%s %s\n", diagnostic->warning ? "?" : ">", diagnostic->text);
        }
        g_string_replace(part, directory, "DIR", 0);
        g_string_replace(part, BTD_EXEC, "/.../btd-exec", 0);
        g_remove(path);
        return g_strdup(part->str);
}

static void test_table(const void *data) {
        g_autofree char *table = NULL, *directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        g_auto(GStrv) parts = NULL;
        unsigned n_wrong = 0, n = 0;

        g_assert_true(g_file_get_contents(data, &table, NULL, NULL));
        parts = g_strsplit(table, "\n===\n", -1);
        for (; parts[n]; n++) {
                g_autofree char *expected = g_strdup_printf("%s\n", g_strchomp(parts[n])), *text = NULL, *now = NULL;
                g_auto(GStrv) lines = g_strsplit(parts[n], "\n", -1);

                text = text_of(lines);
                now = part_of(directory, text);
                if (g_str_equal(now, expected))
                        continue;

                n_wrong++;
                fprintf(stderr, "--- the table\n%s+++ now\n%s", expected, now);
        }
        g_assert_cmpuint(n_wrong, ==, 0);
        g_assert_cmpuint(n, >, 250);
        g_remove(directory);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(argc, ==, 2);
        g_test_add_data_func("/message-table/trees", argv[1], test_table);
        return g_test_run();
}
