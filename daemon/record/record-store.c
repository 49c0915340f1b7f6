/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements record-store.h. Each run has one file, named after the run. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "basic/trust.h"
#include "basic/write-all.h"
#include "record/record-store.h"
#include "record/run-record.h"
#include "record/secret-file.h"

struct RecordStore {
        char *runtime_directory;
        const Limits *limits;
        int lock;        /* lock file that reserves the directory; -1: not locked */
        char *directory; /* of unfinished runs; NULL: no run records are kept */
        char *finished;  /* of finished runs until they are in the archive */
        char *aside;     /* of runs that cannot be recovered */
        UpClock *clock;
        Archive *archive;
        RecordCopies *copies; /* NULL: there is no archive for them, or nothing to be copied */
        Tokens *tokens;
};

RecordStore *record_store_new(const char *runtime_directory, const char *state_directory, const Limits *limits,
                              Users *users, DiskQueue *disk, Timers *timers) {
        RecordStore *store = g_new0(RecordStore, 1);

        store->runtime_directory = g_strdup(runtime_directory);
        store->limits = limits;
        store->lock = -1;
        store->aside = g_strdup(state_directory ?: runtime_directory);
        if (runtime_directory) {
                store->directory = g_build_filename(runtime_directory, "runs", NULL);
                store->finished = g_build_filename(runtime_directory, "finished", NULL);
        }
        store->clock = up_clock_new(timers, runtime_directory ?: state_directory);
        store->tokens = tokens_new(state_directory, runtime_directory, limits, disk, timers, store->clock);
        if (state_directory) {
                g_autofree char *directory = g_build_filename(state_directory, "history", NULL);

                store->archive =
                        archive_new(directory, store->finished ?: directory, limits, users, disk, timers, store->clock);
        }
        if (store->archive && store->directory) {
                g_autofree char *directory = g_build_filename(state_directory, "running", NULL);

                store->copies = record_copies_new(directory, store->directory, disk, timers);
        }

        return store;
}

void record_store_free(RecordStore *store) {
        if (!store)
                return;

        archive_free(store->archive);
        record_copies_free(store->copies);
        tokens_free(store->tokens);
        up_clock_free(store->clock);
        if (store->lock >= 0)
                close(store->lock);
        g_free(store->runtime_directory);
        g_free(store->directory);
        g_free(store->finished);
        g_free(store->aside);
        g_free(store);
}

Archive *record_store_archive(const RecordStore *store) {
        return store->archive;
}

Tokens *record_store_tokens(const RecordStore *store) {
        return store->tokens;
}

RecordCopies *record_store_copies(const RecordStore *store) {
        return store->copies;
}

/* Adds the paths of the files in the directory with this suffix. */
static void list_files(const char *path, const char *suffix, GPtrArray *paths) {
        g_autoptr(GDir) directory = path ? g_dir_open(path, 0, NULL) : NULL;
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, suffix))
                        g_ptr_array_add(paths, g_build_filename(path, name, NULL));
}

static bool is_archived(const char *run, void *userdata) {
        return archive_has(((const RecordStore *) userdata)->archive, run);
}

int record_store_lock(RecordStore *store, char **ret_error) {
        g_autoptr(GPtrArray) unfinished = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *path = NULL;

        if (store->runtime_directory) {
                (void) g_mkdir_with_parents(store->runtime_directory, 0700);
                path = g_build_filename(store->runtime_directory, "lock", NULL);
                store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
                if (store->lock < 0 || flock(store->lock, LOCK_EX | LOCK_NB) < 0) {
                        int r = errno == EWOULDBLOCK ? -EBUSY : -errno;

                        *ret_error = r == -EBUSY ? g_strdup_printf("%s is in use by another btd; give this one another "
                                                                   "--runtime=",
                                                                   store->runtime_directory)
                                                 : g_strdup_printf("%s cannot be locked: %s", path, g_strerror(-r));
                        return r;
                }
        }

        /* A btd that was killed has left them while it created them. */
        list_files(store->directory, RECORD_SUFFIX RECORD_NEW_SUFFIX, unfinished);
        for (unsigned i = 0; i < unfinished->len; i++)
                g_unlink(unfinished->pdata[i]);
        secret_files_clean(store->directory);
        /* Now, since there may be no room when a run has finished. */
        if (store->finished)
                (void) g_mkdir_with_parents(store->finished, 0700);
        up_clock_open(store->clock);
        if (store->archive)
                archive_read(store->archive);
        if (store->copies)
                record_copies_read(store->copies, is_archived, store);
        tokens_read(store->tokens);
        return 0;
}

int record_store_check_trusted(const RecordStore *store, char **ret_error) {
        const char *path = store->directory;
        g_autofree char *refusal = NULL;
        struct stat st;

        if (!path)
                return 0;
        if (stat(path, &st) < 0)
                path = store->runtime_directory;
        if (stat(path, &st) < 0)
                return 0;

        refusal = trust_refusal_on_way(path, &st);
        if (!refusal)
                return 0;

        *ret_error = g_strdup_printf("runs cannot be kept in %s, which %s", path, refusal);
        return -EPERM;
}

bool record_store_are_kept(const RecordStore *store) {
        return store->directory;
}

bool record_store_have(const RecordStore *store, const char *run) {
        return store->archive && archive_has(store->archive, run);
}

int record_store_begin(RecordStore *store, RecordHeader *header, RecordWriter **ret_writer, char **ret_error) {
        g_autofree char *path = record_path(store->directory, header->run);
        int r = record_writer_create(path, header, store->limits, ret_writer, ret_error);

        if (r != -ENOENT && r != -ENOTDIR)
                return r;

        /* The directory does not exist yet. */
        g_clear_pointer(ret_error, g_free);
        if (g_mkdir_with_parents(store->directory, 0700) < 0) {
                r = -errno;
                *ret_error = g_strdup_printf("%s cannot be created: %s", store->directory, g_strerror(-r));
                return r;
        }

        return record_writer_create(path, header, store->limits, ret_writer, ret_error);
}

GPtrArray *record_store_list(const RecordStore *store) {
        GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);

        list_files(store->directory, RECORD_SUFFIX, paths);
        return paths;
}

typedef struct Aside {
        const char *path;
        struct stat st;
} Aside;

static gint compare_newest_first(gconstpointer a, gconstpointer b) {
        const Aside *x = a, *y = b;
        gint64 later = (gint64) y->st.st_ctim.tv_sec - x->st.st_ctim.tv_sec;

        if (later == 0)
                later = y->st.st_ctim.tv_nsec - x->st.st_ctim.tv_nsec;

        return later != 0 ? (later > 0) - (later < 0) : strcmp(y->path, x->path);
}

/* The newest file is kept whatever its size. */
static void remove_oldest_aside(const RecordStore *store) {
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Aside));
        uint64_t bytes = 0;

        list_files(store->aside, RECORD_SUFFIX RECORD_BAD_SUFFIX, paths);
        list_files(store->directory, RECORD_SUFFIX RECORD_BAD_SUFFIX, paths);
        for (unsigned i = 0; i < paths->len; i++) {
                Aside aside = { .path = paths->pdata[i] };

                if (lstat(aside.path, &aside.st) >= 0)
                        g_array_append_val(all, aside);
        }

        g_array_sort(all, compare_newest_first);
        for (unsigned i = 0; i < all->len; i++) {
                const Aside *aside = &g_array_index(all, Aside, i);

                bytes += (uint64_t) aside->st.st_size;
                if (i == 0 || (i < RECORDS_ASIDE_MAX && bytes <= RECORDS_ASIDE_SIZE_MAX))
                        continue;

                log_notice("%s was removed: of the run records that were set aside, the newest %u are kept, %u MiB at "
                           "most",
                           aside->path, RECORDS_ASIDE_MAX, (unsigned) (RECORDS_ASIDE_SIZE_MAX >> 20));
                g_unlink(aside->path);
        }
}

int record_move(const char *from, const char *to, char **ret_error) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        struct stat st;
        gsize length;

        if (g_rename(from, to) >= 0)
                return 0;

        if (errno == EXDEV &&
            (g_lstat(from, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t) st.st_size > RECORDS_ASIDE_SIZE_MAX))
                errno = EFBIG;
        if (errno != EXDEV) {
                int r = -errno;

                *ret_error = g_strdup_printf("cannot be moved to %s: %s", to, g_strerror(-r));
                return r;
        }

        if (!g_file_get_contents(from, &text, &length, &error) ||
            !g_file_set_contents_full(to, text, (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error)) {
                *ret_error = g_strdup_printf("cannot be moved to %s: %s", to, error->message);
                return -EIO;
        }

        g_unlink(from);
        return 0;
}

char *record_store_set_aside(RecordStore *store, const char *path, const char *suffix) {
        g_autofree char *base = g_path_get_basename(path), *name = g_strconcat(base, suffix, NULL), *error = NULL;
        char *target = g_build_filename(store->aside, name, NULL);

        secret_file_remove(path);
        (void) g_mkdir_with_parents(store->aside, 0700);
        if (record_move(path, target, &error) < 0) {
                /* Rename it in place, so that the next btd does not try to recover it again. */
                g_free(target);
                target = g_strconcat(path, suffix, NULL);
                (void) g_rename(path, target);
        }

        remove_oldest_aside(store);
        return target;
}

/* The run record moves to the directory of finished runs, so that the next btd does not recover the run. If it cannot
 * be moved, the next btd finds that the run has finished. */
void record_store_finish(RecordStore *store, RunSummary *summary, uint64_t bytes) {
        g_autofree char *path = record_path(store->directory, summary->run), *to = NULL;

        if (!store->archive) {
                g_unlink(path);
                return;
        }

        to = record_path(store->finished, summary->run);
        if (g_rename(path, to) >= 0)
                archive_add(store->archive, summary, bytes);
        else
                log_warning(
                        "the run record of %s stays in %s until btd is started again, because it cannot be moved to "
                        "%s: %s",
                        summary->run, store->directory, store->finished, g_strerror(errno));
}

void record_store_hurry(RecordStore *store) {
        if (store->archive)
                archive_hurry(store->archive);
        tokens_hurry(store->tokens);
}

struct RecordRead {
        char *run;
        char *paths[3]; /* possible paths, in this order, because the file may be moved meanwhile */
        uint64_t offset;
        size_t size;
};

/* The run record of an unfinished run is in the runtime directory. */
RecordRead *record_read_new(const RecordStore *store, const char *run, uint64_t offset, size_t size) {
        RecordRead *it = g_new(RecordRead, 1);
        char **path = it->paths;

        *it = (RecordRead){ .run = g_strdup(run), .offset = offset, .size = size };
        if (!strchr(run, '/') && store->directory)
                *path++ = record_path(store->directory, run);
        if (!strchr(run, '/') && store->archive)
                archive_paths(store->archive, run, path);
        return it;
}

void record_read_free(RecordRead *it) {
        for (size_t i = 0; i < G_N_ELEMENTS(it->paths); i++)
                g_free(it->paths[i]);
        g_free(it->run);
        g_free(it);
}

static int open_record(const RecordRead *it, Work *work, int *ret_fd) {
        int r = -ENOENT;

        for (size_t i = 0; r == -ENOENT && i < G_N_ELEMENTS(it->paths) && it->paths[i]; i++) {
                if (work)
                        work_reads(work, it->paths[i]);
                *ret_fd = open(it->paths[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
                r = *ret_fd < 0 ? -errno : 0;
        }

        return r;
}

char *record_store_no_such(const char *run) {
        g_autofree char *shown = excerpt(run, strlen(run));

        return g_strdup_printf(
                "there is no run record of a run '%s'; 'btctl history' shows the runs that have finished", shown);
}

/* A name that is too long for a file cannot be a run. */
static int read_failed(const char *run, int r, char **ret_error) {
        bool none = r == -ENOENT || r == -ENAMETOOLONG;

        *ret_error = none ? record_store_no_such(run)
                          : g_strdup_printf("the run record of %s cannot be read: %s", run, g_strerror(-r));
        return none ? -ENOENT : r;
}

int record_read_run(RecordRead *it, Work *work, GByteArray **ret_bytes, char **ret_error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_auto(AutoFd) fd = -1;
        int r = open_record(it, work, &fd);
        const uint8_t *end;
        ssize_t n;

        if (r < 0)
                return read_failed(it->run, r, ret_error);

        g_byte_array_set_size(bytes, (guint) it->size);
        n = it->offset <= (uint64_t) INT64_MAX - it->size ? pread(fd, bytes->data, it->size, (off_t) it->offset) : 0;
        if (n < 0)
                return read_failed(it->run, -errno, ret_error);

        /* While the run runs, NUL bytes may follow the entries, see mapped-end.h; a next piece begins there. */
        end = memchr(bytes->data, '\0', (size_t) n);
        g_byte_array_set_size(bytes, end ? (guint) (end - bytes->data) : (guint) n);
        *ret_bytes = g_steal_pointer(&bytes);
        return 0;
}

int record_read_all(RecordRead *it, Work *work, RunRecord **ret_record, char **ret_error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree char *error = NULL;
        g_auto(AutoFd) fd = -1;
        ssize_t n = open_record(it, work, &fd);
        struct stat st;

        if (n >= 0 && fstat(fd, &st) < 0)
                n = -errno;
        if (n >= 0 && st.st_size > INT32_MAX)
                n = -EFBIG;
        if (n >= 0) {
                g_byte_array_set_size(bytes, (guint) st.st_size);
                n = read_all(fd, 0, bytes->data, bytes->len);
        }
        if (work)
                work_reads(work, NULL);
        if (n < 0)
                return read_failed(it->run, (int) n, ret_error);

        g_byte_array_set_size(bytes, (guint) n);
        if (run_record_read_text((const char *) bytes->data, bytes->len, ret_record, &error) >= 0)
                return 0;

        *ret_error = g_strdup_printf("the run record of %s cannot be read: %s", it->run, error);
        return -EIO;
}
