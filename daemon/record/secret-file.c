/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements secret-file.h. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/write-all.h"
#include "record/run-record.h"
#include "record/secret-file.h"

static char *path_of(const char *record) {
        g_assert(g_str_has_suffix(record, RECORD_SUFFIX));
        return g_strdup_printf("%.*s" SECRETS_SUFFIX, (int) (strlen(record) - strlen(RECORD_SUFFIX)), record);
}

int secret_file_write(const char *record, const GString *lines) {
        g_autofree char *path = path_of(record), *new = g_strconcat(path, RECORD_NEW_SUFFIX, NULL);
        g_auto(AutoFd) fd = -1;
        int r;

        if (lines->len == 0)
                return unlink(path) < 0 && errno != ENOENT ? -errno : 0;

        (void) unlink(new);
        fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;

        r = write_all(fd, lines->str, lines->len);
        if (r >= 0 && rename(new, path) < 0)
                r = -errno;
        if (r < 0)
                (void) unlink(new);
        return r;
}

char *secret_file_read(const char *record, uint64_t max) {
        g_autofree char *path = path_of(record), *text = NULL;
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t) st.st_size > max)
                return NULL;

        text = g_malloc((size_t) st.st_size + 1);
        n = read_all(fd, 0, text, (size_t) st.st_size);
        if (n < 0)
                return NULL;

        text[n] = '\0';
        return g_steal_pointer(&text);
}

void secret_file_remove(const char *record) {
        g_autofree char *path = path_of(record);

        (void) unlink(path);
}

void secret_files_clean(const char *directory) {
        g_autoptr(GDir) files = directory ? g_dir_open(directory, 0, NULL) : NULL;
        const char *name;

        while (files && (name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(directory, name, NULL), *record = NULL;

                if (g_str_has_suffix(name, SECRETS_SUFFIX))
                        record = g_strdup_printf("%.*s" RECORD_SUFFIX, (int) (strlen(path) - strlen(SECRETS_SUFFIX)),
                                                 path);
                if (g_str_has_suffix(name, SECRETS_SUFFIX RECORD_NEW_SUFFIX) ||
                    (record && access(record, F_OK) < 0 && errno == ENOENT))
                        (void) unlink(path);
        }
}
