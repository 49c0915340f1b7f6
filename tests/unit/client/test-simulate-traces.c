/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests simulated runs by their traces. */

#include <string.h>

#include "basic/cleanup.h"
#include "simulated.h"

#define SECOND ((uint64_t) G_USEC_PER_SEC)

/* Returns the trace, to be freed. */
static char *play(const char *root, const char *script, SimulationOptions options, bool json, Status *ret_status) {
        g_autoptr(Definition) definition = tree_text_load(root);

        return simulated_play(definition, script, &options, json, ret_status);
}

static void check(const char *root, const char *script, const char *expected, Status expected_status) {
        Status status;
        g_autofree char *trace = play(root, script, (SimulationOptions){}, false, &status);

        g_assert_cmpstr(trace, ==, expected);
        g_assert_cmpstr(status_to_string(status), ==, status_to_string(expected_status));
}

static void test_default(void) {
        check(NODE("Sequence", "S", "", SPAWN("A") ", " UNIT("B") ", {'type': 'AlwaysFailure'}"), "{}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s + S/A: success\n"
              "   0.000s + S/B: success\n"
              "   0.000s x S/AlwaysFailure: failure: always fails\n"
              "   0.000s x S: failure: AlwaysFailure: always fails\n"
              "   0.000s x run: failure: S/AlwaysFailure: always fails\n",
              STATUS_FAILURE);
        check(NODE("Sequence", "S", "", SPAWN("A") ", " UNIT("B")),
              "{'default': {'after': '1s'}, 'leaves': {'A': 'success'}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s + S/A: success\n"
              "   0.000s * S/B: running\n"
              "   1.000s + S/B: success after 1s\n"
              "   1.000s + S: success after 1s\n"
              "   1.000s + run: success after 1s\n",
              STATUS_SUCCESS);
}

static void test_own_parameters(void) {
        check(NODE("Sequence", "S", "", "{'type': 'Log', 'message': 'hello'}, {'type': 'Sleep', 'duration': '90s'}"),
              "{'default': 'failure'}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s > S/Log: log: hello\n"
              "   0.000s + S/Log: success\n"
              "   0.000s * S/Sleep: running\n"
              "  90.000s + S/Sleep: success after 1min 30s\n"
              "  90.000s + S: success after 1min 30s\n"
              "  90.000s + run: success after 1min 30s\n",
              STATUS_SUCCESS);
        check("{'type': 'Sleep', 'duration': '90s'}", "{'leaves': {'Sleep': {'after': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * Sleep: running\n"
              "   1.000s + Sleep: success after 1s\n"
              "   1.000s + run: success after 1s\n",
              STATUS_SUCCESS);
}

static void test_halt_timeout(void) {
        static const char *const stubborn = "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'halt_timeout': '2s'}",
                                 *const timed = "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'timeout': '1s', "
                                                "'halt_timeout': '2s'}";

        check(stubborn, "{'halt': '1s', 'leaves': {'A': {'after': '1min', 'halt': '1h'}}}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * A: halting, halted by the script\n"
              "   3.000s # A: halted after 3s by the script; given up, because it had not ended 2s after it was told "
              "to end\n"
              "   3.000s # run: halted after 3s by the script\n",
              STATUS_HALTED);
        check(stubborn, "{'halt': '1s', 'leaves': {'A': {'after': '1min', 'halt': '2s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * A: halting, halted by the script\n"
              "   3.000s # A: halted after 3s by the script\n"
              "   3.000s # run: halted after 3s by the script\n",
              STATUS_HALTED);
        check(timed, "{'leaves': {'A': {'after': '1min', 'halt': '1h'}}}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   3.000s x A: failure after 3s: timed out after 1s; given up, because it had not ended 2s after it was "
              "told to end\n"
              "   3.000s x run: failure after 3s: A: timed out after 1s; given up, because it had not ended 2s after "
              "it was told to end\n",
              STATUS_FAILURE);
}

static void check_restart(const char *when, const char *result, const char *expected) {
        g_autofree char *file = g_strdup_printf("{'btd': 1, 'restart': '%s', 'root': %s}", when, SPAWN("A")),
                        *script = g_strdup_printf("{'leaves': {'A': '%s'}}", result), *trace = NULL, *json = NULL,
                        *line = NULL;
        g_autoptr(Definition) definition = tree_text_load_file(file);
        g_auto(GStrv) lines = NULL;
        Status status;

        trace = simulated_play(definition, script, &(SimulationOptions){}, false, &status);
        lines = g_strsplit(trace, "\n", -1);
        g_assert_cmpstr(lines[2], ==, expected);

        json = simulated_play(definition, script, &(SimulationOptions){}, true, &status);
        line = g_strdup_printf("\"event\":\"warning\",\"run\":\"run\",\"text\":\"btd would start another run, because "
                               "'restart' is '%s'; only one is simulated\"",
                               when);
        g_assert_true((strstr(json, line) != NULL) == (strstr(expected, "warning") != NULL));
}

/* The trace says what is not simulated. */
static void test_restart(void) {
        check_restart("on-failure", "failure",
                      "   0.000s ! run: warning: btd would start another run, because 'restart' is 'on-failure'; only "
                      "one is simulated");
        check_restart(
                "always", "success",
                "   0.000s ! run: warning: btd would start another run, because 'restart' is 'always'; only one is "
                "simulated");
        check_restart("on-failure", "success", "   0.000s + run: success");
        check_restart("no", "failure", "   0.000s x run: failure: A: failed");
}

static void test_ready(void) {
        /* The first success makes the run ready, once. */
        check(NODE("Sequence", "S", "",
                   "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'ready': true},"
                   "{'type': 'Spawn', 'name': 'B', 'argv': ['x'], 'ready': true}"),
              "{'leaves': {'A': {'after': '1s'}, 'B': {'after': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/A: running\n"
              "   1.000s + S/A: success after 1s\n"
              "   1.000s > run: ready\n"
              "   1.000s * S/B: running\n"
              "   2.000s + S/B: success after 1s\n"
              "   2.000s + S: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
        /* A cleanup does not make the run ready. */
        check("{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'ready': true, 'uninterruptible': true}",
              "{'leaves': {'A': {'after': '2s'}}, 'halt': '1s'}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * A: halting, halted by the script\n"
              "   2.000s + A: success after 2s\n"
              "   2.000s # run: halted after 2s by the script\n",
              STATUS_HALTED);
}

static void test_outcomes(void) {
        check(AROUND("RetryUntilSuccessful", "R", "'num_attempts': 3, ", SPAWN("A")),
              "{'leaves': {'A': [{'result': 'failure', 'after': '1.5s', 'cause': 'busy'}, 'failure']}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s * R/A: running\n"
              "   1.500s x R/A: failure after 1.5s: busy\n"
              "   1.500s x R/A: failure\n"
              "   1.500s x R/A: failure\n"
              "   1.500s x R: failure after 1.5s: failed 3 times; last: failed\n"
              "   1.500s x run: failure after 1.5s: R: failed 3 times; last: failed\n",
              STATUS_FAILURE);
        check(NODE("Fallback", "F", "", SPAWN("A") ", " AROUND("Inverter", "I", "", SPAWN("A"))),
              "{'leaves': {'F/A': 'failure', 'A': 'skipped'}}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s x F/A: failure\n"
              "   0.000s * F/I: running\n"
              "   0.000s ~ F/I/A: skipped\n"
              "   0.000s ~ F/I: skipped: A: skipped\n"
              "   0.000s x F: failure: A: failed\n"
              "   0.000s x run: failure: F/A: failed\n",
              STATUS_FAILURE);
}

static void test_timeouts(void) {
        static const char *const leaf = "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'timeout': '2s'}";
        g_autofree char *limited = g_strdup_printf(AROUND("Timeout", "T", "'timeout': '2.5s', ", "%s"), leaf);

        check(leaf, "{'leaves': {'A': {'after': '5s', 'halt': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   3.000s x A: failure after 3s: timed out after 2s\n"
              "   3.000s x run: failure after 3s: A: timed out after 2s\n",
              STATUS_FAILURE);
        check(leaf, "{'leaves': {'A': {'after': '2s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   2.000s + A: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
        check(limited, "{'leaves': {'A': {'after': '5s', 'halt': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * T: running\n"
              "   0.000s * T/A: running\n"
              "   2.500s . T: its timer has expired\n"
              "   2.500s * T/A: halting, stopped by T\n"
              "   3.000s # T/A: halted after 3s: stopped by T\n"
              "   3.000s x T: failure after 3s: timed out after 2.5s\n"
              "   3.000s x run: failure after 3s: T: timed out after 2.5s\n",
              STATUS_FAILURE);
}

/* A leaf that ends exactly at its timeout has ended in time. */
static void test_child_wins(void) {
        check(AROUND("Timeout", "T", "'timeout': '1s', ", SPAWN("A")), "{'leaves': {'A': {'after': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * T: running\n"
              "   0.000s * T/A: running\n"
              "   1.000s . T: its timer has expired\n"
              "   1.000s + T/A: success after 1s\n"
              "   1.000s + T: success after 1s\n"
              "   1.000s + run: success after 1s\n",
              STATUS_SUCCESS);
}

/* Infinity means never, and is not a number from which a delay is computed. */
static void test_endless_backoff(void) {
        check(AROUND("Retry", "R", "'num_attempts': 5, 'backoff': {'initial': 'infinity', 'max': 'infinity'}, ",
                     SPAWN("A")),
              "{'leaves': {'A': 'failure'}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s x R/A: failure\n"
              "   0.000s * run: running, nothing more can happen\n",
              STATUS_RUNNING);
}

static void test_backoff(void) {
        check(AROUND("Retry", "R", "'num_attempts': -1, 'backoff': {'initial': '1s', 'factor': 3, 'max': '5s'}, ",
                     SPAWN("A")),
              "{'leaves': {'A': ['failure', 'failure', 'failure', 'failure', 'success']}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s x R/A: failure\n"
              "   1.000s . R: its timer has expired\n"
              "   1.000s x R/A: failure\n"
              "   4.000s . R: its timer has expired\n"
              "   4.000s x R/A: failure\n"
              "   9.000s . R: its timer has expired\n"
              "   9.000s x R/A: failure\n"
              "  14.000s . R: its timer has expired\n"
              "  14.000s + R/A: success\n"
              "  14.000s + R: success after 14s\n"
              "  14.000s + run: success after 14s\n",
              STATUS_SUCCESS);
}

static void test_condition_changes(void) {
        check(NODE("ReactiveSequence", "R", "", UNIT("C") ", " SPAWN("A")),
              "{'leaves': {'A': {'after': '1min', 'halt': '500ms'},"
              " 'C': {'after': '100ms', 'changes': [{'at': '1s', 'result': 'success'},"
              " {'at': '2s', 'result': 'failure', 'cause': 'gone'}]}}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s * R/C: running\n"
              "   0.100s + R/C: success after 100ms\n"
              "   0.100s * R/A: running\n"
              "   2.000s x R/C: failure: gone\n"
              "   2.000s * R/A: halting, stopped by R\n"
              "   2.500s # R/A: halted after 2.4s: stopped by R\n"
              "   2.500s x R: failure after 2.5s: C: gone\n"
              "   2.500s x run: failure after 2.5s: R/C: gone\n",
              STATUS_FAILURE);
        check(NODE("ReactiveFallback", "R", "", UNIT("C") ", " SPAWN("A")),
              "{'leaves': {'A': {'after': 'infinity'},"
              " 'C': {'result': 'failure', 'cause': 'not yet', 'changes': [{'at': '2s', 'result': 'success'}]}}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s x R/C: failure: not yet\n"
              "   0.000s * R/A: running\n"
              "   2.000s + R/C: success\n"
              "   2.000s # R/A: halted after 2s: stopped by R\n"
              "   2.000s + R: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
}

/* A condition that is started late has changed before. */
static void test_condition_later(void) {
        check(NODE("Sequence", "S", "", "{'type': 'Sleep', 'duration': '3s'}, " UNIT("C")),
              "{'leaves': {'C': {'result': 'failure', 'changes': [{'at': '2s', 'result': 'success'}]}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/Sleep: running\n"
              "   3.000s + S/Sleep: success after 3s\n"
              "   3.000s + S/C: success\n"
              "   3.000s + S: success after 3s\n"
              "   3.000s + run: success after 3s\n",
              STATUS_SUCCESS);
}

static void test_halt_before_start(void) {
        check(NODE("WhileDoElse", "W", "", UNIT("C") ", " SPAWN("A") ", " SPAWN("B")),
              "{'leaves': {'C': {'changes': [{'at': '1s', 'result': 'failure'}]},"
              " 'A': {'after': '1min', 'halt': '2s'}, 'B': {'after': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * W: running\n"
              "   0.000s + W/C: success\n"
              "   0.000s * W/A: running\n"
              "   1.000s x W/C: failure\n"
              "   1.000s * W/A: halting, stopped by W\n"
              "   3.000s # W/A: halted after 3s: stopped by W\n"
              "   3.000s * W/B: running\n"
              "   4.000s + W/B: success after 1s\n"
              "   4.000s + W: success after 4s\n"
              "   4.000s + run: success after 4s\n",
              STATUS_SUCCESS);
}

static void test_guard_before_start(void) {
        g_autoptr(json_object) variables = json_object_new_object();
        g_autofree char *trace = NULL;
        Status status;

        json_object_object_add(variables, "g", json_object_new_boolean(false));
        trace = play(NODE("Parallel", "P", "",
                          NODE("ReactiveFallback", "R", "",
                               NODE("Sequence", "S", "",
                                    UNIT("Mid") ", {'type': 'Spawn', 'name': 'A2', 'argv': ['x'], 'skip_if': "
                                                "'g'}") ", " SPAWN("A3")) ", " SPAWN("Set")),
                     "{'leaves': {'Mid': {'result': 'failure', 'changes': [{'at': '1s', 'result': 'success'}]},"
                     " 'A3': {'after': '1min', 'halt': '4s'}, 'Set': {'after': '2s', 'outputs': {'g': true}}}}",
                     (SimulationOptions){ .variables = variables }, false, &status);
        g_assert_cmpstr(trace, ==,
                        "   0.000s > run: started with g=false\n"
                        "   0.000s * P: running\n"
                        "   0.000s * P/R: running\n"
                        "   0.000s * P/R/S: running\n"
                        "   0.000s x P/R/S/Mid: failure\n"
                        "   0.000s x P/R/S: failure: Mid: failed\n"
                        "   0.000s * P/R/A3: running\n"
                        "   0.000s * P/Set: running\n"
                        "   1.000s * P/R/S: running\n"
                        "   1.000s + P/R/S/Mid: success\n"
                        "   1.000s * P/R/A3: halting, stopped by P/R\n"
                        "   1.000s * P/R/S/A2: waiting for A3 to stop\n"
                        "   2.000s > P/Set: set g=true\n"
                        "   2.000s ~ P/R/S/A2: skipped: its skip_if is true: g\n"
                        "   2.000s + P/R/S: success after 1s\n"
                        "   2.000s + P/Set: success after 2s\n"
                        "   5.000s # P/R/A3: halted after 5s: stopped by P/R\n"
                        "   5.000s + P/R: success after 5s\n"
                        "   5.000s + P: success after 5s\n"
                        "   5.000s + run: success after 5s\n");
}

static void test_halt(void) {
        static const char *const root = NODE("Parallel", "P", "", SPAWN("A") ", " SPAWN("B"));

        check(root, "{'halt': '1s', 'leaves': {'A': {'after': '1min', 'halt': '2s'}, 'B': {'after': '1min'}}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/A: running\n"
              "   0.000s * P/B: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * P/A: halting, halted by the script\n"
              "   1.000s # P/B: halted after 1s by the script\n"
              "   1.000s * P: halting, halted by the script\n"
              "   3.000s # P/A: halted after 3s by the script\n"
              "   3.000s # P: halted after 3s by the script\n"
              "   3.000s # run: halted after 3s by the script\n",
              STATUS_HALTED);
        /* A hook that runs after a halt does not change the order. */
        check("{'type': 'Parallel', 'name': 'P', 'on_halted': 'assert(true)', 'children': [" SPAWN("A") ", " SPAWN(
                      "B") "]}",
              "{'halt': '1s', 'leaves': {'A': {'after': '1min', 'halt': '2s'}, 'B': {'after': '1min'}}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/A: running\n"
              "   0.000s * P/B: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * P/A: halting, halted by the script\n"
              "   1.000s # P/B: halted after 1s by the script\n"
              "   1.000s * P: halting, halted by the script\n"
              "   3.000s # P/A: halted after 3s by the script\n"
              "   3.000s # P: halted after 3s by the script\n"
              "   3.000s # run: halted after 3s by the script\n",
              STATUS_HALTED);
        check(root, "{'halt': '1s'}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s + P/A: success\n"
              "   0.000s + P/B: success\n"
              "   0.000s + P: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
}

static void test_outputs(void) {
        static const char *const root =
                NODE("Sequence", "S", "", SPAWN("A") ", {'type': 'Log', 'message': '{n} of {all}'}");
        g_autoptr(json_object) variables = json_object_new_object();
        g_autofree char *trace = NULL;
        Status status;

        check(root, "{'leaves': {'A': {'outputs': {'n': 1, 'all': 'many'}}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s > S/A: set n=1, all=\"many\"\n"
              "   0.000s + S/A: success\n"
              "   0.000s > S/Log: log: 1 of many\n"
              "   0.000s + S/Log: success\n"
              "   0.000s + S: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);

        json_object_object_add(variables, "n", json_object_new_int(2));
        trace = play(root, "{}", (SimulationOptions){ .variables = variables }, false, &status);
        g_assert_cmpstr(trace, ==,
                        "   0.000s > run: started with n=2\n"
                        "   0.000s * S: running\n"
                        "   0.000s + S/A: success\n"
                        "   0.000s ! S/Log: warning: would fail: message: there is no variable 'all'\n"
                        "   0.000s + S/Log: success\n"
                        "   0.000s + S: success\n"
                        "   0.000s + run: success\n");
}

/* A guard that is evaluated again with the same value is reported once. */
static void test_guards(void) {
        g_autoptr(json_object) variables = json_object_new_object();
        g_autofree char *trace = NULL;
        Status status;

        json_object_object_add(variables, "on", json_object_new_boolean(true));
        trace = play(NODE("Parallel", "P", "",
                          SPAWN("Set") ", {'type': 'Spawn', 'name': 'While', 'argv': ['x'], 'while': 'on'}, "
                                       "{'type': 'Spawn', 'name': 'Unless', 'argv': ['x'], 'skip_if': 'on'}"),
                     "{'leaves': {'Set': {'after': '1s', 'outputs': {'on': false}},"
                     " 'While': {'after': '1min', 'halt': '1s'}}}",
                     (SimulationOptions){ .variables = variables }, false, &status);
        g_assert_cmpstr(trace, ==,
                        "   0.000s > run: started with on=true\n"
                        "   0.000s * P: running\n"
                        "   0.000s * P/Set: running\n"
                        "   0.000s * P/While: running\n"
                        "   0.000s ~ P/Unless: skipped: its skip_if is true: on\n"
                        "   1.000s > P/Set: set on=false\n"
                        "   1.000s + P/Set: success after 1s\n"
                        "   1.000s * P/While: halting, its while is false: on\n"
                        "   1.000s + P/Unless: success\n"
                        "   2.000s # P/While: halted after 2s\n"
                        "   2.000s ~ P/While: skipped: its while is false: on\n"
                        "   2.000s + P: success after 2s\n"
                        "   2.000s + run: success after 2s\n");
        check(NODE("Sequence", "S", "",
                   SPAWN("Set") ", "
                                "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'skip_if': 'off'}, "
                                "{'type': 'Precondition', 'if': 'on', 'child': " SPAWN("B") "}"),
              "{'leaves': {'Set': {'outputs': {'off': true}}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s > S/Set: set off=true\n"
              "   0.000s + S/Set: success\n"
              "   0.000s ~ S/A: skipped: its skip_if is true: off\n"
              "   0.000s * S/Precondition: running\n"
              "   0.000s x S/Precondition: failure: its condition does not hold: on (on is not set)\n"
              "   0.000s x S: failure: Precondition: its condition does not hold: on (on is not set)\n"
              "   0.000s x run: failure: S/Precondition: its condition does not hold: on (on is not set)\n",
              STATUS_FAILURE);
}

/* Nodes that choose by cause get the causes of the scenario. */
static void test_causes(void) {
        check("{'type': 'RetryUntilSuccessful', 'name': 'R', 'num_attempts': 5, 'retry_on': ['exit-status:75', "
              "'timeout'], "
              "'child': " SPAWN("A") "}",
              "{'leaves': {'A': [{'result': 'failure', 'cause_kind': 'exit-status:75'},"
              " {'result': 'failure', 'cause': 'no such file', 'cause_kind': 'exit-status:1'}, 'success']}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s x R/A: failure: exit-status:75\n"
              "   0.000s x R/A: failure: no such file\n"
              "   0.000s x R: failure: A: no such file\n"
              "   0.000s x run: failure: R/A: no such file\n",
              STATUS_FAILURE);
        check("{'type': 'RetryUntilSuccessful', 'name': 'R', 'num_attempts': 2, 'retry_on': 'timeout', 'child': "
              "{'type': 'Timeout', 'name': 'T', 'timeout': '1s', 'child': " SPAWN("A") "}}",
              "{'default': {'after': '1min'}}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s * R/T: running\n"
              "   0.000s * R/T/A: running\n"
              "   1.000s . R/T: its timer has expired\n"
              "   1.000s # R/T/A: halted after 1s\n"
              "   1.000s x R/T: failure after 1s: timed out after 1s\n"
              "   1.000s * R/T: running\n"
              "   1.000s * R/T/A: running\n"
              "   2.000s . R/T: its timer has expired\n"
              "   2.000s # R/T/A: halted after 1s: stopped by R/T\n"
              "   2.000s x R/T: failure after 1s: timed out after 1s\n"
              "   2.000s x R: failure after 2s: failed 2 times; last: timed out after 1s\n"
              "   2.000s x run: failure after 2s: R: failed 2 times; last: timed out after 1s\n",
              STATUS_FAILURE);
}

static void test_variables_decide(void) {
        check("{'type': 'Switch', 'variable': 'v', 'cases': ['1'], 'children': [" SPAWN("One") ", " SPAWN("Else") "]}",
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * Switch: running\n"
              "   0.000s + Switch/Else: success\n"
              "   0.000s + Switch: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
}

#define GO(rest)                                                                                                       \
        "{'type': 'WhileDoElse', 'name': 'W', 'children': [{'type': 'Condition', 'name': 'Go', 'test': 'n > 1'}, "     \
        "{'type': 'Log', 'message': 'n is {n}'}, {'type': 'Sequence', 'children': [{'type': 'Sleep', 'duration': "     \
        "'1s'}, {'type': 'Script', 'name': 'Count', 'code': 'n = n + 1'}" rest "]}]}"

/* Script and Condition are evaluated, unless the scenario gives their outcome. */
static void test_computed(void) {
        g_autoptr(json_object) variables = json_object_new_object();
        const SimulationOptions options = { .variables = variables };
        g_autofree char *trace = NULL, *told = NULL;
        Status status;

        json_object_object_add(variables, "n", json_object_new_int(1));
        trace = play(GO(", {'type': 'Sleep', 'duration': 'infinity'}"), "{}", options, false, &status);
        g_assert_cmpstr(trace, ==,
                        "   0.000s > run: started with n=1\n"
                        "   0.000s * W: running\n"
                        "   0.000s x W/Go: failure: n > 1 is false (n is 1)\n"
                        "   0.000s * W/Sequence: running\n"
                        "   0.000s * W/Sequence/Sleep: running\n"
                        "   1.000s + W/Sequence/Sleep: success after 1s\n"
                        "   1.000s > W/Sequence/Count: set n=2\n"
                        "   1.000s + W/Sequence/Count: success\n"
                        "   1.000s * W/Sequence/Sleep: running\n"
                        "   1.000s + W/Go: success\n"
                        "   1.000s # W/Sequence/Sleep: halted: stopped by W\n"
                        "   1.000s # W/Sequence: halted after 1s: stopped by W\n"
                        "   1.000s > W/Log: log: n is 2\n"
                        "   1.000s + W/Log: success\n"
                        "   1.000s + W: success after 1s\n"
                        "   1.000s + run: success after 1s\n");
        g_assert_cmpint(status, ==, STATUS_SUCCESS);

        told = play(GO(""), "{'leaves': {'Go': 'failure', 'Count': {'outputs': {'n': 7}}}}", options, false, &status);
        g_assert_cmpstr(told, ==,
                        "   0.000s > run: started with n=1\n"
                        "   0.000s * W: running\n"
                        "   0.000s x W/Go: failure\n"
                        "   0.000s * W/Sequence: running\n"
                        "   0.000s * W/Sequence/Sleep: running\n"
                        "   1.000s + W/Sequence/Sleep: success after 1s\n"
                        "   1.000s > W/Sequence/Count: set n=7\n"
                        "   1.000s + W/Sequence/Count: success\n"
                        "   1.000s + W/Sequence: success after 1s\n"
                        "   1.000s + W: success after 1s\n"
                        "   1.000s + run: success after 1s\n");
}

static void test_computed_fails(void) {
        g_autoptr(json_object) variables = json_object_new_object();
        const SimulationOptions options = { .variables = variables };
        g_autofree char *trace = NULL;
        Status status;

        json_object_object_add(variables, "n", json_object_new_string("x"));
        trace = play(GO(""), "{}", options, false, &status);
        g_assert_nonnull(strstr(trace, "run: error: W/Go: n > 1: attempt to compare number with string"));
        g_assert_null(strstr(trace, "W/Go: failure"));
        g_assert_cmpint(status, ==, STATUS_ERROR);

        check("{'type': 'Script', 'name': 'S', 'code': 'local a = nil + 1'}", "{}",
              "   0.000s > run: started\n"
              "   0.000s ! S: error: local a = nil + 1: attempt to perform arithmetic on a nil value\n"
              "   0.000s ! run: error: S: local a = nil + 1: attempt to perform arithmetic on a nil value\n",
              STATUS_ERROR);
}

static void test_error(void) {
        check(NODE("Parallel", "P", "", SPAWN("B") ", " NODE("IfThenElse", "I", "", SPAWN("If") ", " SPAWN("Then"))),
              "{'leaves': {'If': {'result': 'skipped', 'after': '1s'}, 'B': {'after': '1min', 'halt': '1s'}}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/B: running\n"
              "   0.000s * P/I: running\n"
              "   0.000s * P/I/If: running\n"
              "   1.000s ~ P/I/If: skipped after 1s\n"
              "   1.000s ! P/I: error after 1s: its condition was skipped, which is neither true nor false\n"
              "   1.000s ! P: error after 1s: I: its condition was skipped, which is neither true nor false\n"
              "   1.000s * P/B: halting, stopped by P\n"
              "   2.000s # P/B: halted after 2s: stopped by P\n"
              "   2.000s ! run: error after 2s: P/I: its condition was skipped, which is neither true nor false\n",
              STATUS_ERROR);
}

static void test_left(void) {
        check(NODE("Sequence", "S", "", SPAWN("A") ", " SPAWN("B")), "{'leaves': {'B': {'after': 'infinity'}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s + S/A: success\n"
              "   0.000s * S/B: running\n"
              "   0.000s * run: running, nothing more can happen: S/B never ends\n",
              STATUS_RUNNING);
        check("{'type': 'Sleep', 'duration': '2h'}", "{}",
              "   0.000s > run: started\n"
              "   0.000s * Sleep: running\n"
              "3600.000s * run: running, not finished after 1h\n",
              STATUS_RUNNING);
        check("{'type': 'Sleep', 'duration': '1h'}", "{}",
              "   0.000s > run: started\n"
              "   0.000s * Sleep: running\n"
              "3600.000s + Sleep: success after 1h\n"
              "3600.000s + run: success after 1h\n",
              STATUS_SUCCESS);
}

static void test_endless(void) {
        g_autoptr(Definition) definition = tree_text_load(AROUND("KeepRunningUntilFailure", "K", "", SPAWN("A")));
        Status status;
        unsigned n_events = simulated_count(definition, "{'leaves': {'A': {'after': '1us'}}}",
                                            &(SimulationOptions){ .until = SPAN_INFINITY }, &status);

        g_assert_cmpint(status, ==, STATUS_RUNNING);
        g_assert_cmpuint(n_events, >=, SIMULATION_TICKS_MAX);
}

static void test_json(void) {
        Status status;
        g_autofree char *trace = play(NODE("Sequence", "S", "", SPAWN("A") ", {'type': 'Log', 'message': 'a/b'}"),
                                      "{'leaves': {'A': {'after': '1234567us'}, 'Log': 'success'}}",
                                      (SimulationOptions){}, true, &status);
        g_autofree char *left = play("{'type': 'Sleep', 'duration': '3s'}", "{'halt': '20ms'}",
                                     (SimulationOptions){ .until = 10000 }, true, &status);

        g_assert_cmpstr(
                trace, ==,
                "{\"number\":1,\"offset_usec\":0,\"event\":\"started\",\"run\":\"run\",\"variables\":{}}\n"
                "{\"number\":2,\"offset_usec\":0,\"event\":\"running\",\"run\":\"run\",\"node\":0,\"path\":\"S\"}\n"
                "{\"number\":3,\"offset_usec\":0,\"event\":\"running\",\"run\":\"run\",\"node\":1,\"path\":\"S/A\"}\n"
                "{\"number\":4,\"offset_usec\":1234567,\"event\":\"success\",\"run\":\"run\",\"node\":1,\"path\":\"S/"
                "A\",\"duration_usec\":1234567}\n"
                "{\"number\":5,\"offset_usec\":1234567,\"event\":\"log\",\"run\":\"run\",\"node\":2,\"path\":\"S/"
                "Log\",\"text\":\"a/b\"}\n"
                "{\"number\":6,\"offset_usec\":1234567,\"event\":\"success\",\"run\":\"run\",\"node\":2,\"path\":\"S/"
                "Log\"}\n"
                "{\"number\":7,\"offset_usec\":1234567,\"event\":\"success\",\"run\":\"run\",\"node\":0,\"path\":\"S\","
                "\"duration_usec\":1234567}\n"
                "{\"number\":8,\"offset_usec\":1234567,\"event\":\"success\",\"run\":\"run\",\"duration_usec\":1234567}"
                "\n");
        g_assert_cmpstr(
                left, ==,
                "{\"number\":1,\"offset_usec\":0,\"event\":\"started\",\"run\":\"run\",\"variables\":{}}\n"
                "{\"number\":2,\"offset_usec\":0,\"event\":\"running\",\"run\":\"run\",\"node\":0,\"path\":\"Sleep\"}\n"
                "{\"offset_usec\":10000,\"event\":\"running\",\"run\":\"run\",\"text\":\"not finished after 10ms\"}\n");
}

static void test_seed(void) {
        static const char *const root =
                AROUND("Retry", "R", "'num_attempts': 5, 'backoff': {'initial': '1s', 'jitter': 1}, ", SPAWN("A"));
        Status status;
        g_autofree char *first = play(root, "{'default': 'failure'}", (SimulationOptions){ .seed = 1 }, true, &status);
        g_autofree char *again = play(root, "{'default': 'failure'}", (SimulationOptions){ .seed = 1 }, true, &status);
        g_autofree char *other = play(root, "{'default': 'failure'}", (SimulationOptions){ .seed = 2 }, true, &status);

        g_assert_cmpstr(first, ==, again);
        g_assert_cmpstr(first, !=, other);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/simulate-traces/default", test_default);
        g_test_add_func("/simulate-traces/own-parameters", test_own_parameters);
        g_test_add_func("/simulate-traces/ready", test_ready);
        g_test_add_func("/simulate-traces/halt-timeout", test_halt_timeout);
        g_test_add_func("/simulate-traces/restart", test_restart);
        g_test_add_func("/simulate-traces/outcomes", test_outcomes);
        g_test_add_func("/simulate-traces/timeouts", test_timeouts);
        g_test_add_func("/simulate-traces/child-wins", test_child_wins);
        g_test_add_func("/simulate-traces/backoff", test_backoff);
        g_test_add_func("/simulate-traces/endless-backoff", test_endless_backoff);
        g_test_add_func("/simulate-traces/condition-changes", test_condition_changes);
        g_test_add_func("/simulate-traces/condition-later", test_condition_later);
        g_test_add_func("/simulate-traces/halt-before-start", test_halt_before_start);
        g_test_add_func("/simulate-traces/guard-before-start", test_guard_before_start);
        g_test_add_func("/simulate-traces/halt", test_halt);
        g_test_add_func("/simulate-traces/outputs", test_outputs);
        g_test_add_func("/simulate-traces/guards", test_guards);
        g_test_add_func("/simulate-traces/causes", test_causes);
        g_test_add_func("/simulate-traces/variables-decide", test_variables_decide);
        g_test_add_func("/simulate-traces/computed", test_computed);
        g_test_add_func("/simulate-traces/computed-fails", test_computed_fails);
        g_test_add_func("/simulate-traces/error", test_error);
        g_test_add_func("/simulate-traces/left", test_left);
        g_test_add_func("/simulate-traces/endless", test_endless);
        g_test_add_func("/simulate-traces/json", test_json);
        g_test_add_func("/simulate-traces/seed", test_seed);

        return g_test_run();
}
