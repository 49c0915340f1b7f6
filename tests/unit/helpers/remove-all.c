/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements remove-all.h. */

#include <glib/gstdio.h>

#include "remove-all.h"

void remove_all(const char *path) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *inner = g_build_filename(path, name, NULL);

                remove_all(inner);
        }

        (void) g_remove(path);
}
