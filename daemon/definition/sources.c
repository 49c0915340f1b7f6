/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads files that cannot block or exhaust the daemon: only regular files, of a limited size. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "definition/sources.h"
#include "definition/text.h"

static int refuse(int error, char *text, char **ret_error) {
        *ret_error = text;
        return error;
}

/* Opens a regular file. Pipes and devices are refused, since reading them could block. */
static int open_file(const char *path, SourceRefusal refusal, int *ret_fd, char **ret_error) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0) {
                r = -errno;
                return refuse(r, g_strdup_printf("cannot be opened: %s", g_strerror(-r)), ret_error);
        }
        if (S_ISDIR(st.st_mode))
                return refuse(-EISDIR, g_strdup("is a directory, not a regular file"), ret_error);
        if (!S_ISREG(st.st_mode))
                return refuse(-EINVAL, g_strdup("is not a regular file"), ret_error);
        if (refusal && (*ret_error = refusal(path, &st)))
                return -EPERM;

        *ret_fd = fd;
        fd = -1;
        return 0;
}

/* Reads the whole file, and adds a NUL byte. It stops soon after the limit, because then the file is too large. */
static int read_all(int fd, char **ret_text, size_t *ret_length, char **ret_error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 block[64 * 1024];
        ssize_t n;

        while (bytes->len <= TEXT_LENGTH_MAX && (n = read(fd, block, sizeof(block))) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return refuse(-errno, g_strdup_printf("cannot be read: %s", g_strerror(errno)), ret_error);

                g_byte_array_append(bytes, block, (unsigned) n);
        }

        if (bytes->len > TEXT_LENGTH_MAX)
                return refuse(-EFBIG, g_strdup_printf("is too large: more than %u MiB", TEXT_LENGTH_MAX >> 20),
                              ret_error);

        *ret_length = bytes->len;
        g_byte_array_append(bytes, (const guint8 *) "", 1);
        *ret_text = (char *) g_byte_array_free(g_steal_pointer(&bytes), false);
        return 0;
}

int source_read_checked(const char *path, SourceRefusal refusal, char **ret_text, size_t *ret_length,
                        char **ret_error) {
        g_auto(AutoFd) fd = -1;
        int r;

        r = open_file(path, refusal, &fd, ret_error);
        if (r < 0)
                return r;

        return read_all(fd, ret_text, ret_length, ret_error);
}

int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error) {
        return source_read_checked(path, NULL, ret_text, ret_length, ret_error);
}
