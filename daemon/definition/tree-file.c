/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements tree-file.h. Files are identified by their paths, so two links to the same file are two files. */

#include "definition/tree-file.h"
#include "definition/tree-name.h"

char *tree_file_id(const char *path) {
        return g_canonicalize_filename(path, NULL);
}

static char *name_of(const char *path) {
        g_autofree char *base = g_path_get_basename(path);

        if (g_str_has_suffix(base, TREE_SUFFIX))
                base[strlen(base) - strlen(TREE_SUFFIX)] = 0;

        return g_steal_pointer(&base);
}

TreeFile *tree_file_new(const char *path, char *contents, size_t length) {
        TreeFile *file = g_new0(TreeFile, 1);

        file->path = g_strdup(path);
        file->id = path ? tree_file_id(path) : NULL;
        file->name = path ? name_of(path) : g_strdup("the tree");
        file->contents = contents;
        file->length = length;
        return file;
}

TreeFile *tree_file_new_unreadable(const char *path, char *error) {
        TreeFile *file = tree_file_new(path, NULL, 0);

        file->error = error;
        return file;
}

void tree_file_note_name(TreeFile *file, const char *name) {
        file->found = file->found ?: g_ptr_array_new_with_free_func(g_free);
        if (!g_ptr_array_find_with_equal_func(file->found, name, g_str_equal, NULL))
                g_ptr_array_add(file->found, g_strdup(name));
}

void tree_file_free(TreeFile *file) {
        if (!file)
                return;

        text_clear(&file->text);
        g_clear_pointer(&file->meant, g_hash_table_unref);
        g_free(file->path);
        g_free(file->id);
        g_clear_pointer(&file->found, g_ptr_array_unref);
        g_free(file->name);
        g_free(file->contents);
        g_free(file->error);
        g_free(file);
}
