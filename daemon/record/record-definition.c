/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements record-definition.h. Files are found by their paths, and by the names by which the search path found
 * them. Run records before version 3 do not have those names; for them, a file of that name in any directory is used.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/sources.h"
#include "record/record-definition.h"

static const char *file_member(json_object *file, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(file, name, &value);
        return json_object_get_string(value);
}

/* The files in the header, by their owned keys. */
typedef struct Recorded {
        GHashTable *by_id;   /* the same for all spellings of a path */
        GHashTable *by_name; /* on the search path */
        bool old;
} Recorded;

static void recorded_clear(Recorded *recorded) {
        g_hash_table_unref(recorded->by_id);
        g_hash_table_unref(recorded->by_name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recorded, recorded_clear)

/* Takes the key. The first file with a key stays. */
static void add(GHashTable *table, char *key, json_object *file) {
        if (g_hash_table_contains(table, key))
                g_free(key);
        else
                g_hash_table_insert(table, key, file);
}

static void add_names(Recorded *recorded, json_object *file) {
        json_object *found = NULL;

        if (!json_object_object_get_ex(file, "found", &found)) {
                recorded->old = true;
                add(recorded->by_name, g_path_get_basename(file_member(file, "path")), file);
                return;
        }

        for (size_t i = 0; i < json_object_array_length(found); i++)
                add(recorded->by_name, g_strdup(json_object_get_string(json_object_array_get_idx(found, i))), file);
}

static Recorded recorded_new(json_object *files) {
        Recorded recorded = {
                .by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };

        for (size_t i = 0; i < json_object_array_length(files); i++) {
                json_object *file = json_object_array_get_idx(files, i);

                add(recorded.by_id, source_id(file_member(file, "path")), file);
                add_names(&recorded, file);
        }

        return recorded;
}

static char *on_find(const char *name, void *userdata) {
        const Recorded *recorded = userdata;
        g_autofree char *base = recorded->old ? g_path_get_basename(name) : NULL;
        json_object *file = g_hash_table_lookup(recorded->by_name, base ?: name);

        return file ? g_strdup(file_member(file, "path")) : NULL;
}

static json_object *file_at(const Recorded *recorded, const char *path) {
        g_autofree char *id = source_id(path);

        return g_hash_table_lookup(recorded->by_id, id);
}

/* Only recorded files exist here, even if there are now other files beside the recorded one. */
static bool on_exists(const char *path, void *userdata) {
        return file_at(userdata, path);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        json_object *file = file_at(userdata, path);

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

/* A text without a file cannot use files beside it. */
static int load(json_object *files, const NodeType *const *const *tables, Diagnostics *diagnostics,
                Definition **ret_definition) {
        g_auto(Recorded) recorded = recorded_new(files);
        const DefinitionSources sources = {
                .find = on_find, .exists = on_exists, .read = on_read, .lenient = true, .userdata = &recorded
        };
        json_object *own = json_object_array_get_idx(files, 0);
        const char *path = file_member(own, "path"), *text = file_member(own, "text");

        return *path ? definition_load_file(path, tables, &sources, diagnostics, ret_definition)
                     : definition_load_text(text, strlen(text), tables, &sources, diagnostics, ret_definition);
}

int record_definition_new(const RecordHeader *header, const NodeType *const *const *tables, Definition **ret_definition,
                          char **ret_error) {
        const char *path = file_member(json_object_array_get_idx(header->files, 0), "path");
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        g_autoptr(Definition) definition = NULL;
        g_autofree char *error = NULL;

        if (load(header->files, tables, diagnostics, &definition) < 0 || !definition_tree(definition)) {
                error = first_error(diagnostics);
                *ret_error = g_strdup_printf(
                        "this version of btd refuses its tree, which the one that started it accepted: %s", error);
                return -EBADMSG;
        }

        *ret_definition = g_steal_pointer(&definition);
        return 0;
}
