/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests recovery with run records that are cut, damaged, or cannot be written. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "basic/cleanup.h"
#include "recoverable-leaves.h"
#include "recovery-stage.h"
#include "run/run.h"

static unsigned count_lines(const char *path, const char *part) {
        g_autofree char *text = NULL;
        unsigned n = 0;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (const char *found = text; (found = strstr(found, part)); found++)
                n++;

        return n;
}

/* Broken off behind each record: what was in flight is in flight, what had not begun begins, and it comes to the same.
 * Without its start, the run has not begun: nobody was told of it. */
static void test_any_record(void) {
        static const char root[] = "'root': { 'type': 'Sequence', 'children': [ { 'type': 'Quick', 'name': 'Q' },"
                                   "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Recoverable', 'name': 'B' },"
                                   "{ 'type': 'Quick', 'name': 'R' } ] }";
        g_autofree char *whole = NULL;
        gsize length = 0;

        {
                g_autoptr(RecoveryStage) stage = recovery_stage_new(root);
                g_autofree char *path = g_build_filename(stage->runtime, "finished", "t.1.journal", NULL);

                recovery_stage_start(stage, "");
                recovery_stage_end(stage, "A", STATUS_SUCCESS);
                recovery_stage_end(stage, "B", STATUS_SUCCESS);
                g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
        }

        for (const char *end = strchr(whole, '\n') + 1; end; end = strchr(end, '\n') ? strchr(end, '\n') + 1 : NULL) {
                g_autoptr(RecoveryStage) stage = recovery_stage_new(root);
                g_autofree char *path = NULL,
                                *history = g_build_filename(stage->runtime, "finished", "t.1.journal", NULL);

                manager_free(stage->manager);
                timers_free(stage->timers);
                path = recovery_stage_record(stage, "t.1");
                {
                        g_autofree char *directory = g_path_get_dirname(path);

                        g_assert_cmpint(g_mkdir_with_parents(directory, 0700), ==, 0);
                }
                g_assert_true(g_file_set_contents(path, whole, end - whole, NULL));
                recovery_stage_begin(stage);
                recovery_stage_turn(stage);
                if (end == strchr(whole, '\n') + 1) {
                        g_assert_null(runs_get(stage->manager->runs, "t.1"));
                        continue;
                }
                for (unsigned i = 0; i < 2; i++) {
                        const char *name = i == 0 ? "A" : "B";

                        if (recoverable_is_alive(name))
                                recoverable_end(name, STATUS_SUCCESS);
                        recovery_stage_turn(stage);
                }

                recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
                g_assert_cmpuint(count_lines(history, " finished "), ==, 1);
                /* Each is started or taken up by this daemon, or was over. */
                g_assert_cmpuint(strlen(recoverable_events("A")), <=, strlen("recover clean "));
        }
}

/* A member that the run does not fill in is written and read all the same, but not one that is not recovered. */
static void test_header_has_all(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        const Caller user = { .uid = 1000, .text = (char *) "UID 1000 (test)" };
        const TreeStart start = { .tree = "t", .instance = "i", .token = "series" };
        g_autofree char *error = NULL, *path = recovery_stage_record(stage, "t.1");
        g_autoptr(RunRecord) record = NULL;
        g_auto(RecordHeader) recovered = {};
        g_auto(RunSummary) summary = {};
        bool begun;

        g_assert_cmpint(once_reserved(stage->context, &error,
                                      manager_start_tree(stage->manager, &start, &user, &begun, &summary, &error)),
                        ==, 0);
        g_assert_cmpint(run_record_read_file(path, false, UINT64_MAX, &record, &error), ==, 0);

#define HAS_TEXT(member) g_assert_cmpstr(record->header.member, >, "");
#define HAS_NUMBER(member, name, type, max) g_assert_cmpuint(record->header.member, >, 0);
        RECORD_HEADER_START(HAS_TEXT, HAS_NUMBER)
        g_assert_cmpuint(record->header.seed, >, 0);

        recovery_stage_kill(stage);
        recovered = run_record_header(recovery_stage_run(stage, "t.1"));
        recovered.record_kib = record->header.record_kib; /* only the writer knows it */

#define SAME_TEXT(member) g_assert_cmpstr(record->header.member, ==, recovered.member);
#define SAME_NUMBER(member, name, type, max) g_assert_cmpuint(record->header.member, ==, recovered.member);
        RECORD_HEADER_START(SAME_TEXT, SAME_NUMBER)
        g_assert_cmpuint(record->header.seed, ==, recovered.seed);
}

static void write_record(const RecoveryStage *stage, const char *run, const char *text, gssize length) {
        g_autofree char *path = recovery_stage_record(stage, run);

        g_assert_true(g_file_set_contents(path, text, length, NULL));
}

static void test_set_aside(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *path = NULL, *good = NULL, *other = NULL;
        gsize length;
        char *byte;

        recovery_stage_start(stage, "");
        path = recovery_stage_record(stage, "t.1");
        g_assert_true(g_file_get_contents(path, &good, &length, NULL));

        /* A byte in the middle. */
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        other = g_memdup2(good, length + 1);
        byte = strstr(other, " start ");
        byte[1] = 'S';
        write_record(stage, "t.1", other, (gssize) length);
        /* Another boot. */
        write_record(stage, "t.2", good, (gssize) length);
        /* Another version. */
        write_record(stage, "t.3", "btd-journal 9 {} 5d1c0d5f\n", -1);
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);

        g_assert_true(is_there(stage->state, "t.1.journal.bad"));
        g_assert_true(is_there(stage->state, "t.2.journal.bad"));
        g_assert_true(is_there(stage->state, "t.3.journal.bad"));
        g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, 0);

        /* They are in nobody's way. */
        recovery_stage_start(stage, "");
        g_assert_true(recoverable_is_alive("A"));
}

/* Nothing can be written: the run goes on, and says what it would not survive. */
static void test_not_durable(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *runs = g_build_filename(stage->runtime, "runs", NULL);
        g_autofree char *expected = g_strdup_printf("%s cannot be created: Not a directory", runs);
        Run *run;

        g_assert_true(g_file_set_contents(runs, "in the way", -1, NULL));
        run = recovery_stage_start(stage, "");
        g_assert_false(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, expected);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

/* No file may become larger than it is. */
static void limit_files(uint64_t size, struct rlimit *ret_before) {
        struct rlimit limit;

        g_assert_cmpint(getrlimit(RLIMIT_FSIZE, ret_before), ==, 0);
        limit = *ret_before;
        limit.rlim_cur = size;
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
}

/* There was room for the beginning, and then there is none. */
static void test_not_durable_any_more(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Sequence', 'children': ["
                "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Recoverable', 'name': 'B' } ] }");
        g_autofree char *path = NULL, *expected = NULL;
        const Run *run = recovery_stage_start(stage, "");
        struct rlimit before;
        struct stat st;

        g_assert_true(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, NULL);
        path = recovery_stage_record(stage, "t.1");
        g_assert_cmpint(stat(path, &st), ==, 0);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");

        signal(SIGXFSZ, SIG_IGN);
        limit_files((uint64_t) st.st_size + 5, &before);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);

        expected = g_strdup_printf("%s cannot be written: File too large", path);
        g_assert_false(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, expected);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ~t.1 ");
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
        g_assert_cmpstr(recoverable_events("B"), ==, "start ");

        /* So it is halted, like all that the next daemon would not know of. */
        manager_leave(stage->manager);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("B"), ==, "start halt clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "btd is stopping");
}

/* A run keeps the limits of its variables and its record, and its tree, whatever the limits of the next daemon are. */
static void test_lower_limits(void) {
        g_autofree char *description = g_strnfill(1100, 'x'), *text = g_strnfill(1100, 'x'), *error = NULL,
                        *root = g_strdup_printf("'description': '%s', 'root': { 'type': 'Recoverable', 'name': 'A' }",
                                                description);
        g_autoptr(RecoveryStage) stage = recovery_stage_new(root);
        g_autofree char *path = recovery_stage_record(stage, "t.1");
        g_autoptr(json_object) values = json_object_new_object();
        Limits limits = limits_default;

        json_object_object_add(values, "a", json_object_new_string(text));
        recovery_stage_start(stage, "");
        recovery_stage_put(stage, "t.json", "{ 'btd': 1, 'root': { 'type': 'Recoverable' } }");

        limits.max[LIMIT_VARIABLES] = 1;
        limits.max[LIMIT_NODES] = limits.max[LIMIT_DEPTH] = 1;
        stage->limits = &limits;
        recovery_stage_kill(stage);
        g_assert_cmpint(run_set_values(recovery_stage_run(stage, "t.1"), values, NULL, &error), ==, 0);
        g_assert_true(run_is_durable(recovery_stage_run(stage, "t.1")));

        limits.max[LIMIT_RECORD] = 1;
        recovery_stage_kill(stage);
        g_assert_cmpint(run_set_values(recovery_stage_run(stage, "t.1"), values, NULL, &error), ==, 0);
        g_assert_cmpstr(run_not_durable(recovery_stage_run(stage, "t.1")), ==, NULL);
        g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/recovery-records/any-record", test_any_record);
        g_test_add_func("/recovery-records/header-has-all", test_header_has_all);
        g_test_add_func("/recovery-records/set-aside", test_set_aside);
        g_test_add_func("/recovery-records/not-durable", test_not_durable);
        g_test_add_func("/recovery-records/not-durable-any-more", test_not_durable_any_more);
        g_test_add_func("/recovery-records/lower-limits", test_lower_limits);
        return g_test_run();
}
