/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Variables and the references to them. */

#include <errno.h>
#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "script/blackboard.h"

static json_object *json(const char *text) {
        json_object *value = json_tokener_parse(text);

        g_assert_true(value || g_str_equal(text, "null"));
        return value;
}

static Blackboard *example(void) {
        Blackboard *blackboard = blackboard_new();

        blackboard_set(blackboard, "name", json_object_new_string("cam"));
        blackboard_set(blackboard, "port", json_object_new_int64(8080));
        blackboard_set(blackboard, "ratio", json("0.1"));
        blackboard_set(blackboard, "on", json_object_new_boolean(true));
        blackboard_set(blackboard, "nothing", NULL);
        blackboard_set(blackboard, "list", json("[1, \"a/b\", {\"k\": null}]"));
        blackboard_set(blackboard, "braces", json_object_new_string("{name}"));
        return blackboard;
}

static void test_variables(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new();
        g_autoptr(json_object) all = NULL;
        json_object *value = NULL;

        g_assert_false(blackboard_get(blackboard, "a", &value));
        blackboard_set(blackboard, "b", json_object_new_int64(1));
        blackboard_set(blackboard, "a", json_object_new_int64(2));
        blackboard_set(blackboard, "b", NULL);
        g_assert_true(blackboard_get(blackboard, "b", &value));
        g_assert_null(value);
        g_assert_true(blackboard_get(blackboard, "a", &value));
        g_assert_cmpint(json_object_get_int64(value), ==, 2);

        all = blackboard_to_json(blackboard);
        g_assert_cmpstr(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), ==, "{\"a\":2,\"b\":null}");
        blackboard_free(NULL);
}

static void test_keys(void) {
        g_autofree char *longest = g_strnfill(255, 'a'), *longer = g_strnfill(256, 'a');

        g_assert_true(blackboard_key_valid("a"));
        g_assert_true(blackboard_key_valid("_x"));
        g_assert_true(blackboard_key_valid("Cam.mode-2_b"));
        g_assert_true(blackboard_key_valid(longest));
        g_assert_false(blackboard_key_valid(longer));
        g_assert_false(blackboard_key_valid(""));
        g_assert_false(blackboard_key_valid("2a"));
        g_assert_false(blackboard_key_valid("-a"));
        g_assert_false(blackboard_key_valid("a b"));
        g_assert_false(blackboard_key_valid("a{"));
        g_assert_false(blackboard_key_valid("gr\xc3\xbc\xc3\x9f"));
}

static void test_expand(void) {
        static const struct {
                const char *value, *expanded;
        } cases[] = {
                { "5", "5" },
                { "null", "null" },
                { "\"plain\"", "\"plain\"" },
                { "\"\"", "\"\"" },
                { "\"{port}\"", "8080" },
                { "\"{on}\"", "true" },
                { "\"{nothing}\"", "null" },
                { "\"{list}\"", "[1,\"a/b\",{\"k\":null}]" },
                { "\"cam-{name}.service\"", "\"cam-cam.service\"" },
                { "\"{name}{name}\"", "\"camcam\"" },
                { "\"{port} {on} {nothing} {ratio}\"", "\"8080 true null 0.1\"" },
                { "\"list={list}\"", "\"list=[1,\\\"a/b\\\",{\\\"k\\\":null}]\"" },
                { "\"{{port}\"", "\"{port}\"" },
                { "\"{{\"", "\"{\"" },
                { "\"{{{port}\"", "\"{8080\"" },
                { "\"a } b }}\"", "\"a } b }}\"" },
                { "\"{braces}\"", "\"{name}\"" },
                { "\"({braces})\"", "\"({name})\"" },
                { "[\"{port}\",{\"{port}\":\"{name}\"}]", "[8080,{\"{port}\":\"cam\"}]" },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value), expanded = NULL;
                g_autofree char *error = NULL;

                g_test_message("%s", cases[i].value);
                g_assert_cmpint(reference_check(value, &error), >=, 0);
                g_assert_cmpint(reference_expand(blackboard, value, &expanded, &error), ==, 0);
                g_assert_cmpstr(json_object_to_json_string_ext(expanded,
                                                               JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                                ==, cases[i].expanded);
        }
}

static void test_bad_syntax(void) {
        static const struct {
                const char *value, *error;
        } cases[] = {
                { "\"{\"", "the '{' of \"{\" has no '}'; write '{{' for a brace" },
                { "\"cam-{name\"", "the '{' of \"{name\" has no '}'; write '{{' for a brace" },
                { "[1, {\"k\": \"{{ {x\"}]", "the '{' of \"{x\" has no '}'; write '{{' for a brace" },
                { "\"{}\"", "'{}' does not name a variable (a letter or '_', then letters, digits, '_', '-' and '.'); "
                            "write '{{' for a brace" },
                { "\"a {b c} d\"", "'{b c}' does not name a variable (a letter or '_', then letters, digits, '_', '-' "
                                   "and '.'); write '{{' for a brace" },
                { "\"{a\\u0000b}\"", "'{a\xef\xbf\xbd"
                                     "b}' does not name a variable (a letter or '_', then letters, digits, "
                                     "'_', '-' and '.'); write '{{' for a brace" },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value);
                g_autofree char *error = NULL, *expand_error = NULL;
                json_object *expanded = NULL;

                g_assert_true(reference_inside(value));
                g_assert_cmpint(reference_check(value, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpint(reference_expand(blackboard, value, &expanded, &expand_error), ==, -EINVAL);
                g_assert_cmpstr(expand_error, ==, cases[i].error);
                g_assert_null(expanded);
        }
}

static void test_no_variable(void) {
        g_autoptr(Blackboard) blackboard = example();
        g_autoptr(json_object) misspelt = json("[\"x {nmae}\"]"), unknown = json("{\"a\": \"{turnip}\"}");
        g_autofree char *error1 = NULL, *error2 = NULL;
        json_object *expanded = NULL;

        g_assert_cmpint(reference_expand(blackboard, misspelt, &expanded, &error1), ==, -ENOENT);
        g_assert_cmpstr(error1, ==, "there is no variable 'nmae'; did you mean 'name'?");
        g_assert_cmpint(reference_expand(blackboard, unknown, &expanded, &error2), ==, -ENOENT);
        g_assert_cmpstr(error2, ==, "there is no variable 'turnip'");
        g_assert_null(expanded);
}

static void test_inside(void) {
        static const struct {
                const char *value;
                bool inside;
                int references;
                const char *key;
        } cases[] = {
                { "5", false, 0, NULL },
                { "null", false, 0, NULL },
                { "\"plain }\"", false, 0, NULL },
                { "{\"{key}\": \"v\"}", false, 0, NULL },
                { "\"{key}\"", true, 1, "key" },
                { "\"{key} \"", true, 1, NULL },
                { "\"{a}{b}\"", true, 1, NULL },
                { "\"{{\"", true, 0, NULL },
                { "\"{bad key}\"", true, -EINVAL, NULL },
                { "[[{\"a\": \"x{key}\"}]]", true, 1, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value);
                g_autofree char *key = reference_key(value), *error = NULL;

                g_assert_cmpint(reference_inside(value), ==, cases[i].inside);
                g_assert_cmpint(reference_check(value, &error), ==, cases[i].references);
                g_assert_cmpstr(key, ==, cases[i].key);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/blackboard/variables", test_variables);
        g_test_add_func("/blackboard/keys", test_keys);
        g_test_add_func("/reference/expand", test_expand);
        g_test_add_func("/reference/bad-syntax", test_bad_syntax);
        g_test_add_func("/reference/no-variable", test_no_variable);
        g_test_add_func("/reference/inside", test_inside);
        return g_test_run();
}
