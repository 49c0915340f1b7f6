/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journals of runs that have finished go into the archive, and the oldest out of it. */

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "basic/limit.h"
#include "runtime/archive.h"

typedef struct Fixture {
        char *top, *directory, *source;
        Archive *archive;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->top = g_dir_make_tmp("btd-archive-XXXXXX", NULL);
        g_assert_nonnull(fixture->top);
        fixture->directory = g_build_filename(fixture->top, "state", "history", NULL);
        fixture->source = g_build_filename(fixture->top, "x.journal", NULL);
        fixture->archive = archive_new(fixture->directory);
}

static void remove_all(const char *path) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *inner = g_build_filename(path, name, NULL);

                remove_all(inner);
        }

        (void) g_remove(path);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        archive_free(fixture->archive);
        remove_all(fixture->top);
        g_free(fixture->top);
        g_free(fixture->directory);
        g_free(fixture->source);
}

/* size: of its journal, which takes no space; age: in days. */
static void add(Fixture *fixture, const char *run, off_t size, unsigned age) {
        int64_t now = g_get_real_time() / G_USEC_PER_SEC;
        struct timeval times[2] = { { .tv_sec = now - age * 86400 }, { .tv_sec = now - age * 86400 } };
        g_autofree char *error = NULL;

        g_assert_true(g_file_set_contents(fixture->source, run, -1, NULL));
        g_assert_cmpint(truncate(fixture->source, size), ==, 0);
        g_assert_cmpint(utimes(fixture->source, times), ==, 0);
        g_assert_cmpint(archive_add(fixture->archive, run, fixture->source, &error), ==, 0);
        g_assert_cmpstr(error, ==, NULL);
        g_assert_false(g_file_test(fixture->source, G_FILE_TEST_EXISTS));
}

static void assert_runs(Fixture *fixture, const char *expected) {
        g_autoptr(GPtrArray) runs = archive_list(fixture->archive);
        g_autofree char *joined = NULL;

        g_ptr_array_add(runs, NULL);
        joined = g_strjoinv(" ", (char **) runs->pdata);
        g_assert_cmpstr(joined, ==, expected);
}

static void test_keeps(Fixture *fixture, gconstpointer data) {
        g_autofree char *path = archive_path(fixture->archive, "boot.2"), *text = NULL;

        assert_runs(fixture, "");
        add(fixture, "boot.2", 6, 1);
        add(fixture, "boot.1", 6, 2);
        assert_runs(fixture, "boot.1 boot.2");

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "boot.2");

        /* The next daemon finds them. */
        archive_free(fixture->archive);
        fixture->archive = archive_new(fixture->directory);
        assert_runs(fixture, "boot.1 boot.2");

        add(fixture, "boot.1", 6, 0);
        assert_runs(fixture, "boot.2 boot.1");
}

/* Those of the daemon before are found in whatever order the directory has them. */
static void test_order(Fixture *fixture, gconstpointer data) {
        g_autoptr(GString) expected = g_string_new(NULL);
        const unsigned n = 29;

        for (unsigned i = 0; i < n; i++) {
                unsigned age = i * 12 % n;
                g_autofree char *run = g_strdup_printf("n.%u", age);

                add(fixture, run, 1, age);
                g_string_append_printf(expected, "%sn.%u", i > 0 ? " " : "", n - 1 - i);
        }
        assert_runs(fixture, expected->str);

        archive_free(fixture->archive);
        fixture->archive = archive_new(fixture->directory);
        assert_runs(fixture, expected->str);
}

static void test_age(Fixture *fixture, gconstpointer data) {
        add(fixture, "old.1", 1, 29);
        add(fixture, "old.2", 1, 31);
        assert_runs(fixture, "old.1");
}

static void test_size(Fixture *fixture, gconstpointer data) {
        add(fixture, "a.1", 30 << 20, 3);
        add(fixture, "a.2", 30 << 20, 2);
        assert_runs(fixture, "a.1 a.2");
        add(fixture, "a.3", 30 << 20, 1);
        assert_runs(fixture, "a.2 a.3");

        /* One that alone is too large does not stay either. */
        add(fixture, "a.4", 65 << 20, 0);
        assert_runs(fixture, "");
}

static void test_number(Fixture *fixture, gconstpointer data) {
        g_autoptr(GPtrArray) runs = NULL;

        for (unsigned i = 0; i <= limits_default.max[LIMIT_HISTORY]; i++) {
                g_autofree char *run = g_strdup_printf("n.%u", i);

                add(fixture, run, 1, 1);
        }

        runs = archive_list(fixture->archive);
        g_assert_cmpuint(runs->len, ==, limits_default.max[LIMIT_HISTORY]);
        g_assert_cmpstr(runs->pdata[0], ==, "n.1");
}

static void test_no_directory(Fixture *fixture, gconstpointer data) {
        g_autofree char *error = NULL, *expected = NULL;

        g_assert_true(g_file_set_contents(fixture->source, "x", -1, NULL));
        archive_free(fixture->archive);
        g_free(fixture->directory);
        fixture->directory = g_build_filename(fixture->source, "history", NULL);
        fixture->archive = archive_new(fixture->directory);

        expected = g_strdup_printf("%s cannot be made: Not a directory", fixture->directory);
        g_assert_cmpint(archive_add(fixture->archive, "a.1", fixture->source, &error), <, 0);
        g_assert_cmpstr(error, ==, expected);
        g_assert_true(g_file_test(fixture->source, G_FILE_TEST_EXISTS));
}

static void test_not_writable(Fixture *fixture, gconstpointer data) {
        g_autofree char *error = NULL, *target = NULL, *expected = NULL;

        target = archive_path(fixture->archive, "a.1");
        expected = g_strdup_printf("cannot be moved to %s: Is a directory", target);
        g_assert_cmpint(g_mkdir_with_parents(target, 0700), ==, 0);
        g_assert_true(g_file_set_contents(fixture->source, "x", -1, NULL));
        g_assert_cmpint(archive_add(fixture->archive, "a.1", fixture->source, &error), ==, -EISDIR);
        g_assert_cmpstr(error, ==, expected);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

#define ADD(name, function) g_test_add("/archive/" name, Fixture, NULL, set_up, function, tear_down)
        ADD("keeps", test_keeps);
        ADD("order", test_order);
        ADD("age", test_age);
        ADD("size", test_size);
        ADD("number", test_number);
        ADD("no-directory", test_no_directory);
        ADD("not-writable", test_not_writable);
        return g_test_run();
}
