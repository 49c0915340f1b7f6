/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes its standard input to a file, for the leaf WriteFile: outside of the sandbox of the daemon, which must not
 * wait for a disk either. A file on a disk is replaced at once, so that a reader sees the old or the new text, also
 * after a power failure. Other files (of the kernel, devices, pipes) are written as they are.
 *
 * What it says to standard error becomes the cause of the leaf.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MODE_DEFAULT 0644

static _Noreturn void fail(const char *path) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
}

static char *read_input(size_t *ret_length) {
        size_t length = 0, size = 0;
        char *text = NULL;
        ssize_t n;

        do {
                if (length == size) {
                        size = size ? 2 * size : 4096;
                        text = realloc(text, size);
                        if (!text)
                                fail("standard input");
                }
                n = read(STDIN_FILENO, text + length, size - length);
                if (n < 0 && errno != EINTR)
                        fail("standard input");
                length += n > 0 ? (size_t) n : 0;
        } while (n != 0);

        *ret_length = length;
        return text;
}

/* The files of these file systems are interfaces of the kernel: they cannot be replaced, and one write is one request.
 */
static bool is_of_kernel(const char *path) {
        struct statfs fs;

        if (statfs(path, &fs) < 0)
                return false;

        switch (fs.f_type) {
        case PROC_SUPER_MAGIC:
        case SYSFS_MAGIC:
        case CGROUP_SUPER_MAGIC:
        case CGROUP2_SUPER_MAGIC:
        case DEBUGFS_MAGIC:
        case TRACEFS_MAGIC:
        case SECURITYFS_MAGIC:
        case SELINUX_MAGIC:
        case EFIVARFS_MAGIC:
        case PSTOREFS_MAGIC:
        case BINFMTFS_MAGIC:
        case 0x62656570: /* configfs, which has no name there */
                return true;
        default:
                return false;
        }
}

static int write_text(int fd, const char *text, size_t length) {
        do {
                ssize_t n = write(fd, text, length);

                if (n < 0 && errno != EINTR)
                        return -1;
                text += n > 0 ? n : 0;
                length -= n > 0 ? (size_t) n : 0;
        } while (length > 0);

        return 0;
}

static void write_in_place(const char *path, int flags, mode_t mode, const char *text, size_t length) {
        int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags, mode);

        if (fd < 0)
                fail(path);

        /* fsync() fails with EINVAL where no disk is behind the file. */
        if (write_text(fd, text, length) < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != EROFS) || close(fd) < 0)
                fail(path);
}

/* before: of the file that is there; NULL: none is. */
static void replace(const char *path, const struct stat *before, mode_t mode, const char *text, size_t length) {
        char *for_directory = strdup(path), *for_name = strdup(path), *new = NULL;
        const char *directory, *name;
        int fd, error;

        if (!for_directory || !for_name)
                fail(path);
        directory = dirname(for_directory);
        name = basename(for_name);
        if (asprintf(&new, "%s/.%.200s.XXXXXX", directory, name) < 0)
                fail(path);

        fd = mkostemp(new, O_CLOEXEC);
        if (fd < 0)
                fail(path);
        if ((before && fchown(fd, before->st_uid, before->st_gid) < 0 && errno != EPERM) || fchmod(fd, mode) < 0 ||
            write_text(fd, text, length) < 0 || fsync(fd) < 0 || close(fd) < 0 || rename(new, path) < 0) {
                error = errno;
                (void) unlink(new);
                errno = error;
                fail(path);
        }

        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
                fail(directory);
        close(fd);
        free(new);
        free(for_name);
        free(for_directory);
}

int main(int argc, char *argv[]) {
        static const struct option options[] = { { "append", no_argument, NULL, 'a' },
                                                 { "mode", required_argument, NULL, 'm' },
                                                 {} };
        const char *path, *mode = NULL;
        bool append = false, exists;
        struct stat before;
        sigset_t signals;
        size_t length;
        char *text, *target;

        for (int option; (option = getopt_long(argc, argv, "", options, NULL)) >= 0;)
                if (option == 'a')
                        append = true;
                else if (option == 'm')
                        mode = optarg;
                else
                        return EXIT_FAILURE;
        if (optind != argc - 1) {
                fprintf(stderr, "btd-write: this program is for btd alone; see WriteFile in btd-nodes(5)\n");
                return EXIT_FAILURE;
        }

        path = argv[optind];
        text = read_input(&length);
        /* A halt does not leave half a file. */
        sigfillset(&signals);
        (void) sigprocmask(SIG_BLOCK, &signals, NULL);

        (void) umask(0);
        target = realpath(path, NULL);
        exists = stat(target ?: path, &before) >= 0;
        if (append)
                write_in_place(path, O_APPEND | O_CREAT, mode ? (mode_t) strtoul(mode, NULL, 8) : MODE_DEFAULT, text,
                               length);
        else if (exists && (!S_ISREG(before.st_mode) || is_of_kernel(target ?: path)))
                write_in_place(path, O_TRUNC, 0, text, length);
        else
                replace(target ?: path, exists ? &before : NULL,
                        mode     ? (mode_t) strtoul(mode, NULL, 8)
                        : exists ? before.st_mode & 07777
                                 : MODE_DEFAULT,
                        text, length);

        free(target);
        free(text);
        return EXIT_SUCCESS;
}
