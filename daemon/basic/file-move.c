/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moves files. Between file systems it copies to a temporary file and renames that. */

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "basic/file-move.h"

int file_move(const char *from, const char *to, char **ret_error) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        gsize length;

        if (g_rename(from, to) >= 0)
                return 0;

        if (errno != EXDEV) {
                int r = -errno;

                *ret_error = g_strdup_printf("cannot be moved to %s: %s", to, g_strerror(-r));
                return r;
        }

        if (!g_file_get_contents(from, &text, &length, &error) ||
            !g_file_set_contents_full(to, text, (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error)) {
                *ret_error = g_strdup_printf("cannot be moved to %s: %s", to, error->message);
                return -EIO;
        }

        g_unlink(from);
        return 0;
}
