/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Captures the output of a process. Data beyond the limit is dropped (in a file, it leaves a hole), so that a full pipe
 * does not block the process, and a file does not fill the memory. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "basic/cleanup.h"
#include "leaves/path/inotify-watch.h"
#include "leaves/spawn/fd-watch.h"
#include "leaves/spawn/spawn-output.h"

#define READ_SIZE (16 * 1024u)
#define BLOCK_SIZE 4096u
#define LINE_MAX_QUOTED 200u

/* How much a file may exceed the limit before the excess is dropped. */
#define EXCESS (1024 * 1024u)

/* A pipe holds no more than this at once: see pipe(7), pipe-max-size. */
#define PIPE_SIZE_MAX (1024 * 1024u)

struct SpawnOutput {
        const char *what;
        LogSubject subject;
        char *path;            /* of the file; NULL: it is a pipe */
        char *directory;       /* of that */
        int fd;                /* to read from; -1: the other end was closed */
        FdWatch *watch;        /* of a pipe */
        InotifyWatch *changes; /* of a file */
        GString *text;
        size_t limit;
        bool exceeded;
        bool was_full; /* the file system */
};

static void output_close(SpawnOutput *output) {
        g_clear_pointer(&output->watch, fd_watch_free);
        g_clear_pointer(&output->changes, inotify_watch_free);
        if (output->fd >= 0)
                close(output->fd);
        output->fd = -1;
}

static void output_tell_exceeded(SpawnOutput *output) {
        if (output->exceeded)
                return;

        output->exceeded = true;
        log_message(LOG_WARNING, &output->subject, "%s is longer than %zu bytes (output_limit), the rest is dropped",
                    output->what, output->limit);
}

static void output_keep(SpawnOutput *output, const char *data, size_t length) {
        size_t room = output->limit - output->text->len;

        g_string_append_len(output->text, data, (gssize) MIN(length, room));
        if (length > room)
                output_tell_exceeded(output);
}

/* False: there is no more data now, or ever. */
static bool output_read(SpawnOutput *output) {
        char data[READ_SIZE];
        ssize_t n;

        if (output->fd < 0)
                return false;

        n = read(output->fd, data, sizeof(data));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        if (n <= 0) {
                output_close(output);
                return false;
        }

        output_keep(output, data, (size_t) n);
        return true;
}

static void on_readable(void *userdata) {
        (void) output_read(userdata);
}

static SpawnOutput *output_new(const char *what, size_t limit, const LogSubject *subject) {
        SpawnOutput *output = g_new(SpawnOutput, 1);

        *output = (SpawnOutput){
                .what = what,
                .limit = limit,
                .subject = *subject,
                .text = g_string_new(NULL),
                .fd = -1,
        };
        return output;
}

int spawn_output_new(const char *what, size_t limit, const LogSubject *subject, SpawnOutput **ret_output, int *ret_fd) {
        g_autoptr(SpawnOutput) output = output_new(what, limit, subject);
        g_auto(AutoFd) other = -1;
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        output->fd = fds[0];
        other = fds[1];

        /* The end of the process must stay as processes expect it to be. */
        if (fcntl(output->fd, F_SETFL, O_NONBLOCK) < 0)
                return -errno;

        r = fd_watch_new(output->fd, on_readable, output, &output->watch);
        if (r < 0)
                return r;

        *ret_output = g_steal_pointer(&output);
        *ret_fd = other;
        other = -1;
        return 0;
}

/* Some file systems have no size, such as ramfs. */
static void output_look_for_room(SpawnOutput *output) {
        struct statvfs st;

        if (fstatvfs(output->fd, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0)
                output->was_full = true;
}

/* Only whole blocks can be made a hole of. */
static void on_file_changed(void *userdata) {
        SpawnOutput *output = userdata;
        off_t end = (off_t) ((output->limit / BLOCK_SIZE + 1) * BLOCK_SIZE);
        struct stat st;

        /* The last write that found some room is seen here. */
        output_look_for_room(output);
        if (fstat(output->fd, &st) < 0 || st.st_size <= end)
                return;

        (void) fallocate(output->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, st.st_size - end);
        output_tell_exceeded(output);
}

/* A process would fail if it found no room there. Some file systems have no size, such as ramfs. */
static bool has_room(int fd, size_t limit) {
        struct statvfs st;

        return fstatvfs(fd, &st) < 0 || st.f_blocks == 0 ||
               (uint64_t) st.f_bavail * st.f_frsize >= (uint64_t) limit + EXCESS;
}

static int open_new(const char *path, size_t limit, int *ret_fd) {
        g_autofree char *directory = g_path_get_dirname(path);
        g_auto(AutoFd) fd = -1;

        (void) g_mkdir_with_parents(directory, 0700);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (!has_room(fd, limit)) {
                (void) unlink(path);
                return -ENOSPC;
        }

        *ret_fd = fd;
        fd = -1;
        return 0;
}

static int open_again(const char *path, int *ret_fd) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);

        if (fd < 0)
                return -errno;

        *ret_fd = fd;
        return 0;
}

int spawn_output_new_file(const char *what, size_t limit, const LogSubject *subject, const char *path, bool fresh,
                          SpawnOutput **ret_output, int *ret_fd) {
        g_autoptr(SpawnOutput) output = output_new(what, limit, subject);
        g_auto(AutoFd) other = -1;
        int r;

        r = fresh ? open_new(path, limit, &other) : open_again(path, &other);
        if (r < 0)
                return r;

        output->path = g_strdup(path);
        output->directory = g_path_get_dirname(path);
        output->fd = open(path, O_RDWR | O_CLOEXEC);
        if (output->fd < 0)
                return -errno;

        r = inotify_watch_new_object(path, on_file_changed, output, &output->changes);
        if (r < 0)
                return r;

        *ret_output = g_steal_pointer(&output);
        *ret_fd = other;
        other = -1;
        return 0;
}

void spawn_output_free(SpawnOutput *output) {
        if (!output)
                return;

        if (output->path)
                (void) unlink(output->path);
        spawn_output_abandon(output);
}

void spawn_output_abandon(SpawnOutput *output) {
        if (!output)
                return;

        output_close(output);
        g_string_free(output->text, true);
        g_free(output->directory);
        g_free(output->path);
        g_free(output);
}

static void read_file(SpawnOutput *output) {
        char data[READ_SIZE];
        ssize_t n;

        for (off_t offset = 0; !output->exceeded || output->text->len < output->limit; offset += n) {
                n = pread(output->fd, data, sizeof(data), offset);
                if (n <= 0)
                        return;

                output_keep(output, data, (size_t) n);
        }
}

void spawn_output_finish(SpawnOutput *output) {
        if (output->path) {
                read_file(output);
                output_look_for_room(output);
                output_close(output);
                return;
        }

        /* A process that writes forever must not block this. */
        for (size_t n = 0; n < PIPE_SIZE_MAX / READ_SIZE && output_read(output); n++)
                ;
        output_close(output);
}

const char *spawn_output_lacked_room(const SpawnOutput *output) {
        return output->was_full ? output->directory : NULL;
}

static size_t length_without_newline(const SpawnOutput *output) {
        const GString *text = output->text;

        return text->len > 0 && text->str[text->len - 1] == '\n' ? text->len - 1 : text->len;
}

json_object *spawn_output_to_json(const SpawnOutput *output) {
        g_autofree char *valid = g_utf8_make_valid(output->text->str, (gssize) length_without_newline(output));

        return json_object_new_string(valid);
}

char *spawn_output_last_line(const SpawnOutput *output) {
        size_t length = length_without_newline(output);
        const char *text = output->text->str, *newline = memrchr(text, '\n', length);
        const char *line = newline ? newline + 1 : text;
        size_t n = (size_t) (text + length - line);

        return n > 0 && n <= LINE_MAX_QUOTED ? g_utf8_make_valid(line, (gssize) n) : NULL;
}
