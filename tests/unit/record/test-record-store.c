/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the paths of run records, and the messages if records cannot be kept. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record-store.h"
#include "record/run-record.h"

typedef struct Fixture {
        char *runtime, *state, *lock, *runs, *record;
        Timers *timers;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->runtime = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->state = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->lock = g_build_filename(fixture->runtime, "lock", NULL);
        fixture->runs = g_build_filename(fixture->runtime, "runs", NULL);
        fixture->record = g_build_filename(fixture->runs, "boot.1.journal", NULL);
        fixture->timers = timers_new_simulated();
        g_assert_cmpint(g_mkdir(fixture->runs, 0700), ==, 0);
}

static RecordStore *store_new(const Fixture *fixture) {
        return record_store_new(fixture->runtime, fixture->state, &limits_default, NULL, NULL, fixture->timers);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        g_autofree char *history = g_build_filename(fixture->state, "history", NULL),
                        *finished = g_build_filename(fixture->runtime, "finished", NULL),
                        *clock = g_build_filename(finished, "clock", NULL);

        g_remove(clock);
        g_remove(finished);
        timers_free(fixture->timers);

        g_remove(fixture->record);
        g_remove(fixture->runs);
        g_remove(fixture->lock);
        g_remove(fixture->runtime);
        g_remove(history);
        g_remove(fixture->state);
        g_free(fixture->record);
        g_free(fixture->runs);
        g_free(fixture->lock);
        g_free(fixture->runtime);
        g_free(fixture->state);
}

static void assert_text(const char *error, const char *format, const char *path) {
        g_auto(GStrv) parts = g_strsplit(format, "%s", 2);
        g_autofree char *expected = g_strjoin(path, parts[0], parts[1], NULL);

        g_assert_cmpstr(error, ==, expected);
}

static void test_only_one(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) ours = store_new(fixture);
        g_autoptr(RecordStore) theirs = store_new(fixture);
        g_autofree char *error = NULL;

        g_assert_cmpint(record_store_lock(ours, &error), ==, 0);
        g_assert_null(error);
        g_assert_cmpint(record_store_lock(theirs, &error), ==, -EBUSY);
        assert_text(error, "%s is in use by another btd; give this one another --runtime=", fixture->runtime);
}

static void test_no_lock(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store = store_new(fixture);
        g_autofree char *error = NULL;

        g_assert_cmpint(symlink("elsewhere", fixture->lock), ==, 0);
        g_assert_cmpint(record_store_lock(store, &error), ==, -ELOOP);
        assert_text(error, "%s cannot be locked: Too many levels of symbolic links", fixture->lock);
}

static int read_record(const RecordStore *store, const char *run, GByteArray **ret_bytes, char **ret_error) {
        RecordRead *read = record_read_new(store, run, 0, 100);
        int r = record_read_run(read, NULL, ret_bytes, ret_error);

        record_read_free(read);
        return r;
}

static void test_unreadable(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store = store_new(fixture);
        g_autoptr(GByteArray) bytes = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(symlink("elsewhere", fixture->record), ==, 0);
        g_assert_cmpint(read_record(store, "boot.1", &bytes, &error), ==, -ELOOP);
        g_assert_cmpstr(error, ==, "the run record of boot.1 cannot be read: Too many levels of symbolic links");

        g_clear_pointer(&error, g_free);
        g_assert_cmpint(read_record(store, "boot.2", &bytes, &error), ==, -ENOENT);
        g_assert_cmpstr(error, ==,
                        "there is no run record of a run 'boot.2'; 'btctl history' shows the runs that have "
                        "finished");
        g_assert_null(bytes);
}

static void put_record(const Fixture *fixture, const char *text, gssize length) {
        g_assert_true(g_file_set_contents(fixture->record, text, length, NULL));
}

/* While a run runs, zeros may follow its entries. */
static void test_pieces(Fixture *fixture, gconstpointer data) {
        static const struct {
                uint64_t offset;
                size_t size;
                const char *piece;
        } cases[] = {
                { 0, 100, "one two" }, { 0, 3, "one" }, { 4, 100, "two" }, { 7, 100, "" }, { UINT64_MAX, 100, "" }
        };
        g_autoptr(RecordStore) store =
                record_store_new(fixture->runtime, fixture->state, &limits_default, NULL, NULL, NULL);

        put_record(fixture, "one two\0\0\0", 10);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                RecordRead *read = record_read_new(store, "boot.1", cases[i].offset, cases[i].size);
                g_autoptr(GByteArray) bytes = NULL;
                g_autofree char *error = NULL;

                g_assert_cmpint(record_read_run(read, NULL, &bytes, &error), ==, 0);
                g_assert_cmpmem(bytes->data, bytes->len, cases[i].piece, strlen(cases[i].piece));
                record_read_free(read);
        }
}

static int read_all(const RecordStore *store, const char *run, RunRecord **ret_record, char **ret_error) {
        RecordRead *read = record_read_new(store, run, 0, 0);
        int r = record_read_all(read, NULL, ret_record, ret_error);

        record_read_free(read);
        return r;
}

static void test_whole(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store =
                record_store_new(fixture->runtime, fixture->state, &limits_default, NULL, NULL, NULL);
        g_autoptr(RunRecord) record = NULL;
        g_autofree char *error = NULL, *text = NULL;
        size_t length;

        g_assert_cmpint(read_all(store, "boot.1", &record, &error), ==, -ENOENT);
        g_clear_pointer(&error, g_free);
        put_record(fixture, "something else\n", -1);
        g_assert_cmpint(read_all(store, "boot.1", &record, &error), ==, -EIO);
        g_assert_cmpstr(error, ==, "the run record of boot.1 cannot be read: it is not a run record");
        g_clear_pointer(&error, g_free);

        g_assert_true(g_file_get_contents(data, &text, &length, NULL));
        put_record(fixture, text, (gssize) length);
        g_assert_cmpint(read_all(store, "boot.1", &record, &error), ==, 0);
        g_assert_cmpstr(record->header.tree, ==, "work");
}

/* Also while there is no directory of run records yet. */
static void test_trusted(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store =
                record_store_new(fixture->runtime, fixture->state, &limits_default, NULL, NULL, NULL),
                               none = record_store_new(NULL, NULL, &limits_default, NULL, NULL, NULL);
        g_autofree char *error = NULL, *expected = NULL;

        g_assert_cmpint(record_store_check_trusted(none, &error), ==, 0);
        g_assert_false(record_store_are_kept(none));
        g_assert_true(record_store_are_kept(store));
        g_assert_nonnull(record_store_archive(store));

        g_assert_cmpint(chmod(fixture->runs, 0777), ==, 0);
        g_assert_cmpint(record_store_check_trusted(store, &error), ==, -EPERM);
        expected = g_strdup_printf("runs cannot be kept in %s, which is refused, because it can be written by others",
                                   fixture->runs);
        g_assert_true(g_str_has_prefix(error, expected));
        g_clear_pointer(&error, g_free);

        g_assert_cmpint(g_remove(fixture->runs), ==, 0);
        g_assert_cmpint(chmod(fixture->runtime, 0777), ==, 0);
        g_assert_cmpint(record_store_check_trusted(store, &error), ==, -EPERM);
        g_assert_nonnull(strstr(error, fixture->runtime));
}

static unsigned count_aside(const Fixture *fixture, const char *newest) {
        g_autoptr(GDir) directory = g_dir_open(fixture->state, 0, NULL);
        bool found = false;
        const char *name;
        unsigned n = 0;

        for (; (name = g_dir_read_name(directory)); n++)
                found |= g_str_equal(name, newest);
        g_assert_true(found);
        return n;
}

/* Only so many, and so much, of what was set aside is kept, and it is said which is not. */
static void test_set_aside_is_bounded(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store = store_new(fixture);

        for (unsigned i = 100; i < 130; i++) {
                g_autofree char *name = g_strdup_printf("boot.%u.journal", i),
                                *aside = g_strconcat(name, RECORD_BAD_SUFFIX, NULL),
                                *path = g_build_filename(fixture->runs, name, NULL), *kept = NULL;

                g_assert_true(g_file_set_contents(path, "x", 1, NULL));
                kept = record_store_set_aside(store, path, RECORD_BAD_SUFFIX);
                g_assert_cmpuint(count_aside(fixture, aside), ==, MIN(i - 99, 20));
        }

        for (unsigned i = 0; i < 2; i++) {
                g_autofree char *aside = g_strdup_printf("boot.20%u.journal.bad", i), *kept = NULL;

                g_assert_true(g_file_set_contents(fixture->record, "x", 1, NULL));
                g_assert_cmpint(truncate(fixture->record, 40 << 20), ==, 0);
                kept = g_build_filename(fixture->runs, aside, NULL);
                kept[strlen(kept) - strlen(".bad")] = '\0';
                g_assert_cmpint(g_rename(fixture->record, kept), ==, 0);
                g_free(record_store_set_aside(store, kept, RECORD_BAD_SUFFIX));
                g_assert_cmpuint(count_aside(fixture, aside), ==, i == 0 ? 20 : 1);
        }

        {
                g_autofree char *last = g_build_filename(fixture->state, "boot.201.journal.bad", NULL);

                g_assert_cmpint(g_unlink(last), ==, 0);
        }
}

static void test_move(Fixture *fixture, gconstpointer data) {
        g_autofree char *nowhere = g_build_filename(fixture->state, "no", "such", "place", NULL), *error = NULL;

        g_assert_cmpint(record_move(fixture->record, nowhere, &error), ==, -ENOENT);
        assert_text(error, "cannot be moved to %s: No such file or directory", nowhere);
}

/* From memory to a disk, or what else is another file system. */
static void test_move_far(Fixture *fixture, gconstpointer data) {
        g_autofree char *far = g_strdup_printf("/dev/shm/btd-test-%d", getpid());
        g_autofree char *near = g_build_filename(fixture->state, "history", NULL);
        g_autofree char *error = NULL, *text = NULL;
        struct stat here, there;

        if (stat("/dev/shm", &there) < 0 || stat(fixture->state, &here) < 0 || here.st_dev == there.st_dev) {
                g_test_skip("there is no other file system");
                return;
        }

        g_assert_true(g_file_set_contents(far, "text", -1, NULL));
        g_assert_cmpint(g_mkdir(near, 0700), ==, 0);
        g_assert_cmpint(record_move(far, near, &error), ==, -EIO);
        g_assert_true(g_str_has_prefix(error, "cannot be moved to "));
        g_assert_true(g_str_has_suffix(error, "Is a directory"));

        g_clear_pointer(&error, g_free);
        g_assert_cmpint(g_rmdir(near), ==, 0);
        g_assert_cmpint(record_move(far, near, &error), ==, 0);
        g_assert_null(error);
        g_assert_true(g_file_get_contents(near, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "text");
        g_assert_false(g_file_test(far, G_FILE_TEST_EXISTS));
}

/* It is said, and the next daemon finds that the run has finished. */
static void test_finish_in_vain(Fixture *fixture, gconstpointer data) {
        g_autoptr(RecordStore) store = store_new(fixture);
        g_autofree char *finished = g_build_filename(fixture->runtime, "finished", NULL),
                        *log = g_build_filename(fixture->state, "log", NULL), *text = NULL, *expected = NULL;
        int fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), before = dup(STDERR_FILENO);
        RunSummary summary = { .run = (char *) "boot.1" };

        g_assert_true(g_file_set_contents(fixture->record, "x", 1, NULL));
        g_assert_true(g_file_set_contents(finished, "x", 1, NULL));
        dup2(fd, STDERR_FILENO);
        record_store_finish(store, &summary, 1);
        dup2(before, STDERR_FILENO);
        close(before);
        close(fd);

        expected = g_strdup_printf("test-record-store: warning: the run record of boot.1 stays in %s until btd is "
                                   "started again, because it "
                                   "cannot be moved to %s: Not a directory\n",
                                   fixture->runs, finished);
        g_assert_true(g_file_get_contents(log, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, expected);
        g_assert_true(g_file_test(fixture->record, G_FILE_TEST_EXISTS));
        g_assert_false(record_store_have(store, "boot.1"));
        g_assert_cmpint(g_unlink(log), ==, 0);
        g_assert_cmpint(g_unlink(finished), ==, 0);
}

static void add(const char *name, void (*test)(Fixture *fixture, gconstpointer data)) {
        g_test_add(name, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(argc, ==, 2); /* a stored run record */
        add("/record-store/only-one", test_only_one);
        add("/record-store/no-lock", test_no_lock);
        add("/record-store/unreadable", test_unreadable);
        add("/record-store/pieces", test_pieces);
        g_test_add("/record-store/whole", Fixture, argv[1], set_up, test_whole, tear_down);
        add("/record-store/trusted", test_trusted);
        add("/record-store/set-aside-is-bounded", test_set_aside_is_bounded);
        add("/record-store/finish-in-vain", test_finish_in_vain);
        add("/record-store/move", test_move);
        add("/record-store/move-far", test_move_far);
        return g_test_run();
}
