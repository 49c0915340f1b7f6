/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Loading tree files: what a good one gives, and for each bad one every message with its place. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "example-types.h"

/* What messages list. */
#define ANY_NODE                                                                                                       \
        "type, name, description, fail_if, success_if, skip_if, while, on_success, on_failure, on_halted, always, "    \
        "lock, uninterruptible, halt_timeout"
#define TREE_FILE                                                                                                      \
        "root, blackboard, inputs, outputs, trees, include, btd, description, autostart, interval, on_stop, restart, " \
        "restart_backoff, restart_limit, access, $schema"

/* All messages, one a line; "" when there are none. */
static char *messages_of(const Diagnostics *diagnostics) {
        GString *messages = g_string_new(NULL);

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *message = diagnostics_format(diagnostics, i);

                g_string_append_printf(messages, "%s%s", i > 0 ? "\n" : "", message);
        }

        return g_string_free(messages, false);
}

static Definition *load_good(const char *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;
        int r = definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition);

        messages = messages_of(diagnostics);
        g_assert_cmpstr(messages, ==, "");
        g_assert_cmpint(r, ==, 0);
        return definition;
}

static void assert_bad(const char *text, size_t length, const char *expected) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;
        int r = definition_load_text(text, length, example_tables, NULL, diagnostics, &definition);

        messages = messages_of(diagnostics);
        g_assert_cmpstr(messages, ==, expected);
        g_assert_cmpint(r, ==, -EINVAL);
        g_assert_null(definition);
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), >, 0);
}

static void test_whole(void) {
        static const char *const text =
                "{ // with a comment\n  \"$schema\": \"x\", \"btd\": 1, \"description\": \"a {b}\", \"autostart\": "
                "true, \"interval\": \"1s\",\n  \"blackboard\": { \"primary\": \"eth0\", \"n\": [1, \"{raw}\"] },\n  "
                "\"root\": { \"type\": \"Many\", \"name\": \"Boot\", \"description\": \"why\", \"children\": [\n    { "
                "\"type\": \"Specimen\", \"name\": \"Cam\", \"unit\": \"cam\", \"timeout\": \"5s\" },\n    { "
                "\"child\": { \"type\": \"Plain\" }, \"delay\": \"150ms\", \"type\": \"Wrapper\" },\n    { \"type\": "
                "\"Plain\" } ] } }\n";
        g_autoptr(Definition) definition = load_good(text);
        const Tree *tree = definition_tree(definition);
        const Example *example = tree->nodes[1].params;
        g_autofree char *path = tree_node_path(tree, 3);

        g_assert_cmpstr(definition_description(definition), ==, "a {b}");
        g_assert_true(definition_autostart(definition));
        g_assert_cmpstr(definition_text(definition), ==, text);
        g_assert_cmpstr(json_object_to_json_string_ext(definition_blackboard(definition), JSON_C_TO_STRING_PLAIN), ==,
                        "{\"primary\":\"eth0\",\"n\":[1,\"{raw}\"]}");

        g_assert_cmpuint(tree->n_nodes, ==, 5);
        g_assert_cmpuint(tree->interval, ==, 1000000);
        g_assert_true(tree->nodes[0].type == &many_type);
        g_assert_true(tree->nodes[1].type == &example_type);
        g_assert_cmpstr(tree_node_name(tree, 1), ==, "Cam");
        g_assert_cmpstr(tree_node_name(tree, 4), ==, "Plain");
        g_assert_cmpstr(path, ==, "Boot/Wrapper/Plain");
        g_assert_cmpstr(example->unit, ==, "cam");
        g_assert_cmpuint(example->timeout, ==, 5000000);
        g_assert_cmpuint(*(const uint64_t *) tree->nodes[2].params, ==, 150000);
}

static void test_defaults(void) {
        g_autoptr(Definition) definition = load_good("{\"btd\":1,\"root\":{\"type\":\"Plain\"}}");
        g_autoptr(Definition) again = definition_ref(definition);

        g_assert_null(definition_description(definition));
        g_assert_false(definition_autostart(definition));
        g_assert_cmpuint(definition_tree(again)->interval, ==, TREE_INTERVAL_DEFAULT);
        g_assert_cmpint(json_object_object_length(definition_blackboard(definition)), ==, 0);
        g_assert_cmpstr(definition_hash(definition), ==,
                        "8c5914c5c6b3d48a6487b77ab2a135b8b9b200880f80733daefe73405fe78ab4");
        definition_unref(NULL);
}

/* What is wrong at the top of a file. */
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
                  "t:1:8: error: btd: expected a whole number, not a string" },
                { "{\"btd\":1,\"root\":{\"type\":\"Plain\"},\"root\":5,\"btd\":1}",
                  "t:1:34: error: 'root' is given twice\nt:1:43: error: 'btd' is given twice" },
                { "{\"btd\":1,\"autostart\":1,\"interval\":5,\"description\":null,\"root\":{\"type\":\"Plain\"}}",
                  "t:1:22: error: autostart: expected true or false, not a number\nt:1:35: error: interval: expected a "
                  "time span such as \"150ms\" or \"1min 30s\", not the number 5; a number has no unit\nt:1:51: error: "
                  "description: expected a string, not null" },
                { "{\"btd\":1,\"interval\":\"5us\",\"root\":{\"type\":\"Plain\"}}",
                  "t:1:21: error: interval: \"5us\" is out of range; it must be at least 1ms" },
                { "{\"btd\":1,\"blackboard\":[],\"root\":{\"type\":\"Plain\"}}",
                  "t:1:23: error: blackboard: expected an object of variables, not an array" },
                { "{\"btd\":1,\"blackboard\":{\"a "
                  "b\":1,\"c\":1,\"c\":2,\"d\":{\"e\":1,\"e\":2}},\"root\":{\"type\":\"Plain\"}}",
                  "t:1:24: error: blackboard: 'a b' cannot be the name of a variable: a letter or '_', then letters, "
                  "digits, '_', '-' and '.'\nt:1:38: error: blackboard: 'c' is given twice\nt:1:55: error: "
                  "blackboard.d: 'e' is given twice" },
                { "{\"btd\":1,\"root\":{\"type\":\"Plain\"}} x",
                  "t:1:35: error: something follows the end of the tree file" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                assert_bad(cases[i].text, strlen(cases[i].text), cases[i].messages);
        }

        assert_bad("{\"btd\":2,\"root\":{\"type\":\"Future\"}}", 34,
                   "t:1:8: error: btd: the file is of version 2 of the format, and only version 1 is known here");
}

/* Each case is the root of a file that is fine otherwise: column 17 is the root's. */
static const struct {
        const char *root, *messages;
} bad_roots[] = {
        /* Nodes and their types. */
        { "5", "t:1:17: error: expected a node, such as {\"type\": \"Sequence\", ...}, not a number" },
        { "{}", "t:1:17: error: 'type' is missing; it says what the node is, such as \"Sequence\" (in ?)" },
        { "{\"type\":5}", "t:1:25: error: type: expected a string, not a number (in ?)" },
        { "{\"type\":\"Exmaple\",\"unit\":5}",
          "t:1:25: error: unknown type 'Exmaple'; did you mean 'Example'? (in Exmaple)\nt:1:42: error: unit: expected "
          "a string, not a number (in Exmaple)" },
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
        { "{\"type\":\"Plain\",\"name\":7}", "t:1:40: error: name: expected a string, not a number (in Plain)" },
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
        { "{\"type\":\"Inverse\",\"child\":[]}",
          "t:1:43: error: expected a node, such as {\"type\": \"Sequence\", ...}, not an array (in Inverse)" },
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
          "t:1:43: error: skip_if: expected an expression, a string, not a number (in Plain)\n"
          "t:1:54: error: always: expected code, a string, not an array (in Plain)" },
        { "{\"type\":\"Many\",\"quack\":\"x\",\"children\":[{\"type\":\"Plain\"}]}",
          "t:1:32: error: unknown key 'quack' (a Many takes: children; any node: " ANY_NODE ") (in Many)" },
        { "{\"type\":\"Wrapper\",\"delya\":\"1s\",\"child\":{\"type\":\"Plain\"}}",
          "t:1:17: error: 'delay' is missing; a Wrapper needs it: how long (in Wrapper)\nt:1:35: error: unknown key "
          "'delya'; did you mean 'delay'? (a Wrapper takes: child, delay; any node: " ANY_NODE ") (in Wrapper)" },
        { "{\"type\":\"Example\"}", "t:1:17: error: 'unit' is missing; an Example needs it: its name (in Example)" },
        { "{\"type\":\"Example\",\"unit\":\"a\",\"unit\":\"b\"}", "t:1:46: error: 'unit' is given twice (in Example)" },

        /* References where none can be. */
        { "{\"type\":\"Wrapper\",\"delay\":\"{d}\",\"child\":{\"type\":\"Plain\"}}",
          "t:1:43: error: delay: a variable cannot stand here, since this must be known before the run; write '{{' for "
          "a brace (in Wrapper)" },
        { "{\"type\":\"Example\",\"unit\":\"a\",\"output\":\"{x}\"}",
          "t:1:55: error: output: a variable cannot stand here, since this must be known before the run; write '{{' "
          "for a brace (in Example)" },
        { "{\"type\":\"Example\",\"unit\":\"cam-{x\"}",
          "t:1:42: error: unit: the '{' of \"{x\" has no '}'; write '{{' for a brace (in Example)" },

        /* The type's own check. */
        { "{\"type\":\"Example\",\"unit\":\"bad\"}", "t:1:17: error: unit: a bad one (in Example)" },
};

static void test_bad_roots(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad_roots); i++) {
                g_autofree char *text = g_strdup_printf("{\"btd\":1,\"root\":%s}", bad_roots[i].root);

                g_test_message("%s", bad_roots[i].root);
                assert_bad(text, strlen(text), bad_roots[i].messages);
        }
}

/* Each case is the value of a parameter of an Example whose unit is fine; column 46 + the key's length. */
static const struct {
        const char *param, *value;
        unsigned column; /* of the fault, from the value on */
        const char *message;
} bad_params[] = {
        { "flag", "1", 0, "flag: expected true or false, not a number" },
        { "flag", "\"true\"", 0, "flag: expected true or false, not a string" },
        { "count", "\"3\"", 0, "count: expected a whole number, not a string" },
        { "count", "3.5", 0, "count: expected a whole number, not a number" },
        { "count", "0", 0, "count: 0 is out of range; it must be between 1 and 10" },
        { "count", "11", 0, "count: 11 is out of range; it must be between 1 and 10" },
        { "count", "18446744073709551615", 0,
          "count: 18446744073709551615 is out of range; it must be between 1 and 10" },
        { "count", "1e300", 0, "count: 1e300 is out of range; it must be between 1 and 10" },
        { "count", "99999999999999999999", 0, "count: the number does not fit into 64 bits" },
        { "count", "true", 0, "count: expected a whole number, not true" },
        { "ratio", "\"x\"", 0, "ratio: expected a number, not a string" },
        { "ratio", "1.01", 0, "ratio: 1.01 is out of range; it must be between 0 and 1" },
        { "ratio", "1e999", 0, "ratio: the number is too large" },
        { "output", "null", 0, "output: expected a string, not null" },
        { "output", "[]", 0, "output: expected a string, not an array" },
        { "timeout", "5", 0,
          "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not the number 5; a number has no unit" },
        { "timeout", "1.5", 0,
          "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not the number 1.5; a number has no unit" },
        { "timeout", "\"5\"", 0,
          "timeout: \"5\" is not a time span such as \"150ms\" or \"1min 30s\"; it has no unit" },
        { "timeout", "\"soon\"", 0, "timeout: \"soon\" is not a time span such as \"150ms\" or \"1min 30s\"" },
        { "timeout", "\"\"", 0, "timeout: \"\" is not a time span such as \"150ms\" or \"1min 30s\"" },
        { "timeout", "\"600000y\"", 0, "timeout: \"600000y\" is too long a time; \"infinity\" means no limit" },
        { "timeout", "{}", 0, "timeout: expected a time span such as \"150ms\" or \"1min 30s\", not an object" },
        { "mode", "\"replaec\"", 0,
          "mode: \"replaec\" is none of \"replace\", \"fail\", \"isolate\"; did you mean \"replace\"?" },
        { "mode", "\"turnip\"", 0, "mode: \"turnip\" is none of \"replace\", \"fail\", \"isolate\"" },
        { "mode", "0", 0, "mode: expected one of \"replace\", \"fail\", \"isolate\", not a number" },
        { "argv", "\"ls -l\"", 0, "argv: expected an array of strings, not a string" },
        { "argv", "[\"a\", 5]", 6, "argv[1]: expected a string, not a number" },
        { "env", "[]", 0, "env: expected an object of strings, not an array" },
        { "env", "{\"A\": 1}", 6, "env.A: expected a string, not a number" },
        { "env", "{\"A=B\": \"\"}", 1, "env: 'A=B' is no name: it is empty or has a '='" },
        { "env", "{\"\": \"\"}", 1, "env: '' is no name: it is empty or has a '='" },
        { "env", "{\"A\": \"\", \"A\": \"\"}", 10, "env: 'A' is given twice" },
        { "args", "[{\"k\": 1, \"k\": 2}]", 10, "args: 'k' is given twice" },
        { "inner", "5", 0, "inner: expected an object, not a number" },
        { "inner", "{}", 0, "inner: 'key' is missing: a key" },
        { "inner", "{\"key\": 1}", 8, "inner.key: expected a string, not a number" },
        { "inner", "{\"key\": \"k\", \"initial\": \"5\"}", 24,
          "inner.initial: \"5\" is not a time span such as \"150ms\" or \"1min 30s\"; it has no unit" },
        { "inner", "{\"key\": \"k\", \"initial\": \"1us\"}", 24,
          "inner.initial: \"1us\" is out of range; it must be at least 1ms" },
        { "inner", "{\"key\": \"k\", \"intial\": \"5s\"}", 13,
          "inner: unknown key 'intial'; did you mean 'initial'? (it takes: key, initial, count)" },
        { "inner", "{\"key\": \"k\", \"turnip\": 1}", 13,
          "inner: unknown key 'turnip' (it takes: key, initial, count)" },

        /* What is fixed is checked, though something else of it is a reference. */
        { "argv", "[\"{a}\", 5]", 8, "argv[1]: expected a string, not a number" },
        { "count", "\"1{a}\"", 0, "count: expected a whole number, not a string" },
        { "flag", "\"not {a}\"", 0, "flag: expected true or false, not a string" },
        { "inner", "{\"key\": \"{k}\", \"initial\": 7}", 26,
          "inner.initial: expected a time span such as \"150ms\" or \"1min 30s\", not the number 7; a number has no "
          "unit" },
        { "args", "[\"{a b}\"]", 0,
          "args: '{a b}' does not name a variable (a letter or '_', then letters, digits, '_', '-' and '.'); write "
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
                assert_bad(text, strlen(text), message);
        }
}

/* All faults of a file come at once, in order of place; columns count characters. */
static void test_all_at_once(void) {
        static const char *const text =
                "{\"btd\": 1, \"autostrat\": true,\n \"root\": {\"type\": \"Many\", \"name\": \"Gr\xc3\xbc\xc3\x9f\", "
                "\"children\": [\r\n  {\"type\": \"Example\", \"name\": \"\xc3\xa9\", \"unit\": 1},\r\n  {\"type\": "
                "\"Wrapper\", \"delay\": 5, \"child\": {\"type\": \"Exampel\"}},\r\n  7]}}";

        assert_bad(text, strlen(text),
                   "t:1:12: error: unknown key 'autostrat'; did you mean 'autostart'? (a tree file takes: " TREE_FILE
                   ")\nt:3:44: error: unit: expected a string, not a number (in Gr\xc3\xbc\xc3\x9f/\xc3\xa9)\nt:4:32: "
                   "error: delay: expected a time span such as \"150ms\" or \"1min 30s\", not the number 5; a number "
                   "has no unit (in Gr\xc3\xbc\xc3\x9f/Wrapper)\nt:4:44: error: 'unit' is missing; an Example needs "
                   "it: its name (in Gr\xc3\xbc\xc3\x9f/Wrapper/Exampel)\nt:4:53: error: unknown type 'Exampel'; did "
                   "you mean 'Example'? (in Gr\xc3\xbc\xc3\x9f/Wrapper/Exampel)\nt:5:3: error: expected a node, such "
                   "as {\"type\": \"Sequence\", ...}, not a number (in Gr\xc3\xbc\xc3\x9f)");
}

static void test_syntax_error_is_alone(void) {
        static const char *const text = "{\"btd\": 7, \"root\": {\"type\": \"Turnip\"}\n  \"x\"}";

        assert_bad(text, strlen(text), "t:2:3: error: expected ',' or '}', not '\"'");
}

static void test_warning(void) {
        static const char *const text = "{\"btd\":1,\"root\":{\"type\":\"Inverse\",\"name\":\"N\",\"child\":{\"type\":"
                                        "\"Example\",\"unit\":\"odd\"}}}";
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        g_autofree char *messages = NULL;

        g_assert_cmpint(definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition), ==,
                        0);
        messages = messages_of(diagnostics);
        g_assert_cmpstr(messages, ==, "t:1:54: warning: unit: an odd one (in N/Example)");
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), ==, 0);
        g_assert_true(diagnostics_get(diagnostics, 0)->warning);
}

static char *chain(unsigned levels) {
        GString *text = g_string_new("{\"btd\":1,\"root\":");

        for (unsigned i = 1; i < levels; i++)
                g_string_append(text, "{\"type\":\"Many\",\"children\":[");
        g_string_append(text, "{\"type\":\"Plain\"}");
        for (unsigned i = 1; i < levels; i++)
                g_string_append(text, "]}");

        g_string_append_c(text, '}');
        return g_string_free(text, false);
}

static void test_deep(void) {
        g_autofree char *deepest = chain(TREE_DEPTH_MAX), *deeper = chain(TREE_DEPTH_MAX + 1);
        g_autoptr(Definition) definition = load_good(deepest);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        Definition *none = NULL;

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, TREE_DEPTH_MAX);
        g_assert_cmpint(definition_load_text(deeper, strlen(deeper), example_tables, NULL, diagnostics, &none), ==,
                        -EINVAL);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_cmpstr(diagnostics_get(diagnostics, 0)->text, ==, "nested too deeply: a tree has at most 1000 levels");
        g_assert_cmpuint(strlen(diagnostics_get(diagnostics, 0)->where), <, 310);
        g_assert_true(g_str_has_prefix(diagnostics_get(diagnostics, 0)->where, "..."));
}

static char *broad(const char *child, unsigned n) {
        GString *text = g_string_new("{\"btd\":1,\"root\":{\"type\":\"Many\",\"children\":[");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, "%s%s", i > 0 ? "," : "", child);

        g_string_append(text, "]}}");
        return g_string_free(text, false);
}

static void test_broad(void) {
        g_autofree char *most = broad("{\"type\":\"Plain\"}", TREE_NODES_MAX - 1);
        g_autofree char *more = broad("{\"type\":\"Plain\"}", TREE_NODES_MAX);
        g_autoptr(Definition) definition = load_good(most);

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, TREE_NODES_MAX);
        assert_bad(more, strlen(more), "t:1:17000027: error: a tree has at most 1000000 nodes (in Many)");
}

/* Nothing is quadratic in what is wrong, either. */
static void test_many_errors(void) {
        g_autofree char *nodes = broad("5", 500000), *elements = NULL;
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t"), more = diagnostics_new("t");
        g_autoptr(GString) text = g_string_new("{\"btd\":1,\"root\":{\"type\":\"Example\",\"unit\":\"a\",\"argv\":[0");
        g_autofree char *last = NULL;
        Definition *none = NULL;

        g_assert_cmpint(definition_load_text(nodes, strlen(nodes), example_tables, NULL, diagnostics, &none), ==,
                        -EINVAL);
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), ==, 500000);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, DIAGNOSTICS_MAX + 1);
        last = diagnostics_format(diagnostics, DIAGNOSTICS_MAX);
        g_assert_cmpstr(last, ==, "t: error: 490000 more like these are not shown");

        elements = g_strnfill(1000000, ',');
        for (size_t i = 1; i < 1000000; i += 2)
                elements[i] = '0';
        g_string_append(text, elements);
        g_string_append(text, "]}}");
        g_assert_cmpint(definition_load_text(text->str, text->len, example_tables, NULL, more, &none), ==, -EINVAL);
        g_assert_cmpuint(diagnostics_count_errors(more), ==, 500001);
}

/* Nodes that set nothing share the struct of the defaults, and equal names are one string. */
static void test_sharing(void) {
        g_autofree char *text = broad("{\"type\":\"Few\",\"name\":\"N\",\"children\":[{\"type\":\"Plain\"}]}", 100);
        g_autoptr(Definition) definition = load_good(text);
        const Tree *tree = definition_tree(definition);

        g_assert_cmpuint(tree->n_nodes, ==, 201);
        g_assert_true(tree->names[1] == tree->names[199]);
        g_assert_true(tree->nodes[1].params == tree->nodes[199].params);
        g_assert_null(tree->names[2]);
}

static void assert_bad_file(const char *path, int error, const char *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("FILE");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;

        g_assert_cmpint(definition_load_file(path, example_tables, NULL, diagnostics, &definition), ==, error);
        messages = messages_of(diagnostics);
        g_assert_cmpstr(messages, ==, text);
        g_assert_null(definition);
}

static void test_files(void) {
        g_autofree char *dir = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        g_autofree char *good = g_build_filename(dir, "good.json", NULL), *fifo = g_build_filename(dir, "fifo", NULL);
        g_autofree char *large = g_build_filename(dir, "large", NULL), *loop = g_build_filename(dir, "loop", NULL);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(good);
        g_autoptr(Definition) definition = NULL;
        g_auto(AutoFd) fd = -1;

        g_assert_true(g_file_set_contents(good, "{\"btd\":1,\"root\":{\"type\":\"Plain\"}}", -1, NULL));
        g_assert_cmpint(definition_load_file(good, example_tables, NULL, diagnostics, &definition), ==, 0);
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 1);

        g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
        g_assert_cmpint(symlink("loop", loop), ==, 0);
        fd = open(large, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        g_assert_cmpint(ftruncate(fd, 64 * 1024 * 1024 + 1), ==, 0);

        assert_bad_file("/nonexistent/x.json", -ENOENT, "FILE: error: cannot be opened: No such file or directory");
        assert_bad_file(loop, -ELOOP, "FILE: error: cannot be opened: Too many levels of symbolic links");
        assert_bad_file(dir, -EISDIR, "FILE: error: is a directory, not a regular file");
        assert_bad_file(fifo, -EINVAL, "FILE: error: is not a regular file");
        assert_bad_file("/dev/null", -EINVAL, "FILE: error: is not a regular file");
        assert_bad_file(large, -EFBIG, "FILE: error: is too large: more than 64 MiB");

        g_unlink(good);
        g_unlink(fifo);
        g_unlink(loop);
        g_unlink(large);
        g_rmdir(dir);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition/whole", test_whole);
        g_test_add_func("/definition/defaults", test_defaults);
        g_test_add_func("/definition/bad-header", test_bad_header);
        g_test_add_func("/definition/bad-roots", test_bad_roots);
        g_test_add_func("/definition/bad-params", test_bad_params);
        g_test_add_func("/definition/all-at-once", test_all_at_once);
        g_test_add_func("/definition/syntax-error-is-alone", test_syntax_error_is_alone);
        g_test_add_func("/definition/warning", test_warning);
        g_test_add_func("/definition/deep", test_deep);
        g_test_add_func("/definition/broad", test_broad);
        g_test_add_func("/definition/many-errors", test_many_errors);
        g_test_add_func("/definition/sharing", test_sharing);
        g_test_add_func("/definition/files", test_files);
        return g_test_run();
}
