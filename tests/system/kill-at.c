/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: kills it right behind a line of a run record that it writes. How many lines it is to write
 * is said by the first number of a file, which is taken out of it when a run record is begun or the process begins; 0:
 * all. With a minus behind it, the last one of them is not written any more.
 */

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ORDERS "/var/lib/btd/kill-at"
#define KILLED "/var/lib/btd/killed" /* has a line for each kill */

static unsigned long lines_left; /* 0: no limit */
static int without_last;

/* Takes the first number of the file. */
static void take_order(void) {
        char orders[256] = "", *rest;
        FILE *file = fopen(ORDERS, "re");

        if (!file)
                return;

        (void) !fread(orders, 1, sizeof(orders) - 1, file);
        fclose(file);
        lines_left = strtoul(orders, &rest, 10);
        without_last = *rest == '-';
        rest += without_last;
        file = fopen(ORDERS, "we");
        if (file) {
                fputs(rest, file);
                fclose(file);
        }
}

static void note_kill(void) {
        FILE *file = fopen(KILLED, "ae");

        if (file) {
                fputc('\n', file);
                fclose(file);
        }
}

static void __attribute__((constructor)) begin(void) {
        take_order();
}

static int is_record(int fd) {
        static const char suffix[] = ".journal";
        char link[64], path[4096];
        ssize_t n;

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path));
        return n > (ssize_t) strlen(suffix) && memcmp(path + n - strlen(suffix), suffix, strlen(suffix)) == 0;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t n) {
        static ssize_t (*real_write)(int, const void *, size_t);
        const char *p = bytes, *end = p + n, *line = p;

        if (!real_write)
                real_write = (ssize_t(*)(int, const void *, size_t)) dlsym(RTLD_NEXT, "write");
        if (!is_record(fd))
                return real_write(fd, bytes, n);

        if (n > 12 && memcmp(bytes, "btd-journal ", 12) == 0)
                take_order();
        for (; lines_left > 0 && (p = memchr(line, '\n', (size_t) (end - line))); line = p + 1) {
                if (--lines_left > 0)
                        continue;

                (void) !real_write(fd, bytes, (size_t) ((without_last ? line : p + 1) - (const char *) bytes));
                note_kill();
                kill(getpid(), SIGKILL);
        }

        return real_write(fd, bytes, n);
}

/* As one write(): the header of a run record is written so. */
__attribute__((visibility("default"))) ssize_t writev(int fd, const struct iovec *parts, int n) {
        size_t length = 0;

        for (int i = 0; i < n; i++)
                length += parts[i].iov_len;

        char *bytes = malloc(length + 1), *p = bytes;
        if (!bytes)
                return -1;
        for (int i = 0; i < n; i++)
                p = mempcpy(p, parts[i].iov_base, parts[i].iov_len);

        ssize_t written = write(fd, bytes, length);
        free(bytes);
        return written;
}
