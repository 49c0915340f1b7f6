/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests all errors of a simulation's script, with their exact messages. */

#include <string.h>

#include "client/simulate/scenario.h"
#include "tree-text.h"

#define NO_LIST "\"success\", \"failure\", an object such as {\"after\": \"150ms\"}"

/* For the tree S: a Spawn A, a UnitState C, a Log, a Sleep, an AlwaysFailure, and a UnitState and a Spawn named Both.
 */
static const struct {
        const char *script, *error;
} faults[] = {
        { "",
          "script:1:1: error: the file is empty; a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}" },
        { "[]", "script:1:1: error: a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}, not an array" },
        { "{'leaves': }", "script:1:12: error: expected a value, not '}'" },
        { "{'leafs': {}}", "script:1:2: error: unknown key 'leafs'; did you mean 'leaves'? (a script takes: leaves, "
                           "default, set, halt)" },
        { "{'halt': '1s', 'halt': '2s'}", "script:1:16: error: 'halt' is given twice" },
        { "{'halt': 5}", "script:1:10: error: halt: expected a time span such as \"150ms\" or \"1min 30s\", not the "
                         "number 5; a number has no unit" },
        { "{'halt': 'soon'}",
          "script:1:10: error: halt: \"soon\" is not a time span such as \"150ms\" or \"1min 30s\"" },
        { "{'default': 'skipped'}", "script:1:13: error: result: \"skipped\" is none of \"success\", \"failure\"" },
        { "{'default': []}", "script:1:13: error: expected \"success\", \"failure\" or an object such as {\"after\": "
                             "\"150ms\"}, not an array" },
        { "{'default': {'outputs': {}}}",
          "script:1:14: error: unknown key 'outputs' (the default takes: result, after, halt, cause, cause_kind)" },
        { "{'leaves': []}",
          "script:1:12: error: leaves: expected an object, {\"LoadConfig\": \"failure\"}, not an array" },
        { "{'leaves': {'S': 'success'}}", "script:1:13: error: 'S' has the type Sequence and is no leaf; a script is "
                                          "about leaves only" },
        { "{'leaves': {'Slep': 'success'}}", "script:1:13: error: there is no leaf 'Slep'; did you mean 'Sleep'?" },
        { "{'leaves': {'S/Slep': 'success'}}",
          "script:1:13: error: there is no leaf 'S/Slep'; did you mean 'S/Sleep'?" },
        { "{'leaves': {'Nothing': 'success'}}",
          "script:1:13: error: there is no leaf 'Nothing'; name one, or give its path: Boot/Load" },
        { "{'leaves': {'A': 'success', 'A': 'failure'}}", "script:1:29: error: 'A' is given twice" },
        { "{'leaves': {'Both': 'success'}}",
          "script:1:13: error: 'Both' names an action and a condition; give the path of each" },
        { "{'leaves': {'A': 5}}", "script:1:18: error: expected " NO_LIST " or a list of such, not 5 (in A)" },
        { "{'leaves': {'A': [['success']]}}", "script:1:19: error: expected " NO_LIST ", not an array (in A)" },
        { "{'leaves': {'A': []}}",
          "script:1:18: error: this list is empty; give an outcome for each execution (in A)" },
        { "{'leaves': {'A': 'sucess'}}", "script:1:18: error: result: \"sucess\" is none of \"success\", \"failure\", "
                                         "\"skipped\"; did you mean \"success\"? (in A)" },
        { "{'leaves': {'S/A': {'result': 'no'}}}",
          "script:1:31: error: result: \"no\" is none of \"success\", \"failure\", \"skipped\" (in S/A)" },
        { "{'leaves': {'A': {'afer': '1s'}}}",
          "script:1:19: error: unknown key 'afer'; did you mean 'after'? (an "
          "action takes: result, after, halt, outputs, cause, cause_kind) (in A)" },
        { "{'leaves': {'A': {'after': '5'}}}", "script:1:28: error: after: \"5\" is not a time span such as \"150ms\" "
                                               "or \"1min 30s\"; it has no unit (in A)" },
        { "{'leaves': {'A': {'cause': 5}}}",
          "script:1:28: error: cause: expected a string, not 5; write it in double quotes (in A)" },
        { "{'leaves': {'A': {'outputs': 5}}}",
          "script:1:30: error: outputs: expected an object of variables, not 5 (in A)" },
        { "{'leaves': {'A': {'outputs': {'1st': 5}}}}",
          "script:1:31: error: outputs: '1st' cannot be the name of a variable (a letter or '_', then letters, digits, "
          "'_' and '-') (in A)" },
        { "{'leaves': {'A': {'outputs': {'a': 1, 'a': 2}}}}",
          "script:1:39: error: outputs: 'a' is given twice (in A)" },
        { "{'leaves': {'Log': {'after': '1s'}}}",
          "script:1:20: error: after: the type Log always completes at once (in Log)" },
        { "{'leaves': {'Log': {'halt': '1s'}}}",
          "script:1:20: error: halt: the type Log always completes at once (in Log)" },
        { "{'leaves': {'Sleep': 'failure'}}", "script:1:22: error: result: the type Sleep never fails (in Sleep)" },
        { "{'leaves': {'AlwaysFailure': 'success'}}",
          "script:1:30: error: result: the type AlwaysFailure never succeeds (in AlwaysFailure)" },
        { "{'leaves': {'C': 'skipped'}}",
          "script:1:18: error: result: \"skipped\" is none of \"success\", \"failure\" (in C)" },
        { "{'leaves': {'C': {'halt': '1s'}}}", "script:1:19: error: unknown key 'halt' (a condition takes: result, "
                                               "after, cause, cause_kind, changes) (in C)" },
        { "{'leaves': {'C': {'changes': {}}}}",
          "script:1:30: error: changes: expected a list, [{\"at\": \"1s\", \"result\": \"failure\"}], not an object "
          "(in C)" },
        { "{'leaves': {'C': {'changes': [5]}}}",
          "script:1:31: error: changes: expected objects with 'at' and 'result', not 5 (in C)" },
        { "{'leaves': {'C': {'changes': [{'result': 'failure'}]}}}",
          "script:1:31: error: 'at' is missing: when it happens, counted from the start of the run (in C)" },
        { "{'leaves': {'C': {'changes': [{'at': '1s'}]}}}", "script:1:31: error: 'result' is missing: the outcome of "
                                                            "the condition from then on, \"success\" or \"failure\" "
                                                            "(in C)" },
        { "{'leaves': {'C': {'changes': [{'at': '1s', 'to': 5, 'result': 'success'}]}}}",
          "script:1:44: error: unknown key 'to' (a change takes: at, result, cause, cause_kind) (in C)" },
        { "{'leaves': {'C': {'changes': [{'at': '1s', 'result': 'success'}, {'at': '1s', 'result': 'failure'}]}}}",
          "script:1:73: error: at: 1s is not later than the change before; put them in order (in C)" },
        { "{'leaves': {'A': {'cause_kind': 'exit-statu:2'}}}",
          "script:1:33: error: cause_kind: 'exit-statu' is not a kind of cause; did you mean 'exit-status'? (in A)" },
        { "{'leaves': {'A': {'cause_kind': 'org.example.*'}}}",
          "script:1:33: error: cause_kind: this names a single cause, so it cannot contain '*' (in A)" },
        { "{'leaves': {'C': {'changes': [{'at': '1s', 'result': 'failure', 'cause_kind': 'x'}]}}}",
          "script:1:79: error: cause_kind: 'x' is neither a kind of cause nor the name of a D-Bus error (in C)" },
};

static void test_faults(void) {
        g_autoptr(Definition) definition = tree_text_load(
                NODE("Sequence", "S", "",
                     SPAWN("A") ", " UNIT("C") ", {'type': 'Log', 'message': ''}, "
                                               "{'type': 'Sleep', 'duration': '1s'}, " UNIT("Both") ", " SPAWN(
                                                       "Both") ", {'type': 'AlwaysFailure'}"));

        for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
                g_autoptr(Diagnostics) diagnostics = diagnostics_new("script");
                g_autofree char *json = tree_text_to_json(faults[i].script), *error = NULL;
                Scenario *scenario = NULL;

                g_assert_cmpint(scenario_read(json, strlen(json), definition_tree(definition), diagnostics, &scenario),
                                <, 0);
                g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
                error = diagnostics_format(diagnostics, 0);
                g_assert_cmpstr(error, ==, faults[i].error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/scenario/faults", test_faults);

        return g_test_run();
}
