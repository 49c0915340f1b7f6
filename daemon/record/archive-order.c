/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and writes the order of finished runs. A line that was torn by a crash names no run that exists. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/write-all.h"
#include "record/archive-order.h"

/* Begins with a newline, to end a line that was torn. */
void archive_order_append(GString *lines, const char *run, ArchivePlace place) {
        g_string_append_printf(lines, "%s%" PRIu64 " %" PRIu32 " %s\n", lines->len == 0 ? "\n" : "", place.number,
                               place.uid, run);
}

static int open_file(const char *path, int flags) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

        return fd < 0 ? -errno : fd;
}

int archive_order_open(const char *directory) {
        g_autofree char *path = g_build_filename(directory, ARCHIVE_ORDER_FILE, NULL);

        return open_file(path, O_APPEND);
}

int archive_order_add(int fd, const GString *lines) {
        return write_all(fd, lines->str, lines->len);
}

int archive_order_write(const char *directory, const GString *lines, bool replace) {
        g_autofree char *path = g_build_filename(directory, ARCHIVE_ORDER_FILE, NULL),
                        *new = g_strconcat(path, ".new", NULL);
        g_auto(AutoFd) fd = replace ? open_file(new, O_TRUNC) : open_file(path, O_APPEND);
        int r = fd < 0 ? fd : archive_order_add(fd, lines);

        if (r < 0)
                return r;

        return replace && g_rename(new, path) < 0 ? -errno : 0;
}

GHashTable *archive_order_read(const char *directory) {
        GHashTable *places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autofree char *path = g_build_filename(directory, ARCHIVE_ORDER_FILE, NULL), *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return places;

        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                ArchivePlace place;
                int end = 0;

                if (sscanf(*line, "%" SCNu64 " %" SCNu32 " %n", &place.number, &place.uid, &end) == 2 && end > 0 &&
                    (*line)[end] != '\0')
                        g_hash_table_replace(places, g_strdup(*line + end), g_memdup2(&place, sizeof(place)));
        }

        return places;
}
