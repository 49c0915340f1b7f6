/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the variables of a run, and references to them. */

#include <errno.h>
#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "basic/json-weight.h"
#include "script/reference.h"
#include "script/script-status.h"

static json_object *json(const char *text) {
        json_object *value = json_tokener_parse(text);

        g_assert_true(value || g_str_equal(text, "null"));
        return value;
}

static Blackboard *example(void) {
        Blackboard *blackboard = blackboard_new(&limits_default);

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
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
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

static void test_zeros(void) {
        static const char *const values[] = {
                "0.0", "-0.0", "0.0", "[0.0]", "[-0.0]", "{\"a\":[0.0]}", "{\"a\":[-0.0]}"
        };
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        json_object *value = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                for (unsigned again = 0; again < 2; again++) {
                        blackboard_set(blackboard, "a", json_tokener_parse(values[i]));
                        g_assert_true(blackboard_get(blackboard, "a", &value));
                        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, values[i]);
                        g_assert_cmpuint(blackboard_version(blackboard), ==, i + 1);
                }
}

static void test_keys(void) {
        g_autofree char *longest = g_strnfill(255, 'a'), *longer = g_strnfill(256, 'a');

        g_assert_true(blackboard_key_valid("a"));
        g_assert_true(blackboard_key_valid("_x"));
        g_assert_true(blackboard_key_valid("Cam-mode-2_b"));
        g_assert_false(blackboard_key_valid("Cam.mode"));
        g_assert_true(blackboard_key_valid(longest));
        g_assert_false(blackboard_key_valid(longer));
        g_assert_false(blackboard_key_valid(""));
        g_assert_false(blackboard_key_valid("2a"));
        g_assert_false(blackboard_key_valid("-a"));
        g_assert_false(blackboard_key_valid("a b"));
        g_assert_false(blackboard_key_valid("a{"));
        g_assert_false(blackboard_key_valid("gr\xc3\xbc\xc3\x9f"));
        g_assert_false(blackboard_key_valid("@a"));

        g_assert_true(blackboard_name_valid("a"));
        g_assert_true(blackboard_name_valid("@a"));
        g_assert_false(blackboard_name_valid("@"));
        g_assert_false(blackboard_name_valid("@@a"));
}

static int64_t number(const Blackboard *blackboard, const char *key) {
        json_object *value;

        return blackboard_get(blackboard, key, &value) ? json_object_get_int64(value) : -1;
}

static void set_number(Blackboard *blackboard, const char *key, int64_t value) {
        blackboard_set(blackboard, key, json_object_new_int64(value));
}

static void test_scope(void) {
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default), scope = blackboard_new_scope(outermost),
                              inner = blackboard_new_scope(scope);
        g_autoptr(json_object) all = NULL;

        set_number(outermost, "a", 1);
        g_assert_cmpint(number(outermost, "@a"), ==, 1);
        g_assert_cmpint(number(scope, "a"), ==, -1);
        g_assert_cmpint(number(scope, "@a"), ==, 1);

        set_number(scope, "a", 2);
        set_number(inner, "@a", 3);
        g_assert_cmpint(number(outermost, "a"), ==, 3);
        g_assert_cmpint(number(scope, "a"), ==, 2);
        g_assert_cmpint(number(inner, "a"), ==, -1);

        set_number(outermost, "@b", 4);
        g_assert_cmpint(number(outermost, "b"), ==, 4);
        g_assert_true(blackboard_is_outermost(outermost, "a"));
        g_assert_true(blackboard_is_outermost(inner, "@a"));
        g_assert_false(blackboard_is_outermost(inner, "a"));

        all = blackboard_to_json(scope);
        g_assert_cmpstr(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), ==, "{\"a\":2}");
}

static void test_local(void) {
        static const char *const outer_names[] = { "item", "index", NULL }, *const inner_names[] = { "item", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default),
                              outer = blackboard_new_local(outermost, outer_names),
                              inner = blackboard_new_local(outer, inner_names);
        g_autoptr(json_object) all = NULL;

        set_number(outermost, "item", 1);
        set_number(outermost, "found", 2);
        g_assert_cmpint(number(outer, "item"), ==, -1);
        g_assert_cmpint(number(inner, "found"), ==, 2);

        set_number(outer, "index", 3);
        set_number(outer, "item", 4);
        g_assert_cmpint(number(inner, "item"), ==, -1);
        g_assert_cmpint(number(inner, "index"), ==, 3);
        g_assert_cmpint(number(inner, "@item"), ==, 1);
        g_assert_cmpint(number(outermost, "index"), ==, -1);

        set_number(inner, "found", 5);
        g_assert_cmpint(number(outermost, "found"), ==, 5);
        g_assert_true(blackboard_is_outermost(inner, "found"));
        g_assert_false(blackboard_is_outermost(inner, "index"));

        /* Its own item, which has not been set, hides the outer ones. */
        all = blackboard_to_json(inner);
        g_assert_cmpstr(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), ==, "{\"found\":5,\"index\":3}");
}

static void test_version(void) {
        static const char *const names[] = { "item", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default), scope = blackboard_new_scope(outermost),
                              local = blackboard_new_local(scope, names);
        uint64_t before = blackboard_version(outermost), scope_before, local_before;

        set_number(scope, "a", 1);
        g_assert_cmpuint(blackboard_version(outermost), ==, before);

        scope_before = blackboard_version(scope);
        local_before = blackboard_version(local);
        set_number(local, "item", 1);
        g_assert_cmpuint(blackboard_version(scope), ==, scope_before);
        g_assert_cmpuint(blackboard_version(local), !=, local_before);

        local_before = blackboard_version(local);
        set_number(outermost, "a", 1);
        g_assert_cmpuint(blackboard_version(outermost), !=, before);
        g_assert_cmpuint(blackboard_version(scope), !=, scope_before);
        g_assert_cmpuint(blackboard_version(local), !=, local_before);

        before = blackboard_version(outermost);
        set_number(outermost, "a", 1);
        g_assert_cmpuint(blackboard_version(outermost), ==, before);
        blackboard_set(outermost, "b", NULL);
        g_assert_cmpuint(blackboard_version(outermost), !=, before);
}

static void on_changed(void *userdata) {
        unsigned *n_changes = userdata;

        (*n_changes)++;
}

static void test_watch(void) {
        static const char *const names[] = { "item", NULL }, *const keys[] = { "a", "@a", "item", "@b", "a", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default), scope = blackboard_new_scope(outermost),
                              local = blackboard_new_local(scope, names);
        unsigned n_changes = 0;
        g_autoptr(BlackboardWatch) watch = blackboard_watch(local, keys, on_changed, &n_changes);
        json_object *value;

        g_assert_false(blackboard_get(scope, "a", &value));
        set_number(local, "a", 1);
        g_assert_cmpuint(n_changes, ==, 1);
        set_number(scope, "a", 1);
        g_assert_cmpuint(n_changes, ==, 1);
        blackboard_set(scope, "a", json_object_new_double(1));
        g_assert_cmpuint(n_changes, ==, 2);
        set_number(outermost, "a", 1);
        set_number(outermost, "b", 1);
        set_number(local, "item", 1);
        g_assert_cmpuint(n_changes, ==, 5);

        set_number(scope, "item", 1);
        set_number(scope, "b", 1);
        set_number(scope, "c", 1);
        g_assert_cmpuint(n_changes, ==, 5);

        g_clear_pointer(&local, blackboard_free);
        set_number(scope, "a", 7);
        g_assert_cmpuint(n_changes, ==, 6);
        g_clear_pointer(&watch, blackboard_watch_free);
        set_number(scope, "a", 8);
        g_assert_cmpuint(n_changes, ==, 6);
        blackboard_watch_free(NULL);
}

/* A watch whose callback sets what it watches, and ends all watches. */
typedef struct Meddler {
        Blackboard *blackboard;
        BlackboardWatch *watches[3];
        unsigned n_calls;
} Meddler;

static void on_changed_meddle(void *userdata) {
        Meddler *meddler = userdata;

        if (++meddler->n_calls < 3) {
                set_number(meddler->blackboard, "a", meddler->n_calls);
                return;
        }

        for (size_t i = 0; i < G_N_ELEMENTS(meddler->watches); i++)
                g_clear_pointer(&meddler->watches[i], blackboard_watch_free);
        g_clear_pointer(&meddler->blackboard, blackboard_free);
}

static void test_watch_meddles(void) {
        static const char *const keys[] = { "a", "b", NULL };
        Meddler meddler = { .blackboard = blackboard_new(&limits_default) };

        for (size_t i = 0; i < G_N_ELEMENTS(meddler.watches); i++)
                meddler.watches[i] = blackboard_watch(meddler.blackboard, keys, on_changed_meddle, &meddler);

        set_number(meddler.blackboard, "a", 100);
        g_assert_cmpuint(meddler.n_calls, ==, 3);
        g_assert_null(meddler.blackboard);
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
                { "\"{port} {on} {ratio}\"", "\"8080 true 0.1\"" },
                { "\"{unit_escape:port}\"", "\"8080\"" },
                { "\"cam@{unit_escape:braces}.service\"", "\"cam@\\\\x7bname\\\\x7d.service\"" },
                { "\"{unit_escape_path:name}.mount {unit_escape:@name}\"", "\"cam.mount cam\"" },
                { "\"{list[2]} {list[3]}\"", "\"a/b {\\\"k\\\":null}\"" },
                { "\"{list[3].k}\"", "null" },
                { "\"{list[1]}\"", "1" },
                { "\"x{unit_escape:list[2]}\"", "\"xa-b\"" },
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
                { "\"{}\"", "'{}' does not name a variable (a letter or '_', then letters, digits, '_' and '-'); "
                            "write '{{' for a brace" },
                { "\"a {b c} d\"", "'{b c}' does not name a variable (a letter or '_', then letters, digits, '_' and "
                                   "'-'); write '{{' for a brace" },
                { "\"{a\\u0000b}\"", "'{a\xef\xbf\xbd"
                                     "b}' does not name a variable (a letter or '_', then letters, digits, "
                                     "'_' and '-'); write '{{' for a brace" },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value);
                g_autofree char *expand_error = NULL;
                json_object *expanded = NULL;

                g_assert_true(reference_inside(value));
                g_assert_cmpint(reference_expand(blackboard, value, &expanded, &expand_error), ==, -EINVAL);
                g_assert_cmpstr(expand_error, ==, cases[i].error);
                g_assert_null(expanded);
        }
}

static void test_no_text(void) {
        static const struct {
                const char *value, *error;
        } cases[] = {
                { "\"cam@{nothing}.service\"", "the variable 'nothing' is null, so it cannot be a part of a text" },
                { "[[\"{unit_escape:nothing}\"]]", "the variable 'nothing' is null, so it cannot be a part of a text" },
                { "\"{unit_escape:list}\"", "the variable 'list' is a list, and only a text can be escaped" },
                { "\"{unit_escape_path:up}\"", "the variable 'up' is not a path that can be escaped: 'a/../b' contains "
                                               "'..'" },
                { "\"{list[4]}\"", "the list 'list' has 3 elements, so there is no [4]" },
                { "\"{list[3].kk}\"", "'list[3]' has no member 'kk'" },
                { "\"{list[3].other}\"", "'list[3]' has no member 'other'" },
                { "\"{nothing.device}\"", "'nothing' is null, so it has no member 'device'" },
                { "\"{name[1]}\"", "'name' is a string, so it has no element [1]" },
                { "\"{list.k}\"", "'list' is a list, so it has no member 'k'" },
                { "\"{unit_escape:nme}\"", "there is no variable 'nme'; did you mean 'name'?" },
                { "\"{unit_escape:}\"", "'{}' does not name a variable (a letter or '_', then letters, digits, '_' and "
                                        "'-'); write '{{' for a brace" },
        };
        g_autoptr(Blackboard) blackboard = example();
        const ReferenceValues for_people = { .blackboard = blackboard, .null_is_text = true };
        g_autoptr(json_object) value = json("\"is {nothing}\""), expanded = NULL;
        g_autofree char *no_error = NULL;

        blackboard_set(blackboard, "up", json_object_new_string("a/../b"));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) bad = json(cases[i].value);
                g_autofree char *error = NULL;
                json_object *none = NULL;

                g_assert_cmpint(reference_expand(blackboard, bad, &none, &error), <, 0);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_null(none);
        }

        g_assert_cmpint(reference_reveal(&for_people, value, &expanded, &no_error), ==, 0);
        g_assert_cmpstr(json_object_get_string(expanded), ==, "is null");
}

static void test_spread(void) {
        static const struct {
                const char *value, *spread, *error;
        } cases[] = {
                { "[\"x\",\"{list...}\",\"{port}\"]", "[\"x\",\"{list[1]}\",\"{list[2]}\",\"{list[3]}\",\"{port}\"]" },
                { "[\"{lists[2]...}\"]", "[\"{lists[2][1]}\"]" },
                { "[\"{lists[1]...}\"]", "[]" },
                { "[\"{name...}\"]", .error = "the variable 'name' is a string, not a list" },
                { "[\"{nothing...}\"]", .error = "the variable 'nothing' is null, not a list" },
        };
        g_autoptr(Blackboard) blackboard = example();
        const ReferenceValues values = { .blackboard = blackboard };

        blackboard_set(blackboard, "lists", json("[[], [1]]"));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value), spread = NULL;
                g_autofree char *error = NULL;
                int r = reference_spread(&values, value, &spread, &error);

                g_assert_cmpint(r, ==, cases[i].error ? -EINVAL : 0);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpstr(r < 0 ? NULL : json_object_to_json_string_ext(spread, JSON_C_TO_STRING_PLAIN), ==,
                                cases[i].spread);
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

static void test_outermost(void) {
        g_autoptr(Blackboard) outermost = example(), scope = blackboard_new_scope(outermost);
        g_autoptr(json_object) value = json("[\"{@port}\", \"cam-{@name}.{name}\"]"), expanded = NULL;
        g_autoptr(json_object) unknown = json("\"{@nmae}\""), bad = json("\"{@}\""), whole = json("\"{@port}\"");
        g_autofree char *key = reference_key(whole), *error1 = NULL, *error2 = NULL;
        json_object *none = NULL;

        blackboard_set(scope, "name", json_object_new_string("inner"));
        g_assert_cmpint(reference_expand(scope, value, &expanded, &error1), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(expanded, JSON_C_TO_STRING_PLAIN), ==,
                        "[8080,\"cam-cam.inner\"]");
        g_assert_cmpstr(key, ==, "@port");

        g_assert_cmpint(reference_expand(scope, unknown, &none, &error1), ==, -ENOENT);
        g_assert_cmpstr(error1, ==, "there is no variable '@nmae'; did you mean '@name'?");
        g_assert_cmpint(reference_expand(scope, bad, &none, &error2), ==, -EINVAL);
        g_assert_cmpstr(error2, ==,
                        "'{@}' does not name a variable (a letter or '_', then letters, digits, '_' and '-'); write "
                        "'{{' for a brace");
        g_assert_null(none);
}

static void test_inside(void) {
        static const struct {
                const char *value;
                bool inside;
                const char *key;
        } cases[] = {
                { "5", false, NULL },
                { "null", false, NULL },
                { "\"plain }\"", false, NULL },
                { "{\"{key}\": \"v\"}", false, NULL },
                { "\"{key}\"", true, "key" },
                { "\"{key} \"", true, NULL },
                { "\"{a}{b}\"", true, NULL },
                { "\"{{\"", true, NULL },
                { "\"{bad key}\"", true, NULL },
                { "[[{\"a\": \"x{key}\"}]]", true, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = json(cases[i].value);
                g_autofree char *key = reference_key(value);

                g_assert_cmpint(reference_inside(value), ==, cases[i].inside);
                g_assert_cmpstr(key, ==, cases[i].key);
        }
}

static void on_fault(char *text, size_t offset, void *userdata) {
        g_autofree char *error = text;

        g_string_append_printf(userdata, "%zu: %s\n", offset, error);
}

static void test_check(void) {
        static const struct {
                const char *text;
                int references;
                const char *faults;
        } cases[] = {
                { "plain }", 0, "" },
                { "{key}", 1, "" },
                { "{key} and {secret:b}", 1, "" },
                { "{{a b}", 0, "" },
                { "{a b} {ok} {secret:/}{", -EINVAL,
                  "0: '{a b}' does not name a variable (a letter or '_', then letters, digits, '_' and '-'); "
                  "write '{{' for a brace\n"
                  "11: '{secret:/}' does not name a credential (letters, digits, '_', '-' and '.', which does not come "
                  "first)\n"
                  "21: the '{' of \"{\" has no '}'; write '{{' for a brace\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) faults = g_string_new(NULL);

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(reference_check(cases[i].text, strlen(cases[i].text), on_fault, faults), ==,
                                cases[i].references);
                g_assert_cmpstr(faults->str, ==, cases[i].faults);
        }
}

static void on_observed(const char *key, json_object *value, void *userdata) {
        g_string_append_printf(userdata, "%s=%s ", key, json_object_to_json_string(value));
}

static void test_observed(void) {
        static const BlackboardHost host = { .set = on_observed };
        static const char *const names[] = { "b", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default), scope = blackboard_new_scope(outermost),
                              local = blackboard_new_local(scope, names);
        g_autoptr(GString) observed = g_string_new(NULL);

        blackboard_set_host(outermost, &host, observed);
        blackboard_set(outermost, "a", json_object_new_int(1));
        blackboard_set(outermost, "a", json_object_new_int(1));
        blackboard_set(scope, "a", NULL);
        blackboard_set(local, "b", json_object_new_int(2));
        blackboard_set(local, "@a", json_object_new_int(3));
        g_assert_cmpstr(observed->str, ==, "a=1 a=null b=2 a=3 ");

        blackboard_set_host(outermost, NULL, NULL);
        blackboard_set(outermost, "a", json_object_new_int(4));
        g_assert_cmpstr(observed->str, ==, "a=1 a=null b=2 a=3 ");
}

static void test_seen(void) {
        static const char *const names[] = { "count", "@name", "none", NULL }, *const nothing[] = { NULL };
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(json_object) values = NULL, empty = NULL;
        g_autofree char *text = NULL, *no_text = NULL;

        blackboard_set(blackboard, "count", json("3"));
        blackboard_set(blackboard, "name", json("\"a/b\""));
        values = traced_inputs(blackboard, names);
        text = traced_inputs_explain("count > 3", "is false", values);
        g_assert_cmpstr(text, ==, " (count is 3, @name is \"a/b\", none is not set)");

        empty = traced_inputs(blackboard, nothing);
        no_text = traced_inputs_explain("false", "is false", empty);
        g_assert_cmpstr(no_text, ==, "");
}

/* Whatever is set, unset and forgotten: what is there counts once. */
static void test_bytes(void) {
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default);
        g_autofree char *text = g_strnfill(blackboard_bytes_max(&limits_default) - JSON_WEIGHT_VALUE, 'x');
        json_object *whole = json_object_new_string(text);
        g_autoptr(json_object) more = json_object_new_int(1), none = json_object_new_object();

        g_assert_cmpuint(json_weight(whole), ==, blackboard_bytes_max(&limits_default));
        {
                g_autoptr(Blackboard) scope = blackboard_new_scope(outermost);

                blackboard_set(scope, "a", json_object_get(whole));
                blackboard_set(scope, "a", json_object_get(whole));
                g_assert_true(blackboard_has_room(outermost, 0));
                g_assert_false(blackboard_has_room(outermost, blackboard_growth(outermost, "a", more)));
                g_assert_true(blackboard_has_room(scope, blackboard_growth(scope, "a", more)));
        }
        g_assert_true(blackboard_has_room(outermost, blackboard_growth(outermost, "a", whole)));
        blackboard_set(outermost, "a", whole);
        g_assert_false(blackboard_has_room(outermost, 1));
        blackboard_reset(outermost, none);
        g_assert_true(blackboard_has_room(outermost, blackboard_bytes_max(&limits_default)));
}

/* The limits are those of the outermost scope, in each scope. */
static void test_limits(void) {
        Limits limits = limits_default;
        g_autoptr(Blackboard) outermost = blackboard_new(&limits), scope = blackboard_new_scope(outermost),
                              other = blackboard_new(&limits_default);
        g_autofree char *text = NULL;

        limits.max[LIMIT_VARIABLES] = 1;
        g_assert_true(blackboard_has_room(outermost, 1024));
        g_assert_false(blackboard_has_room(outermost, 1025));
        g_assert_true(blackboard_has_room(scope, 1024));
        g_assert_false(blackboard_has_room(scope, 1025));
        g_assert_true(blackboard_has_room(other, 1025));
        g_assert_true(blackboard_limits(scope) == &limits);
        text = blackboard_full_text(&limits);
        g_assert_cmpstr(text, ==, "the variables of the run would exceed 1 KiB");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/blackboard/variables", test_variables);
        g_test_add_func("/blackboard/zeros", test_zeros);
        g_test_add_func("/blackboard/keys", test_keys);
        g_test_add_func("/blackboard/scope", test_scope);
        g_test_add_func("/blackboard/local", test_local);
        g_test_add_func("/blackboard/version", test_version);
        g_test_add_func("/blackboard/watch", test_watch);
        g_test_add_func("/blackboard/watch-meddles", test_watch_meddles);
        g_test_add_func("/blackboard/observed", test_observed);
        g_test_add_func("/blackboard/seen", test_seen);
        g_test_add_func("/reference/expand", test_expand);
        g_test_add_func("/reference/bad-syntax", test_bad_syntax);
        g_test_add_func("/reference/no-variable", test_no_variable);
        g_test_add_func("/reference/spread", test_spread);
        g_test_add_func("/reference/no-text", test_no_text);
        g_test_add_func("/reference/outermost", test_outermost);
        g_test_add_func("/reference/inside", test_inside);
        g_test_add_func("/reference/check", test_check);
        g_test_add_func("/blackboard/bytes", test_bytes);
        g_test_add_func("/blackboard/limits", test_limits);
        return g_test_run();
}
