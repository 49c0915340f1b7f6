/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files are known by the paths that they had, and those of the search path by their names. */

#include <errno.h>
#include <string.h>

#include "journal/journal-definition.h"

static const char *file_member(json_object *file, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(file, name, &value);
        return json_object_get_string(value);
}

static json_object *find_by_path(json_object *files, const char *path) {
        for (size_t i = 0; i < json_object_array_length(files); i++) {
                json_object *file = json_object_array_get_idx(files, i);

                if (g_str_equal(file_member(file, "path"), path))
                        return file;
        }

        return NULL;
}

static char *on_find(const char *name, void *userdata) {
        json_object *files = userdata;

        for (size_t i = 0; i < json_object_array_length(files); i++) {
                const char *path = file_member(json_object_array_get_idx(files, i), "path");
                g_autofree char *base = g_path_get_basename(path);

                if (g_str_equal(base, name))
                        return g_strdup(path);
        }

        return NULL;
}

/* Whatever lies beside the file by now is none of it. */
static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        g_autofree char *base = g_path_get_basename(path), *known = on_find(base, userdata);
        json_object *file = find_by_path(userdata, path) ?: known ? find_by_path(userdata, known) : NULL;

        if (!file) {
                *ret_error = g_strdup("was not recorded");
                return -ENOENT;
        }

        *ret_text = g_strdup(file_member(file, "text"));
        *ret_length = strlen(*ret_text);
        return 0;
}

static char *first_error(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++)
                if (!diagnostics_get(diagnostics, i)->warning)
                        return diagnostics_format(diagnostics, i);

        return g_strdup("it has none");
}

int journal_definition_new(const JournalHeader *header, const NodeType *const *const *tables,
                           Definition **ret_definition, char **ret_error) {
        const char *path = file_member(json_object_array_get_idx(header->files, 0), "path");
        const DefinitionSources sources = { .find = on_find, .read = on_read, .userdata = header->files };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        g_autoptr(Definition) definition = NULL;
        g_autofree char *error = NULL;

        if (definition_load_file(path, tables, &sources, diagnostics, &definition) < 0 ||
            !definition_tree(definition)) {
                error = first_error(diagnostics);
                *ret_error = g_strdup_printf("its tree cannot be made any more: %s", error);
                return -EBADMSG;
        }

        *ret_definition = g_steal_pointer(&definition);
        return 0;
}
