/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "directory.h"

char *directory_new(void) {
        const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
        char *directory = g_build_filename(memory, "btd-simulation-XXXXXX", NULL);

        if (!g_mkdtemp(directory))
                g_error("cannot make %s", directory);
        return directory;
}

static void remove_all(const char *path) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *inner = g_build_filename(path, name, NULL);

                if (g_unlink(inner) < 0) {
                        remove_all(inner);
                        (void) g_rmdir(inner);
                }
        }
}

void directory_empty(const char *directory) {
        remove_all(directory);
}

void directory_remove(const char *directory) {
        remove_all(directory);
        (void) g_rmdir(directory);
}
