/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The list of processes that wait for runs: one entry for each process, also for the next btd. */

#include <errno.h>
#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <string.h>
#include <systemd/sd-login.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "run/waiters.h"

#define APP 11
#define OTHER 12

/* NULL: the process has ended. 0 is the test itself. */
static const char *units[] = { [APP] = "app.service", [OTHER] = "other.service" };

int sd_pid_get_unit(pid_t pid, char **ret_unit) {
        if (!units[pid])
                return -ESRCH;

        *ret_unit = strdup(units[pid]);
        return 0;
}

typedef struct Fixture {
        char *directory;
        Waiters *waiters;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        units[APP] = "app.service";
        units[OTHER] = "other.service";
        fixture->directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        fixture->waiters = waiters_new(false, fixture->directory);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        g_autofree char *path = g_build_filename(fixture->directory, "waiters", NULL);

        waiters_free(fixture->waiters);
        g_remove(path);
        g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
        g_free(fixture->directory);
}

static void start_next(Fixture *fixture) {
        waiters_free(fixture->waiters);
        fixture->waiters = waiters_new(false, fixture->directory);
}

static void assert_stored(const Fixture *fixture, const char *expected) {
        g_autoptr(json_object) all = boot_file_read(fixture->directory, "waiters");

        g_assert_cmpstr(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), ==, expected);
}

#define ENTRY_OF(tree, instance, unit, stop, pid)                                                                      \
        "{\"tree\":\"" tree "\",\"instance\":\"" instance "\",\"unit\":\"" unit "\",\"stop\":" stop                    \
        ",\"pid\":" G_STRINGIFY(pid) "}"
#define ENTRY(tree, instance, unit, pid) ENTRY_OF(tree, instance, unit, "false", pid)

static void test_asks_again(Fixture *fixture, gconstpointer data) {
        for (unsigned i = 0; i < 3; i++) {
                waiters_add(fixture->waiters, "boot", "", false, APP);
                waiters_add(fixture->waiters, "boot", "", false, APP);
                start_next(fixture);
        }
        assert_stored(fixture, "[" ENTRY("boot", "", "app.service", 11) "]");
        g_assert_true(waiters_has(fixture->waiters, "boot", "", false, "app.service"));
}

static void test_several(Fixture *fixture, gconstpointer data) {
        waiters_add(fixture->waiters, "boot", "", false, APP);
        waiters_add(fixture->waiters, "boot", "a", false, APP);
        waiters_add(fixture->waiters, "cam", "", false, APP);
        waiters_add(fixture->waiters, "boot", "", false, OTHER);
        assert_stored(fixture,
                      "[" ENTRY("boot", "", "app.service", 11) "," ENTRY("boot", "a", "app.service", 11) "," ENTRY(
                              "cam", "", "app.service", 11) "," ENTRY("boot", "", "other.service", 12) "]");
        g_assert_true(waiters_has(fixture->waiters, "boot", "a", false, NULL));
        g_assert_false(waiters_has(fixture->waiters, "cam", "", false, "other.service"));
        g_assert_false(waiters_has(fixture->waiters, "cam", "a", false, NULL));
}

static void test_has_ended(Fixture *fixture, gconstpointer data) {
        waiters_add(fixture->waiters, "boot", "", false, APP);
        units[APP] = NULL;
        g_assert_false(waiters_has(fixture->waiters, "boot", "", false, NULL));

        waiters_add(fixture->waiters, "boot", "", false, APP);
        g_assert_false(waiters_has(fixture->waiters, "boot", "", false, NULL));

        /* Another process has the same number. */
        units[APP] = "new.service";
        waiters_add(fixture->waiters, "boot", "", false, APP);
        assert_stored(fixture, "[" ENTRY("boot", "", "new.service", 11) "]");
        g_assert_false(waiters_has(fixture->waiters, "boot", "", false, "app.service"));
}

static void test_stop(Fixture *fixture, gconstpointer data) {
        waiters_add(fixture->waiters, "boot", "", false, APP);
        g_assert_false(waiters_has(fixture->waiters, "boot", "", true, NULL));
        waiters_add(fixture->waiters, "boot", "", true, OTHER);
        waiters_add(fixture->waiters, "boot", "", true, OTHER);
        start_next(fixture);
        assert_stored(fixture, "[" ENTRY("boot", "", "app.service", 11) "," //
                      ENTRY_OF("boot", "", "other.service", "true", 12) "]");
        g_assert_true(waiters_has(fixture->waiters, "boot", "", true, "other.service"));
        g_assert_false(waiters_has(fixture->waiters, "boot", "", true, "app.service"));
        g_assert_false(waiters_has(fixture->waiters, "boot", "", false, "other.service"));
}

static void test_own_unit(Fixture *fixture, gconstpointer data) {
        g_assert_false(waiters_are_in(fixture->waiters, NULL));
        units[0] = "btd.service";
        start_next(fixture);
        units[0] = NULL;
        g_assert_true(waiters_are_in(fixture->waiters, NULL));
        g_assert_true(waiters_are_in(fixture->waiters, "btd.service"));
        g_assert_false(waiters_are_in(fixture->waiters, "app.service"));
}

/* Of a damaged file, the entries that are whole are read. */
static void test_damaged(Fixture *fixture, gconstpointer data) {
        static const char *const members[] = { "tree", "instance", "unit", "pid" };

        for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
                json_object *all = json_tokener_parse(
                        "[" ENTRY("boot", "", "app.service", 11) "," ENTRY("boot", "", "other.service", 12) "]");

                json_object_object_del(json_object_array_get_idx(all, 0), members[i]);
                boot_file_write(fixture->directory, "waiters", all);
                start_next(fixture);
                g_assert_false(waiters_has(fixture->waiters, "boot", "", false, "app.service"));
                g_assert_true(waiters_has(fixture->waiters, "boot", "", false, "other.service"));
        }
}

#define ADD(name, function) g_test_add("/waiters/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        ADD("asks-again", test_asks_again);
        ADD("several", test_several);
        ADD("has-ended", test_has_ended);
        ADD("stop", test_stop);
        ADD("own-unit", test_own_unit);
        ADD("damaged", test_damaged);

        return g_test_run();
}
