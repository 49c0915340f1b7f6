/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the files in which btctl stores requests to halt runs. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "record/halt-request.h"

typedef struct Fixture {
        char *runtime, *halts;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->runtime = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->halts = g_build_filename(fixture->runtime, "halts", NULL);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        g_autoptr(GDir) directory = g_dir_open(fixture->halts, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(fixture->halts, name, NULL);

                g_remove(path);
        }
        g_remove(fixture->halts);
        g_remove(fixture->runtime);
        g_free(fixture->halts);
        g_free(fixture->runtime);
}

static void test_token(void) {
        g_autofree char *longest = g_strnfill(TOKEN_MAX, 't'), *too_long = g_strnfill(TOKEN_MAX + 1, 't');

        g_assert_true(token_valid("Az09_.-"));
        g_assert_true(token_valid(longest));
        g_assert_false(token_valid(too_long));
        g_assert_false(token_valid(""));
        g_assert_false(token_valid("a/b"));
        g_assert_false(token_valid("a:b"));
}

static void write_request(Fixture *fixture, const char *tree, const char *instance, const char *token) {
        g_autofree char *path = NULL;

        g_assert_cmpint(halt_request_write(fixture->runtime, tree, instance, token, &path), ==, 0);
        g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
}

static gint compare(gconstpointer a, gconstpointer b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Each in a line, sorted. */
static char *describe(Fixture *fixture) {
        g_autoptr(GPtrArray) requests = halt_requests_read(fixture->runtime),
                             lines = g_ptr_array_new_with_free_func(g_free);

        for (unsigned i = 0; i < requests->len; i++) {
                const HaltRequest *request = requests->pdata[i];

                g_assert_cmpuint(request->uid, ==, getuid());
                g_assert_true(g_str_has_prefix(request->path, fixture->halts));
                g_ptr_array_add(lines,
                                g_strdup_printf("%s %s %s\n", request->tree, request->instance ?: "-", request->token));
        }
        g_ptr_array_sort(lines, compare);
        g_ptr_array_add(lines, NULL);
        return g_strjoinv("", (char **) lines->pdata);
}

static void test_written(Fixture *fixture, gconstpointer data) {
        g_autofree char *before = describe(fixture), *after = NULL;

        g_assert_cmpstr(before, ==, "");
        write_request(fixture, "boot", NULL, "t.1");
        write_request(fixture, "boot", "eth0", "t.1");
        write_request(fixture, "boot", "eth0", "t.1"); /* again */
        write_request(fixture, "boot", "", "t.1");     /* those without an instance */
        after = describe(fixture);
        g_assert_cmpstr(after, ==, "boot  t.1\nboot - t.1\nboot eth0 t.1\n");
}

static void put(Fixture *fixture, const char *name) {
        g_autofree char *path = g_build_filename(fixture->halts, name, NULL);

        g_assert_true(g_file_set_contents(path, "", 0, NULL));
}

/* What is no request stays unread. */
static void test_other_files(Fixture *fixture, gconstpointer data) {
        g_autofree char *link = g_build_filename(fixture->halts, "boot:link", NULL), *after = NULL;

        write_request(fixture, "boot", NULL, "t");
        put(fixture, "boot");
        put(fixture, "boot:");
        put(fixture, "boot:a b");
        put(fixture, "bo ot:t");
        put(fixture, ":t");
        g_assert_cmpint(symlink("boot:t", link), ==, 0);
        after = describe(fixture);
        g_assert_cmpstr(after, ==, "boot - t\n");
}

static void test_cannot_be_written(Fixture *fixture, gconstpointer data) {
        g_autofree char *nowhere = g_build_filename(fixture->runtime, "none", NULL), *path = NULL, *long_name = NULL;

        g_assert_cmpint(halt_request_write(nowhere, "boot", NULL, "t", &path), ==, -ENOENT);
        long_name = g_strnfill(300, 'x');
        g_assert_cmpint(halt_request_write(fixture->runtime, long_name, NULL, "t", &path), ==, -ENAMETOOLONG);
        g_assert_null(path);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/halt-request/token", test_token);
        g_test_add("/halt-request/written", Fixture, NULL, set_up, test_written, tear_down);
        g_test_add("/halt-request/other-files", Fixture, NULL, set_up, test_other_files, tear_down);
        g_test_add("/halt-request/cannot-be-written", Fixture, NULL, set_up, test_cannot_be_written, tear_down);
        return g_test_run();
}
