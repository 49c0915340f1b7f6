/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The directory is read once; from then on what is in it is known, since nobody else writes there. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/limit.h"
#include "journal/journal.h"
#include "runtime/archive.h"
#include "runtime/file-move.h"

struct Archive {
        char *directory;
        GQueue entries; /* of Entry, oldest first */
        uint64_t bytes; /* of all */
        bool read;
};

typedef struct Entry {
        char *run;
        uint64_t time, bytes; /* time: when it was finished, CLOCK_REALTIME µs */
        JournalSummary summary;
        bool known; /* the summary is */
} Entry;

static void entry_free(void *data) {
        Entry *entry = data;

        journal_summary_clear(&entry->summary);
        g_free(entry->run);
        g_free(entry);
}

Archive *archive_new(const char *directory) {
        Archive *archive = g_new0(Archive, 1);

        archive->directory = g_strdup(directory);
        return archive;
}

void archive_free(Archive *archive) {
        if (!archive)
                return;

        g_queue_clear_full(&archive->entries, entry_free);
        g_free(archive->directory);
        g_free(archive);
}

char *archive_path(const Archive *archive, const char *run) {
        g_autofree char *file = g_strconcat(run, JOURNAL_SUFFIX, NULL);

        return g_build_filename(archive->directory, file, NULL);
}

/* Of two that finished at the same time, the one that came first goes first. */
static gint compare_entries(gconstpointer a, gconstpointer b, gpointer userdata) {
        const Entry *earlier = a, *added = b;

        return earlier->time > added->time ? 1 : -1;
}

/* Where it is to be found, of a run that was not known; NULL: it is no file. */
static Entry *make_entry(Archive *archive, const char *run) {
        g_autofree char *path = archive_path(archive, run);
        struct stat st;
        Entry *entry;

        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return NULL;

        entry = g_new(Entry, 1);
        *entry = (Entry){
                .run = g_strdup(run),
                .time = (uint64_t) st.st_mtim.tv_sec * G_USEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec / 1000,
                .bytes = (uint64_t) st.st_size,
        };
        archive->bytes += entry->bytes;
        return entry;
}

/* In whatever order they are found; sorted once, since there can be many. */
static void read_directory(Archive *archive) {
        g_autoptr(GDir) directory = NULL;
        const char *name;

        if (archive->read)
                return;

        archive->read = true;
        directory = g_dir_open(archive->directory, 0, NULL);
        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, JOURNAL_SUFFIX) && g_utf8_validate(name, -1, NULL)) {
                        g_autofree char *run = g_strndup(name, strlen(name) - strlen(JOURNAL_SUFFIX));
                        Entry *entry = make_entry(archive, run);

                        if (entry)
                                g_queue_push_tail(&archive->entries, entry);
                }

        g_queue_sort(&archive->entries, compare_entries, NULL);
}

static void drop_oldest(Archive *archive) {
        Entry *entry = g_queue_pop_head(&archive->entries);
        g_autofree char *path = archive_path(archive, entry->run);

        g_unlink(path);
        archive->bytes -= entry->bytes;
        entry_free(entry);
}

/* Has the oldest to go? */
static bool is_over(const Archive *archive, uint64_t now) {
        const Entry *oldest = g_queue_peek_head((GQueue *) &archive->entries);
        uint64_t bytes_max = (uint64_t) limits_in_force(LIMIT_HISTORY_SIZE) << 20;
        uint64_t age_max = limits_in_force(LIMIT_HISTORY_AGE) * UINT64_C(86400) * G_USEC_PER_SEC;

        return oldest && (archive->entries.length > limits_in_force(LIMIT_HISTORY) || archive->bytes > bytes_max ||
                          oldest->time + age_max < now);
}

void archive_expire(Archive *archive) {
        uint64_t now = (uint64_t) g_get_real_time();

        read_directory(archive);
        while (is_over(archive, now))
                drop_oldest(archive);
}

/* A run of the same name can only be there if its number was lost. */
static void forget(Archive *archive, const char *run) {
        for (GList *link = archive->entries.head; link; link = link->next) {
                Entry *entry = link->data;

                if (!g_str_equal(entry->run, run))
                        continue;

                archive->bytes -= entry->bytes;
                g_queue_delete_link(&archive->entries, link);
                entry_free(entry);
                return;
        }
}

int archive_add(Archive *archive, const char *run, const char *path, char **ret_error) {
        g_autofree char *target = archive_path(archive, run);
        Entry *entry;
        int r;

        read_directory(archive);
        if (g_mkdir_with_parents(archive->directory, 0700) < 0) {
                r = -errno;
                *ret_error = g_strdup_printf("%s cannot be made: %s", archive->directory, g_strerror(-r));
                return r;
        }

        r = file_move(path, target, ret_error);
        if (r < 0)
                return r;

        forget(archive, run);
        entry = make_entry(archive, run);
        if (entry)
                g_queue_insert_sorted(&archive->entries, entry, compare_entries, NULL);
        archive_expire(archive);
        return 0;
}

GPtrArray *archive_list(Archive *archive) {
        GPtrArray *runs = g_ptr_array_new_with_free_func(g_free);

        archive_expire(archive);
        for (const GList *link = archive->entries.head; link; link = link->next)
                g_ptr_array_add(runs, g_strdup(((const Entry *) link->data)->run));

        return runs;
}

/* The name is what it has in any case. */
static JournalSummary damaged(const Entry *entry, const char *error) {
        const char *dot = strrchr(entry->run, '.');

        return (JournalSummary){
                .run = g_strdup(entry->run),
                .tree = dot ? g_strndup(entry->run, (size_t) (dot - entry->run)) : g_strdup(entry->run),
                .instance = g_strdup(""),
                .status = g_strdup("damaged"),
                .cause = g_strdup(error),
                .started = entry->time,
                .finished = entry->time,
        };
}

static void summarize(const Archive *archive, Entry *entry) {
        g_autofree char *path = archive_path(archive, entry->run), *error = NULL;

        if (entry->known)
                return;

        if (journal_summary_read(path, &entry->summary, &error) < 0)
                entry->summary = damaged(entry, error);
        entry->known = true;
}

void archive_visit(Archive *archive, void (*visit)(const JournalSummary *summary, void *userdata), void *userdata) {
        archive_expire(archive);
        for (const GList *link = archive->entries.head; link; link = link->next) {
                Entry *entry = link->data;

                summarize(archive, entry);
                visit(&entry->summary, userdata);
        }
}
