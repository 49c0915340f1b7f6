/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests Command with real processes. */

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "leaf-stage.h"
#include "leaf-types/leaf-types.h"

static const NodeType *const types[] = { &command_type, NULL };

static TestLeaf *command(LeafStage *stage, const char *rest) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"Command\", \"as\": \"child\", %s }", rest);

        return leaf_stage_start(stage, types, node);
}

/* rest: more keys, beginning with a comma. */
static TestLeaf *shell(LeafStage *stage, const char *script, const char *rest) {
        g_autoptr(json_object) text = json_object_new_string(script);
        g_autofree char *keys =
                g_strdup_printf("\"argv\": [\"/bin/sh\", \"-c\", %s] %s", json_object_to_json_string(text), rest);

        return command(stage, keys);
}

/* Adds a line to the file each time, and fails when there are two of them. */
#define SECOND_FAILS "echo >> \"$FILE\"; test \"$(wc -l < \"$FILE\")\" != 2"

static TestLeaf *count(LeafStage *stage, const char *file, const char *interval) {
        g_autofree char *rest =
                g_strdup_printf(", \"env\": { \"FILE\": \"%s\" }, \"interval\": \"%s\"", file, interval);

        return shell(stage, SECOND_FAILS, rest);
}

static char *make_file(void) {
        char *name = NULL;
        int fd = g_file_open_tmp("btd-command-XXXXXX", &name, NULL);

        g_assert_cmpint(fd, >=, 0);
        close(fd);
        return name;
}

static void test_once(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) good = command(stage, "\"argv\": [\"true\"]"),
                            bad = command(stage, "\"argv\": [\"false\"]"),
                            accepted = shell(stage, "exit 3", ", \"success_exit\": [3]");
        g_autofree char *text = test_leaf_describe(good), *later = NULL;

        g_assert_cmpint(good->status, ==, STATUS_RUNNING);
        g_assert_cmpstr(text, ==, "true to be started");
        g_assert_cmpint(test_leaf_wait(good), ==, STATUS_SUCCESS);
        later = test_leaf_describe(good);
        g_assert_cmpstr(later, ==, "");

        g_assert_cmpint(test_leaf_wait(bad), ==, STATUS_FAILURE);
        g_assert_cmpstr(bad->cause, ==, "exited with status 1");
        assert_cause(bad->reason, "exit-status", "{\"program\":\"false\",\"status\":1}");
        g_assert_cmpint(test_leaf_wait(accepted), ==, STATUS_SUCCESS);
}

static void test_again(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *file = make_file();
        int64_t start = g_get_monotonic_time();
        g_autoptr(TestLeaf) leaf = count(stage, file, "20ms");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "exited with status 1");
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(g_get_monotonic_time() - start, >=, 40000);
        g_unlink(file);
}

static void test_never_again(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) once = command(stage, "\"argv\": [\"true\"], \"interval\": \"infinity\""),
                            often = command(stage, "\"argv\": [\"true\"], \"interval\": \"10ms\"");

        test_leaf_wait(once);
        test_leaf_wait_reports(often, 3);
        g_assert_cmpuint(once->n_reports, ==, 1);
}

/* The interval goes from the end of one to the start of the next, so there are never two. */
static void test_slow(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *file = make_file();
        g_autofree char *rest = g_strdup_printf(
                ", \"env\": { \"LOCK\": \"%s.d\" }, \"interval\": \"10ms\", \"stderr\": \"error\"", file);
        g_autoptr(TestLeaf) leaf = shell(stage, "mkdir \"$LOCK\" || exit 1; sleep 0.05; rmdir \"$LOCK\"", rest);

        for (unsigned i = 1; i <= 3; i++)
                g_assert_cmpint(test_leaf_wait_reports(leaf, i), ==, STATUS_SUCCESS);
        g_clear_pointer(&leaf, test_leaf_free);

        rest = (g_free(rest), g_strconcat(file, ".d", NULL));
        g_rmdir(rest);
        g_unlink(file);
}

static void test_timeout(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *file = make_file();
        g_autofree char *rest =
                g_strdup_printf(", \"env\": { \"FILE\": \"%s\" }, \"interval\": \"10ms\", \"timeout\": \"1s\"", file);
        g_autoptr(TestLeaf) leaf = shell(stage, SECOND_FAILS " || exec sleep 100", rest);

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "timed out after 1s");
        assert_cause(leaf->reason, "timeout",
                     "{\"limit\":\"1s\",\"limit_usec\":1000000,\"where\":\"timeout of Node\"}");
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);
        g_unlink(file);
}

static void test_timeout_first(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = command(stage, "\"argv\": [\"sleep\", \"100\"], \"timeout\": \"10ms\"");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "timed out after 10ms");
}

/* The process ignores the signal, so its stop lasts; the value does not wait for that. */
static void test_timeout_without_the_stop(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = command(stage, "\"argv\": [\"sleep\", \"100\"], \"timeout\": \"1s\", "
                                                  "\"kill_signal\": \"SIGWINCH\", \"kill_timeout\": \"1h\"");
        g_autofree char *text = NULL;

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "timed out after 1s");
        text = test_leaf_describe(leaf);
        g_assert_true(g_str_has_prefix(text, "process ") && g_str_has_suffix(text, " to end"));
}

/* The process of a daemon that was killed is ended before the program runs again. */
static void test_left_behind(void) {
        static const char again[] = "{ \"type\": \"Command\", \"as\": \"child\", \"argv\": [\"true\"] }";
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) left = command(stage, "\"argv\": [\"sleep\", \"100\"]"), next = NULL, last = NULL;

        while (!json_object_object_get(left->memo, "pid"))
                g_main_context_iteration(NULL, true);
        next = leaf_stage_recover(stage, types, again, json_object_get(left->memo));
        g_assert_cmpint(next->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(next), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(left), !=, STATUS_SUCCESS);

        /* Nothing is left then. */
        last = leaf_stage_recover(stage, types, again, json_object_get(left->memo));
        g_assert_cmpint(test_leaf_wait(last), ==, STATUS_SUCCESS);
}

static void test_cannot_execute(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *file = make_file();
        g_autofree char *rest = g_strdup_printf("\"argv\": [\"%s\"], \"interval\": \"10ms\"", file), *cause = NULL;
        g_autoptr(TestLeaf) leaf = command(stage, rest);

        cause = g_strdup_printf("cannot execute %s: Permission denied", file);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, cause);

        g_assert_true(g_file_set_contents(file, "#!/bin/true\n", -1, NULL));
        g_assert_cmpint(g_chmod(file, 0755), ==, 0);
        while (leaf->status != STATUS_SUCCESS)
                test_leaf_wait_reports(leaf, leaf->n_reports + 1);
        g_unlink(file);
}

/* A program that cannot be started says nothing about what it checks. */
static void test_unknown(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *file = make_file();
        g_autofree char *argv = g_strdup_printf("\"argv\": [\"%s\"], \"interval\": \"10ms\", \"unknown\": ", file);
        g_autofree char *as_success = g_strconcat(argv, "\"success\"", NULL),
                        *as_running = g_strconcat(argv, "\"running\"", NULL);
        g_autoptr(TestLeaf) success = command(stage, as_success), running = command(stage, as_running),
                            failure = command(stage, "\"argv\": [\"false\"], \"unknown\": \"success\""),
                            slow = command(stage, "\"argv\": [\"sleep\", \"100\"], \"timeout\": \"10ms\", "
                                                  "\"unknown\": \"success\"");

        g_assert_cmpint(test_leaf_wait(success), ==, STATUS_SUCCESS);
        g_assert_cmpint(running->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(failure), ==, STATUS_FAILURE);
        g_assert_cmpint(test_leaf_wait(slow), ==, STATUS_FAILURE);
        g_assert_cmpint(running->status, ==, STATUS_RUNNING);

        g_assert_true(g_file_set_contents(file, "#!/bin/false\n", -1, NULL));
        g_assert_cmpint(g_chmod(file, 0755), ==, 0);
        while (running->status != STATUS_FAILURE)
                test_leaf_wait_reports(running, running->n_reports + 1);
        while (success->status != STATUS_FAILURE)
                test_leaf_wait_reports(success, success->n_reports + 1);
        g_unlink(file);
}

static void test_output(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = shell(stage, "echo 42", ", \"stdout\": \"answer\"");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(leaf, "answer"), ==, "42");
}

/* When the leaf is freed, the process ends, and no other one is started. */
static void test_released(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) running = command(stage, "\"argv\": [\"sleep\", \"100\"]"),
                            waiting = command(stage, "\"argv\": [\"true\"], \"interval\": \"10ms\""),
                            often = command(stage, "\"argv\": [\"true\"], \"interval\": \"10ms\"");
        g_autofree char *text = test_leaf_describe(running);
        int pid;

        while (!g_str_has_prefix(text, "process ")) {
                g_main_context_iteration(NULL, true);
                text = (g_free(text), test_leaf_describe(running));
        }
        pid = atoi(text + strlen("process "));
        test_leaf_wait(waiting);
        g_clear_pointer(&running, test_leaf_free);
        g_clear_pointer(&waiting, test_leaf_free);
        while (kill(pid, 0) == 0)
                (void) waitpid(pid, NULL, 0);
        test_leaf_wait_reports(often, 3);
        g_clear_pointer(&often, test_leaf_free);
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

static void assert_refused(const char *rest, const char *text) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"Command\", %s }", rest);
        g_autofree char *error = leaf_stage_check(types, node);

        g_assert_cmpstr(error, ==, text);
}

/* A condition is evaluated again, so its process is not recovered. */
static void test_no_action(void) {
        assert_refused("\"argv\": [\"true\"], \"on_recover\": \"rerun\"",
                       "unknown key 'on_recover'; 'btctl types Command' lists what a Command takes");
}

static void test_bad_parameters(void) {
        assert_refused("\"argv\": [\"bin/true\"]",
                       "argv[0]: \"bin/true\" must begin with \"/\", or be a name to look for in PATH");
        assert_refused("\"argv\": [\"true\"], \"interval\": \"1ms\"",
                       "interval: \"1ms\" is out of range; it must be at least 10ms");
        assert_refused("\"argv\": [\"true\"], \"interval\": 5", "interval: expected a time span such as \"150ms\" or "
                                                                "\"1min 30s\", not the number 5; a number has no unit");
        assert_refused("\"argv\": [\"{program}\"], \"interval\": \"{interval}\"", NULL);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/command/once", test_once);
        g_test_add_func("/command/again", test_again);
        g_test_add_func("/command/never-again", test_never_again);
        g_test_add_func("/command/slow", test_slow);
        g_test_add_func("/command/timeout", test_timeout);
        g_test_add_func("/command/timeout-first", test_timeout_first);
        g_test_add_func("/command/timeout-without-the-stop", test_timeout_without_the_stop);
        g_test_add_func("/command/left-behind", test_left_behind);
        g_test_add_func("/command/cannot-execute", test_cannot_execute);
        g_test_add_func("/command/unknown", test_unknown);
        g_test_add_func("/command/output", test_output);
        g_test_add_func("/command/released", test_released);
        g_test_add_func("/command/no-action", test_no_action);
        g_test_add_func("/command/bad-parameters", test_bad_parameters);

        return g_test_run();
}
