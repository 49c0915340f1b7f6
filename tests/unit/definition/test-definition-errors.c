/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the messages for bad tree files: all messages of each file, with line and column. */

#include <string.h>

#include "loaded.h"

/* What messages list. */
#define ANY_NODE                                                                                                       \
        "type, name, description, fail_if, success_if, skip_if, while, on_success, on_failure, on_halted, always, "    \
        "lock, uninterruptible, halt_timeout, clock, ready"
#define TREE_FILE                                                                                                      \
        "root, blackboard, inputs, outputs, trees, include, btd, description, autostart, interval, on_stop, restart, " \
        "restart_backoff, restart_limit, access, $schema"

static void test_bad_header(void) {
        static const struct {
                const char *text, *messages;
        } cases[] = {
                { "", "t:1:1: error: the file is empty; a tree file starts with {\"btd\": 1, ...}" },
                { "[]", "t:1:1: error: a tree file is an object, {\"btd\": 1, \"root\": ...}, not an array" },
                { "{}", "t:1:1: error: 'btd' is missing; a tree file needs it: the version of the format, which is "
                        "1\nt:1:1: error: 'root' is missing; a tree file needs it: the node at the top" },
                { "{\"btd\":1,\n  \"root\":{\"type\":\"Plain\"},\n  \"roots\":1}",
                  "t:3:3: error: unknown key 'roots'; did you mean 'root'? (a tree file takes: " TREE_FILE ")" },
                { "{\"btd\":1,\"root\":{\"type\":\"Plain\"},\"turnip\":1}",
                  "t:1:34: error: unknown key 'turnip' (a tree file takes: " TREE_FILE ")" },
                { "{\"btd\":\"1\",\"root\":{\"type\":\"Plain\"}}",
                  "t:1:8: error: btd: expected a whole number, not \"1\"; write it without quotes" },
                { "{\"btd\":1,\"root\":{\"type\":\"Plain\"},\"root\":5,\"btd\":1}",
                  "t:1:34: error: 'root' is given twice\n"
                  "t:1:41: error: expected a node, such as {\"type\": \"Sequence\", ...}, not 5\n"
                  "t:1:43: error: 'btd' is given twice" },
                { "{\"btd\":1,\"autostart\":1,\"interval\":5,\"description\":null,\"root\":{\"type\":\"Plain\"}}",
                  "t:1:22: error: autostart: expected true or false, not 1\nt:1:35: error: interval: expected a "
                  "time span such as \"150ms\" or \"1min 30s\", not the number 5; a number has no unit\nt:1:51: error: "
                  "description: expected a string, not null" },
                { "{\"btd\":1,\"interval\":\"5us\",\"root\":{\"type\":\"Plain\"}}",
                  "t:1:21: error: interval: \"5us\" is out of range; it must be at least 1ms" },
                { "{\"btd\":1,\"blackboard\":[],\"root\":{\"type\":\"Plain\"}}",
                  "t:1:23: error: blackboard: expected an object of variables, not an array" },
                { "{\"btd\":1,\"blackboard\":{\"a "
                  "b\":1,\"c\":1,\"c\":2,\"d\":{\"e\":1,\"e\":2}},\"root\":{\"type\":\"Plain\"}}",
                  "t:1:24: error: blackboard: 'a b' cannot be the name of a variable (a letter or '_', then letters, "
                  "digits, '_', '-' and '.')\nt:1:38: error: blackboard: 'c' is given twice\nt:1:55: error: "
                  "blackboard.d: 'e' is given twice" },
                { "{\"btd\":1,\"root\":{\"type\":\"Plain\"}} x",
                  "t:1:35: error: unexpected text after the end of the file's value" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                loaded_assert_bad(cases[i].text, strlen(cases[i].text), cases[i].messages);
        }

        loaded_assert_bad("{\"btd\":2,\"root\":{\"type\":\"Future\"}}", 34,
                          "t:1:8: error: btd: the file has version 2 of the format; this btd knows only version 1");
}

/* Each case is the root of a file that is fine otherwise: column 17 is the root's. */
static const struct {
        const char *root, *messages;
} bad_roots[] = {
        /* Nodes and their types. */
        { "5", "t:1:17: error: expected a node, such as {\"type\": \"Sequence\", ...}, not 5" },
        { "{}", "t:1:17: error: 'type' is missing; it says what the node is, such as \"Sequence\" (in ?)" },
        { "{\"type\":5}", "t:1:25: error: type: expected a string, not 5 (in ?)" },
        { "{\"type\":\"Exmaple\",\"unit\":5}",
          "t:1:25: error: unknown type 'Exmaple'; did you mean 'Example'? (in Exmaple)\nt:1:42: error: unit: expected "
          "a string, not 5 (in Exmaple)" },
        { "{\"type\":\"Specimem\",\"unit\":\"u\"}",
          "t:1:25: error: unknown type 'Specimem'; did you mean 'Specimen'? (in Specimem)" },
        { "{\"type\":\"Turnip\",\"name\":\"T\"}",
          "t:1:25: error: unknown type 'Turnip'; 'btctl types' lists all that there are (in T)" },
        { "{\"type\":\"Plain\",\"type\":\"Plain\",\"name\":\"a\",\"name\":\"b\"}",
          "t:1:33: error: 'type' is given twice (in a)\nt:1:59: error: 'name' is given twice (in a)" },

        /* Names. */
        { "{\"type\":\"Plain\",\"name\":\"\",\"description\":[]}",
          "t:1:40: error: name: it is empty; leave it out, or give one (in Plain)\nt:1:57: error: description: "
          "expected a string, not an array (in Plain)" },
        { "{\"type\":\"Plain\",\"name\":7}", "t:1:40: error: name: expected a string, not 7 (in Plain)" },
        { "{\"type\":\"Plain\",\"name\":\"a\\nb\"}",
          "t:1:40: error: name: it contains a control character (in Plain)" },

        { "{\"type\":\"Pl\\u001bin\"}", "t:1:25: error: unknown type 'Pl\\u001bin'; did you mean 'Plain'? (in ?)" },

        /* Children. */
        { "{\"type\":\"Many\"}",
          "t:1:17: error: a Many needs 'children', an array of nodes, and none is given (in Many)" },
        { "{\"type\":\"Many\",\"children\":{}}",
          "t:1:43: error: children: expected an array of nodes, not an object (in Many)" },
        { "{\"type\":\"Many\",\"children\":[]}", "t:1:43: error: a Many takes at least 1 child, not 0 (in Many)" },
        { "{\"type\":\"Couple\",\"children\":[{\"type\":\"Plain\"}]}",
          "t:1:45: error: a Couple takes exactly 2 children, not 1 (in Couple)" },
        { "{\"type\":\"Few\",\"children\":[]}", "t:1:42: error: a Few takes 1 to 3 children, not 0 (in Few)" },
        { "{\"type\":\"Many\",\"child\":{\"type\":\"Plain\"}}",
          "t:1:32: error: a Many takes 'children', an array of nodes, not 'child' (in Many)" },
        { "{\"type\":\"Inverse\"}",
          "t:1:17: error: an Inverse needs a 'child', a node, and none is given (in Inverse)" },
        { "{\"type\":\"Inverse\",\"children\":[{\"type\":\"Plian\"}]}",
          "t:1:35: error: an Inverse has one child: it takes 'child', a node, not 'children' (in Inverse)\nt:1:55: "
          "error: unknown type 'Plian'; did you mean 'Plain'? (in Inverse/Plian)" },
        { "{\"type\":\"Inverse\",\"child\":[]}", "t:1:43: error: child: expected one node, not an array (in Inverse)" },
        { "{\"type\":\"Plain\",\"children\":[]}",
          "t:1:33: error: a Plain is a leaf, so it takes no 'children' (in Plain)" },
        { "{\"type\":\"Plain\",\"child\":{\"type\":\"Many\"}}",
          "t:1:33: error: a Plain is a leaf, so it takes no 'child' (in Plain)\nt:1:41: error: a Many needs "
          "'children', an array of nodes, and none is given (in Plain/Many)" },

        /* Keys. */
        { "{\"type\":\"Plain\",\"nmae\":\"x\"}",
          "t:1:33: error: unknown key 'nmae'; did you mean 'name'? (any node takes: " ANY_NODE ") (in Plain)" },
        { "{\"type\":\"Inverse\",\"chidl\":{\"type\":\"Plain\"},\"child\":{\"type\":\"Plain\"}}",
          "t:1:35: error: unknown key 'chidl'; did you mean 'child'? (an Inverse takes: child; any node: " ANY_NODE
          ") (in Inverse)" },
        { "{\"type\":\"Plain\",\"skip_if\":5,\"always\":[]}",
          "t:1:43: error: skip_if: expected an expression, a string, not 5 (in Plain)\n"
          "t:1:54: error: always: expected code, a string, not [] (in Plain)" },
        { "{\"type\":\"Many\",\"quack\":\"x\",\"children\":[{\"type\":\"Plain\"}]}",
          "t:1:32: error: unknown key 'quack' (a Many takes: children; any node: " ANY_NODE ") (in Many)" },
        { "{\"type\":\"Wrapper\",\"delya\":\"1s\",\"child\":{\"type\":\"Plain\"}}",
          "t:1:35: error: unknown key "
          "'delya'; did you mean 'delay'? (a Wrapper takes: child, delay; any node: " ANY_NODE ") (in Wrapper)" },
        { "{\"type\":\"Example\"}", "t:1:17: error: 'unit' is missing; an Example needs it: its name (in Example)" },
        { "{\"type\":\"Example\",\"unit\":\"a\",\"unit\":\"b\"}", "t:1:46: error: 'unit' is given twice (in Example)" },

        /* References where none can be. */
        { "{\"type\":\"Wrapper\",\"delay\":\"{d}\",\"child\":{\"type\":\"Plain\"}}",
          "t:1:43: error: delay: a variable cannot be used here, because this must be known before the run; write '{{' "
          "for "
          "a brace (in Wrapper)" },
        { "{\"type\":\"Example\",\"unit\":\"a\",\"output\":\"{x}\"}",
          "t:1:55: error: output: a variable cannot be used here, because this must be known before the run; write "
          "'{{' "
          "for a brace (in Example)" },
        { "{\"type\":\"Example\",\"unit\":\"cam-{x\"}",
          "t:1:47: error: unit: the '{' of \"{x\" has no '}'; write '{{' for a brace (in Example)" },

        /* The type's own check. */
        { "{\"type\":\"Example\",\"unit\":\"bad\"}", "t:1:42: error: unit: a bad one (in Example)" },
};

static void test_bad_roots(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad_roots); i++) {
                g_autofree char *text = g_strdup_printf("{\"btd\":1,\"root\":%s}", bad_roots[i].root);

                g_test_message("%s", bad_roots[i].root);
                loaded_assert_bad(text, strlen(text), bad_roots[i].messages);
        }
}

/* Each case is the value of a parameter of an Example whose unit is fine; column 46 + the key's length. */
static const struct {
        const char *param, *value;
        unsigned column; /* of the fault, from the value on */
        const char *message;
} bad_params[] = {
        { "flag", "1", 0, "flag: expected true or false, not 1" },
        { "flag", "\"true\"", 0, "flag: expected true or false, not \"true\"; write it without quotes" },
        { "count", "\"3\"", 0, "count: expected a whole number, not \"3\"; write it without quotes" },
        { "count", "3.5", 0, "count: expected a whole number, not 3.5" },
        { "count", "0", 0, "count: 0 is out of range; it must be between 1 and 10" },
        { "count", "11", 0, "count: 11 is out of range; it must be between 1 and 10" },
        { "count", "18446744073709551615", 0,
          "count: 18446744073709551615 is out of range; it must be between 1 and 10" },
        { "count", "1e300", 0, "count: 1e300 is out of range; it must be between 1 and 10" },
        { "count", "99999999999999999999", 0, "count: the number does not fit into 64 bits" },
        { "count", "true", 0, "count: expected a whole number, not true" },
        { "ratio", "\"x\"", 0, "ratio: expected a number, not \"x\"" },
        { "ratio", "1.01", 0, "ratio: 1.01 is out of range; it must be between 0 and 1" },
        { "ratio", "1e999", 0, "ratio: the number is too large" },
        { "output", "null", 0, "output: expected a string, not null" },
        { "output", "[]", 0, "output: expected a string, not []" },
        { "timeout", "5", 0,
          "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not the number 5; a number has no unit" },
        { "timeout", "1.5", 0,
          "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not the number 1.5; a number has no unit" },
        { "timeout", "\"5\"", 0,
          "timeout: \"5\" is not a time span such as \"150ms\" or \"1min 30s\"; it has no unit" },
        { "timeout", "\"soon\"", 0, "timeout: \"soon\" is not a time span such as \"150ms\" or \"1min 30s\"" },
        { "timeout", "\"\"", 0, "timeout: \"\" is not a time span such as \"150ms\" or \"1min 30s\"" },
        { "timeout", "\"600000y\"", 0, "timeout: \"600000y\" is too long a time; \"infinity\" means no limit" },
        { "timeout", "{}", 0, "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not {}" },
        { "mode", "\"replaec\"", 0,
          "mode: \"replaec\" is none of \"replace\", \"fail\", \"isolate\"; did you mean \"replace\"?" },
        { "mode", "\"turnip\"", 0, "mode: \"turnip\" is none of \"replace\", \"fail\", \"isolate\"" },
        { "mode", "0", 0, "mode: expected one of \"replace\", \"fail\", \"isolate\", not 0" },
        { "argv", "\"ls -l\"", 0, "argv: expected an array of strings, not \"ls -l\"" },
        { "argv", "[\"a\", 5]", 6, "argv[1]: expected a string, not 5" },
        { "env", "[]", 0, "env: expected an object of strings, not []" },
        { "env", "{\"A\": 1}", 6, "env.A: expected a string, not 1" },
        { "env", "{\"A=B\": \"\"}", 1, "env: 'A=B' is no name: it is empty or has a '='" },
        { "env", "{\"\": \"\"}", 1, "env: '' is no name: it is empty or has a '='" },
        { "env", "{\"A\": \"\", \"A\": \"\"}", 10, "env: 'A' is given twice" },
        { "args", "[{\"k\": 1, \"k\": 2}]", 10, "args: 'k' is given twice" },
        { "inner", "5", 0, "inner: expected an object, not 5" },
        { "inner", "{}", 0, "inner: 'key' is missing: a key" },
        { "inner", "{\"key\": 1}", 8, "inner.key: expected a string, not 1" },
        { "inner", "{\"key\": \"k\", \"initial\": \"5\"}", 24,
          "inner.initial: \"5\" is not a time span such as \"150ms\" or \"1min 30s\"; it has no unit" },
        { "inner", "{\"key\": \"k\", \"initial\": \"1us\"}", 24,
          "inner.initial: \"1us\" is out of range; it must be at least 1ms" },
        { "inner", "{\"key\": \"k\", \"intial\": \"5s\"}", 13,
          "inner: unknown key 'intial'; did you mean 'initial'? (it takes: key, initial, count)" },
        { "inner", "{\"key\": \"k\", \"turnip\": 1}", 13,
          "inner: unknown key 'turnip' (it takes: key, initial, count)" },

        /* What is fixed is checked, though something else of it is a reference. */
        { "argv", "[\"{a}\", 5]", 8, "argv[1]: expected a string, not 5" },
        { "count", "\"1{a}\"", 0, "count: expected a whole number, not \"1{a}\"" },
        { "flag", "\"not {a}\"", 0, "flag: expected true or false, not \"not {a}\"" },
        { "inner", "{\"key\": \"{k}\", \"initial\": 7}", 26,
          "inner.initial: expected a time span such as \"150ms\" or \"1min 30s\", not the number 7; a number has no "
          "unit" },
        { "args", "[\"{a b}\"]", 2,
          "args[0]: '{a b}' does not name a variable (a letter or '_', then letters, digits, '_', '-' and '.'); write "
          "'{{' for a brace" },
};

static void test_bad_params(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad_params); i++) {
                g_autofree char *text = g_strdup_printf("{\"btd\":1,\"root\":{\"type\":\"Example\",\"unit\":\"a\",\"%"
                                                        "s\":%s},\"inputs\":{\"a\":\"any\",\"k\":\"any\"}}",
                                                        bad_params[i].param, bad_params[i].value);
                unsigned column = 49 + (unsigned) strlen(bad_params[i].param) + bad_params[i].column;
                g_autofree char *message =
                        g_strdup_printf("t:1:%u: error: %s (in Example)", column, bad_params[i].message);

                g_test_message("%s: %s", bad_params[i].param, bad_params[i].value);
                loaded_assert_bad(text, strlen(text), message);
        }
}

/* All faults of a file come at once, in order of place; columns count characters. */
static void test_all_at_once(void) {
        static const char *const text =
                "{\"btd\": 1, \"autostrat\": true,\n \"root\": {\"type\": \"Many\", \"name\": \"Gr\xc3\xbc\xc3\x9f\", "
                "\"children\": [\r\n  {\"type\": \"Example\", \"name\": \"\xc3\xa9\", \"unit\": 1},\r\n  {\"type\": "
                "\"Wrapper\", \"delay\": 5, \"child\": {\"type\": \"Exampel\"}},\r\n  7]}}";

        loaded_assert_bad(
                text, strlen(text),
                "t:1:12: error: unknown key 'autostrat'; did you mean 'autostart'? (a tree file takes: " TREE_FILE
                ")\nt:3:44: error: unit: expected a string, not 1 (in Gr\xc3\xbc\xc3\x9f/\xc3\xa9)\nt:4:32: "
                "error: delay: expected a time span such as \"150ms\" or \"1min 30s\", not the number 5; a number "
                "has no unit (in Gr\xc3\xbc\xc3\x9f/Wrapper)\nt:4:44: error: 'unit' is missing; an Example needs "
                "it: its name (in Gr\xc3\xbc\xc3\x9f/Wrapper/Exampel)\nt:4:53: error: unknown type 'Exampel'; did "
                "you mean 'Example'? (in Gr\xc3\xbc\xc3\x9f/Wrapper/Exampel)\nt:5:3: error: expected a node, such "
                "as {\"type\": \"Sequence\", ...}, not 7 (in Gr\xc3\xbc\xc3\x9f)");
}

static void test_syntax_error_is_alone(void) {
        static const char *const text = "{\"btd\": 7, \"root\": {\"type\": \"Turnip\"}\n  \"x\"}";

        loaded_assert_bad(text, strlen(text), "t:2:3: error: expected ',' or '}', not '\"'");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-errors/bad-header", test_bad_header);
        g_test_add_func("/definition-errors/bad-roots", test_bad_roots);
        g_test_add_func("/definition-errors/bad-params", test_bad_params);
        g_test_add_func("/definition-errors/all-at-once", test_all_at_once);
        g_test_add_func("/definition-errors/syntax-error-is-alone", test_syntax_error_is_alone);
        return g_test_run();
}
