/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Syncs what it writes. A new file gets its name only when it is complete. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/line-file.h"
#include "basic/write-all.h"

int line_file_write(const char *directory, const char *name, const GString *lines, bool replace) {
        g_autofree char *path = g_build_filename(directory, name, NULL), *new = g_strconcat(path, ".new", NULL);
        g_auto(AutoFd) fd = -1;
        g_auto(AutoFd) around = -1;
        int r;

        (void) g_mkdir_with_parents(directory, 0700);
        fd = open(replace ? new : path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (replace ? O_TRUNC : O_APPEND),
                  0600);
        if (fd < 0)
                return -errno;

        r = write_all(fd, lines->str, lines->len);
        if (r < 0)
                return r;
        if (fdatasync(fd) < 0)
                return -errno;
        if (!replace)
                return 0;

        around = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return around < 0 || rename(new, path) < 0 || fsync(around) < 0 ? -errno : 0;
}
