/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looks at owner and mode of a file and of the directory that it is in. */

#include <glib.h>
#include <inttypes.h>
#include <unistd.h>

#include "runtime/trust.h"

char *trust_refusal(const char *path, const struct stat *st) {
        g_autofree char *quoted = NULL;

        if (st->st_uid != 0 && st->st_uid != geteuid()) {
                quoted = g_shell_quote(path);
                return g_strdup_printf("refused: it belongs to UID %" PRIuMAX ", not to root; fix with: chown root %s",
                                       (uintmax_t) st->st_uid, quoted);
        }

        if (st->st_mode & (S_IWGRP | S_IWOTH)) {
                quoted = g_shell_quote(path);
                return g_strdup_printf("refused: it can be written by others than root (mode %04o); fix with: "
                                       "chmod go-w %s",
                                       (unsigned) (st->st_mode & 07777), quoted);
        }

        return NULL;
}
