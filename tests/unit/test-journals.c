/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where journals are, and what is said when they cannot be had. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/file-move.h"
#include "runtime/journals.h"

typedef struct Fixture {
        char *runtime, *state, *lock, *runs, *journal;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->runtime = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->state = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->lock = g_build_filename(fixture->runtime, "lock", NULL);
        fixture->runs = g_build_filename(fixture->runtime, "runs", NULL);
        fixture->journal = g_build_filename(fixture->runs, "boot.1.journal", NULL);
        g_assert_cmpint(g_mkdir(fixture->runs, 0700), ==, 0);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        g_autofree char *history = g_build_filename(fixture->state, "history", NULL);

        g_remove(fixture->journal);
        g_remove(fixture->runs);
        g_remove(fixture->lock);
        g_remove(fixture->runtime);
        g_remove(history);
        g_remove(fixture->state);
        g_free(fixture->journal);
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
        g_autoptr(Journals) ours = journals_new(fixture->runtime, fixture->state);
        g_autoptr(Journals) theirs = journals_new(fixture->runtime, fixture->state);
        g_autofree char *error = NULL;

        g_assert_cmpint(journals_claim(ours, &error), ==, 0);
        g_assert_null(error);
        g_assert_cmpint(journals_claim(theirs, &error), ==, -EBUSY);
        assert_text(error, "%s is in use by another btd; give it another --runtime=", fixture->runtime);
}

static void test_no_lock(Fixture *fixture, gconstpointer data) {
        g_autoptr(Journals) journals = journals_new(fixture->runtime, fixture->state);
        g_autofree char *error = NULL;

        g_assert_cmpint(symlink("elsewhere", fixture->lock), ==, 0);
        g_assert_cmpint(journals_claim(journals, &error), ==, -ELOOP);
        assert_text(error, "%s cannot be locked: Too many levels of symbolic links", fixture->lock);
}

static void test_unreadable(Fixture *fixture, gconstpointer data) {
        g_autoptr(Journals) journals = journals_new(fixture->runtime, fixture->state);
        g_autoptr(GByteArray) bytes = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(symlink("elsewhere", fixture->journal), ==, 0);
        g_assert_cmpint(journals_read(journals, "boot.1", 0, 100, &bytes, &error), ==, -ELOOP);
        g_assert_cmpstr(error, ==, "the journal of boot.1 cannot be read: Too many levels of symbolic links");

        g_clear_pointer(&error, g_free);
        g_assert_cmpint(journals_read(journals, "boot.2", 0, 100, &bytes, &error), ==, -ENOENT);
        g_assert_cmpstr(error, ==,
                        "there is no journal of a run 'boot.2'; 'btctl history' shows the runs that have "
                        "finished");
        g_assert_null(bytes);
}

static void test_move(Fixture *fixture, gconstpointer data) {
        g_autofree char *nowhere = g_build_filename(fixture->state, "no", "such", "place", NULL), *error = NULL;

        g_assert_cmpint(file_move(fixture->journal, nowhere, &error), ==, -ENOENT);
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
        g_assert_cmpint(file_move(far, near, &error), ==, -EIO);
        g_assert_true(g_str_has_prefix(error, "cannot be moved to "));
        g_assert_true(g_str_has_suffix(error, "Is a directory"));

        g_clear_pointer(&error, g_free);
        g_assert_cmpint(g_rmdir(near), ==, 0);
        g_assert_cmpint(file_move(far, near, &error), ==, 0);
        g_assert_null(error);
        g_assert_true(g_file_get_contents(near, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "text");
        g_assert_false(g_file_test(far, G_FILE_TEST_EXISTS));
}

static void add(const char *name, void (*test)(Fixture *fixture, gconstpointer data)) {
        g_test_add(name, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        add("/journals/only-one", test_only_one);
        add("/journals/no-lock", test_no_lock);
        add("/journals/unreadable", test_unreadable);
        add("/journals/move", test_move);
        add("/journals/move-far", test_move_far);
        return g_test_run();
}
