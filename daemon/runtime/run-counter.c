/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reserves run numbers. The file "numbers" has a line "TREE NUMBER" for each reserved block: numbers up to that one
 * are not used again. If a tree has several lines, the highest number counts, so that a block is reserved by appending
 * one line. At start, btd writes a new file with one line per tree.
 *
 * If the state directory cannot be written, the numbers are stored in the runtime directory, until the next boot.
 */

#include <inttypes.h>
#include <string.h>

#include "basic/foreach.h"
#include "basic/line-file.h"
#include "basic/log.h"
#include "runtime/run-counter.h"

#define FILE_NAME "numbers"
/* Trees that start often get larger blocks, so that starts do not wait for the disk. */
#define BLOCK_MIN 16u
#define BLOCK_MAX 4096u
/* Rewrite the file when this much was appended. */
#define ADDED_MAX (64u << 10)

struct RunCounter {
        char *directory;
        char *fallback; /* another directory, or NULL */
        DiskQueue *disk;
        GHashTable *by_tree; /* name of a tree -> Number */
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
        char *directory, *fallback;
        GString *lines;
        bool whole; /* replace the file; false: append */
        bool kept;  /* in the fallback */
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

/* An incomplete last line does not end with a newline: ignore it. */
static void read_file(RunCounter *counter, const char *directory) {
        g_autofree char *path = g_build_filename(directory, FILE_NAME, NULL), *text = NULL;
        char *end;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return;

        for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
                char *space = memchr(line, ' ', (size_t) (end - line));
                Number *number;

                if (!space)
                        continue;

                *space = '\0';
                number = number_of(counter, line);
                number->last = number->reserved = MAX(number->last, g_ascii_strtoull(space + 1, NULL, 10));
        }
}

RunCounter *run_counter_new(const char *directory, const char *fallback, DiskQueue *disk,
                            void (*reserved)(void *userdata), void *userdata) {
        RunCounter *counter = g_new(RunCounter, 1);

        *counter = (RunCounter){
                .directory = g_strdup(directory),
                .fallback = g_strdup(fallback),
                .disk = disk,
                .by_tree = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .reserved = reserved,
                .userdata = userdata,
                .added = SIZE_MAX,
        };
        if (directory)
                read_file(counter, directory);
        if (fallback)
                read_file(counter, fallback);
        return counter;
}

void run_counter_free(RunCounter *counter) {
        if (!counter)
                return;

        g_hash_table_unref(counter->by_tree);
        g_free(counter->directory);
        g_free(counter->fallback);
        g_free(counter);
}

static void write_free(void *data) {
        Write *write = data;

        g_string_free(write->lines, TRUE);
        g_free(write->directory);
        g_free(write->fallback);
        g_free(write->error);
        g_free(write);
}

/* Runs on the thread. */
static void do_write(void *data) {
        Write *write = data;
        g_autofree char *path = g_build_filename(write->directory, FILE_NAME, NULL);
        int r = line_file_write(write->directory, FILE_NAME, write->lines, write->whole);

        if (r >= 0)
                return;

        write->error = g_strdup_printf("%s cannot be written: %s", path, g_strerror(-r));
        write->kept = write->fallback && line_file_write(write->fallback, FILE_NAME, write->lines, write->whole) >= 0;
}

static void reserve(RunCounter *counter);

static void on_written(void *data) {
        Write *write = data;
        RunCounter *counter = write->counter;
        Number *number;

        counter->writing = false;
        if (write->error) {
                if (!counter->warned)
                        log_warning("numbers of runs may be used again after a %s, because %s",
                                    write->kept ? "reboot" : "restart", write->error);
                counter->warned = true;
                counter->added = SIZE_MAX;
        } else {
                counter->added = write->whole ? 0 : counter->added + write->lines->len;
        }

        TABLE_FOREACH(number, counter->by_tree)
                number->reserved = MAX(number->reserved, number->asked);
        reserve(counter);
        counter->reserved(counter->userdata);
}

static void queue_write(RunCounter *counter, GString *lines, bool whole) {
        Write *write = g_new(Write, 1);

        *write = (Write){
                .counter = counter,
                .directory = g_strdup(counter->directory),
                .fallback = g_strdup(counter->fallback),
                .lines = lines,
                .whole = whole,
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

        if (counter->writing || counter->n_wants == 0)
                return;

        lines = g_string_new(NULL);
        TABLE_PAIRS(Number, it, counter->by_tree) {
                Number *number = it.value;

                if (number->wants) {
                        number->asked = number->reserved + number->block;
                        number->block = MIN(2 * number->block, BLOCK_MAX);
                }
                if (number->wants || whole)
                        g_string_append_printf(lines, "%s %" PRIu64 "\n", it.key, MAX(number->asked, number->reserved));
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

uint64_t run_counter_last(const RunCounter *counter, const char *tree) {
        const Number *number = g_hash_table_lookup(counter->by_tree, tree);

        return number ? number->last : 0;
}

void run_counter_give_back(RunCounter *counter) {
        GString *lines = g_string_new(NULL);
        bool unused = false;

        TABLE_PAIRS(Number, it, counter->by_tree) {
                unused |= it.value->last < it.value->reserved;
                it.value->reserved = it.value->asked = it.value->last;
                g_string_append_printf(lines, "%s %" PRIu64 "\n", it.key, it.value->last);
        }

        if (counter->directory && unused)
                queue_write(counter, lines, true);
        else
                g_string_free(lines, TRUE);
}
