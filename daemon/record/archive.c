/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the run records of finished runs. The directories are read once; after that the archive knows their contents,
 * because only btd writes there. Run records are moved to the disk in groups, one group at a time. If there are many
 * runs a second, most of them expire before they are moved, and never reach the disk.
 */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "record/archive.h"
#include "record/run-record.h"

/* Delay before a group is written, so that a run record is on the disk within a second. */
#define GROUP_USEC UINT64_C(750000)
#define PIECE (UINT64_C(64) << 10)

struct Archive {
        char *directory, *from;
        const Limits *limits;
        DiskQueue *disk;
        Timers *timers;
        GQueue entries;     /* Entry, oldest first */
        GHashTable *by_run; /* name of a run -> Entry */
        uint64_t bytes;     /* of all entries */
        GPtrArray *gone;    /* names of runs whose files must be removed from the disk */
        unsigned n_pending; /* entries that are neither on the disk nor being moved */
        Timer *due;         /* until the next group is written; NULL: none is due */
        bool writing;       /* a group is being written */
        bool hurry;
};

typedef enum Where {
        WHERE_TMPFS, /* on the tmpfs */
        WHERE_MOVING,
        WHERE_DISK,
} Where;

typedef struct Archived {
        GList link;
        char *run;
        Where where;
        uint64_t time, bytes; /* time: when the run finished, CLOCK_REALTIME µs */
        RecordSummary summary;
        bool known; /* the summary has been read */
} Archived;

/* The data of the thread. */
typedef struct Group {
        Archive *archive;
        char *directory, *from;
        GPtrArray *runs, *gone; /* names of runs */
        GPtrArray *failures;    /* Failure */
        bool far;               /* the directories are on different file systems */
        char *unsynced;         /* why sync failed; NULL: all is on the disk */
} Group;

typedef struct Failure {
        const char *run;
        char *text;
} Failure;

static void entry_free(Archived *entry) {
        record_summary_clear(&entry->summary);
        g_free(entry->run);
        g_free(entry);
}

Archive *archive_new(const char *directory, const char *from, const Limits *limits, DiskQueue *disk, Timers *timers) {
        Archive *archive = g_new0(Archive, 1);

        archive->directory = g_strdup(directory);
        archive->from = g_strdup(from);
        archive->limits = limits;
        archive->disk = disk;
        archive->timers = timers;
        archive->by_run = g_hash_table_new(g_str_hash, g_str_equal);
        archive->gone = g_ptr_array_new_with_free_func(g_free);
        return archive;
}

static void remove_entry(Archive *archive, Archived *entry) {
        archive->bytes -= entry->bytes;
        archive->n_pending -= entry->where == WHERE_TMPFS;
        g_hash_table_remove(archive->by_run, entry->run);
        g_queue_unlink(&archive->entries, &entry->link);
        entry_free(entry);
}

void archive_free(Archive *archive) {
        if (!archive)
                return;

        while (archive->entries.head)
                remove_entry(archive, archive->entries.head->data);
        timer_free(archive->due);
        g_ptr_array_unref(archive->gone);
        g_hash_table_unref(archive->by_run);
        g_free(archive->directory);
        g_free(archive->from);
        g_free(archive);
}

static char *path_in(const char *directory, const char *run) {
        g_autofree char *file = g_strconcat(run, RECORD_SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}

/* Sorts by time; of equal times, the run that was added first is the first. */
static void insert(Archive *archive, Archived *entry) {
        GList *before = archive->entries.tail;

        while (before && ((const Archived *) before->data)->time > entry->time)
                before = before->prev;

        entry->link.data = entry;
        g_queue_insert_after_link(&archive->entries, before, &entry->link);
        g_hash_table_insert(archive->by_run, entry->run, entry);
        archive->bytes += entry->bytes;
        archive->n_pending += entry->where == WHERE_TMPFS;
}

/* File times have the resolution of a kernel tick. For equal times of one tree, compare the numbers. */
static int compare_times(const void *a, const void *b) {
        const Archived *x = *(Archived *const *) a, *y = *(Archived *const *) b;

        size_t length = strlen(x->run), other = strlen(y->run);

        if (x->time != y->time)
                return x->time > y->time ? 1 : -1;

        return length != other ? (length > other) - (length < other) : strcmp(x->run, y->run);
}

/* Unsorted. The caller sorts once, because there can be many. */
static GPtrArray *find(const char *path, Where where) {
        GPtrArray *found = g_ptr_array_new();
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL);
                struct stat st;
                Archived *entry;

                if (!g_str_has_suffix(name, RECORD_SUFFIX) || !g_utf8_validate(name, -1, NULL) || stat(file, &st) < 0 ||
                    !S_ISREG(st.st_mode))
                        continue;

                entry = g_new0(Archived, 1);
                entry->run = g_strndup(name, strlen(name) - strlen(RECORD_SUFFIX));
                entry->where = where;
                entry->time = (uint64_t) st.st_mtim.tv_sec * G_USEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec / 1000;
                entry->bytes = (uint64_t) st.st_size;
                g_ptr_array_add(found, entry);
        }

        g_ptr_array_sort(found, compare_times);
        return found;
}

static void forget(Archive *archive, const char *run) {
        Archived *entry = g_hash_table_lookup(archive->by_run, run);

        if (entry)
                remove_entry(archive, entry);
}

static void schedule(Archive *archive);

static void take_in(Archive *archive, const char *directory, Where where) {
        g_autoptr(GPtrArray) found = find(directory, where);

        for (unsigned i = 0; i < found->len; i++) {
                Archived *entry = found->pdata[i];

                forget(archive, entry->run);
                insert(archive, entry);
        }
}

/* A run can exist in both directories: btd was killed while it moved the run, or the run number was lost. In both cases
 * the file on the disk is incomplete or older. */
void archive_read(Archive *archive) {
        take_in(archive, archive->directory, WHERE_DISK);
        take_in(archive, archive->from, WHERE_TMPFS);
        archive_expire(archive);
        schedule(archive);
}

static void drop_oldest(Archive *archive) {
        Archived *entry = g_queue_peek_head(&archive->entries);

        if (entry->where == WHERE_TMPFS) {
                g_autofree char *path = path_in(archive->from, entry->run);

                g_unlink(path);
        } else {
                g_ptr_array_add(archive->gone, g_strdup(entry->run));
        }
        remove_entry(archive, entry);
}

/* Must the oldest entry be removed? */
static bool is_over(const Archive *archive, uint64_t now) {
        const Archived *oldest = g_queue_peek_head((GQueue *) &archive->entries);
        const unsigned *max = archive->limits->max;
        uint64_t bytes_max = (uint64_t) max[LIMIT_HISTORY_SIZE] << 20;
        uint64_t age_max = max[LIMIT_HISTORY_AGE] * UINT64_C(86400) * G_USEC_PER_SEC;

        return oldest && (archive->entries.length > max[LIMIT_HISTORY] || archive->bytes > bytes_max ||
                          oldest->time + age_max < now);
}

void archive_expire(Archive *archive) {
        uint64_t now = (uint64_t) g_get_real_time();

        while (is_over(archive, now))
                drop_oldest(archive);
        schedule(archive);
}

static void failure_clear(void *data) {
        Failure *failure = data;

        g_free(failure->text);
        g_free(failure);
}

static void group_free(void *data) {
        Group *group = data;

        g_ptr_array_unref(group->runs);
        g_ptr_array_unref(group->gone);
        g_ptr_array_unref(group->failures);
        g_free(group->directory);
        g_free(group->from);
        g_free(group->unsynced);
        g_free(group);
}

static int copy(int from, int to) {
        g_autofree char *piece = g_malloc(PIECE);

        for (;;) {
                ssize_t n = read(from, piece, PIECE), written = 0;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;

                while (written < n) {
                        ssize_t r = write(to, piece + written, (size_t) (n - written));

                        if (r < 0 && errno != EINTR)
                                return -errno;
                        written += MAX(r, 0);
                }
                /* The file is complete: nobody appends to it any more. */
                if ((uint64_t) n < PIECE)
                        return 0;
        }
}

/* If btd is killed here, the next btd finds the source file and copies again. Only if the machine fails, the copy
 * remains incomplete. */
static int move_far(const char *from, const char *to) {
        g_auto(AutoFd) in = -1;
        g_auto(AutoFd) out = -1;
        int r;

        in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (in < 0)
                return -errno;
        out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        r = out < 0 ? -errno : copy(in, out);
        if (r < 0 && out >= 0)
                (void) unlink(to);
        if (r >= 0)
                (void) unlink(from);
        return r;
}

static int move(Group *group, const char *from, const char *to) {
        if (!group->far && rename(from, to) >= 0)
                return 0;
        if (!group->far && errno != EXDEV)
                return -errno;

        group->far = true;
        return move_far(from, to);
}

static void fail(Group *group, const char *run, char *text) {
        Failure *failure = g_new(Failure, 1);

        *failure = (Failure){ .run = run, .text = text };
        g_ptr_array_add(group->failures, failure);
}

/* Sync once for all files: a sync per file would take as long as all of them each time. */
static int sync_all(const char *directory) {
        g_auto(AutoFd) fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 || syncfs(fd) < 0 ? -errno : 0;
}

/* Runs on the thread. */
static void move_group(void *data) {
        Group *group = data;
        int r = g_mkdir_with_parents(group->directory, 0700) < 0 ? -errno : 0;

        for (unsigned i = 0; i < group->gone->len; i++) {
                g_autofree char *path = path_in(group->directory, group->gone->pdata[i]);

                (void) unlink(path);
        }
        for (unsigned i = 0; i < group->runs->len; i++) {
                const char *run = group->runs->pdata[i];
                g_autofree char *from = path_in(group->from, run), *to = path_in(group->directory, run);
                int moved = r < 0 ? r : move(group, from, to);

                if (moved < 0)
                        fail(group, run,
                             r < 0 ? g_strdup_printf("%s cannot be created: %s", group->directory, g_strerror(-r))
                                   : g_strdup_printf("it cannot be moved to %s: %s", to, g_strerror(-moved)));
        }

        r = group->runs->len > group->failures->len ? sync_all(group->directory) : 0;
        if (r < 0)
                group->unsynced = g_strdup_printf("%s cannot be synced: %s", group->directory, g_strerror(-r));
}

/* Remove a run record that cannot be moved to the disk, or the tmpfs would fill up. */
static void lose(Archive *archive, const Failure *failure) {
        g_autofree char *path = path_in(archive->from, failure->run);

        log_warning("the run record of %s is not kept, because %s", failure->run, failure->text);
        g_unlink(path);
        forget(archive, failure->run);
}

static void on_group_moved(void *data) {
        Group *group = data;
        Archive *archive = group->archive;

        archive->writing = false;
        if (group->unsynced)
                log_warning("a power failure may lose the history of the last runs, because %s", group->unsynced);
        for (unsigned i = 0; i < group->failures->len; i++)
                lose(archive, group->failures->pdata[i]);
        for (unsigned i = 0; i < group->runs->len; i++) {
                Archived *entry = g_hash_table_lookup(archive->by_run, group->runs->pdata[i]);

                if (entry && entry->where == WHERE_MOVING)
                        entry->where = WHERE_DISK;
        }

        schedule(archive);
}

/* The runs that are not on the disk yet are the newest. */
static GPtrArray *take_pending(Archive *archive) {
        GPtrArray *runs = g_ptr_array_new_with_free_func(g_free);

        for (GList *link = archive->entries.tail; link && archive->n_pending > 0; link = link->prev) {
                Archived *entry = link->data;

                if (entry->where != WHERE_TMPFS)
                        continue;

                entry->where = WHERE_MOVING;
                archive->n_pending--;
                g_ptr_array_add(runs, g_strdup(entry->run));
        }

        return runs;
}

static void write_group(Archive *archive) {
        Group *group = g_new0(Group, 1);

        group->archive = archive;
        group->directory = g_strdup(archive->directory);
        group->from = g_strdup(archive->from);
        group->runs = take_pending(archive);
        group->gone = g_steal_pointer(&archive->gone);
        group->failures = g_ptr_array_new_with_free_func(failure_clear);
        archive->gone = g_ptr_array_new_with_free_func(g_free);
        archive->writing = true;
        disk_queue_add(archive->disk,
                       &(DiskJob){
                               .what = g_strdup_printf("run records of finished runs to %s", archive->directory),
                               .work = move_group,
                               .done = on_group_moved,
                               .free = group_free,
                               .data = group,
                       });
}

static void on_due(void *userdata) {
        Archive *archive = userdata;

        g_clear_pointer(&archive->due, timer_free);
        write_group(archive);
}

static void schedule(Archive *archive) {
        if (archive->writing || (archive->n_pending == 0 && archive->gone->len == 0))
                return;

        if (archive->hurry) {
                g_clear_pointer(&archive->due, timer_free);
                write_group(archive);
        } else if (!archive->due) {
                archive->due = timer_new(archive->timers, GROUP_USEC, on_due, archive);
        }
}

void archive_hurry(Archive *archive) {
        archive->hurry = true;
        schedule(archive);
}

void archive_add(Archive *archive, RecordSummary *summary, uint64_t bytes) {
        Archived *entry = g_new0(Archived, 1);

        forget(archive, summary->run);
        entry->run = g_strdup(summary->run);
        entry->time = (uint64_t) g_get_real_time();
        entry->bytes = bytes;
        entry->summary = *summary;
        entry->known = true;
        *summary = (RecordSummary){};
        insert(archive, entry);
        archive_expire(archive);
}

unsigned archive_count(const Archive *archive) {
        return archive->entries.length;
}

uint64_t archive_bytes(const Archive *archive) {
        return archive->bytes;
}

bool archive_has(Archive *archive, const char *run) {
        return g_hash_table_contains(archive->by_run, run);
}

void archive_paths(const Archive *archive, const char *run, char **ret_paths) {
        ret_paths[0] = path_in(archive->from, run);
        ret_paths[1] = path_in(archive->directory, run);
}

GPtrArray *archive_list(Archive *archive) {
        GPtrArray *runs = g_ptr_array_new_with_free_func(g_free);

        archive_expire(archive);
        for (const GList *link = archive->entries.head; link; link = link->next)
                g_ptr_array_add(runs, g_strdup(((const Archived *) link->data)->run));

        return runs;
}

/* Summary of a damaged run record: only the name is known. */
static RecordSummary damaged(const Archived *entry, const char *error) {
        const char *dot = strrchr(entry->run, '.');

        return (RecordSummary){
                .run = g_strdup(entry->run),
                .tree = dot ? g_strndup(entry->run, (size_t) (dot - entry->run)) : g_strdup(entry->run),
                .instance = g_strdup(""),
                .token = g_strdup(entry->run),
                .status = g_strdup("damaged"),
                .cause = g_strdup(error),
                .started = entry->time,
                .finished = entry->time,
        };
}

/* Tries both paths, because the file may be moved from the first to the second meanwhile. */
static int read_summary(const char *from, const char *path, RecordSummary *ret_summary, char **ret_error) {
        g_autofree char *lost = NULL;

        return record_summary_read(from, ret_summary, &lost) < 0 ? record_summary_read(path, ret_summary, ret_error)
                                                                 : 0;
}

static void summarize(const Archive *archive, Archived *entry) {
        g_autofree char *from = NULL, *path = NULL, *error = NULL;

        if (entry->known)
                return;

        from = path_in(archive->from, entry->run);
        path = path_in(archive->directory, entry->run);
        if (read_summary(from, path, &entry->summary, &error) < 0)
                entry->summary = damaged(entry, error);
        entry->known = true;
}

/* The reading of one run. */
typedef struct Reading {
        char *run, *from, *path;
        RecordSummary summary;
        char *error; /* NULL: the summary was read */
        bool done;
} Reading;

struct ArchiveReading {
        GPtrArray *all; /* Reading */
};

static void reading_free(void *data) {
        Reading *reading = data;

        record_summary_clear(&reading->summary);
        g_free(reading->run);
        g_free(reading->from);
        g_free(reading->path);
        g_free(reading->error);
        g_free(reading);
}

ArchiveReading *archive_reading_new(const Archive *archive) {
        ArchiveReading *it = g_new(ArchiveReading, 1);

        it->all = g_ptr_array_new_with_free_func(reading_free);
        for (const GList *link = archive->entries.head; link; link = link->next) {
                const Archived *entry = link->data;
                Reading *reading;

                if (entry->known)
                        continue;

                reading = g_new0(Reading, 1);
                reading->run = g_strdup(entry->run);
                reading->from = path_in(archive->from, entry->run);
                reading->path = path_in(archive->directory, entry->run);
                g_ptr_array_add(it->all, reading);
        }

        return it;
}

void archive_reading_run(ArchiveReading *it, Work *work) {
        for (unsigned i = 0; i < it->all->len && !(work && work_is_dropped(work)); i++) {
                Reading *reading = it->all->pdata[i];

                if (work)
                        work_reads(work, reading->path);
                (void) read_summary(reading->from, reading->path, &reading->summary, &reading->error);
                reading->done = true;
        }
        if (work)
                work_reads(work, NULL);
}

void archive_take(Archive *archive, ArchiveReading *it) {
        for (unsigned i = 0; i < it->all->len; i++) {
                Reading *reading = it->all->pdata[i];
                Archived *entry = g_hash_table_lookup(archive->by_run, reading->run);

                if (!entry || entry->known || !reading->done)
                        continue;

                entry->summary = reading->error ? damaged(entry, reading->error) : reading->summary;
                entry->known = true;
                if (!reading->error)
                        reading->summary = (RecordSummary){};
        }
}

void archive_reading_free(ArchiveReading *it) {
        g_ptr_array_unref(it->all);
        g_free(it);
}

static bool is_of_tree(const Archived *entry, const char *tree) {
        size_t length = strlen(tree);

        return g_str_has_prefix(entry->run, tree) && strrchr(entry->run, '.') == entry->run + length;
}

const RecordSummary *archive_get(Archive *archive, const char *run) {
        Archived *entry = g_hash_table_lookup(archive->by_run, run);

        if (!entry)
                return NULL;

        summarize(archive, entry);
        return &entry->summary;
}

bool archive_is_read(const Archive *archive, const char *tree) {
        for (const GList *link = archive->entries.tail; link; link = link->prev) {
                const Archived *entry = link->data;

                if (!entry->known && (!tree || is_of_tree(entry, tree)))
                        return false;
        }

        return true;
}

const RecordSummary *archive_find_token(Archive *archive, const char *tree, const char *instance, const char *token) {
        archive_expire(archive);
        for (const GList *link = archive->entries.tail; link; link = link->prev) {
                Archived *entry = link->data;

                if (!is_of_tree(entry, tree))
                        continue;

                summarize(archive, entry);
                if (g_str_equal(entry->summary.token, token) && g_str_equal(entry->summary.instance, instance))
                        return &entry->summary;
        }

        return NULL;
}
