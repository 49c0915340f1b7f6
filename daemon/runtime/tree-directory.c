/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists tree files. Files that are clearly not trees are skipped silently; files that should be trees but cannot be are
 * reported. */

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/trust.h"
#include "definition/sources.h"
#include "runtime/tree-directory.h"

static bool check_name(const char *directory, const char *name, GPtrArray *messages) {
        g_autofree char *path = NULL;

        if (tree_name_valid(name))
                return true;

        path = tree_directory_path(directory, name);
        g_ptr_array_add(messages, g_strdup_printf("%s: error: not loaded: the name of a tree consists of letters, "
                                                  "digits, '_' and '-', %u at most",
                                                  path, TREE_NAME_MAX));
        return false;
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

static GPtrArray *tree_names(const char *directory, DIR *stream, GPtrArray *messages) {
        g_autoptr(GPtrArray) files = file_names(stream);
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

        for (unsigned i = 0; i < files->len; i++) {
                const char *file = g_ptr_array_index(files, i);
                g_autofree char *name = g_strndup(file, strlen(file) - strlen(TREE_SUFFIX));

                if (check_name(directory, name, messages))
                        g_ptr_array_add(names, g_steal_pointer(&name));
        }

        return names;
}

static void refuse(const char *directory, const char *reason, GPtrArray *messages) {
        g_ptr_array_add(messages, g_strdup_printf("%s: error: %s", directory, reason));
}

int tree_directory_read(const char *directory, bool secure, GPtrArray **ret_names, GPtrArray *messages) {
        DIR *stream = opendir(directory);
        g_autofree char *refusal = NULL;
        struct stat st;
        int r = -errno;

        if (!stream) {
                if (r != -ENOENT)
                        refuse(directory, g_strerror(-r), messages);
                return r;
        }

        if (secure && fstat(dirfd(stream), &st) >= 0)
                refusal = trust_refusal_on_way(directory, &st);
        if (refusal)
                refuse(directory, refusal, messages);
        else
                *ret_names = tree_names(directory, stream, messages);
        closedir(stream);

        return refusal ? -EPERM : 0;
}

char *tree_directory_path(const char *directory, const char *name) {
        g_autofree char *file = g_strconcat(name, TREE_SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}
