/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The paths of a system daemon and, by the XDG directories, of a user. */

#include "definition/search-path.h"

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
