/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests simulated trees with variables, scopes, locks and cleanups. */

#include "simulated.h"

static void check(const char *file, const char *script, const char *expected, Status expected_status) {
        g_autoptr(Definition) definition = tree_text_load_file(file);
        Status status;
        g_autofree char *trace = simulated_play(definition, script, &(SimulationOptions){}, false, &status);

        g_assert_cmpstr(trace, ==, expected);
        g_assert_cmpstr(status_to_string(status), ==, status_to_string(expected_status));
}

#define TREE(blackboard, root) "{'btd': 1, 'blackboard': {" blackboard "}, 'root': " root "}"
#define SCRIPT(name, code) "{'type': 'Script', 'name': '" name "', 'code': '" code "'}"

static void test_guards(void) {
        check(TREE("'battery': 15",
                   NODE("Sequence", "S", "",
                        "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'skip_if': 'battery < 20'}, {'type': 'Spawn', "
                        "'name': 'B', 'argv': ['x'], 'success_if': 'battery < 20'}, {'type': 'Spawn', 'name': 'C', "
                        "'argv': ['x'], 'fail_if': 'battery < 20'}")),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s ~ S/A: skipped: its skip_if is true: battery < 20 (battery is 15)\n"
              "   0.000s + S/B: success: its success_if is true: battery < 20 (battery is 15)\n"
              "   0.000s x S/C: failure: its fail_if is true: battery < 20 (battery is 15)\n"
              "   0.000s x S: failure: C: its fail_if is true: battery < 20 (battery is 15)\n"
              "   0.000s x run: failure: S/C: its fail_if is true: battery < 20 (battery is 15)\n",
              STATUS_FAILURE);
}

/* The output of one leaf makes the 'while' of another, running one false. */
static void test_while(void) {
        check(TREE("'on': true", NODE("Parallel", "P", "",
                                      "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'while': 'on'}, " SPAWN("B"))),
              "{'leaves': {'A': {'after': '1h', 'halt': '1s'}, 'B': {'after': '2s', 'outputs': {'on': false}}}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/A: running\n"
              "   0.000s * P/B: running\n"
              "   2.000s > P/B: set on=false\n"
              "   2.000s * P/A: halting, its while is false: on\n"
              "   2.000s + P/B: success after 2s\n"
              "   3.000s # P/A: halted after 3s\n"
              "   3.000s ~ P/A: skipped: its while is false: on\n"
              "   3.000s + P: success after 3s\n"
              "   3.000s + run: success after 3s\n",
              STATUS_SUCCESS);
}

#define LOOP(list)                                                                                                     \
        TREE("'e': 0, 'list': " list,                                                                                  \
             "{'type': 'Loop', 'name': 'L', 'queue': 'list', 'variable': 'e', 'child': " SPAWN("A") "}")

/* The same, whether the elements are equal or not, but only a new value is an event. */
static void test_loop(void) {
        check(LOOP("[1, 1, 1]"), "{}",
              "   0.000s > run: started\n"
              "   0.000s * L: running\n"
              "   0.000s > L: set e=1\n"
              "   0.000s + L/A: success\n"
              "   0.000s + L/A: success\n"
              "   0.000s + L/A: success\n"
              "   0.000s + L: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
        check(LOOP("[1, 2, 3]"), "{}",
              "   0.000s > run: started\n"
              "   0.000s * L: running\n"
              "   0.000s > L: set e=1\n"
              "   0.000s + L/A: success\n"
              "   0.000s > L: set e=2\n"
              "   0.000s + L/A: success\n"
              "   0.000s > L: set e=3\n"
              "   0.000s + L/A: success\n"
              "   0.000s + L: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
}

/* Also from inside a SubTree. */
static void test_outputs_for_the_run(void) {
        check("{'btd': 1, 'blackboard': {'g': 0}, 'trees': {'t': {'root': {'type': 'Spawn', 'name': 'A', 'argv': "
              "['x'], "
              "'stdout': '@g'}}}, 'root': " NODE(
                      "Sequence", "S", "",
                      "{'type': 'SubTree', 'tree': 't'}, {'type': 'Condition', 'test': 'g == 7'}") "}",
              "{'leaves': {'A': {'outputs': {'@g': 7}}}}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/t: running\n"
              "   0.000s > S/t/A: set @g=7\n"
              "   0.000s + S/t/A: success\n"
              "   0.000s + S/t: success\n"
              "   0.000s + S/Condition: success\n"
              "   0.000s + S: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
}

static void test_scripts_and_conditions(void) {
        check(TREE("'n': 0",
                   NODE("Parallel", "P", "",
                        AROUND("WaitFor", "W", "", "{'type': 'Condition', 'name': 'C', 'test': 'n >= 2'}") ", " AROUND(
                                "Repeat", "R", "'num_cycles': 2, ",
                                NODE("Sequence", "S", "",
                                     "{'type': 'Sleep', 'duration': '1s'}, " SCRIPT("Add", "n = n + 1"))))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/W: running\n"
              "   0.000s x P/W/C: failure: n >= 2 is false (n is 0)\n"
              "   0.000s * P/R: running\n"
              "   0.000s * P/R/S: running\n"
              "   0.000s * P/R/S/Sleep: running\n"
              "   1.000s + P/R/S/Sleep: success after 1s\n"
              "   1.000s > P/R/S/Add: set n=1\n"
              "   1.000s + P/R/S/Add: success\n"
              "   1.000s + P/R/S: success after 1s\n"
              "   1.000s * P/R/S: running\n"
              "   1.000s * P/R/S/Sleep: running\n"
              "   2.000s + P/R/S/Sleep: success after 1s\n"
              "   2.000s > P/R/S/Add: set n=2\n"
              "   2.000s + P/R/S/Add: success\n"
              "   2.000s + P/R/S: success after 1s\n"
              "   2.000s + P/R: success after 2s\n"
              "   2.000s + P/W/C: success\n"
              "   2.000s + P/W: success after 2s\n"
              "   2.000s + P: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
}

static void test_errors(void) {
        check(TREE("'level': null", NODE("Parallel", "P", "",
                                         SPAWN("A") ", {'type': 'Spawn', 'name': 'B', 'argv': ['x'], "
                                                    "'fail_if': 'level > 20'}")),
              "{'default': {'after': '1s', 'halt': '1s'}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/A: running\n"
              "   0.000s ! P/B: error: level > 20: attempt to compare number with nil (level is null)\n"
              "   0.000s ! P: error: B: level > 20: attempt to compare number with nil (level is null)\n"
              "   0.000s * P/A: halting, stopped by P\n"
              "   1.000s # P/A: halted after 1s: stopped by P\n"
              "   1.000s ! run: error after 1s: P/B: level > 20: attempt to compare number with nil (level is null)\n",
              STATUS_ERROR);
}

#define TREES                                                                                                          \
        "'trees': {'up': {'inputs': {'unit': 'string', 'tries': {'type': 'int', 'default': 1}}, 'outputs': {'text': "  \
        "'string'}, 'root': {'type': 'Sequence', 'name': 'Up', 'children': [{'type': 'Log', 'message': '{unit} "       \
        "{tries}'}, "                                                                                                  \
        "{'type': 'Script', 'code': 'text = unit .. [[!]]'}]}}}"

static void test_subtree(void) {
        check("{'btd': 1, 'blackboard': {'who': 'cam', 'text': ''}, " TREES
              ", 'root': {'type': 'Sequence', 'name': 'S', 'children': [{'type': 'SubTree', 'name': 'A', 'tree': 'up', "
              "'inputs': {'unit': '{who}'}, 'outputs': {'text': 'text'}, 'on_success': 'text = text .. [[?]]'}, "
              "{'type': "
              "'Log', 'message': '{text}'}]}}",
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/A: running\n"
              "   0.000s > S/A: set tries=1, unit=\"cam\"\n"
              "   0.000s * S/A/Up: running\n"
              "   0.000s > S/A/Up/Log: log: cam 1\n"
              "   0.000s + S/A/Up/Log: success\n"
              "   0.000s > S/A/Up/Script: set text=\"cam!\"\n"
              "   0.000s + S/A/Up/Script: success\n"
              "   0.000s + S/A/Up: success\n"
              "   0.000s > S/A: set text=\"cam!\"\n"
              "   0.000s > S/A: set text=\"cam!?\"\n"
              "   0.000s + S/A: success\n"
              "   0.000s > S/Log: log: cam!?\n"
              "   0.000s + S/Log: success\n"
              "   0.000s + S: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
        check("{'btd': 1, 'blackboard': {'who': 5}, " TREES
              ", 'root': {'type': 'SubTree', 'name': 'A', 'tree': 'up', 'inputs': {'unit': '{who}'}}}",
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * A: running\n"
              "   0.000s x A: failure: expected a string for 'unit', but got 5\n"
              "   0.000s x run: failure: A: expected a string for 'unit', but got 5\n",
              STATUS_FAILURE);
}

static void test_for_each(void) {
        check(TREE("'units': ['a', 'b', 'c']",
                   AROUND("ForEach", "F", "'items': '{units}', 'as': 'unit', 'index': 'i', 'concurrency': 2, ",
                          NODE("Sequence", "S", "", SPAWN("A") ", {'type': 'Log', 'message': '{i}: {unit}'}"))),
              "{'leaves': {'A': [{'after': '2s'}, {'after': '1s'}]}}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s > F/S[1: a]: set unit=\"a\", i=0\n"
              "   0.000s * F/S[1: a]: running\n"
              "   0.000s * F/S[1: a]/A: running\n"
              "   0.000s > F/S[2: b]: set unit=\"b\", i=1\n"
              "   0.000s * F/S[2: b]: running\n"
              "   0.000s * F/S[2: b]/A: running\n"
              "   2.000s + F/S[1: a]/A: success after 2s\n"
              "   2.000s > F/S[1: a]/Log: log: 0: a\n"
              "   2.000s + F/S[1: a]/Log: success\n"
              "   2.000s + F/S[1: a]: success after 2s\n"
              "   2.000s > F/S[1: c]: set unit=\"c\", i=2\n"
              "   2.000s * F/S[1: c]: running\n"
              "   2.000s * F/S[1: c]/A: running\n"
              "   2.000s + F/S[2: b]/A: success after 2s\n"
              "   2.000s > F/S[2: b]/Log: log: 1: b\n"
              "   2.000s + F/S[2: b]/Log: success\n"
              "   2.000s + F/S[2: b]: success after 2s\n"
              "   3.000s + F/S[1: c]/A: success after 1s\n"
              "   3.000s > F/S[1: c]/Log: log: 2: c\n"
              "   3.000s + F/S[1: c]/Log: success\n"
              "   3.000s + F/S[1: c]: success after 1s\n"
              "   3.000s + F: success after 3s\n"
              "   3.000s + run: success after 3s\n",
              STATUS_SUCCESS);
        /* One after another: the only child is no copy. */
        check(TREE("'units': ['a', 'b']",
                   AROUND("ForEach", "F", "'items': '{units}', 'as': 'unit', 'max_failures': 1, ",
                          NODE("Sequence", "S", "", SPAWN("A")))),
              "{'leaves': {'F/S/A': [{'after': '2s', 'result': 'failure', 'cause': 'no'}, {'after': '1s'}]}}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s > F/S[a]: set unit=\"a\"\n"
              "   0.000s * F/S[a]: running\n"
              "   0.000s * F/S[a]/A: running\n"
              "   2.000s x F/S[a]/A: failure after 2s: no\n"
              "   2.000s x F/S[a]: failure after 2s: A: no\n"
              "   2.000s > F/S[b]: set unit=\"b\"\n"
              "   2.000s * F/S[b]: running\n"
              "   2.000s * F/S[b]/A: running\n"
              "   3.000s + F/S[b]/A: success after 1s\n"
              "   3.000s + F/S[b]: success after 1s\n"
              "   3.000s + F: success after 3s: 1 of 2 elements failed\n"
              "   3.000s + run: success after 3s\n",
              STATUS_SUCCESS);
        /* The copies by their paths, or all of them. */
        check(TREE("'units': ['a', 'b']", AROUND("ForEach", "F", "'items': '{units}', 'as': 'unit', 'concurrency': 2, ",
                                                 NODE("Sequence", "S", "", SPAWN("A") ", " SPAWN("B")))),
              "{'leaves': {'F/S[2]/A': [{'after': '2s'}], 'F/S/B': [{'after': '1s'}]}}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s > F/S[1: a]: set unit=\"a\"\n"
              "   0.000s * F/S[1: a]: running\n"
              "   0.000s + F/S[1: a]/A: success\n"
              "   0.000s * F/S[1: a]/B: running\n"
              "   0.000s > F/S[2: b]: set unit=\"b\"\n"
              "   0.000s * F/S[2: b]: running\n"
              "   0.000s * F/S[2: b]/A: running\n"
              "   1.000s + F/S[1: a]/B: success after 1s\n"
              "   1.000s + F/S[1: a]: success after 1s\n"
              "   2.000s + F/S[2: b]/A: success after 2s\n"
              "   2.000s * F/S[2: b]/B: running\n"
              "   3.000s + F/S[2: b]/B: success after 1s\n"
              "   3.000s + F/S[2: b]: success after 3s\n"
              "   3.000s + F: success after 3s\n"
              "   3.000s + run: success after 3s\n",
              STATUS_SUCCESS);
        check(TREE("'units': 'a'",
                   AROUND("ForEach", "F", "'items': '{units}', 'as': 'unit', 'on_success': 'units = {}', ",
                          SPAWN("A"))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s x F: failure: items: expected an array, but {units} is \"a\"\n"
              "   0.000s x run: failure: F: items: expected an array, but {units} is \"a\"\n",
              STATUS_FAILURE);
}

static void test_lock(void) {
        check(TREE("", NODE("Parallel", "P", "",
                            "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'lock': 'disk'}, "
                            "{'type': 'Spawn', 'name': 'B', 'argv': ['x'], 'lock': 'disk'}")),
              "{'default': {'after': '1s'}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/A: running\n"
              "   0.000s * P/B: waiting for the lock 'disk'\n"
              "   1.000s + P/A: success after 1s\n"
              "   1.000s . P/B: got the lock 'disk'\n"
              "   1.000s * P/B: running, waited 1s\n"
              "   2.000s + P/B: success after 1s\n"
              "   2.000s + P: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
}

static void test_finally(void) {
        check(TREE("'log': ''", NODE("Finally", "F", "", SPAWN("A") ", " SPAWN("Clean"))),
              "{'leaves': {'A': {'after': '1min', 'halt': '2s'}, 'Clean': {'after': '1s'}}, 'halt': '5s'}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s * F/A: running\n"
              "   5.000s * run: halting, halted by the script\n"
              "   5.000s * F/A: halting, halted by the script\n"
              "   5.000s * F: halting, halted by the script\n"
              "   7.000s # F/A: halted after 7s by the script\n"
              "   7.000s * F/Clean: running\n"
              "   8.000s + F/Clean: success after 1s\n"
              "   8.000s # F: halted after 8s by the script\n"
              "   8.000s # run: halted after 8s by the script\n",
              STATUS_HALTED);
}

/* What a user sets; a value that btd would refuse is a warning. */
static void test_set(void) {
        check(TREE("'mode': 'a'", NODE("Switch", "S", "'variable': 'mode', 'cases': ['a'], ",
                                       "{'type': 'Sleep', 'name': 'A', 'duration': '1h'}, {'type': 'AlwaysSuccess'}")),
              "{'set': [{'at': '2s', 'variables': {'mode': 'b'}}, {'at': '1s', 'variables': {'other': 1}}]}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/A: running\n"
              "   1.000s ! run: warning: would be refused: the tree has no variable 'other'; its variables are those "
              "of "
              "its 'inputs' and 'blackboard', and what its nodes set\n"
              "   2.000s > run: set by the script, mode=\"b\"\n"
              "   2.000s # S/A: halted after 2s: stopped by S\n"
              "   2.000s + S/AlwaysSuccess: success\n"
              "   2.000s + S: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
}

/* The outcome of an uninterruptible leaf is reported with its cause; the halt around it waits. */
static void test_uninterruptible(void) {
        check(TREE("", NODE("Sequence", "S", "",
                            "{'type': 'Spawn', 'name': 'A', 'argv': ['x'], 'uninterruptible': true}, " SPAWN("B"))),
              "{'leaves': {'A': {'after': '10s', 'result': 'failure', 'cause': 'no space left'}}, 'halt': '5s'}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/A: running\n"
              "   5.000s * run: halting, halted by the script\n"
              "   5.000s * S/A: halting, halted by the script\n"
              "   5.000s * S: halting, halted by the script\n"
              "  10.000s x S/A: failure after 10s: no space left\n"
              "  10.000s # S: halted after 10s by the script\n"
              "  10.000s # run: halted after 10s by the script\n",
              STATUS_HALTED);
        check(TREE("'done': false",
                   NODE("Finally", "F", "",
                        NODE("Sequence", "S", "'uninterruptible': true, 'on_success': 'done = true', ",
                             SPAWN("A") ", " SPAWN("B")) ", {'type': 'Log', 'message': 'done: {done}'}")),
              "{'default': {'after': '2s'}, 'halt': '1s'}",
              "   0.000s > run: started\n"
              "   0.000s * F: running\n"
              "   0.000s * F/S: running\n"
              "   0.000s * F/S/A: running\n"
              "   1.000s * run: halting, halted by the script\n"
              "   1.000s * F/S: halting, halted by the script\n"
              "   1.000s * F: halting, halted by the script\n"
              "   2.000s + F/S/A: success after 2s\n"
              "   2.000s * F/S/B: running\n"
              "   4.000s + F/S/B: success after 2s\n"
              "   4.000s > F/S: set done=true\n"
              "   4.000s + F/S: success after 4s\n"
              "   4.000s > F/Log: log: done: true\n"
              "   4.000s + F/Log: success\n"
              "   4.000s # F: halted after 4s by the script\n"
              "   4.000s # run: halted after 4s by the script\n",
              STATUS_HALTED);
}

static void test_on_change(void) {
        check(TREE("'mode': 'a'", NODE("Parallel", "P", "'failure_count': 1, ",
                                       AROUND("Repeat", "R", "'num_cycles': 2, ",
                                              AROUND("OnChange", "O", "'of': 'mode', ",
                                                     "{'type': 'Log', 'message': '{mode}'}")) ", " SPAWN("B"))),
              "{'leaves': {'B': {'after': '2s', 'outputs': {'mode': 'b'}}}}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s * P/R: running\n"
              "   0.000s * P/R/O: running\n"
              "   0.000s > P/R/O/Log: log: a\n"
              "   0.000s + P/R/O/Log: success\n"
              "   0.000s + P/R/O: success\n"
              "   0.000s * P/B: running\n"
              "   0.000s * P/R/O: running\n"
              "   2.000s > P/B: set mode=\"b\"\n"
              "   2.000s > P/R/O/Log: log: b\n"
              "   2.000s + P/R/O/Log: success\n"
              "   2.000s + P/R/O: success after 2s\n"
              "   2.000s + P/R: success after 2s\n"
              "   2.000s + P/B: success after 2s\n"
              "   2.000s + P: success after 2s\n"
              "   2.000s + run: success after 2s\n",
              STATUS_SUCCESS);
}

/* The trace says why: the expression and its values. */
static void test_expressions_of_types(void) {
        check(TREE("'n': 3",
                   NODE("Sequence", "S", "",
                        AROUND("OnChange", "O", "'of': 'n', 'otherwise': 'skip', ", "{'type': 'AlwaysSuccess'}"))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * S: running\n"
              "   0.000s * S/O: running\n"
              "   0.000s + S/O/AlwaysSuccess: success\n"
              "   0.000s + S/O: success\n"
              "   0.000s + S: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
        check(TREE("'n': 3",
                   AROUND("Repeat", "R", "'num_cycles': 2, ",
                          AROUND("OnChange", "O", "'of': 'n', 'otherwise': 'skip', ", "{'type': 'AlwaysSuccess'}"))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * R: running\n"
              "   0.000s * R/O: running\n"
              "   0.000s + R/O/AlwaysSuccess: success\n"
              "   0.000s + R/O: success\n"
              "   0.000s * R/O: running\n"
              "   0.000s ~ R/O: skipped: its value has not changed: n (n is 3)\n"
              "   0.000s ~ R: skipped: O: its value has not changed: n (n is 3)\n"
              "   0.000s ~ run: skipped: R/O: its value has not changed: n (n is 3)\n",
              STATUS_SKIPPED);
        check(TREE("'n': 3", AROUND("Precondition", "P", "'if': 'n > 3', ", "{'type': 'AlwaysSuccess'}")), "{}",
              "   0.000s > run: started\n"
              "   0.000s * P: running\n"
              "   0.000s x P: failure: its condition does not hold: n > 3 (n is 3)\n"
              "   0.000s x run: failure: P: its condition does not hold: n > 3 (n is 3)\n",
              STATUS_FAILURE);
        check(TREE("'n': 3", NODE("Switch", "W", "'of': 'n * 2', 'cases': ['6'], ", SPAWN("Six") ", " SPAWN("Else"))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * W: running\n"
              "   0.000s + W/Six: success\n"
              "   0.000s + W: success\n"
              "   0.000s + run: success\n",
              STATUS_SUCCESS);
        check(TREE("'n': 'x'", NODE("Switch", "W", "'of': 'n * 2', 'cases': ['6'], ", SPAWN("Six") ", " SPAWN("Else"))),
              "{}",
              "   0.000s > run: started\n"
              "   0.000s * W: running\n"
              "   0.000s ! W: error: n * 2: attempt to mul a 'string' with a 'number' (n is \"x\")\n"
              "   0.000s ! run: error: W: n * 2: attempt to mul a 'string' with a 'number' (n is \"x\")\n",
              STATUS_ERROR);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/simulate-variables/guards", test_guards);
        g_test_add_func("/simulate-variables/while", test_while);
        g_test_add_func("/simulate-variables/loop", test_loop);
        g_test_add_func("/simulate-variables/outputs-for-the-run", test_outputs_for_the_run);
        g_test_add_func("/simulate-variables/scripts-and-conditions", test_scripts_and_conditions);
        g_test_add_func("/simulate-variables/errors", test_errors);
        g_test_add_func("/simulate-variables/subtree", test_subtree);
        g_test_add_func("/simulate-variables/for-each", test_for_each);
        g_test_add_func("/simulate-variables/lock", test_lock);
        g_test_add_func("/simulate-variables/finally", test_finally);
        g_test_add_func("/simulate-variables/set", test_set);
        g_test_add_func("/simulate-variables/uninterruptible", test_uninterruptible);
        g_test_add_func("/simulate-variables/on-change", test_on_change);
        g_test_add_func("/simulate-variables/expressions-of-types", test_expressions_of_types);
        return g_test_run();
}
