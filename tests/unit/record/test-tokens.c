/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that tokens are known as long as they should be, whatever happens to btd, to the disk and to the clock. */

#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "record/tokens.h"
#include "remove-all.h"

#define DAY (UINT64_C(86400) * G_USEC_PER_SEC)

typedef struct Fixture {
        char *top, *directory, *runtime;
        Limits limits;
        GMainContext *context;
        Timers *timers;
        DiskQueue *disk;
        UpClock *clock;
        Tokens *tokens;
} Fixture;

/* A daemon begins. The time since the boot continues only if the boot does. */
static void begin(Fixture *fixture) {
        if (!fixture->timers)
                fixture->timers = timers_new_simulated();
        fixture->disk = disk_queue_new(fixture->context, fixture->timers, NULL, NULL);
        fixture->clock = up_clock_new(fixture->timers, fixture->runtime);
        up_clock_open(fixture->clock);
        fixture->tokens = tokens_new(fixture->directory, fixture->runtime, &fixture->limits, fixture->disk,
                                     fixture->timers, fixture->clock);
        tokens_read(fixture->tokens);
}

static void end(Fixture *fixture) {
        tokens_free(fixture->tokens);
        up_clock_free(fixture->clock);
        disk_queue_free(fixture->disk);
}

/* What there is to be written is written. */
static void settle(Fixture *fixture) {
        tokens_hurry(fixture->tokens);
        g_assert_true(disk_queue_finish(fixture->disk, UINT64_C(60) * G_USEC_PER_SEC));
}

static void pass(Fixture *fixture, uint64_t usec) {
        uint64_t target = timers_now(fixture->timers, TIMER_BOOTTIME) + usec;

        while (timers_next(fixture->timers) <= target) {
                timers_jump(fixture->timers, timers_next(fixture->timers));
                g_assert_true(disk_queue_finish(fixture->disk, UINT64_C(60) * G_USEC_PER_SEC));
        }
        timers_jump(fixture->timers, target);
}

static char *waiting_path(const Fixture *fixture) {
        return g_build_filename(fixture->runtime, "tokens.unsaved", NULL);
}

/* The machine is started again: what is on the tmpfs has gone. */
static void reboot(Fixture *fixture) {
        g_autofree char *waiting = waiting_path(fixture), *clock = g_build_filename(fixture->runtime, "clock", NULL);

        end(fixture);
        (void) g_unlink(waiting);
        (void) g_unlink(clock);
        g_clear_pointer(&fixture->timers, timers_free);
        begin(fixture);
}

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->top = g_dir_make_tmp("btd-tokens-XXXXXX", NULL);
        g_assert_nonnull(fixture->top);
        fixture->directory = g_build_filename(fixture->top, "state", NULL);
        fixture->runtime = g_build_filename(fixture->top, "run", NULL);
        g_assert_cmpint(g_mkdir(fixture->runtime, 0700), ==, 0);
        fixture->limits = limits_default;
        fixture->context = g_main_context_new();
        begin(fixture);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        end(fixture);
        timers_free(fixture->timers);
        g_main_context_unref(fixture->context);
        remove_all(fixture->top);
        g_free(fixture->top);
        g_free(fixture->directory);
        g_free(fixture->runtime);
}

static void set_of(Fixture *fixture, const char *token, const char *status, const char *cause, uint32_t uid) {
        g_autofree char *run = g_strconcat("boot.", token, NULL);
        const RunSummary state = {
                .run = run,
                .tree = (char *) "boot",
                .instance = (char *) "-",
                .token = (char *) token,
                .status = (char *) status,
                .cause = (char *) cause,
                .finished = g_str_equal(status, "running") ? 0 : 77,
        };

        tokens_set(fixture->tokens, &state, uid);
}

static void set(Fixture *fixture, const char *token, const char *status, const char *cause) {
        set_of(fixture, token, status, cause, 0);
}

static bool has(const Fixture *fixture, const char *token) {
        return tokens_has(fixture->tokens, "boot", "-", token);
}

static void assert_state(const Fixture *fixture, const char *token, const char *status, const char *cause) {
        g_auto(RunSummary) state = {};
        bool whole;

        g_assert_true(tokens_find(fixture->tokens, "boot", "-", token, &state, &whole));
        g_assert_true(g_str_has_prefix(state.run, "boot."));
        g_assert_cmpstr(state.run + strlen("boot."), ==, token);
        g_assert_cmpstr(state.tree, ==, "boot");
        g_assert_cmpstr(state.instance, ==, "-");
        g_assert_cmpstr(state.token, ==, token);
        g_assert_cmpstr(state.status, ==, status);
        g_assert_cmpstr(state.cause, ==, cause);
        g_assert_true(whole);
}

/* btd is killed at any moment; the texts of causes come back as they were. */
static void test_killed(Fixture *fixture, gconstpointer data) {
        static const char cause[] = " two\nlines, a tab\t, a \\ and \"ü\" ";

        set(fixture, "a", "running", NULL);
        set(fixture, "b", "failure", cause);
        set(fixture, "c", "running", "");
        set(fixture, "c", "success", "");
        for (unsigned i = 0; i < 2; i++) {
                end(fixture);
                begin(fixture);
                assert_state(fixture, "a", "running", "");
                assert_state(fixture, "b", "failure", cause);
                assert_state(fixture, "c", "success", "");
                g_assert_false(tokens_has(fixture->tokens, "boot", "", "a"));
                g_assert_false(has(fixture, "d"));
                settle(fixture);
        }
        reboot(fixture);
        assert_state(fixture, "b", "failure", cause);
}

static bool is_a(const char *run, void *userdata) {
        return g_str_equal(run, "boot.a");
}

static void test_lost(Fixture *fixture, gconstpointer data) {
        g_auto(RunSummary) state = {};
        bool whole;

        set(fixture, "a", "running", "");
        set(fixture, "b", "running", "");
        set(fixture, "c", "success", "");
        settle(fixture);
        reboot(fixture);
        tokens_lose(fixture->tokens, is_a, NULL);
        assert_state(fixture, "a", "running", "");
        assert_state(fixture, "c", "success", "");
        g_assert_true(tokens_find(fixture->tokens, "boot", "-", "b", &state, &whole));
        g_assert_cmpstr(state.status, ==, "lost");
        g_assert_cmpstr(state.cause, ==, "btd or the machine was restarted, and the run was not recovered");
        g_assert_cmpuint(state.finished, >, 0);
        /* Its record can be in the history after all. */
        g_assert_false(whole);
}

/* Age is the time for which the machine is up; a run that has not finished has none. */
static void test_age(Fixture *fixture, gconstpointer data) {
        fixture->limits.max[LIMIT_TOKEN_AGE] = 3;
        set(fixture, "long", "running", "");
        set(fixture, "a", "success", "");
        pass(fixture, 2 * DAY);
        set(fixture, "b", "success", "");
        settle(fixture);
        reboot(fixture);
        g_assert_true(has(fixture, "a") && has(fixture, "b"));
        pass(fixture, DAY + 1000000);
        g_assert_false(has(fixture, "a"));
        g_assert_true(has(fixture, "b") && has(fixture, "long"));
        set(fixture, "long", "success", "");
        pass(fixture, 2 * DAY);
        g_assert_false(has(fixture, "b"));
        g_assert_true(has(fixture, "long"));
}

/* Who has the most loses the oldest. */
static void test_number(Fixture *fixture, gconstpointer data) {
        fixture->limits.max[LIMIT_TOKENS] = 4;
        set_of(fixture, "mine", "success", "", 0);
        set_of(fixture, "long", "running", "", 1000);
        for (unsigned i = 0; i < 10; i++) {
                const char name[] = { (char) ('0' + i), '\0' };

                set_of(fixture, name, "success", "", 1000);
                g_assert_cmpuint(tokens_count(fixture->tokens), <=, 4);
        }
        for (unsigned i = 0; i < 2; i++) {
                g_assert_true(has(fixture, "mine") && has(fixture, "long") && has(fixture, "8") && has(fixture, "9"));
                g_assert_false(has(fixture, "7"));
                settle(fixture);
                end(fixture);
                begin(fixture);
        }
}

/* The end of a cause that is too long is only in the history. */
static void test_long_cause(Fixture *fixture, gconstpointer data) {
        g_autofree char *cause = g_strnfill(1000, 'x');
        g_auto(RunSummary) state = {};
        bool whole;

        set(fixture, "a", "failure", cause);
        g_assert_true(tokens_find(fixture->tokens, "boot", "-", "a", &state, &whole));
        g_assert_cmpuint(strlen(state.cause), ==, 256);
        g_assert_false(whole);
}

/* Torn and damaged lines are none, and hide no other. */
static void test_damage(Fixture *fixture, gconstpointer data) {
        g_autofree char *path = g_build_filename(fixture->directory, "tokens", NULL), *text = NULL;
        g_autoptr(GString) damaged = NULL;
        gsize length;

        set(fixture, "a", "success", "");
        set(fixture, "b", "success", "");
        settle(fixture);
        end(fixture);
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        damaged = g_string_new_len(text, (gssize) length - 5);
        g_string_append_len(damaged, "\0\0\0\0", 4);
        g_assert_true(g_file_set_contents(path, damaged->str, (gssize) damaged->len, NULL));
        begin(fixture);
        g_assert_true(has(fixture, "a"));
        g_assert_false(has(fixture, "b"));
        set(fixture, "c", "success", "");
        settle(fixture);
        reboot(fixture);
        g_assert_true(has(fixture, "a") && has(fixture, "c"));
}

/* The disk takes nothing for a while: the tokens wait on the tmpfs. */
static void test_full_disk(Fixture *fixture, gconstpointer data) {
        g_autofree char *waiting = waiting_path(fixture);
        struct stat st;

        g_assert_true(g_file_set_contents(fixture->directory, "in the way", -1, NULL));
        for (unsigned i = 0; i < 3000; i++)
                set(fixture, "a", i % 2 == 0 ? "running" : "success", "");
        pass(fixture, 5 * G_USEC_PER_SEC);
        g_assert_cmpint(g_stat(waiting, &st), ==, 0);
        g_assert_cmpint(st.st_size, <, 300000);
        end(fixture);
        begin(fixture);
        assert_state(fixture, "a", "success", "");

        g_assert_cmpint(g_unlink(fixture->directory), ==, 0);
        settle(fixture);
        g_assert_cmpint(g_stat(waiting, &st), ==, 0);
        g_assert_cmpint(st.st_size, ==, 0);
        reboot(fixture);
        assert_state(fixture, "a", "success", "");
}

/* Lines that do not count any more do not stay for ever. */
static void test_size(Fixture *fixture, gconstpointer data) {
        g_autofree char *path = g_build_filename(fixture->directory, "tokens", NULL);
        struct stat st;

        for (unsigned i = 0; i < 5000; i++) {
                set(fixture, i % 2 == 0 ? "a" : "b", "success", "");
                if (i % 50 == 0)
                        settle(fixture);
        }
        g_assert_cmpint(g_stat(path, &st), ==, 0);
        g_assert_cmpint(st.st_size, <, 100000);
        reboot(fixture);
        g_assert_cmpuint(tokens_count(fixture->tokens), ==, 2);
}

#define ADD(name, function) g_test_add("/tokens/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        ADD("killed", test_killed);
        ADD("lost", test_lost);
        ADD("age", test_age);
        ADD("number", test_number);
        ADD("long-cause", test_long_cause);
        ADD("damage", test_damage);
        ADD("full-disk", test_full_disk);
        ADD("size", test_size);
        return g_test_run();
}
