/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Piece by piece, so that it may be a pipe as well. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>

#include "basic/cleanup.h"
#include "file.h"

int file_read(const char *path, char **ret_text, size_t *ret_length) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char block[16 * 1024];
        ssize_t n;

        if (fd < 0)
                return -errno;

        while ((n = read(fd, block, sizeof(block))) != 0) {
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0)
                        g_string_append_len(text, block, n);
        }

        *ret_length = text->len;
        *ret_text = g_string_free(g_steal_pointer(&text), FALSE);
        return 0;
}
