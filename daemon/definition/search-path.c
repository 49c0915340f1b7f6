/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements search-path.h. A system daemon has fixed directories; those of a user come from the XDG variables. */

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "basic/nearest.h"
#include "definition/search-path.h"
#include "definition/tree-name.h"

/* See Documentation/admin-guide/devices.txt of Linux. */
#define DEV_NULL makedev(1, 3)

static void add(GPtrArray *path, const char *base, const char *directory) {
        g_ptr_array_add(path, g_build_filename(base, directory, NULL));
}

char **search_path_new(bool user) {
        GPtrArray *path = g_ptr_array_new();

        if (user) {
                add(path, g_get_user_config_dir(), "btd/trees");
                add(path, "/etc", "btd/user-trees");
                add(path, g_get_user_runtime_dir(), "btd/trees");
                add(path, g_get_user_data_dir(), "btd/trees");
                add(path, "/usr/local/lib", "btd/user-trees");
                add(path, "/usr/lib", "btd/user-trees");
        } else {
                add(path, "/etc", "btd/trees");
                add(path, "/run", "btd/trees");
                add(path, "/usr/local/lib", "btd/trees");
                add(path, "/usr/lib", "btd/trees");
        }

        g_ptr_array_add(path, NULL);
        return (char **) g_ptr_array_free(path, FALSE);
}

bool search_path_is_mask(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == DEV_NULL;
}

char *search_path_find(const char *const *directories, const char *file) {
        for (; *directories; directories++) {
                g_autofree char *path = g_build_filename(*directories, file, NULL);
                struct stat st;

                if (lstat(path, &st) < 0)
                        continue;

                /* A broken link also hides files in later directories. */
                return stat(path, &st) >= 0 && search_path_is_mask(&st) ? NULL : g_steal_pointer(&path);
        }

        return NULL;
}

static void offer_directory(const char *directory, Nearest *nearest, GPtrArray *names) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *file;

        while (dir && (file = g_dir_read_name(dir))) {
                char *name;

                if (!g_str_has_suffix(file, TREE_SUFFIX))
                        continue;

                name = g_strndup(file, strlen(file) - strlen(TREE_SUFFIX));
                g_ptr_array_add(names, name);
                nearest_offer(nearest, name);
        }
}

char *search_path_nearest(const char *const *directories, const char *tree) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        Nearest nearest = { .word = tree };

        for (; *directories; directories++)
                offer_directory(*directories, &nearest, names);

        return g_strdup(nearest.best);
}

static char *on_find(const char *file, void *userdata) {
        return search_path_find(userdata, file);
}

static char *on_nearest(const char *tree, void *userdata) {
        return search_path_nearest(userdata, tree);
}

DefinitionSources search_path_sources(const char *const *directories) {
        return (DefinitionSources){ .find = on_find, .nearest = on_nearest, .userdata = (void *) directories };
}
