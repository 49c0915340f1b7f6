/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests when the record of a run is copied, when its copy is removed, and what becomes of the copies after a boot. */

#include <glib/gstdio.h>
#include <string.h>

#include "record/record-copies.h"
#include "remove-all.h"

#define SECOND_USEC UINT64_C(1000000)

typedef struct Fixture {
        char *top, *directory, *from;
        GMainContext *context;
        Timers *clock, *timers; /* timers: simulated */
        DiskQueue *disk;
        RecordCopies *copies;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->top = g_dir_make_tmp("btd-copies-XXXXXX", NULL);
        fixture->directory = g_build_filename(fixture->top, "state", "running", NULL);
        fixture->from = g_build_filename(fixture->top, "runs", NULL);
        g_assert_cmpint(g_mkdir(fixture->from, 0700), ==, 0);
        fixture->context = g_main_context_new();
        fixture->clock = timers_new(fixture->context);
        fixture->timers = timers_new_simulated();
        fixture->disk = disk_queue_new(fixture->context, fixture->clock, NULL, NULL);
        fixture->copies = record_copies_new(fixture->directory, fixture->from, fixture->disk, fixture->timers);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        record_copies_free(fixture->copies);
        disk_queue_free(fixture->disk);
        timers_free(fixture->timers);
        timers_free(fixture->clock);
        g_main_context_unref(fixture->context);
        remove_all(fixture->top);
        g_free(fixture->top);
        g_free(fixture->directory);
        g_free(fixture->from);
}

static char *path_in(const char *directory, const char *run) {
        return g_strconcat(directory, "/", run, ".journal", NULL);
}

static void put(const char *directory, const char *run, const char *text) {
        g_autofree char *path = path_in(directory, run);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* text NULL: there is no such file. */
static void assert_file(const char *directory, const char *run, const char *text) {
        g_autofree char *path = path_in(directory, run), *found = NULL;

        (void) g_file_get_contents(path, &found, NULL, NULL);
        g_assert_cmpstr(found, ==, text);
}

static void change(const Fixture *fixture, const char *run, const char *text) {
        put(fixture->from, run, text);
        record_copies_change(fixture->copies, run);
}

static void settle(const Fixture *fixture) {
        g_assert_true(disk_queue_finish(fixture->disk, 60 * SECOND_USEC));
}

static void pass(const Fixture *fixture, uint64_t seconds) {
        uint64_t until = timers_now(fixture->timers, TIMER_MONOTONIC) + seconds * SECOND_USEC;

        while (timers_next(fixture->timers) <= until)
                timers_jump(fixture->timers, timers_next(fixture->timers));
        timers_jump(fixture->timers, until);
        settle(fixture);
}

/* A run that does not last is not copied, and one that does not change is copied once: nothing is due then. */
static void test_times(Fixture *fixture, gconstpointer data) {
        change(fixture, "boot.1", "one");
        change(fixture, "short.1", "one");
        pass(fixture, 59);
        assert_file(fixture->directory, "boot.1", NULL);
        record_copies_drop(fixture->copies, "short.1");
        pass(fixture, 1);
        assert_file(fixture->directory, "boot.1", "one");
        assert_file(fixture->directory, "short.1", NULL);
        g_assert_cmpuint(timers_next(fixture->timers), ==, UINT64_MAX);

        change(fixture, "boot.1", "two");
        pass(fixture, 59);
        assert_file(fixture->directory, "boot.1", "one");
        pass(fixture, 1);
        assert_file(fixture->directory, "boot.1", "two");
        change(fixture, "boot.1", "three");
        pass(fixture, 119);
        assert_file(fixture->directory, "boot.1", "two");
        pass(fixture, 1);
        assert_file(fixture->directory, "boot.1", "three");

        record_copies_drop(fixture->copies, "boot.1");
        settle(fixture);
        assert_file(fixture->directory, "boot.1", NULL);
}

/* The pause between two copies of a run that changes all the time has a limit. */
static void test_longest_pause(Fixture *fixture, gconstpointer data) {
        for (unsigned i = 0; i < 24; i++) {
                change(fixture, "boot.1", "old");
                pass(fixture, 3600);
        }
        change(fixture, "boot.1", "new");
        assert_file(fixture->directory, "boot.1", "old");
        pass(fixture, 3600);
        assert_file(fixture->directory, "boot.1", "new");
}

static void test_hurry(Fixture *fixture, gconstpointer data) {
        change(fixture, "boot.1", "one");
        change(fixture, "gone.1", "one");
        put(fixture->from, "other.1", "one");
        {
                g_autofree char *gone = path_in(fixture->from, "gone.1");

                g_assert_cmpint(g_unlink(gone), ==, 0);
        }
        record_copies_hurry(fixture->copies);
        settle(fixture);
        assert_file(fixture->directory, "boot.1", "one");
        assert_file(fixture->directory, "gone.1", NULL);
        assert_file(fixture->directory, "other.1", NULL);
}

static void test_large(Fixture *fixture, gconstpointer data) {
        g_autofree char *text = g_strnfill((1 << 20) + 1, 'x');

        change(fixture, "large.1", text);
        change(fixture, "boot.1", text + 1);
        pass(fixture, 60);
        assert_file(fixture->directory, "large.1", NULL);
        assert_file(fixture->directory, "boot.1", text + 1);
}

static bool is_archived(const char *run, void *userdata) {
        return g_str_equal(run, "told.1");
}

/* A run that runs still keeps its copy, or gets one at once; the end of another is told already. */
static void test_read(Fixture *fixture, gconstpointer data) {
        g_assert_cmpint(g_mkdir_with_parents(fixture->directory, 0700), ==, 0);
        put(fixture->directory, "told.1", "told");
        put(fixture->directory, "lost.1", "lost");
        put(fixture->directory, "boot.1", "old");
        put(fixture->from, "boot.1", "boot");
        put(fixture->from, "young.1", "young");
        {
                g_autofree char *half = g_build_filename(fixture->directory, "half.1.journal.new", NULL);

                g_assert_true(g_file_set_contents(half, "half", -1, NULL));
                record_copies_read(fixture->copies, is_archived, NULL);
                g_assert_false(g_file_test(half, G_FILE_TEST_EXISTS));
        }

        assert_file(fixture->directory, "told.1", NULL);
        assert_file(fixture->directory, "lost.1", NULL);
        assert_file(fixture->from, "lost.1" RECORD_LOST, "lost");
        assert_file(fixture->directory, "boot.1", "old");
        assert_file(fixture->from, "boot.1", "boot");
        pass(fixture, 0);
        assert_file(fixture->directory, "boot.1", "old");
        assert_file(fixture->directory, "young.1", "young");
        assert_file(fixture->directory, "lost.1" RECORD_LOST, NULL);
        record_copies_drop(fixture->copies, "boot.1");
        settle(fixture);
        assert_file(fixture->directory, "boot.1", NULL);
}

static void add(const char *name, void (*test)(Fixture *fixture, gconstpointer data)) {
        g_test_add(name, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        add("/record-copies/times", test_times);
        add("/record-copies/longest-pause", test_longest_pause);
        add("/record-copies/hurry", test_hurry);
        add("/record-copies/large", test_large);
        add("/record-copies/read", test_read);
        return g_test_run();
}
