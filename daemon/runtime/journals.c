/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One file a run. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "journal/journal.h"
#include "runtime/file-move.h"
#include "runtime/journals.h"
#include "runtime/trust.h"

struct Journals {
        char *runtime_directory;
        int lock;        /* the claim, or -1 */
        char *directory; /* NULL: there are none */
        char *aside;     /* for those that cannot be gone on with */
        Archive *archive;
};

Journals *journals_new(const char *runtime_directory, const char *state_directory) {
        Journals *journals = g_new0(Journals, 1);

        journals->runtime_directory = g_strdup(runtime_directory);
        journals->lock = -1;
        journals->aside = g_strdup(state_directory ?: runtime_directory);
        if (runtime_directory)
                journals->directory = g_build_filename(runtime_directory, "runs", NULL);
        if (state_directory) {
                g_autofree char *directory = g_build_filename(state_directory, "history", NULL);

                journals->archive = archive_new(directory);
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
        g_free(journals->aside);
        g_free(journals);
}

Archive *journals_archive(const Journals *journals) {
        return journals->archive;
}

static char *path_of(const Journals *journals, const char *run) {
        g_autofree char *file = g_strconcat(run, JOURNAL_SUFFIX, NULL);

        return g_build_filename(journals->directory, file, NULL);
}

/* A daemon was killed while it cut one off at its beginning. */
static void remove_unfinished(const Journals *journals) {
        g_autoptr(GDir) directory = g_dir_open(journals->directory, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, JOURNAL_SUFFIX JOURNAL_NEW_SUFFIX)) {
                        g_autofree char *path = g_build_filename(journals->directory, name, NULL);

                        g_unlink(path);
                }
}

int journals_claim(Journals *journals, char **ret_error) {
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
        g_autofree char *live = journals->directory ? path_of(journals, run) : NULL,
                        *past = journals->archive ? archive_path(journals->archive, run) : NULL;

        return (live && g_file_test(live, G_FILE_TEST_EXISTS)) || (past && g_file_test(past, G_FILE_TEST_EXISTS));
}

int journals_begin(Journals *journals, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error) {
        g_autofree char *path = path_of(journals, header->run);

        if (g_mkdir_with_parents(journals->directory, 0700) < 0) {
                int r = -errno;

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

char *journals_set_aside(Journals *journals, const char *path, const char *suffix) {
        g_autofree char *base = g_path_get_basename(path), *name = g_strconcat(base, suffix, NULL), *error = NULL;
        char *target = g_build_filename(journals->aside, name, NULL);

        (void) g_mkdir_with_parents(journals->aside, 0700);
        if (file_move(path, target, &error) >= 0)
                return target;

        /* It must not be found again. */
        g_free(target);
        target = g_strconcat(path, suffix, NULL);
        (void) g_rename(path, target);
        return target;
}

void journals_finish(Journals *journals, const char *run) {
        g_autofree char *path = NULL, *error = NULL;

        if (!journals_are_kept(journals))
                return;

        path = path_of(journals, run);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
                return;

        if (journals->archive && archive_add(journals->archive, run, path, &error) < 0)
                log_warning("The journal of %s is not kept: %s", run, error);
        g_unlink(path);
}

/* A run that goes on has one in the runtime directory. */
static int open_journal(const Journals *journals, const char *run) {
        g_autofree char *live = journals->directory ? path_of(journals, run) : NULL,
                        *past = journals->archive ? archive_path(journals->archive, run) : NULL;
        int fd = -1;

        errno = ENOENT;
        if (strchr(run, '/'))
                return -1;
        if (live)
                fd = open(live, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT && past)
                fd = open(past, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        return fd;
}

/* No run has a name that is too long for a file. */
static int read_failed(const char *run, int r, char **ret_error) {
        g_autofree char *shown = excerpt(run, strlen(run));

        if (r != -ENOENT && r != -ENAMETOOLONG) {
                *ret_error = g_strdup_printf("the journal of %s cannot be read: %s", shown, g_strerror(-r));
                return r;
        }

        *ret_error = g_strdup_printf(
                "there is no journal of a run '%s'; 'btctl history' shows the runs that have finished", shown);
        return -ENOENT;
}

int journals_read(const Journals *journals, const char *run, uint64_t offset, size_t size, GByteArray **ret_bytes,
                  char **ret_error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_auto(AutoFd) fd = open_journal(journals, run);
        ssize_t n;

        if (fd < 0)
                return read_failed(run, -errno, ret_error);

        g_byte_array_set_size(bytes, (guint) size);
        n = offset <= INT64_MAX - size ? pread(fd, bytes->data, size, (off_t) offset) : 0;
        if (n < 0)
                return read_failed(run, -errno, ret_error);

        g_byte_array_set_size(bytes, (guint) n);
        *ret_bytes = g_steal_pointer(&bytes);
        return 0;
}
