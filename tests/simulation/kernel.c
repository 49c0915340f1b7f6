/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces functions of the C library, for all libraries. A call that takes place goes directly to the kernel. */

/* Otherwise open() and open64() would be one function. */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file-times.h"
#include "kernel.h"
#include "record/mapped-end.h"
#include "trace.h"

#define FDS_MAX 1024
/* A size for a system call that takes 64 bits: on 32 bits, its halves. Simulated files are small. */
#if __SIZEOF_LONG__ == 8
#define WIDE(n) (n)
#else
#define WIDE(n) (long) (n), 0l
#endif

static struct {
        const char *root;
        const KernelHooks *hooks;
        Dice dice;
        bool in_daemon, killed;
        uint64_t left, calls;
        int kept_first, kept_end;
        Disk disk, history_disk;
        bool far;
        unsigned slow;
        char *paths[FDS_MAX]; /* of the files that are open for writing */
} kernel = { .left = UINT64_MAX };

typedef enum Fate {
        FATE_DONE,
        FATE_NOT_DONE, /* the caller is killed, and does not learn it */
        FATE_HALF_DONE,
} Fate;

void kernel_open(const char *root, const KernelHooks *hooks, Dice dice) {
        kernel.root = root;
        kernel.hooks = hooks;
        kernel.dice = dice;
        kernel.disk = kernel.history_disk = DISK_FINE;
        kernel.far = false;
        kernel.slow = 0;
        kernel.calls = 0;
}

void kernel_keep(int first, int n) {
        kernel.kept_first = first;
        kernel.kept_end = first + n;
        for (int fd = first; fd <= first + n; fd++)
                if (syscall(SYS_dup3, STDIN_FILENO, fd, O_CLOEXEC) < 0)
                        g_error("cannot keep descriptors");
}

void kernel_enter(void) {
        kernel.in_daemon = true;
}

void kernel_leave(void) {
        kernel.in_daemon = false;
}

void kernel_kill_after(uint64_t calls) {
        kernel.left = calls;
}

bool kernel_was_killed(void) {
        return kernel.killed;
}

void kernel_revive(void) {
        kernel.killed = false;
}

void kernel_set_disk(Disk disk) {
        kernel.disk = disk;
}

void kernel_set_slow(unsigned percent) {
        kernel.slow = percent;
}

void kernel_set_history_disk(Disk disk) {
        trace("the disk of the history is %s", disk == DISK_FINE ? "fine" : "full");
        kernel.history_disk = disk;
}

void kernel_set_far(bool far) {
        kernel.far = far;
}

uint64_t kernel_calls(void) {
        return kernel.calls;
}

static Fate fate_of(const char *call, const char *about) {
        static const char *const names[] = { "after", "before", "within" };
        Fate fate;

        if (kernel.killed)
                return FATE_NOT_DONE;

        kernel.calls++;
        if (kernel.left == UINT64_MAX || kernel.left-- > 0)
                return FATE_DONE;

        kernel.killed = true;
        kernel.left = UINT64_MAX;
        fate = dice_below(&kernel.dice, 3);
        trace("-- killed %s %s(%s)", names[fate], call, about);
        return fate;
}

bool kernel_takes_place(const char *call) {
        return fate_of(call, "") != FATE_NOT_DONE;
}

static bool concerns(const char *path) {
        return kernel.in_daemon && kernel.root && g_str_has_prefix(path, kernel.root);
}

static char **path_of(int fd) {
        return fd >= 0 && fd < FDS_MAX ? &kernel.paths[fd] : NULL;
}

static int fail(int error) {
        errno = error;
        return -1;
}

static bool is_of_history(const char *path) {
        return g_str_has_prefix(path + strlen(kernel.root), "/state");
}

static Disk disk_of(const char *path) {
        return kernel.disk == DISK_FINE && is_of_history(path) ? kernel.history_disk : kernel.disk;
}

/* The disk is full or read-only. */
static int refuse(const char *path) {
        Disk disk = disk_of(path);

        if (kernel.disk != DISK_FINE)
                kernel.hooks->failed(path);
        return fail(disk == DISK_FULL ? ENOSPC : EROFS);
}

/* A file of its own: others can be locked by a simulation in another process. */
static int open_nowhere(void) {
        return (int) syscall(SYS_memfd_create, "nowhere", MFD_CLOEXEC);
}

/* Only an open() that creates or truncates a file has an effect. */
static int open_file(const char *path, int flags, mode_t mode) {
        bool writes = (flags & O_ACCMODE) != O_RDONLY, changes = flags & (O_CREAT | O_TRUNC);
        int fd;

        if (!concerns(path) || !writes)
                return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);

        if (changes && fate_of("open", path) == FATE_NOT_DONE)
                return open_nowhere();
        if (disk_of(path) == DISK_READ_ONLY ||
            (disk_of(path) == DISK_FULL && flags & O_CREAT && access(path, F_OK) < 0))
                return refuse(path);

        fd = (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
        if (path_of(fd)) {
                g_free(*path_of(fd));
                *path_of(fd) = g_strdup(path);
                file_times_note_opened(path);
                kernel.hooks->opened(path);
        }
        return fd;
}

#define OPEN(name)                                                                                                     \
        int name(const char *path, int flags, ...) {                                                                   \
                mode_t mode = 0;                                                                                       \
                va_list args;                                                                                          \
                                                                                                                       \
                va_start(args, flags);                                                                                 \
                if (flags & O_CREAT)                                                                                   \
                        mode = va_arg(args, mode_t);                                                                   \
                va_end(args);                                                                                          \
                return open_file(path, flags, mode);                                                                   \
        }

OPEN(open)
OPEN(open64)

int close(int fd) {
        if (path_of(fd))
                g_clear_pointer(path_of(fd), g_free);
        if (fd >= kernel.kept_first && fd < kernel.kept_end)
                return dup3(kernel.kept_end, fd, O_CLOEXEC);

        return (int) syscall(SYS_close, fd);
}

static void note_written(const char *path, const char *bytes, uint64_t n) {
        file_times_note_written(path);
        kernel.hooks->written(path, bytes, n);
}

static ssize_t write_some(int fd, const char *path, const void *bytes, size_t n) {
        ssize_t r = syscall(SYS_write, fd, bytes, n);

        if (r > 0)
                note_written(path, bytes, (uint64_t) r);
        return r;
}

ssize_t write(int fd, const void *bytes, size_t n) {
        const char *path = path_of(fd) ? *path_of(fd) : NULL;

        if (!kernel.in_daemon || !path)
                return syscall(SYS_write, fd, bytes, n);

        switch (fate_of("write", path)) {
        case FATE_NOT_DONE:
                return (ssize_t) n;
        case FATE_HALF_DONE:
                (void) write_some(fd, path, bytes, dice_below(&kernel.dice, n + 1));
                return (ssize_t) n;
        case FATE_DONE:
                break;
        }

        /* Writes the part that fits. */
        if (disk_of(path) == DISK_FULL)
                return n > 1 && dice_chance(&kernel.dice, 50) ? write_some(fd, path, bytes, n / 2) : refuse(path);
        if (disk_of(path) == DISK_READ_ONLY)
                return refuse(path);

        return write_some(fd, path, bytes, n);
}

/* As one write(), so that all of it has one fate. */
ssize_t writev(int fd, const struct iovec *parts, int n) {
        g_autoptr(GString) bytes = g_string_new(NULL);

        for (int i = 0; i < n; i++)
                g_string_append_len(bytes, parts[i].iov_base, (gssize) parts[i].iov_len);

        return write(fd, bytes->str, bytes->len);
}

/* As for write(). If the daemon is killed within it, the first byte is missing. */
bool __real_mapped_end_append(MappedEnd *end, const char *bytes, size_t n);
bool __wrap_mapped_end_append(MappedEnd *end, const char *bytes, size_t n);
bool __wrap_mapped_end_append(MappedEnd *end, const char *bytes, size_t n) {
        const char *path = path_of(end->fd) ? *path_of(end->fd) : NULL;
        char *first = end->bytes + (end->size - end->begin);
        Fate fate;

        if (end->size - end->begin + n > end->length)
                return false;

        fate = fate_of("append", path);
        if (fate == FATE_NOT_DONE)
                return true;

        (void) !__real_mapped_end_append(end, bytes, n);
        if (fate == FATE_HALF_DONE)
                memset(first, 0, dice_below(&kernel.dice, (uint32_t) n) + 1);
        else
                note_written(path, bytes, n);
        return true;
}

static int allocate_in_file(int fd, int mode, off64_t offset, off64_t n) {
        if (kernel.in_daemon && path_of(fd) && *path_of(fd)) {
                if (fate_of("fallocate", *path_of(fd)) == FATE_NOT_DONE)
                        return fail(ENOSPC);
                if (kernel.disk != DISK_FINE)
                        return fail(kernel.disk == DISK_FULL ? ENOSPC : EROFS);
        }

        return (int) syscall(SYS_fallocate, fd, mode, WIDE(offset), WIDE(n));
}

int fallocate(int fd, int mode, off_t offset, off_t n) {
        return allocate_in_file(fd, mode, offset, n);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t n) {
        return allocate_in_file(fd, mode, offset, n);
}

static int truncate_file(int fd, off64_t size) {
        const char *path = path_of(fd) ? *path_of(fd) : NULL;

        if (kernel.in_daemon && path && fate_of("ftruncate", path) == FATE_NOT_DONE)
                return 0;

        return (int) syscall(SYS_ftruncate, fd, (long) size);
}

int ftruncate(int fd, off_t size) {
        return truncate_file(fd, size);
}

int ftruncate64(int fd, off64_t size) {
        return truncate_file(fd, size);
}

static bool is_far(const char *from, const char *to) {
        size_t root = strlen(kernel.root);

        return kernel.far && g_str_has_prefix(from + root, "/run/") && g_str_has_prefix(to + root, "/state/");
}

/* Open files get their new name. */
static void note_renamed(const char *from, const char *to) {
        for (int fd = 0; fd < FDS_MAX; fd++)
                if (g_strcmp0(kernel.paths[fd], from) == 0) {
                        g_free(kernel.paths[fd]);
                        kernel.paths[fd] = g_strdup(to);
                }

        file_times_note_renamed(from, to);
        kernel.hooks->renamed(from, to);
}

int rename(const char *from, const char *to) {
        if (concerns(from)) {
                if (fate_of("rename", to) == FATE_NOT_DONE)
                        return 0;
                if (kernel.disk == DISK_READ_ONLY)
                        return fail(EROFS);
                if (is_far(from, to))
                        return fail(EXDEV);
                note_renamed(from, to);
        }
        return (int) syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* The files change places, so neither is removed. */
int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
        if (concerns(from)) {
                if (fate_of("exchange", to) == FATE_NOT_DONE)
                        return 0;
                if (kernel.disk == DISK_READ_ONLY)
                        return fail(EROFS);
        }
        return (int) syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
}

int unlink(const char *path) {
        if (concerns(path)) {
                if (fate_of("unlink", path) == FATE_NOT_DONE)
                        return 0;
                if (kernel.disk == DISK_READ_ONLY)
                        return fail(EROFS);
                file_times_note_removed(path);
                if (access(path, F_OK) >= 0)
                        kernel.hooks->removed(path);
        }
        return (int) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
        if (concerns(path)) {
                if (kernel.killed)
                        return 0;
                if (disk_of(path) != DISK_FINE && access(path, F_OK) < 0)
                        return refuse(path);
        }
        return (int) syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* There is no real disk to wait for. */
int fsync(int fd) {
        return 0;
}

static size_t size_of(const struct msghdr *message) {
        size_t size = 0;

        for (size_t i = 0; i < message->msg_iovlen; i++)
                size += message->msg_iov[i].iov_len;

        return size;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
        ssize_t n;
        Fate fate;

        if (!kernel.in_daemon)
                return syscall(SYS_sendmsg, fd, message, flags);

        fate = fate_of("sendmsg", "");
        if (fate == FATE_NOT_DONE)
                return (ssize_t) size_of(message);

        /* The reader is slow. */
        if (kernel.slow > 0 && dice_chance(&kernel.dice, kernel.slow))
                return fail(EAGAIN);

        n = syscall(SYS_sendmsg, fd, message, flags);
        kernel.hooks->sent();
        return n;
}

/* A killed daemon receives nothing. */
ssize_t recv(int fd, void *bytes, size_t n, int flags) {
        return kernel.in_daemon && kernel.killed ? fail(EAGAIN)
                                                 : syscall(SYS_recvfrom, fd, bytes, n, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
        return kernel.in_daemon && kernel.killed ? fail(EAGAIN) : syscall(SYS_recvmsg, fd, message, flags);
}
