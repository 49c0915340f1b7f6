/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Expressions and code over variables: what they give, what they set, and what they say when they cannot. */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "script/scripts.h"

static json_object *json(const char *text) {
        json_object *value = json_tokener_parse(text);

        g_assert_true(value || g_str_equal(text, "null"));
        return value;
}

/* A scope from an object. */
static void set_all(Blackboard *blackboard, const char *text) {
        g_autoptr(json_object) object = json(text);

        json_object_object_foreach(object, key, value) {
                blackboard_set(blackboard, key, json_object_get(value));
        }
}

static char *written(json_object *value) {
        return g_strdup(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static const Script *compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra) {
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;

        g_test_message("%s", code);
        if (scripts_compile(scripts, kind, code, extra, &script, &error, &offset) < 0)
                g_error("%s: %zu: %s", code, offset, error);

        g_assert_cmpstr(script_code(script), ==, code);
        return script;
}

/* What an expression gives, as JSON, or the error. */
static char *evaluate(const char *code, const Blackboard *blackboard) {
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, code, NULL);
        g_autoptr(json_object) value = NULL;
        char *error = NULL;

        if (script_evaluate(script, blackboard, NULL, &value, &error) < 0)
                return error;

        g_assert_null(error);
        return written(value);
}

static Blackboard *example(void) {
        Blackboard *blackboard = blackboard_new();

        set_all(blackboard, "{\"battery\": 15, \"mode\": \"force\", \"ratio\": 0.5, \"on\": true, \"off\": false, "
                            "\"nothing\": null, \"list\": [1, \"b\", {\"k\": null}], \"empty\": [], \"none\": {}, "
                            "\"config\": {\"tries\": 2, \"nested\": {\"deep\": [10, 20]}}, \"with-dash\": 7}");
        blackboard_set(blackboard, "large", json_object_new_uint64(UINT64_MAX));
        return blackboard;
}

static void test_values(void) {
        static const struct {
                const char *code, *value;
        } cases[] = {
                { "battery < 20", "true" },
                { "battery < 20 and mode ~= 'force'", "false" },
                { "battery", "15" },
                { "battery + 1", "16" },
                { "battery / 2", "7.5" },
                { "battery // 2", "7" },
                { "ratio * 2", "1.0" },
                { "large", "1.8446744073709552e+19" },
                { "nothing", "null" },
                { "nothing == nil", "true" },
                { "missing == nil", "true" },
                { "missing or 'default'", "\"default\"" },
                { "off or on", "true" },
                { "list", "[1,\"b\",{}]" },
                { "#list", "3" },
                { "list[2]", "\"b\"" },
                { "empty", "[]" },
                { "none", "{}" },
                { "{}", "[]" },
                { "config.nested.deep[2]", "20" },
                { "config", "{\"nested\":{\"deep\":[10,20]},\"tries\":2}" },
                { "config['nes' .. 'ted'].deep", "[10,20]" },
                { "{ b = 1, a = { 1, nil, 3 } }", "{\"a\":[1,null,3],\"b\":1}" },
                { "_G.battery", "15" },
                { "_G['with-dash']", "7" },
                { "mode:upper() .. '!'", "\"FORCE!\"" },
                { "('x'):rep(3, '-')", "\"x-x-x\"" },
                { "'a\\0b'", "\"a\\u0000b\"" },
                { "math.max(1, 2.5)", "2.5" },
                { "(function(a, ...) return select('#', ...) + a end)(1, 2, 3)", "3" },
                { "battery -- and no more", "15" },
                { "  15  ", "15" },
                { "1 // 1.0", "1.0" },
                { "math.mininteger", "-9223372036854775808" },
                { "math.maxinteger + 1", "-9223372036854775808" },
                { "'5' + 1", "6" },
                { "tostring(1.0) .. tostring(nil) .. tostring({}) .. tostring(tostring)", NULL },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases) && cases[i].value; i++) {
                g_autofree char *value = evaluate(cases[i].code, blackboard);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/scripts/values", test_values);
        return g_test_run();
}
