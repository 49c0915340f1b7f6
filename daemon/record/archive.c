/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the run records of finished runs. The directories are read once; after that the archive knows their contents,
 * because only btd writes there. Run records are moved to the disk in groups, one group at a time. If there are many
 * runs a second, most of them expire before they are moved, and never reach the disk. A run record leaves the tmpfs
 * only when it is safe on the disk: while the disk is full, it waits, and the limits of the archive apply to it.
 */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "basic/write-all.h"
#include "record/archive.h"
#include "record/run-record.h"

/* Delay before a group is written, so that a run record is on the disk within a second. */
#define GROUP_USEC UINT64_C(750000)
/* A disk that has refused run records is tried again after this time, and after twice as long each time. */
#define RETRY_USEC_MIN UINT64_C(1000000)
#define RETRY_USEC_MAX UINT64_C(60000000)
/* The order in which the runs of a directory have finished, and who started them: a file beside their run records, with
 * a line "NUMBER UID RUN" for each run. The times of files follow the wall clock, which can be set, and some machines
 * boot in 1970. A line that was torn by a crash names no run that exists. */
#define ORDER_FILE "order"
/* So many lines of runs that were removed may be in it. */
#define STALE_MAX 1000u

typedef struct Place {
        uint64_t number; /* when the run has finished, see up-clock.h: so it gives the age of the run, too */
        uint32_t uid;    /* of the user who has started it */
} Place;

struct Archive {
        char *directory, *from;
        const Limits *limits;
        Users *users; /* or NULL */
        DiskQueue *disk;
        Timers *timers;
        UpClock *clock;
        GQueue entries;     /* Entry, oldest first */
        GHashTable *by_run; /* name of a run -> Entry */
        GHashTable *by_uid; /* UID -> Owner */
        GHashTable *newest; /* name of a tree (of the entry) -> Archived: its last run */
        uint64_t bytes;     /* of all entries */
        GPtrArray *gone;    /* names of runs whose files must be removed from the disk */
        unsigned n_pending; /* entries that are neither on the disk nor being moved */
        Timer *due;         /* until the next group is written; NULL: none is due */
        bool writing;       /* a group is being written */
        bool hurry;
        uint64_t retry;   /* the delay after the last failure; 0: the disk takes everything */
        unsigned n_lines; /* in the file of the order on the disk */
        int order;        /* the file of the order on the tmpfs; -1: it is not open */
};

typedef enum Where {
        WHERE_TMPFS, /* on the tmpfs */
        WHERE_MOVING,
        WHERE_DISK,
} Where;

/* The runs of a user. */
typedef struct Owner {
        uint32_t uid;
        User *user;  /* or NULL */
        GQueue runs; /* Archived, oldest first */
        uint64_t bytes;
} Owner;

typedef struct Archived {
        GList link, of_owner;
        char *run, *tree;
        Where where;
        Place place;
        uint64_t bytes;
        RunSummary summary;
        bool known; /* the summary has been read */
} Archived;

/* The data of the thread. */
typedef struct Group {
        Archive *archive;
        char *directory, *from;
        GPtrArray *runs, *gone; /* names of runs */
        GString *order;         /* the lines of the runs for the file of the order */
        bool rewrite;           /* the lines are those of all runs in the directory */
        bool far;               /* the directories are on different file systems */
        GPtrArray *left;        /* names of runs that are not safe on the disk */
        char *error;            /* why; NULL: all are */
} Group;

Archive *archive_new(const char *directory, const char *from, const Limits *limits, Users *users, DiskQueue *disk,
                     Timers *timers, UpClock *clock) {
        Archive *archive = g_new0(Archive, 1);

        archive->directory = g_strdup(directory);
        archive->from = g_strdup(from);
        archive->limits = limits;
        archive->users = users;
        archive->by_uid = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        archive->newest = g_hash_table_new(g_str_hash, g_str_equal);
        archive->disk = disk;
        archive->timers = timers;
        archive->clock = clock;
        archive->by_run = g_hash_table_new(g_str_hash, g_str_equal);
        archive->gone = g_ptr_array_new_with_free_func(g_free);
        archive->order = -1;
        return archive;
}

static void close_order(Archive *archive) {
        if (archive->order >= 0)
                close(archive->order);
        archive->order = -1;
}

static Owner *owner_of(Archive *archive, uint32_t uid) {
        Owner *owner = g_hash_table_lookup(archive->by_uid, GUINT_TO_POINTER(uid));

        if (!owner) {
                owner = g_new0(Owner, 1);
                owner->uid = uid;
                owner->user = users_get(archive->users, uid);
                g_hash_table_insert(archive->by_uid, GUINT_TO_POINTER(uid), owner);
        }
        return owner;
}

static bool is_last_of_tree(const Archive *archive, const Archived *entry) {
        return g_hash_table_lookup(archive->newest, entry->tree) == entry;
}

static void remove_entry(Archive *archive, Archived *entry) {
        Owner *owner = owner_of(archive, entry->place.uid);

        if (is_last_of_tree(archive, entry))
                g_hash_table_remove(archive->newest, entry->tree);
        g_queue_unlink(&owner->runs, &entry->of_owner);
        owner->bytes -= entry->bytes;
        user_subtract(owner->user, USE_HISTORY, 1);
        user_subtract(owner->user, USE_HISTORY_BYTES, entry->bytes);
        archive->bytes -= entry->bytes;
        archive->n_pending -= entry->where == WHERE_TMPFS;
        g_hash_table_remove(archive->by_run, entry->run);
        g_queue_unlink(&archive->entries, &entry->link);
        run_summary_clear(&entry->summary);
        g_free(entry->tree);
        g_free(entry->run);
        g_free(entry);
}

void archive_free(Archive *archive) {
        if (!archive)
                return;

        while (archive->entries.head)
                remove_entry(archive, archive->entries.head->data);
        close_order(archive);
        timer_free(archive->due);
        g_ptr_array_unref(archive->gone);
        g_hash_table_unref(archive->by_run);
        g_hash_table_unref(archive->by_uid);
        g_hash_table_unref(archive->newest);
        g_free(archive->directory);
        g_free(archive->from);
        g_free(archive);
}

static void insert_in_order(GQueue *queue, GList *link, Archived *entry) {
        GList *before = queue->tail;

        while (before && ((const Archived *) before->data)->place.number > entry->place.number)
                before = before->prev;

        link->data = entry;
        g_queue_insert_after_link(queue, before, link);
}

/* Sorts by number. */
static void insert(Archive *archive, Archived *entry) {
        Owner *owner = owner_of(archive, entry->place.uid);
        const char *dot = strrchr(entry->run, '.');
        const Archived *last;

        entry->tree = dot ? g_strndup(entry->run, (size_t) (dot - entry->run)) : g_strdup(entry->run);
        last = g_hash_table_lookup(archive->newest, entry->tree);
        if (!last || last->place.number <= entry->place.number)
                g_hash_table_replace(archive->newest, entry->tree, entry);
        insert_in_order(&archive->entries, &entry->link, entry);
        insert_in_order(&owner->runs, &entry->of_owner, entry);
        owner->bytes += entry->bytes;
        user_add(owner->user, USE_HISTORY, 1);
        user_add(owner->user, USE_HISTORY_BYTES, entry->bytes);
        g_hash_table_insert(archive->by_run, entry->run, entry);
        archive->bytes += entry->bytes;
        archive->n_pending += entry->where == WHERE_TMPFS;
}

/* The number of a run that finishes now: higher than all others. */
static uint64_t next_number(const Archive *archive) {
        const Archived *newest = g_queue_peek_tail((GQueue *) &archive->entries);

        return MAX(up_clock_now(archive->clock), newest ? newest->place.number + 1 : 0);
}

/* For runs without a number, whose line was lost: by the time of the file, then by the number of the run. */
typedef struct Found {
        Archived *entry;
        struct stat st;
        bool numbered;
} Found;

static int compare_found(const void *a, const void *b) {
        const Found *x = a, *y = b;
        size_t length = strlen(x->entry->run), other = strlen(y->entry->run);

        if (x->numbered != y->numbered)
                return x->numbered ? 1 : -1;
        if (x->numbered)
                return (x->entry->place.number > y->entry->place.number) -
                       (x->entry->place.number < y->entry->place.number);
        if (x->st.st_mtim.tv_sec != y->st.st_mtim.tv_sec)
                return x->st.st_mtim.tv_sec > y->st.st_mtim.tv_sec ? 1 : -1;
        if (x->st.st_mtim.tv_nsec != y->st.st_mtim.tv_nsec)
                return x->st.st_mtim.tv_nsec > y->st.st_mtim.tv_nsec ? 1 : -1;

        return length != other ? (length > other) - (length < other) : strcmp(x->entry->run, y->entry->run);
}

/* The Places by the names of the runs; of several lines for a run, the last one counts. */
static GHashTable *read_order(const char *directory) {
        GHashTable *places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autofree char *path = g_build_filename(directory, ORDER_FILE, NULL), *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return places;

        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                Place place;
                int end = 0;

                if (sscanf(*line, "%" SCNu64 " %" SCNu32 " %n", &place.number, &place.uid, &end) == 2 && end > 0 &&
                    (*line)[end] != '\0')
                        g_hash_table_replace(places, g_strdup(*line + end), g_memdup2(&place, sizeof(place)));
        }

        return places;
}

/* Begins with a newline, to end a line that was torn. */
static void append_line(GString *lines, const Archived *entry) {
        g_string_append_printf(lines, "%s%" PRIu64 " %" PRIu32 " %s\n", lines->len == 0 ? "\n" : "",
                               entry->place.number, entry->place.uid, entry->run);
}

static int open_order(const char *path, int flags) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

        return fd < 0 ? -errno : fd;
}

/* replace: in place of all that the file has. */
static int write_order(const char *directory, const GString *lines, bool replace) {
        g_autofree char *path = g_build_filename(directory, ORDER_FILE, NULL), *new = g_strconcat(path, ".new", NULL);
        g_auto(AutoFd) fd = replace ? open_order(new, O_TRUNC) : open_order(path, O_APPEND);
        int r = fd < 0 ? fd : write_all(fd, lines->str, lines->len);

        if (r < 0)
                return r;

        return replace && g_rename(new, path) < 0 ? -errno : 0;
}

/* Returns an array of Found in the order of compare_found(). */
static GArray *find(const char *path, Where where) {
        g_autoptr(GHashTable) places = read_order(path);
        GArray *found = g_array_new(FALSE, FALSE, sizeof(Found));
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL), *error = NULL;
                g_auto(RunSummary) summary = {};
                const Place *place;
                Found it = {};

                if (!g_str_has_suffix(name, RECORD_SUFFIX) || !g_utf8_validate(name, -1, NULL) ||
                    stat(file, &it.st) < 0 || !S_ISREG(it.st.st_mode))
                        continue;

                it.entry = g_new0(Archived, 1);
                it.entry->run = g_strndup(name, strlen(name) - strlen(RECORD_SUFFIX));
                it.entry->where = where;
                it.entry->bytes = (uint64_t) it.st.st_size;
                place = g_hash_table_lookup(places, it.entry->run);
                it.numbered = place;
                if (place)
                        it.entry->place = *place;
                else if (record_summary_read(file, &summary, &error) >= 0)
                        it.entry->place.uid = summary.uid;
                g_array_append_val(found, it);
        }

        g_array_sort(found, compare_found);
        return found;
}

static void forget(Archive *archive, const char *run) {
        Archived *entry = g_hash_table_lookup(archive->by_run, run);

        if (entry)
                remove_entry(archive, entry);
}

static void schedule(Archive *archive);

static void take_in_one(Archive *archive, Archived *entry, uint64_t number) {
        entry->place.number = number;
        forget(archive, entry->run);
        insert(archive, entry);
}

/* If there is no room for the line, the order of the last runs is lost at the next start of btd. */
static void store_number(Archive *archive, const Archived *entry) {
        g_autofree char *path = g_build_filename(archive->from, ORDER_FILE, NULL);
        g_autoptr(GString) line = g_string_new(NULL);

        append_line(line, entry);
        if (archive->order < 0)
                archive->order = open_order(path, O_APPEND);
        if (archive->order >= 0)
                (void) write_all(archive->order, line->str, line->len);
}

/* Runs without a line are the oldest on the disk, where others have put them; on the tmpfs they are the newest, because
 * there was no room for their lines, or btd was killed before it wrote them. */
static void take_in(Archive *archive, const char *directory, Where where) {
        g_autoptr(GArray) found = find(directory, where);
        uint64_t first;
        unsigned n = 0;

        while (n < found->len && !g_array_index(found, Found, n).numbered)
                n++;
        first = n < found->len ? g_array_index(found, Found, n).entry->place.number : up_clock_now(archive->clock);

        for (unsigned i = 0; i < n && where == WHERE_DISK; i++)
                take_in_one(archive, g_array_index(found, Found, i).entry, first - MIN(first, n - i));
        for (unsigned i = n; i < found->len; i++)
                take_in_one(archive, g_array_index(found, Found, i).entry,
                            g_array_index(found, Found, i).entry->place.number);
        for (unsigned i = 0; i < n && where == WHERE_TMPFS; i++) {
                take_in_one(archive, g_array_index(found, Found, i).entry, next_number(archive));
                /* Otherwise the next btd would take it for the newest again. */
                store_number(archive, g_array_index(found, Found, i).entry);
        }
}

static void drop(Archive *archive, Archived *entry) {
        assert(entry);
        if (entry->where == WHERE_TMPFS) {
                g_autofree char *path = record_path(archive->from, entry->run);

                g_unlink(path);
        } else {
                g_ptr_array_add(archive->gone, g_strdup(entry->run));
        }
        remove_entry(archive, entry);
}

static Archived *oldest_of(const Archive *archive, const Owner *owner, bool last_too) {
        for (const GList *link = owner->runs.head; link; link = link->next)
                if (last_too || !is_last_of_tree(archive, link->data))
                        return link->data;

        return NULL;
}

/* How much of the history the user has, by number or by size. */
static double fraction_of(const Archive *archive, const Owner *owner) {
        const unsigned *max = archive->limits->max;
        double number = (double) owner->runs.length / max[LIMIT_HISTORY];

        return MAX(number, (double) owner->bytes / ((uint64_t) max[LIMIT_HISTORY_SIZE] << 20));
}

/* The oldest run of the user who has the most, among those to whom shares apply or do not apply. */
static Archived *find_oldest(const Archive *archive, bool shared, bool last_too) {
        Archived *found = NULL;
        double most = 0;
        Owner *owner;

        TABLE_FOREACH(owner, archive->by_uid) {
                Archived *oldest = limits_bind(owner->uid) == shared ? oldest_of(archive, owner, last_too) : NULL;
                double fraction = fraction_of(archive, owner);

                if (oldest && (!found || fraction > most)) {
                        found = oldest;
                        most = fraction;
                }
        }
        return found;
}

/* Removes what is too old, or too much. */
static void expire(Archive *archive) {
        const unsigned *max = archive->limits->max;
        uint64_t bytes_max = (uint64_t) max[LIMIT_HISTORY_SIZE] << 20;
        const Owner *owner;
        Archived *oldest;

        while ((oldest = g_queue_peek_head(&archive->entries)) &&
               oldest->place.number < up_clock_days_ago(archive->clock, max[LIMIT_HISTORY_AGE]))
                drop(archive, oldest);
        TABLE_FOREACH(owner, archive->by_uid)
                while (owner->user &&
                       (!user_has_room(owner->user, USE_HISTORY, 0) ||
                        !user_has_room(owner->user, USE_HISTORY_BYTES, 0)) &&
                       (oldest = oldest_of(archive, owner, false)))
                        drop(archive, oldest);
        while (archive->entries.length > max[LIMIT_HISTORY] || archive->bytes > bytes_max) {
                /* There are more runs than the history may have. Users other than root may have half of it. */
                double shared = 0;
                bool users;

                TABLE_FOREACH(owner, archive->by_uid)
                        if (limits_bind(owner->uid))
                                shared += fraction_of(archive, owner);

                users = shared > 0.5;
                oldest = find_oldest(archive, users, false) ?: find_oldest(archive, users, true);
                drop(archive, oldest ?: find_oldest(archive, !users, true));
        }
        schedule(archive);
}

/* A run can exist in both directories: btd was killed while it moved the run, or the run number was lost. In both cases
 * the file on the disk is incomplete or older. */
void archive_read(Archive *archive) {
        take_in(archive, archive->directory, WHERE_DISK);
        archive->n_lines = archive->entries.length;
        take_in(archive, archive->from, WHERE_TMPFS);
        if (archive->entries.tail)
                up_clock_pass(archive->clock, ((const Archived *) archive->entries.tail->data)->place.number);
        expire(archive);
}

static void group_free(void *data) {
        Group *group = data;

        g_ptr_array_unref(group->runs);
        g_ptr_array_unref(group->gone);
        g_string_free(group->order, TRUE);
        g_free(group->directory);
        g_free(group->from);
        g_ptr_array_unref(group->left);
        g_free(group->error);
        g_free(group);
}

/* The text is that of the first error. */
static void G_GNUC_PRINTF(2, 3) fail(Group *group, const char *format, ...) {
        va_list args;

        if (group->error)
                return;

        va_start(args, format);
        group->error = g_strdup_vprintf(format, args);
        va_end(args);
}

/* The line of a run is written before its record: a line without a record does no harm. False: none is safe. */
static bool move_runs(Group *group) {
        g_auto(AutoFd) fd = -1;
        int r;

        if (g_mkdir_with_parents(group->directory, 0700) < 0) {
                fail(group, "%s cannot be created: %s", group->directory, g_strerror(errno));
                return false;
        }

        r = group->order->len > 0 ? write_order(group->directory, group->order, group->rewrite) : 0;
        if (r < 0) {
                fail(group, "%s/" ORDER_FILE " cannot be written: %s", group->directory, g_strerror(-r));
                return false;
        }

        PTRS_FOREACH(char, run, group->runs) {
                g_autofree char *from = record_path(group->from, run), *to = record_path(group->directory, run);

                r = group->far || rename(from, to) >= 0 ? 0 : -errno;
                /* To another file system, the file is copied: it stays until the copy is safe. If btd is killed here,
                 * the next btd finds it and copies it again. */
                group->far |= r == -EXDEV;
                if (group->far)
                        r = copy_file(from, to, UINT64_MAX);
                /* It was moved before, with others that could not be synced. */
                if (r >= 0 || (r == -ENOENT && access(to, F_OK) >= 0))
                        continue;

                fail(group, "%s cannot be moved to %s: %s", from, to, g_strerror(-r));
                g_ptr_array_add(group->left, run);
        }

        if (group->runs->len == group->left->len)
                return true;

        /* Once for all files: a sync per file would take as long as all of them each time. */
        fd = open(group->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && syncfs(fd) >= 0)
                return true;

        fail(group, "%s cannot be synced: %s", group->directory, g_strerror(errno));
        return false;
}

/* Runs on the thread. */
static void move_group(void *data) {
        Group *group = data;

        for (unsigned i = 0; i < group->gone->len; i++) {
                g_autofree char *path = record_path(group->directory, group->gone->pdata[i]);

                (void) unlink(path);
        }

        if (!move_runs(group)) {
                g_ptr_array_set_size(group->left, 0);
                for (unsigned i = 0; i < group->runs->len; i++)
                        g_ptr_array_add(group->left, group->runs->pdata[i]);
                return;
        }

        for (unsigned i = 0; i < group->runs->len; i++) {
                g_autofree char *from = record_path(group->from, group->runs->pdata[i]);

                if (!g_ptr_array_find(group->left, group->runs->pdata[i], NULL))
                        (void) unlink(from);
        }
}

static void on_group_moved(void *data) {
        Group *group = data;
        Archive *archive = group->archive;

        archive->writing = false;
        if (group->error && archive->retry == 0)
                log_warning("run records of finished runs wait in %s until the disk takes them: %s", archive->from,
                            group->error);
        if (!group->error && archive->retry > 0)
                log_notice("the run records of finished runs are in %s again", archive->directory);
        archive->retry = group->error ? CLAMP(2 * archive->retry, RETRY_USEC_MIN, RETRY_USEC_MAX) : 0;

        for (unsigned i = 0; i < group->runs->len; i++) {
                Archived *entry = g_hash_table_lookup(archive->by_run, group->runs->pdata[i]);

                if (!entry || entry->where != WHERE_MOVING)
                        continue;
                entry->where = g_ptr_array_find(group->left, group->runs->pdata[i], NULL) ? WHERE_TMPFS : WHERE_DISK;
                archive->n_pending += entry->where == WHERE_TMPFS;
        }

        /* While no run is on the tmpfs, its file of the order has nothing to say. */
        if (!group->error && archive->n_pending == 0) {
                g_autofree char *path = g_build_filename(archive->from, ORDER_FILE, NULL);

                close_order(archive);
                if (g_strcmp0(archive->from, archive->directory) != 0)
                        (void) g_unlink(path);
        }
        schedule(archive);
}

static void write_group(Archive *archive) {
        Group *group = g_new(Group, 1);

        *group = (Group){
                .archive = archive,
                .directory = g_strdup(archive->directory),
                .from = g_strdup(archive->from),
                .runs = g_ptr_array_new_with_free_func(g_free),
                .left = g_ptr_array_new(),
                .gone = g_steal_pointer(&archive->gone),
                .rewrite = archive->n_lines > archive->entries.length + STALE_MAX,
                .order = g_string_new(NULL),
        };
        archive->gone = g_ptr_array_new_with_free_func(g_free);
        /* The runs that are not on the disk yet are the newest. */
        for (GList *link = archive->entries.tail; link && archive->n_pending > 0; link = link->prev) {
                Archived *entry = link->data;

                if (entry->where != WHERE_TMPFS)
                        continue;

                entry->where = WHERE_MOVING;
                archive->n_pending--;
                g_ptr_array_add(group->runs, g_strdup(entry->run));
        }
        /* The lines of the runs that are moved, or of all when the file has become long. */
        for (const GList *link = archive->entries.head; link; link = link->next) {
                const Archived *entry = link->data;

                if (entry->where == WHERE_MOVING || (group->rewrite && entry->where == WHERE_DISK))
                        append_line(group->order, entry);
        }
        archive->n_lines = group->rewrite ? archive->entries.length : archive->n_lines + group->runs->len;
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

        if (archive->hurry && archive->retry == 0) {
                g_clear_pointer(&archive->due, timer_free);
                write_group(archive);
        } else if (!archive->due) {
                archive->due = timer_new(archive->timers, MAX(GROUP_USEC, archive->retry), on_due, archive);
        }
}

void archive_hurry(Archive *archive) {
        archive->hurry = true;
        schedule(archive);
}

void archive_add(Archive *archive, RunSummary *summary, uint64_t bytes) {
        Archived *entry = g_new0(Archived, 1);

        forget(archive, summary->run);
        entry->run = g_strdup(summary->run);
        entry->place = (Place){ .number = next_number(archive), .uid = summary->uid };
        entry->bytes = bytes;
        store_number(archive, entry);
        entry->summary = *summary;
        entry->known = true;
        *summary = (RunSummary){};
        insert(archive, entry);
        expire(archive);
}

unsigned archive_count(const Archive *archive) {
        return archive->entries.length;
}

uint64_t archive_bytes(const Archive *archive) {
        return archive->bytes;
}

bool archive_has(const Archive *archive, const char *run) {
        return g_hash_table_contains(archive->by_run, run);
}

void archive_paths(const Archive *archive, const char *run, char **ret_paths) {
        ret_paths[0] = record_path(archive->from, run);
        ret_paths[1] = record_path(archive->directory, run);
}

GPtrArray *archive_list(Archive *archive) {
        GPtrArray *runs = g_ptr_array_new_with_free_func(g_free);

        expire(archive);
        for (const GList *link = archive->entries.head; link; link = link->next)
                g_ptr_array_add(runs, g_strdup(((const Archived *) link->data)->run));

        return runs;
}

/* Tries both paths, because the file may be moved from the first to the second meanwhile. Of a record whose first line
 * is damaged, only the name is known, and when the file was written. */
static RunSummary read_summary(const char *run, const char *from, const char *path) {
        g_autofree char *lost = NULL, *error = NULL;
        const char *dot = strrchr(run, '.');
        RunSummary summary = {};
        struct stat st = {};
        uint64_t time;

        if (record_summary_read(from, &summary, &lost) >= 0 || record_summary_read(path, &summary, &error) >= 0) {
                if (g_str_equal(summary.status, "running")) {
                        g_free(summary.status);
                        g_free(summary.cause);
                        summary.status = g_strdup("damaged");
                        summary.cause = g_strdup(RECORD_END_MISSING);
                }
                return summary;
        }

        if (stat(from, &st) < 0)
                (void) stat(path, &st);
        time = (uint64_t) st.st_mtim.tv_sec * G_USEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec / 1000;
        return (RunSummary){
                .run = g_strdup(run),
                .tree = dot ? g_strndup(run, (size_t) (dot - run)) : g_strdup(run),
                .instance = g_strdup(""),
                .token = g_strdup(run),
                .status = g_strdup("damaged"),
                .cause = g_steal_pointer(&error),
                .started = time,
                .finished = time,
        };
}

/* The reading of one run. */
typedef struct Reading {
        char *run;
        RunSummary summary;
        bool done;
} Reading;

struct ArchiveReading {
        char *directory, *from;
        GPtrArray *all; /* Reading */
};

static void reading_free(void *data) {
        Reading *reading = data;

        run_summary_clear(&reading->summary);
        g_free(reading->run);
        g_free(reading);
}

ArchiveReading *archive_reading_new(const Archive *archive) {
        ArchiveReading *it = g_new(ArchiveReading, 1);

        *it = (ArchiveReading){
                .directory = g_strdup(archive->directory),
                .from = g_strdup(archive->from),
                .all = g_ptr_array_new_with_free_func(reading_free),
        };
        for (const GList *link = archive->entries.head; link; link = link->next) {
                const Archived *entry = link->data;
                Reading *reading;

                if (entry->known)
                        continue;

                reading = g_new0(Reading, 1);
                reading->run = g_strdup(entry->run);
                g_ptr_array_add(it->all, reading);
        }

        return it;
}

void archive_reading_run(ArchiveReading *it, Work *work) {
        for (unsigned i = 0; i < it->all->len && !(work && work_is_dropped(work)); i++) {
                Reading *reading = it->all->pdata[i];
                g_autofree char *from = record_path(it->from, reading->run),
                                *path = record_path(it->directory, reading->run);

                if (work)
                        work_reads(work, path);
                reading->summary = read_summary(reading->run, from, path);
                reading->done = true;
        }
        if (work)
                work_reads(work, NULL);
}

void archive_take(Archive *archive, ArchiveReading *it) {
        PTRS_FOREACH(Reading, reading, it->all) {
                Archived *entry = g_hash_table_lookup(archive->by_run, reading->run);

                if (!entry || entry->known || !reading->done)
                        continue;

                entry->summary = reading->summary;
                reading->summary = (RunSummary){};
                entry->known = true;
        }
}

void archive_reading_free(ArchiveReading *it) {
        g_ptr_array_unref(it->all);
        g_free(it->directory);
        g_free(it->from);
        g_free(it);
}

const RunSummary *archive_get(const Archive *archive, const char *run) {
        const Archived *entry = g_hash_table_lookup(archive->by_run, run);

        assert(!entry || entry->known);
        return entry ? &entry->summary : NULL;
}

bool archive_is_read(const Archive *archive, const char *tree) {
        for (const GList *link = archive->entries.tail; link; link = link->prev) {
                const Archived *entry = link->data;

                if (!entry->known && (!tree || g_str_equal(entry->tree, tree)))
                        return false;
        }

        return true;
}

const RunSummary *archive_find_token(Archive *archive, const char *tree, const char *instance, const char *token) {
        expire(archive);
        for (const GList *link = archive->entries.tail; link; link = link->prev) {
                const Archived *entry = link->data;

                if (!g_str_equal(entry->tree, tree))
                        continue;

                assert(entry->known);
                if (g_str_equal(entry->summary.token, token) && g_str_equal(entry->summary.instance, instance))
                        return &entry->summary;
        }

        return NULL;
}
