/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/log.h"
#include "definition/tree-name.h"
#include "runtime/tree-directory.h"
#include "runtime/trust.h"

/* NULL: none. */
static char *tree_name_of(const char *directory, const char *file) {
        g_autofree char *name = g_strndup(file, strlen(file) - strlen(TREE_SUFFIX)), *path = NULL;

        if (tree_name_valid(name))
                return g_steal_pointer(&name);

        path = g_build_filename(directory, file, NULL);
        log_warning("%s: not loaded: the name of a tree consists of letters, digits, '_' and '-', %u at most", path,
                    TREE_NAME_MAX);
        return NULL;
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *file_names(DIR *stream) {
        GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
        const struct dirent *file;

        while ((file = readdir(stream)))
                if (file->d_name[0] != '.' && g_str_has_suffix(file->d_name, TREE_SUFFIX))
                        g_ptr_array_add(files, g_strdup(file->d_name));

        g_ptr_array_sort(files, compare_names);
        return files;
}

static GPtrArray *tree_names(const char *directory, DIR *stream) {
        g_autoptr(GPtrArray) files = file_names(stream);
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

        for (unsigned i = 0; i < files->len; i++) {
                char *name = tree_name_of(directory, g_ptr_array_index(files, i));

                if (name)
                        g_ptr_array_add(names, name);
        }

        return names;
}

int tree_directory_read(const char *directory, bool secure, GPtrArray **ret_names, char **ret_error) {
        DIR *stream = opendir(directory);
        g_autofree char *refusal = NULL;
        struct stat st;
        int r = -errno;

        if (!stream) {
                if (r != -ENOENT)
                        *ret_error = g_strdup(g_strerror(-r));
                return r;
        }

        if (secure && fstat(dirfd(stream), &st) >= 0)
                refusal = trust_refusal_on_way(directory, &st);
        if (!refusal)
                *ret_names = tree_names(directory, stream);
        closedir(stream);
        if (!refusal)
                return 0;

        *ret_error = g_steal_pointer(&refusal);
        return -EPERM;
}

char *tree_directory_path(const char *directory, const char *name) {
        g_autofree char *file = g_strconcat(name, TREE_SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}
