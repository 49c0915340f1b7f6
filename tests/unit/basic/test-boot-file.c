/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the files that btd keeps for the next btd of the same boot, and the messages if it cannot. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/json-parse.h"

typedef struct Fixture {
        char *directory, *path, *new, *log;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->path = g_build_filename(fixture->directory, "file", NULL);
        fixture->new = g_strconcat(fixture->path, ".new", NULL);
        fixture->log = g_build_filename(fixture->directory, "log", NULL);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        g_remove(fixture->path);
        g_remove(fixture->new);
        g_remove(fixture->log);
        g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
        g_free(fixture->directory);
        g_free(fixture->path);
        g_free(fixture->new);
        g_free(fixture->log);
}

static void assert_kept(const Fixture *fixture, int expected) {
        g_autoptr(json_object) value = boot_file_read(fixture->directory, "file");

        g_assert_cmpint(json_object_get_int(value), ==, expected);
}

static void test_replaced(Fixture *fixture, gconstpointer data) {
        assert_kept(fixture, 0);
        boot_file_write(fixture->directory, "file", json_object_new_int(1));
        assert_kept(fixture, 1);
        boot_file_write(fixture->directory, "file", json_object_new_int(2));
        assert_kept(fixture, 2);
        g_assert_false(g_file_test(fixture->new, G_FILE_TEST_EXISTS));
}

/* A value that is nested as deep as a variable may be, and what is around it. */
static void test_deep(Fixture *fixture, gconstpointer data) {
        json_object *value = json_object_new_int(7);
        g_autoptr(json_object) whole = NULL;
        json_object *inner;

        for (unsigned i = 0; i < JSON_NESTING_MAX + 10; i++) {
                json_object *outer = json_object_new_array();

                json_object_array_add(outer, value);
                value = outer;
        }
        boot_file_write(fixture->directory, "file", value);
        inner = whole = boot_file_read(fixture->directory, "file");
        while (json_object_is_type(inner, json_type_array))
                inner = json_object_array_get_idx(inner, 0);
        g_assert_cmpint(json_object_get_int(inner), ==, 7);
}

static void test_of_no_use(Fixture *fixture, gconstpointer data) {
        static const char *const texts[] = { "", "1", "00000000000000000000000000000000\n1\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_assert_true(g_file_set_contents(fixture->path, texts[i], -1, NULL));
                assert_kept(fixture, 0);
        }
        g_assert_null(boot_file_read(NULL, "file"));
        boot_file_write(NULL, "file", json_object_new_int(1));
}

/* What is logged meanwhile, to be freed. */
static char *write_in_vain(const Fixture *fixture) {
        int fd = open(fixture->log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), before = dup(STDERR_FILENO);
        char *text;

        dup2(fd, STDERR_FILENO);
        boot_file_write(fixture->directory, "file", json_object_new_int(1));
        dup2(before, STDERR_FILENO);
        close(before);
        close(fd);
        g_assert_true(g_file_get_contents(fixture->log, &text, NULL, NULL));
        return text;
}

#define WARNING "test-boot-file: warning: state for the next btd cannot be stored"

static void test_not_replaced(Fixture *fixture, gconstpointer data) {
        g_autofree char *expected = g_strdup_printf(WARNING ", because %s cannot be replaced: Is a directory\n",
                                                    fixture->path),
                        *text = NULL;

        g_assert_cmpint(g_mkdir(fixture->path, 0700), ==, 0);
        text = write_in_vain(fixture);
        g_assert_cmpstr(text, ==, expected);
}

/* How GLib says it is its own. */
static void test_not_written(Fixture *fixture, gconstpointer data) {
        g_autofree char *text = NULL;

        g_assert_cmpint(g_mkdir(fixture->new, 0700), ==, 0);
        text = write_in_vain(fixture);
        g_assert_true(g_str_has_prefix(text, WARNING ": "));
        g_assert_nonnull(strstr(text, fixture->new));
        g_assert_true(g_str_has_suffix(text, ": Is a directory\n"));
}

static BootFile *open_file(const Fixture *fixture, Timers *timers, int expected) {
        BootFile *file = boot_file_new(timers, fixture->directory, "file");
        g_autoptr(json_object) value = boot_file_open(file);

        g_assert_cmpint(json_object_get_int(value), ==, expected);
        return file;
}

/* Its room stays reserved, whatever was written last. */
static void test_reserved(Fixture *fixture, gconstpointer data) {
        g_autoptr(Timers) timers = timers_new_simulated();
        g_autoptr(BootFile) file = open_file(fixture, timers, 0), next = NULL;
        static const int values[] = { 1, 1234567890, 2 };

        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                struct stat st;

                boot_file_store(file, json_object_new_int(values[i]));
                assert_kept(fixture, values[i]);
                g_assert_cmpint(stat(fixture->path, &st), ==, 0);
                g_assert_cmpint(st.st_blocks * 512, >=, 16 * 1024);
                g_assert_cmpint(stat(fixture->new, &st), ==, 0);
                g_assert_cmpint(st.st_blocks * 512, >=, 16 * 1024);
        }
        next = open_file(fixture, timers, 2);
}

/* What cannot be written now is written later. */
static void test_written_later(Fixture *fixture, gconstpointer data) {
        g_autoptr(Timers) timers = timers_new_simulated();
        g_autoptr(BootFile) file = open_file(fixture, timers, 0);

        g_assert_cmpint(g_unlink(fixture->new), ==, 0);
        g_assert_cmpint(g_mkdir(fixture->new, 0700), ==, 0);
        boot_file_store(file, json_object_new_int(1));
        boot_file_store(file, json_object_new_int(2));
        timers_jump(timers, timers_next(timers));
        assert_kept(fixture, 0);
        g_assert_cmpint(g_rmdir(fixture->new), ==, 0);
        timers_jump(timers, timers_next(timers));
        assert_kept(fixture, 2);
        g_assert_cmpuint(timers_next(timers), ==, UINT64_MAX);
}

static void add(const char *name, void (*test)(Fixture *fixture, gconstpointer data)) {
        g_test_add(name, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        add("/boot-file/replaced", test_replaced);
        add("/boot-file/deep", test_deep);
        add("/boot-file/of-no-use", test_of_no_use);
        add("/boot-file/not-replaced", test_not_replaced);
        add("/boot-file/not-written", test_not_written);
        add("/boot-file/reserved", test_reserved);
        add("/boot-file/written-later", test_written_later);
        return g_test_run();
}
