/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces stat() of the C library. */

#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file-times.h"

#define SUFFIX ".journal"
/* A tick of the kernel, and what it takes to copy a file to the disk of the history. */
#define TICK_USEC 4000u
#define COPY_USEC 3000u

static struct {
        GHashTable *times; /* path -> uint64_t, µs of CLOCK_REALTIME */
        uint64_t copied;   /* when the last copy was begun */
        uint64_t delay;    /* of the copies that were begun since */
} file_times;

void file_times_clear(void) {
        g_clear_pointer(&file_times.times, g_hash_table_unref);
        file_times.times = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        file_times.copied = file_times.delay = 0;
}

void file_times_note_opened(const char *path) {
        if (!strstr(path, "/history/"))
                return;

        file_times.delay = file_times.copied == clock_now() ? file_times.delay + COPY_USEC : 0;
        file_times.copied = clock_now();
}

static void set(const char *path, uint64_t time) {
        uint64_t *known = g_hash_table_lookup(file_times.times, path);

        if (known) {
                *known = time;
                return;
        }
        g_hash_table_insert(file_times.times, g_strdup(path), g_memdup2(&time, sizeof(time)));
}

void file_times_note_written(const char *path) {
        uint64_t delay = strstr(path, "/history/") ? file_times.delay : 0;

        if (g_str_has_suffix(path, SUFFIX))
                set(path, (clock_wall() + delay) / TICK_USEC * TICK_USEC);
}

void file_times_note_renamed(const char *from, const char *to) {
        const uint64_t *time = g_hash_table_lookup(file_times.times, from);

        if (!time)
                return;

        set(to, *time);
        g_hash_table_remove(file_times.times, from);
}

void file_times_note_removed(const char *path) {
        g_hash_table_remove(file_times.times, path);
}

static void find(const char *path, struct timespec *at) {
        const uint64_t *time = file_times.times ? g_hash_table_lookup(file_times.times, path) : NULL;

        if (time)
                *at = (struct timespec){ .tv_sec = (time_t) (*time / 1000000),
                                         .tv_nsec = (long) (*time % 1000000 * 1000) };
}

int stat(const char *path, struct stat *ret_stat) {
        int r = fstatat(AT_FDCWD, path, ret_stat, 0);

        if (r >= 0)
                find(path, &ret_stat->st_mtim);
        return r;
}

int stat64(const char *path, struct stat64 *ret_stat) {
        int r = fstatat64(AT_FDCWD, path, ret_stat, 0);

        if (r >= 0)
                find(path, &ret_stat->st_mtim);
        return r;
}
