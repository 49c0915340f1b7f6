/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reserves run numbers. The file "numbers" has a line "TREE NUMBER" for each reserved block: numbers up to that one
 * are not used again. If a tree has several lines, the highest number counts, so that a block is reserved by appending
 * one line. At start, btd writes a new file with one line per tree.
 *
 * Older versions had a file "TREE.runs" for each tree instead. These are read too, and removed when their numbers are
 * in the file "numbers".
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "runtime/run-counter.h"

#define FILE_NAME "numbers"
#define NEW_SUFFIX ".new"
#define OLD_SUFFIX ".runs"
/* Trees that start often get larger blocks, so that starts do not wait for the disk. */
#define BLOCK_MIN 16u
#define BLOCK_MAX 4096u
/* Rewrite the file when this much was appended. */
#define ADDED_MAX (64u << 10)

struct RunCounter {
        char *directory;
        DiskQueue *disk;
        GHashTable *by_tree; /* name of a tree -> Number */
        GPtrArray *old;      /* paths of old files to remove, or NULL */
        void (*reserved)(void *userdata);
        void *userdata;
        size_t added;     /* bytes appended since the file was written; SIZE_MAX: it must be written first */
        unsigned n_wants; /* trees that need a block */
        bool writing, warned;
};

typedef struct Number {
        uint64_t last;
        uint64_t reserved; /* the highest reserved number */
        uint64_t asked;    /* the highest number in the block that is being written */
        unsigned block;    /* size of the next block */
        bool wants;        /* needs a block */
} Number;

/* The data of the thread. */
typedef struct Write {
        RunCounter *counter;
        char *directory;
        GString *lines;
        bool whole;     /* replace the file; false: append */
        GPtrArray *old; /* old files to remove afterwards, or NULL */
        char *error;
} Write;

static Number *number_of(RunCounter *counter, const char *tree) {
        Number *number = g_hash_table_lookup(counter->by_tree, tree);

        if (!number) {
                number = g_new(Number, 1);
                *number = (Number){ .block = BLOCK_MIN };
                g_hash_table_insert(counter->by_tree, g_strdup(tree), number);
        }

        return number;
}

static void raise_number(RunCounter *counter, const char *tree, const char *text) {
        Number *number = number_of(counter, tree);

        number->last = MAX(number->last, g_ascii_strtoull(text, NULL, 10));
        number->reserved = number->last;
}

static void read_old_files(RunCounter *counter) {
        g_autoptr(GDir) directory = g_dir_open(counter->directory, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(counter->directory, name, NULL), *text = NULL, *tree = NULL;

                if (!g_str_has_suffix(name, OLD_SUFFIX) || !g_file_get_contents(path, &text, NULL, NULL))
                        continue;

                tree = g_strndup(name, strlen(name) - strlen(OLD_SUFFIX));
                raise_number(counter, tree, text);
                if (!counter->old)
                        counter->old = g_ptr_array_new_with_free_func(g_free);
                g_ptr_array_add(counter->old, g_steal_pointer(&path));
        }
}

/* An incomplete last line does not end with a newline: ignore it. */
static void read_file(RunCounter *counter) {
        g_autofree char *path = g_build_filename(counter->directory, FILE_NAME, NULL), *text = NULL;
        char *end;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return;

        for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
                char *space = memchr(line, ' ', (size_t) (end - line));

                if (!space)
                        continue;

                *space = '\0';
                raise_number(counter, line, space + 1);
        }
}

RunCounter *run_counter_new(const char *directory, DiskQueue *disk, void (*reserved)(void *userdata), void *userdata) {
        RunCounter *counter = g_new(RunCounter, 1);

        *counter = (RunCounter){
                .directory = g_strdup(directory),
                .disk = disk,
                .by_tree = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .reserved = reserved,
                .userdata = userdata,
                .added = SIZE_MAX,
        };
        if (directory) {
                read_file(counter);
                read_old_files(counter);
        }
        return counter;
}

void run_counter_free(RunCounter *counter) {
        if (!counter)
                return;

        g_hash_table_unref(counter->by_tree);
        g_clear_pointer(&counter->old, g_ptr_array_unref);
        g_free(counter->directory);
        g_free(counter);
}

static void write_free(void *data) {
        Write *write = data;

        g_string_free(write->lines, TRUE);
        g_clear_pointer(&write->old, g_ptr_array_unref);
        g_free(write->directory);
        g_free(write->error);
        g_free(write);
}

static int write_all(int fd, const GString *text) {
        size_t n = 0;

        while (n < text->len) {
                ssize_t r = write(fd, text->str + n, text->len - n);

                if (r < 0 && errno != EINTR)
                        return -errno;
                n += (size_t) MAX(r, 0);
        }

        return 0;
}

static int add_lines(const char *path, const GString *lines) {
        g_auto(AutoFd) fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
        int r;

        if (fd < 0)
                return -errno;

        r = write_all(fd, lines);
        if (r >= 0 && fdatasync(fd) < 0)
                r = -errno;
        return r;
}

static int sync_directory(const char *path) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int replace(const char *path, const GString *lines) {
        g_autofree char *new = g_strconcat(path, NEW_SUFFIX, NULL);
        g_auto(AutoFd) fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r;

        if (fd < 0)
                return -errno;

        r = write_all(fd, lines);
        if (r >= 0 && (fsync(fd) < 0 || rename(new, path) < 0))
                r = -errno;
        return r;
}

/* Runs on the thread. */
static void do_write(void *data) {
        Write *write = data;
        g_autofree char *path = g_build_filename(write->directory, FILE_NAME, NULL);
        int r;

        (void) g_mkdir_with_parents(write->directory, 0700);
        r = write->whole ? replace(path, write->lines) : add_lines(path, write->lines);
        if (r >= 0 && write->whole)
                r = sync_directory(write->directory);
        for (unsigned i = 0; r >= 0 && write->old && i < write->old->len; i++)
                (void) unlink(g_ptr_array_index(write->old, i));
        if (r < 0)
                write->error = g_strdup_printf("%s cannot be written: %s", path, g_strerror(-r));
}

static void warn(RunCounter *counter, const char *text) {
        if (!counter->warned)
                log_warning("numbers of runs may be used again after a restart, because %s", text);
        counter->warned = true;
}

static void reserve(RunCounter *counter);

static void on_written(void *data) {
        Write *write = data;
        RunCounter *counter = write->counter;
        GHashTableIter iter;
        void *value;

        counter->writing = false;
        if (write->error) {
                warn(counter, write->error);
                counter->added = SIZE_MAX;
                if (write->old)
                        counter->old = g_steal_pointer(&write->old);
        } else {
                counter->added = write->whole ? 0 : counter->added + write->lines->len;
        }

        g_hash_table_iter_init(&iter, counter->by_tree);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Number *number = value;

                number->reserved = MAX(number->reserved, number->asked);
        }
        reserve(counter);
        counter->reserved(counter->userdata);
}

static void queue_write(RunCounter *counter, GString *lines, bool whole) {
        Write *write = g_new(Write, 1);

        *write = (Write){
                .counter = counter,
                .directory = g_strdup(counter->directory),
                .lines = lines,
                .whole = whole,
                .old = whole ? g_steal_pointer(&counter->old) : NULL,
        };
        counter->writing = true;
        disk_queue_add(counter->disk,
                       &(DiskJob){
                               .what = g_strdup_printf("numbers of runs to %s/" FILE_NAME, counter->directory),
                               .work = do_write,
                               .done = on_written,
                               .free = write_free,
                               .data = write,
                       });
}

/* Blocks that are requested meanwhile are written together, next time. */
static void reserve(RunCounter *counter) {
        bool whole = counter->added > ADDED_MAX;
        GString *lines;
        GHashTableIter iter;
        void *tree, *value;

        if (counter->writing || counter->n_wants == 0)
                return;

        lines = g_string_new(NULL);
        g_hash_table_iter_init(&iter, counter->by_tree);
        while (g_hash_table_iter_next(&iter, &tree, &value)) {
                Number *number = value;

                if (number->wants) {
                        number->asked = number->reserved + number->block;
                        number->block = MIN(2 * number->block, BLOCK_MAX);
                }
                if (number->wants || whole)
                        g_string_append_printf(lines, "%s %" PRIu64 "\n", (const char *) tree,
                                               MAX(number->asked, number->reserved));
                number->wants = false;
        }
        counter->n_wants = 0;
        queue_write(counter, lines, whole);
}

static void want(RunCounter *counter, Number *number) {
        counter->n_wants += !number->wants;
        number->wants = true;
        reserve(counter);
}

bool run_counter_has(RunCounter *counter, const char *tree) {
        Number *number;

        if (!counter->directory)
                return true;

        number = number_of(counter, tree);
        if (number->last < number->reserved)
                return true;
        if (number->asked <= number->reserved)
                want(counter, number);
        return false;
}

/* Requests the next block before this one is used up. */
uint64_t run_counter_next(RunCounter *counter, const char *tree) {
        Number *number = number_of(counter, tree);

        number->last++;
        if (counter->directory && number->asked <= number->reserved &&
            number->reserved - MIN(number->last, number->reserved) < number->block / 4)
                want(counter, number);
        return number->last;
}

void run_counter_give_back(RunCounter *counter) {
        GString *lines = g_string_new(NULL);
        bool unused = false;
        GHashTableIter iter;
        void *tree, *value;

        g_hash_table_iter_init(&iter, counter->by_tree);
        while (g_hash_table_iter_next(&iter, &tree, &value)) {
                Number *number = value;

                unused |= number->last < number->reserved;
                number->reserved = number->asked = number->last;
                g_string_append_printf(lines, "%s %" PRIu64 "\n", (const char *) tree, number->last);
        }

        if (counter->directory && unused)
                queue_write(counter, lines, true);
        else
                g_string_free(lines, TRUE);
}
