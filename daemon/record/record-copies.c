/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements record-copies.h. The thread of the disk queue copies and removes files; the order of its jobs is that of
 * the requests. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "basic/write-all.h"
#include "record/record-copies.h"
#include "record/record-store.h"
#include "record/run-record.h"

#define PAUSE_USEC_MIN (UINT64_C(60) * G_USEC_PER_SEC)
#define PAUSE_USEC_MAX (UINT64_C(3600) * G_USEC_PER_SEC)
/* A record that is larger is not copied, so that 1000 runs cannot fill the disk. */
#define SIZE_MAX_BYTES (1 << 20)

struct RecordCopies {
        char *directory, *from;
        DiskQueue *disk;
        Timers *timers;
        GHashTable *runs; /* name of a run -> Copy */
        Timer *next;      /* the first that is due; NULL: none has changed */
        bool failing;     /* the last copies could not be written */
};

typedef struct Copy {
        uint64_t pause, due; /* not before then */
        bool changed;        /* since it was made */
        bool made;           /* or is being made */
} Copy;

/* The data of the thread. */
typedef struct Group {
        RecordCopies *copies;
        char *directory, *from;
        GPtrArray *made, *gone; /* names of runs */
        int result;
} Group;

RecordCopies *record_copies_new(const char *directory, const char *from, DiskQueue *disk, Timers *timers) {
        RecordCopies *copies = g_new(RecordCopies, 1);

        *copies = (RecordCopies){
                .directory = g_strdup(directory),
                .from = g_strdup(from),
                .disk = disk,
                .timers = timers,
                .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        };
        return copies;
}

void record_copies_free(RecordCopies *copies) {
        if (!copies)
                return;

        timer_free(copies->next);
        g_hash_table_unref(copies->runs);
        g_free(copies->directory);
        g_free(copies->from);
        g_free(copies);
}

static void group_free(void *data) {
        Group *group = data;

        g_ptr_array_unref(group->made);
        g_ptr_array_unref(group->gone);
        g_free(group->directory);
        g_free(group->from);
        g_free(group);
}

/* Runs on the thread. A copy gets its name when it is on the disk: all are synced together. */
static void write_copies(void *data) {
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
        g_auto(AutoFd) fd = -1;
        Group *group = data;

        PTRS_FOREACH(const char, run, group->gone) {
                g_autofree char *path = record_path(group->directory, run);

                (void) unlink(path);
        }
        if (group->made->len > 0 && g_mkdir_with_parents(group->directory, 0700) < 0) {
                group->result = -errno;
                return;
        }

        PTRS_FOREACH(const char, run, group->made) {
                g_autofree char *from = record_path(group->from, run), *to = record_path(group->directory, run),
                                *new = g_strconcat(to, RECORD_NEW_SUFFIX, NULL);
                /* A reader ignores what follows the last complete entry, so the record may be written meanwhile. */
                int r = copy_file(from, new, SIZE_MAX_BYTES);

                /* If there is none, the run has finished. */
                if (r >= 0)
                        g_ptr_array_add(all, g_steal_pointer(&to));
                else if (r != -ENOENT && r != -EFBIG)
                        group->result = r;
        }
        if (all->len == 0)
                return;

        fd = open(group->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || syncfs(fd) < 0)
                group->result = -errno;
        PTRS_FOREACH(const char, path, all) {
                g_autofree char *new = g_strconcat(path, RECORD_NEW_SUFFIX, NULL);

                if (group->result < 0)
                        (void) unlink(new);
                else if (rename(new, path) < 0)
                        group->result = -errno;
        }
}

static void on_written(void *data) {
        const Group *group = data;
        RecordCopies *copies = group->copies;

        if (group->result < 0 && !copies->failing)
                log_warning("after a power failure, some runs would not be in the history, because %s cannot be "
                            "written: %s",
                            group->directory, g_strerror(-group->result));
        copies->failing = group->result < 0;
}

static Group *group_new(RecordCopies *copies) {
        Group *group = g_new(Group, 1);

        *group = (Group){
                .copies = copies,
                .directory = g_strdup(copies->directory),
                .from = g_strdup(copies->from),
                .made = g_ptr_array_new_with_free_func(g_free),
                .gone = g_ptr_array_new_with_free_func(g_free),
        };
        return group;
}

/* Takes the group. */
static void group_queue(Group *group) {
        if (group->made->len + group->gone->len == 0) {
                group_free(group);
                return;
        }

        disk_queue_add(group->copies->disk,
                       &(DiskJob){
                               .what = g_strdup_printf("copies of run records to %s", group->directory),
                               .work = write_copies,
                               .done = on_written,
                               .free = group_free,
                               .data = group,
                       });
}

/* all: also what is not due, or has not changed. */
static void make(RecordCopies *copies, bool all) {
        uint64_t now = timers_now(copies->timers, TIMER_MONOTONIC);
        Group *group = group_new(copies);

        TABLE_PAIRS(Copy, it, copies->runs) {
                if (!all && (!it.value->changed || it.value->due > now))
                        continue;

                it.value->changed = false;
                it.value->made = true;
                it.value->due = now + it.value->pause;
                it.value->pause = MIN(2 * it.value->pause, PAUSE_USEC_MAX);
                g_ptr_array_add(group->made, g_strdup(it.key));
        }
        group_queue(group);
}

static void plan(RecordCopies *copies);

static void on_due(void *userdata) {
        RecordCopies *copies = userdata;

        make(copies, false);
        plan(copies);
}

static void plan(RecordCopies *copies) {
        uint64_t due = UINT64_MAX;
        const Copy *it;

        TABLE_FOREACH(it, copies->runs)
                if (it->changed)
                        due = MIN(due, it->due);
        g_clear_pointer(&copies->next, timer_free);
        if (due < UINT64_MAX)
                copies->next = timer_new_at(copies->timers, due, on_due, copies);
}

static Copy *get(RecordCopies *copies, const char *run) {
        Copy *it = g_hash_table_lookup(copies->runs, run);

        if (!it) {
                it = g_new(Copy, 1);
                *it = (Copy){
                        .pause = PAUSE_USEC_MIN,
                        .due = timers_now(copies->timers, TIMER_MONOTONIC) + PAUSE_USEC_MIN,
                };
                g_hash_table_insert(copies->runs, g_strdup(run), it);
        }

        return it;
}

void record_copies_change(RecordCopies *copies, const char *run) {
        Copy *it = copies ? get(copies, run) : NULL;

        if (!it || it->changed)
                return;

        it->changed = true;
        if (!copies->next || timer_deadline(copies->next) > it->due)
                plan(copies);
}

void record_copies_drop(RecordCopies *copies, const char *run) {
        const Copy *it = copies ? g_hash_table_lookup(copies->runs, run) : NULL;
        Group *group;

        if (!it)
                return;

        if (it->made) {
                group = group_new(copies);
                g_ptr_array_add(group->gone, g_strdup(run));
                group_queue(group);
        }
        g_hash_table_remove(copies->runs, run);
}

void record_copies_hurry(RecordCopies *copies) {
        if (copies)
                make(copies, true);
}

void record_copies_read(RecordCopies *copies, bool (*is_archived)(const char *run, void *userdata), void *userdata) {
        g_autoptr(GDir) directory = g_dir_open(copies->directory, 0, NULL), from = NULL;
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(copies->directory, name, NULL), *run = NULL, *record = NULL,
                                *lost_name = NULL, *lost = NULL, *error = NULL;

                if (!g_str_has_suffix(name, RECORD_SUFFIX)) {
                        (void) g_unlink(path);
                        continue;
                }

                run = g_strndup(name, strlen(name) - strlen(RECORD_SUFFIX));
                record = record_path(copies->from, run);
                lost_name = g_strconcat(run, RECORD_LOST, NULL);
                lost = record_path(copies->from, lost_name);
                if (access(record, F_OK) >= 0) {
                        get(copies, run)->made = true;
                } else if (is_archived(run, userdata)) {
                        (void) g_unlink(path);
                } else {
                        (void) g_mkdir_with_parents(copies->from, 0700);
                        if (record_move(path, lost, &error) < 0)
                                log_warning("%s %s", path, error);
                }
        }

        /* Copy at once what has no copy: the previous btd ended before it was made, and this one may end as soon. */
        from = g_dir_open(copies->from, 0, NULL);
        while (from && (name = g_dir_read_name(from))) {
                g_autofree char *run = NULL;
                Copy *it;

                if (!g_str_has_suffix(name, RECORD_SUFFIX) || g_str_has_suffix(name, RECORD_LOST RECORD_SUFFIX))
                        continue;

                run = g_strndup(name, strlen(name) - strlen(RECORD_SUFFIX));
                it = get(copies, run);
                if (it->made)
                        continue;

                it->changed = true;
                it->due = timers_now(copies->timers, TIMER_MONOTONIC);
        }
        plan(copies);
}
