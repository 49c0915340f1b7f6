/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Manages the directories of run records: one file per run. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/file-move.h"
#include "basic/log.h"
#include "basic/trust.h"
#include "record/journal.h"
#include "record/journals.h"

struct Journals {
        char *runtime_directory;
        int lock;        /* lock file that reserves the directory; -1: not locked */
        char *directory; /* of unfinished runs; NULL: no run records are kept */
        char *finished;  /* of finished runs until they are in the archive */
        char *aside;     /* of runs that cannot be recovered */
        Archive *archive;
};

Journals *journals_new(const char *runtime_directory, const char *state_directory, DiskQueue *disk, Timers *timers) {
        Journals *journals = g_new0(Journals, 1);

        journals->runtime_directory = g_strdup(runtime_directory);
        journals->lock = -1;
        journals->aside = g_strdup(state_directory ?: runtime_directory);
        if (runtime_directory) {
                journals->directory = g_build_filename(runtime_directory, "runs", NULL);
                journals->finished = g_build_filename(runtime_directory, "finished", NULL);
        }
        if (state_directory) {
                g_autofree char *directory = g_build_filename(state_directory, "history", NULL);

                journals->archive = archive_new(directory, journals->finished ?: directory, disk, timers);
        }

        return journals;
}

void journals_free(Journals *journals) {
        if (!journals)
                return;

        archive_free(journals->archive);
        if (journals->lock >= 0)
                close(journals->lock);
        g_free(journals->runtime_directory);
        g_free(journals->directory);
        g_free(journals->finished);
        g_free(journals->aside);
        g_free(journals);
}

Archive *journals_archive(const Journals *journals) {
        return journals->archive;
}

static char *path_in(const char *directory, const char *run) {
        g_autofree char *file = g_strconcat(run, JOURNAL_SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}

/* Removes files that a killed btd left while it created them. */
static void remove_unfinished(const Journals *journals) {
        g_autoptr(GDir) directory = g_dir_open(journals->directory, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, JOURNAL_SUFFIX JOURNAL_NEW_SUFFIX)) {
                        g_autofree char *path = g_build_filename(journals->directory, name, NULL);

                        g_unlink(path);
                }
}

static int claim(Journals *journals, char **ret_error) {
        g_autofree char *path = NULL;
        int r;

        if (!journals->runtime_directory)
                return 0;

        (void) g_mkdir_with_parents(journals->runtime_directory, 0700);
        path = g_build_filename(journals->runtime_directory, "lock", NULL);
        journals->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (journals->lock >= 0 && flock(journals->lock, LOCK_EX | LOCK_NB) >= 0) {
                remove_unfinished(journals);
                return 0;
        }

        r = errno == EWOULDBLOCK ? -EBUSY : -errno;
        *ret_error = r == -EBUSY ? g_strdup_printf("%s is in use by another btd; give it another --runtime=",
                                                   journals->runtime_directory)
                                 : g_strdup_printf("%s cannot be locked: %s", path, g_strerror(-r));
        return r;
}

int journals_claim(Journals *journals, char **ret_error) {
        int r = claim(journals, ret_error);

        if (r >= 0 && journals->archive)
                archive_read(journals->archive);
        return r;
}

int journals_check_trusted(const Journals *journals, char **ret_error) {
        const char *path = journals->directory;
        g_autofree char *refusal = NULL;
        struct stat st;

        if (!path)
                return 0;
        if (stat(path, &st) < 0)
                path = journals->runtime_directory;
        if (stat(path, &st) < 0)
                return 0;

        refusal = trust_refusal_on_way(path, &st);
        if (!refusal)
                return 0;

        *ret_error = g_strdup_printf("runs cannot be kept in %s: %s", path, refusal);
        return -EPERM;
}

bool journals_are_kept(const Journals *journals) {
        return journals->directory;
}

bool journals_have(const Journals *journals, const char *run) {
        return journals->archive && archive_has(journals->archive, run);
}

int journals_begin(Journals *journals, JournalHeader *header, JournalWriter **ret_writer, char **ret_error) {
        g_autofree char *path = path_in(journals->directory, header->run);
        int r = journal_writer_create(path, header, ret_writer, ret_error);

        if (r != -ENOENT && r != -ENOTDIR)
                return r;

        /* The directory does not exist yet. */
        g_clear_pointer(ret_error, g_free);
        if (g_mkdir_with_parents(journals->directory, 0700) < 0) {
                r = -errno;
                *ret_error = g_strdup_printf("%s cannot be made: %s", journals->directory, g_strerror(-r));
                return r;
        }

        return journal_writer_create(path, header, ret_writer, ret_error);
}

GPtrArray *journals_list(const Journals *journals) {
        GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) directory = journals->directory ? g_dir_open(journals->directory, 0, NULL) : NULL;
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, JOURNAL_SUFFIX))
                        g_ptr_array_add(paths, g_build_filename(journals->directory, name, NULL));

        return paths;
}

typedef struct Aside {
        char *path;
        struct stat st;
} Aside;

static void aside_clear(void *data) {
        g_free(((Aside *) data)->path);
}

static gint compare_newest_first(gconstpointer a, gconstpointer b) {
        const Aside *x = a, *y = b;
        gint64 later = (gint64) y->st.st_ctim.tv_sec - x->st.st_ctim.tv_sec;

        if (later == 0)
                later = y->st.st_ctim.tv_nsec - x->st.st_ctim.tv_nsec;

        return later != 0 ? (later > 0) - (later < 0) : strcmp(y->path, x->path);
}

static void list_aside(const char *path, GArray *all) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, JOURNAL_SUFFIX JOURNAL_BAD_SUFFIX) ||
                    g_str_has_suffix(name, JOURNAL_SUFFIX JOURNAL_OLD_SUFFIX)) {
                        Aside aside = { .path = g_build_filename(path, name, NULL) };

                        if (lstat(aside.path, &aside.st) >= 0)
                                g_array_append_val(all, aside);
                        else
                                aside_clear(&aside);
                }
}

/* The newest file is kept whatever its size. */
static void remove_oldest_aside(const Journals *journals) {
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Aside));
        uint64_t bytes = 0;

        g_array_set_clear_func(all, aside_clear);
        list_aside(journals->aside, all);
        list_aside(journals->directory, all);
        g_array_sort(all, compare_newest_first);
        for (unsigned i = 0; i < all->len; i++) {
                const Aside *aside = &g_array_index(all, Aside, i);

                bytes += (uint64_t) aside->st.st_size;
                if (i == 0 || (i < JOURNALS_ASIDE_MAX && bytes <= JOURNALS_ASIDE_SIZE_MAX))
                        continue;

                log_notice("%s was removed: of the run records that were set aside, the newest %u are kept, %u MiB at "
                           "most",
                           aside->path, JOURNALS_ASIDE_MAX, (unsigned) (JOURNALS_ASIDE_SIZE_MAX >> 20));
                g_unlink(aside->path);
        }
}

static char *move_aside(Journals *journals, const char *path, const char *suffix) {
        g_autofree char *base = g_path_get_basename(path), *name = g_strconcat(base, suffix, NULL), *error = NULL;
        char *target = g_build_filename(journals->aside, name, NULL);

        (void) g_mkdir_with_parents(journals->aside, 0700);
        if (file_move(path, target, &error) >= 0)
                return target;

        /* Rename it in place, so that the next btd does not try to recover it again. */
        g_free(target);
        target = g_strconcat(path, suffix, NULL);
        (void) g_rename(path, target);
        return target;
}

char *journals_set_aside(Journals *journals, const char *path, const char *suffix) {
        char *target = move_aside(journals, path, suffix);

        remove_oldest_aside(journals);
        return target;
}

/* Moves the file to the directory of finished runs, so that the next btd does not recover the run. */
static int set_finished(const Journals *journals, const char *path, const char *run) {
        g_autofree char *to = path_in(journals->finished, run);

        if (g_rename(path, to) >= 0)
                return 0;

        /* It is the first one. */
        (void) g_mkdir_with_parents(journals->finished, 0700);
        return g_rename(path, to) < 0 ? -errno : 0;
}

void journals_finish(Journals *journals, JournalSummary *summary, uint64_t bytes) {
        g_autofree char *path = path_in(journals->directory, summary->run);
        int r;

        if (!journals->archive) {
                g_unlink(path);
                return;
        }

        r = set_finished(journals, path, summary->run);
        if (r >= 0) {
                archive_add(journals->archive, summary, bytes);
                return;
        }

        log_warning("The run record of %s is not kept: %s cannot be moved to %s: %s", summary->run, path,
                    journals->finished, g_strerror(-r));
        g_unlink(path);
}

void journals_hurry(Journals *journals) {
        if (journals->archive)
                archive_hurry(journals->archive);
}

struct JournalsRead {
        char *run;
        char *paths[3]; /* possible paths, in this order, because the file may be moved meanwhile */
        uint64_t offset;
        size_t size;
};

/* The run record of an unfinished run is in the runtime directory. */
JournalsRead *journals_read_new(const Journals *journals, const char *run, uint64_t offset, size_t size) {
        JournalsRead *it = g_new(JournalsRead, 1);
        char **path = it->paths;

        *it = (JournalsRead){ .run = g_strdup(run), .offset = offset, .size = size };
        if (!strchr(run, '/') && journals->directory)
                *path++ = path_in(journals->directory, run);
        if (!strchr(run, '/') && journals->archive)
                archive_paths(journals->archive, run, path);
        return it;
}

void journals_read_free(JournalsRead *it) {
        for (size_t i = 0; i < G_N_ELEMENTS(it->paths); i++)
                g_free(it->paths[i]);
        g_free(it->run);
        g_free(it);
}

static int open_journal(const JournalsRead *it, Work *work, int *ret_fd) {
        int r = -ENOENT;

        for (size_t i = 0; r == -ENOENT && i < G_N_ELEMENTS(it->paths) && it->paths[i]; i++) {
                if (work)
                        work_reads(work, it->paths[i]);
                *ret_fd = open(it->paths[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
                r = *ret_fd < 0 ? -errno : 0;
        }

        return r;
}

char *journals_no_such(const char *run) {
        g_autofree char *shown = excerpt(run, strlen(run));

        return g_strdup_printf(
                "there is no run record of a run '%s'; 'btctl history' shows the runs that have finished", shown);
}

/* A name that is too long for a file cannot be a run. */
static int read_failed(const char *run, int r, char **ret_error) {
        bool none = r == -ENOENT || r == -ENAMETOOLONG;

        *ret_error = none ? journals_no_such(run)
                          : g_strdup_printf("the run record of %s cannot be read: %s", run, g_strerror(-r));
        return none ? -ENOENT : r;
}

int journals_read_run(JournalsRead *it, Work *work, GByteArray **ret_bytes, char **ret_error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_auto(AutoFd) fd = -1;
        int r = open_journal(it, work, &fd);
        ssize_t n;

        if (r < 0)
                return read_failed(it->run, r, ret_error);

        g_byte_array_set_size(bytes, (guint) it->size);
        n = it->offset <= INT64_MAX - it->size ? pread(fd, bytes->data, it->size, (off_t) it->offset) : 0;
        if (n < 0)
                return read_failed(it->run, -errno, ret_error);

        g_byte_array_set_size(bytes, (guint) n);
        *ret_bytes = g_steal_pointer(&bytes);
        return 0;
}
