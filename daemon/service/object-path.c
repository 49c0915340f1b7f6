/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes object paths from names. Invalid characters are escaped as systemd does it. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "service/object-path.h"

static char *encode(const char *prefix, const char *name) {
        char *path = NULL;
        int r = sd_bus_path_encode(prefix, name, &path);

        g_assert(r >= 0);
        return path;
}

char *object_path_of_tree(const char *name) {
        return encode(TREE_PREFIX, name);
}

char *object_path_of_run(const char *id) {
        return encode(RUN_PREFIX, id);
}
