/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the evaluation of expressions and code: results, changed variables, and error messages. */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>

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
        if (scripts_compile(scripts, kind, code, extra, NULL, NULL, &script, &error, &offset) < 0)
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
        Blackboard *blackboard = blackboard_new(&limits_default);

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
                { "large", "18446744073709551615" },
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
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code, blackboard);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
}

/* By value, as long as one of them is not made by the code itself. */
static void test_comparison(void) {
        static const struct {
                const char *code, *value;
        } cases[] = {
                { "config.nested.deep == { 10, 20.0 }", "true" },
                { "config.nested.deep ~= { 10, 20 }", "false" },
                { "config.nested.deep == { 20, 10 }", "false" },
                { "config.nested.deep == { 10 }", "false" },
                { "config.nested.deep == { 10, 20, 30 }", "false" },
                { "config.nested.deep == { 10, '20' }", "false" },
                { "config == { tries = 2, nested = { deep = { 10, 20 } } }", "true" },
                { "config == { tries = 2, nested = { deep = { 10, 21 } } }", "false" },
                { "list == { 1, 'b', {} }", "true" },
                { "{ 1, 'b', {} } == list", "true" },
                { "list == list", "true" },
                { "empty == none", "true" },
                { "empty == {}", "true" },
                { "empty == ''", "false" },
                { "empty == nil", "false" },
                { "('[10, 20]'):json() == config.nested.deep", "true" },
                { "('ab'):bytes() == ('ab'):bytes()", "true" },
                { "('a b'):words() == ('a\\nb'):lines()", "true" },
                { "(function() local t = {}; t.t = t; return empty == t end)()", "false" },
                { "{ 1 } == { 1 }", "false" },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code, blackboard);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
}

/* Comparing counts for the limits, and ends also for tables that contain themselves. */
static void test_comparison_limits(void) {
        static const char endless[] = "(function() local t, u = none, {}; t.t = t; u.t = u; return t == u end)()",
                          again[] = "(function() local t = ('x'):rep(100000):bytes(); local u = ('x'):rep(100000)"
                                    ":bytes(); for i = 1, 10 do local x = t == u end end)()";
        g_autoptr(Blackboard) blackboard = example();
        g_autofree char *nesting = evaluate(endless, blackboard), *steps = evaluate(again, blackboard);

        g_assert_true(g_str_has_suffix(nesting, ": the compared values are nested more than 100 levels deep"));
        g_assert_true(g_str_has_suffix(steps, ": ran for more than 1000000 instructions"));
}

/* A value that comes back as it went, since nobody has changed it. */
static void test_round_trip(void) {
        static const char *const values[] = {
                "null",
                "true",
                "0",
                "-1",
                "0.5",
                "1.5",
                "\"\"",
                "\"\\u0000\"",
                "\"\xc3\xbc\"",
                "[]",
                "{}",
                "[[],{}]",
                "[1,2]",
                "{\"a\":{\"b\":[]}}",
                "9223372036854775807",
                "-9223372036854775808",
                "{\"\":1,\"1\":2}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
                g_autofree char *before = NULL, *after = NULL;
                json_object *value = json(values[i]);

                before = written(value);
                blackboard_set(blackboard, "x", value);
                after = evaluate("x", blackboard);
                g_assert_cmpstr(after, ==, before);
        }
}

static void test_truth(void) {
        static const struct {
                const char *code;
                bool truth;
        } cases[] = {
                { "battery < 20", true }, { "battery > 20", false }, { "nothing", false },
                { "missing", false },     { "off", false },          { "0", true },
                { "''", true },           { "empty", true },         { "function() end", true },
        };
        g_autoptr(Blackboard) blackboard = example();
        g_autoptr(Scripts) scripts = scripts_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Script *script = compile(scripts, SCRIPT_EXPRESSION, cases[i].code, NULL);
                g_autofree char *error = NULL;
                bool truth = !cases[i].truth;

                g_assert_cmpint(script_test(script, blackboard, NULL, &truth, &error), ==, 0);
                g_assert_cmpint(truth, ==, cases[i].truth);
        }
}

static void test_extra(void) {
        static const char *const names[] = { "value", "reply", NULL };
        g_autoptr(Blackboard) blackboard = example();
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, "value.level < battery and reply == nil", names);
        g_autoptr(json_object) low = json("{\"level\": 1}"), high = json("{\"level\": 100}");
        g_autofree char *error = NULL;
        bool truth = false;

        blackboard_set(blackboard, "reply", json_object_new_boolean(true));
        g_assert_cmpstr(script_reads(script)[0], ==, "battery");
        g_assert_null(script_reads(script)[1]);

        g_assert_cmpint(script_test(script, blackboard, (json_object *[]){ low, NULL }, &truth, &error), ==, 0);
        g_assert_true(truth);
        g_assert_cmpint(script_test(script, blackboard, (json_object *[]){ high, NULL }, &truth, &error), ==, 0);
        g_assert_false(truth);
        g_assert_cmpint(script_test(script, blackboard, (json_object *[]){ low, low }, &truth, &error), ==, 0);
        g_assert_false(truth);

        g_assert_cmpint(script_test(script, blackboard, NULL, &truth, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==,
                        "value.level < battery and reply == nil: attempt to index a nil value (variable "
                        "'value')");
}

static void test_errors(void) {
        static const struct {
                const char *code, *error;
        } cases[] = {
                { "missing < 20", "missing < 20: attempt to compare nil with number (missing is not set)" },
                { "nothing < missing", "nothing < missing: attempt to compare two nil values (missing is not set, "
                                       "nothing is null)" },
                { "missing + 1", "missing + 1: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "battery.x.y + missing", "battery.x.y + missing: attempt to index a number value (battery is 15)" },
                { "config.a.b", "config.a.b: attempt to index a nil value (field 'a') (config is "
                                "{\"tries\":2,\"nested\":{\"deep\":[10,20]}})" },
                { "not missing and config.a.b", "not missing and config.a.b: attempt to index a nil value (field 'a') "
                                                "(config is {\"tries\":2,\"nested\":{\"deep\":[10,20]}})" },
                { "_G.missing .. 'x'",
                  "_G.missing .. 'x': attempt to concatenate a nil value (_G.missing is not set)" },
                { "nil < 1", "nil < 1: attempt to compare nil with number" },
                { "missing()", "missing(): attempt to call a nil value (missing is not set)" },
                { "mode < 5", "mode < 5: attempt to compare string with number (mode is \"force\")" },
                { "1 // 0", "1 // 0: attempt to divide by zero" },
                { "1 % 0", "1 % 0: attempt to perform 'n%0'" },
                { "1 / 0", "1 / 0: infinity (the result of 1/0) is not a JSON number" },
                { "0 / 0", "0 / 0: NaN (the result of 0/0) is not a JSON number" },
                { "{ a = { 1, { b = -1 / 0 } } }",
                  "{ a = { 1, { b = -1 / 0 } } }: a[2].b: infinity (the result of 1/0) is not a JSON number" },
                { "'\\xff'", "'\\xff': the text is not valid UTF-8" },
                { "'a\\0\\xff'", "'a\\0\\xff': the text is not valid UTF-8" },
                { "'\\xc3'", "'\\xc3': the text is not valid UTF-8" },
                { "{ ['\\xff'] = 1 }", "{ ['\\xff'] = 1 }: a key is not valid UTF-8" },
                { "{ ['a\\0'] = 1 }", "{ ['a\\0'] = 1 }: a key is not valid UTF-8" },
                { "{ 1, a = 2 }",
                  "{ 1, a = 2 }: a table with both names and numbers as keys is neither a list nor an object" },
                { "{ [0] = 1 }", "{ [0] = 1 }: the keys of a table must be names, or numbers from 1 on" },
                { "{ [true] = 1 }", "{ [true] = 1 }: the keys of a table must be names, or numbers from 1 on" },
                { "{ [100] = 1 }", "{ [100] = 1 }: more than half of the list is missing" },
                { "{ f = function() end }", "{ f = function() end }: f: a function cannot be stored in a variable" },
                { "error('no\\xff')", "error('no\\xff'): no\xef\xbf\xbd" },
                { "error({})", "error({}): an error value that is not text" },
                { "assert(off, 'it is off')", "assert(off, 'it is off'): it is off" },
                { "(function()\n  return 1 +\n    missing\nend)()",
                  "line 2: return 1 +: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "math.floor('x')", "math.floor('x'): bad argument #1 to 'floor' (number expected, got string)" },
                { "('x'):rep('y')", "('x'):rep('y'): bad argument #1 to 'rep' (number expected, got string)" },
                { "string.format('%d', 'x')",
                  "string.format('%d', 'x'): bad argument #2 to 'format' (number expected, got string)" },
                { "table.concat(5)", "table.concat(5): bad argument #1 to 'concat' (table expected, got number)" },
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code, blackboard);

                g_assert_cmpstr(value, ==, cases[i].error);
        }
}

/* Runs the code over the example, and tells what has changed: an object of those that are other than before. */
static char *run(const char *code) {
        g_autoptr(Blackboard) blackboard = example();
        g_autoptr(json_object) before = blackboard_to_json(blackboard), after = NULL, changed = json("{}");
        g_autoptr(Scripts) scripts = scripts_new();
        char *error = NULL;
        int r = script_run(compile(scripts, SCRIPT_CODE, code, NULL), blackboard, NULL, &error);

        after = blackboard_to_json(blackboard);
        json_object_object_foreach(after, key, value) {
                json_object *old;

                if (!json_object_object_get_ex(before, key, &old) || !json_object_equal(old, value))
                        json_object_object_add(changed, key, json_object_get(value));
        }

        g_assert_true((r < 0) == (error != NULL));
        if (r < 0)
                g_assert_cmpint(json_object_object_length(changed), ==, 0);

        return error ?: written(changed);
}

static void test_run(void) {
        static const struct {
                const char *code, *changed;
        } cases[] = {
                { "", "{}" },
                { "x = 1", "{\"x\":1}" },
                { "x = battery + 1", "{\"x\":16}" },
                { "battery = 15", "{}" },
                { "battery = 15.0", "{\"battery\":15.0}" },
                { "battery, x = battery + 1, battery", "{\"battery\":16,\"x\":15}" },
                { "battery = nil", "{\"battery\":null}" },
                { "x = nil", "{}" },
                { "if off then x = 1 end", "{}" },
                { "config.tries = 3", "{\"config\":{\"nested\":{\"deep\":[10,20]},\"tries\":3}}" },
                { "config.nested.deep[3] = 30", "{\"config\":{\"nested\":{\"deep\":[10,20,30]},\"tries\":2}}" },
                { "local c = config.nested; c.deep = nil", "{\"config\":{\"nested\":{},\"tries\":2}}" },
                { "table.insert(empty, 'x')", "{\"empty\":[\"x\"]}" },
                { "empty.x = 1", "{\"empty\":{\"x\":1}}" },
                { "none[1] = 1", "{\"none\":[1]}" },
                { "config.tries = nil; config.nested = nil", "{\"config\":{}}" },
                { "list[3].k = nil; list[4] = nil", "{}" },
                { "for i = #list, 1, -1 do table.remove(list, i) end", "{\"list\":[]}" },
                { "x = {}", "{\"x\":[]}" },
                { "x = config; x.tries = 9", "{\"config\":{\"nested\":{\"deep\":[10,20]},\"tries\":9},\"x\":{"
                                             "\"nested\":{\"deep\":[10,20]},\"tries\""
                                             ":9}}" },
                { "_G.x = 1; _G.battery = _G.battery + 1", "{\"battery\":16,\"x\":1}" },
                /* The same variable under both of its names. */
                { "battery = 1; _G.battery = _G.battery + 1; x = battery", "{\"battery\":2,\"x\":2}" },
                { "_G.x = 1; x = x + 1; y = _G.x", "{\"x\":2,\"y\":2}" },
                { "local t = {} for k, v in pairs(config) do t[#t + 1] = k end x = table.concat(t, ',')",
                  "{\"x\":\"nested,tries\"}" },
                { "x = 1 return 5", "{\"x\":1}" },
                { "x = 1; error('no')", "x = 1; error('no'): no" },
                { "x = 1; y = missing + 1",
                  "x = 1; y = missing + 1: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "x = 1\nsum = 1 + list", "line 2: sum = 1 + list: attempt to perform arithmetic on a table value "
                                           "(list is [1,\"b\",{\"k\":null}])" },
                { "x = 1\ny = missing + 1\n",
                  "line 2: y = missing + 1: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "x = 1; y = 1 / 0", "x = 1; y = 1 / 0: y: infinity (the result of 1/0) is not a JSON number" },
                { "x = 1; config.self = config", "x = 1; config.self = config: config.self: a table that contains "
                                                 "itself cannot be stored in a variable" },
                { "x = function() end", "x = function() end: x: a function cannot be stored in a variable" },
                { "local s = 'x' .. x", "local s = 'x' .. x: attempt to concatenate a nil value (x is not set)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *changed = run(cases[i].code);

                g_assert_cmpstr(changed, ==, cases[i].changed);
        }
}

/* The examples of the manual page. */
static void test_manual(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(Scripts) scripts = scripts_new();
        g_autofree char *retries = NULL, *text = NULL, *has = NULL, *has_not = NULL, *matches = NULL, *error = NULL;
        g_autofree char *result = NULL;
        json_object *broken;
        const Script *count = compile(scripts, SCRIPT_CODE,
                                      "failures = (failures or 0) + 1\nif failures > 3 then\n"
                                      "  table.insert(_G.broken, unit)\nend\n",
                                      NULL);

        set_all(blackboard, "{ \"name\": \"cam\", \"level\": 42.5, \"modes\": [\"a\", \"safe\"], \"version\": \"2.7\", "
                            "\"broken\": [], \"unit\": \"x.service\", \"failures\": 2 }");
        retries = evaluate("(retries or 3) > 0", blackboard);
        g_assert_cmpstr(retries, ==, "true");
        text = evaluate("string.format('%s: %d %%', name, level // 1)", blackboard);
        g_assert_cmpstr(text, ==, "\"cam: 42 %\"");
        has = evaluate("(' ' .. table.concat(modes, ' ') .. ' '):find(' safe ', 1, true)", blackboard);
        g_assert_cmpstr(has, ==, "3");
        has_not = evaluate("(' ' .. table.concat(modes, ' ') .. ' '):find(' saf ', 1, true)", blackboard);
        g_assert_cmpstr(has_not, ==, "null");
        matches = evaluate("version:match('^(%d+)%.') == '2'", blackboard);
        g_assert_cmpstr(matches, ==, "true");
        for (unsigned i = 0; i < 2; i++)
                g_assert_cmpint(script_run(count, blackboard, NULL, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "broken", &broken));
        result = written(broken);
        g_assert_cmpstr(result, ==, "[\"x.service\"]");
}

/* Code can use large numbers that are the same float in Lua, but not assign one of them. */
static void test_large_numbers(void) {
        g_autoptr(Blackboard) blackboard = example();
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *use = compile(scripts, SCRIPT_CODE, "x = larger > 5 and large > 5; y = { 0.1 }", NULL);
        const Script *assign = compile(scripts, SCRIPT_CODE, "x = larger; y = large", NULL);
        g_autofree char *error = NULL, *text = NULL;
        json_object *value;

        blackboard_set(blackboard, "larger", json_object_new_uint64(UINT64_MAX - 1));
        g_assert_cmpint(script_run(use, blackboard, NULL, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "y", &value));
        text = written(value);
        g_assert_cmpstr(text, ==, "[0.1]");

        g_assert_cmpint(script_run(assign, blackboard, NULL, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==,
                        "x = larger; y = large: x: Lua cannot tell this number from another one, as both are larger "
                        "than 9223372036854775807");
        g_assert_true(blackboard_get(blackboard, "larger", &value));
        g_assert_cmpuint(json_object_get_uint64(value), ==, UINT64_MAX - 1);
}

/* A member that is null is none for Lua, but that does not make it another value. */
static void test_null_members(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *look = compile(scripts, SCRIPT_CODE, "local a, b = x.list[1], x.n == nil and #x.list", NULL);
        const Script *change = compile(scripts, SCRIPT_CODE, "x.list[4] = 4", NULL);
        g_autofree char *error = NULL, *after = NULL;
        json_object *value;
        uint64_t version;

        set_all(blackboard, "{\"x\": {\"n\": null, \"list\": [1, null, 3, null]}}");
        version = blackboard_version(blackboard);
        g_assert_cmpint(script_run(look, blackboard, NULL, &error), ==, 0);
        g_assert_cmpuint(blackboard_version(blackboard), ==, version);

        g_assert_cmpint(script_run(change, blackboard, NULL, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "x", &value));
        after = written(value);
        g_assert_cmpstr(after, ==, "{\"list\":[1,null,3,4]}");
}

/* One chunk, evaluated in all kinds of scopes one after the other. */
/* A Script that only changes the sign of a zero has changed it. */
static void test_zeros(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *change = compile(scripts, SCRIPT_CODE, "x = -0.0; list[1] = -0.0", NULL);
        g_autofree char *error = NULL, *x = NULL, *list = NULL;
        json_object *value;

        set_all(blackboard, "{\"x\": 0.0, \"list\": [0.0]}");
        g_assert_cmpint(script_run(change, blackboard, NULL, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "x", &value));
        x = written(value);
        g_assert_cmpstr(x, ==, "-0.0");
        g_assert_true(blackboard_get(blackboard, "list", &value));
        list = written(value);
        g_assert_cmpstr(list, ==, "[-0.0]");
}

static void test_scopes(void) {
        static const char *const names[] = { "item", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(&limits_default), scope = blackboard_new_scope(outermost),
                              local = blackboard_new_local(outermost, names);
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_CODE, "item = item + 1; _G.item = _G.item + 10; n = item", NULL);
        g_autofree char *error = NULL, *in_outermost = NULL, *in_scope = NULL, *in_local = NULL;
        g_autoptr(json_object) all1 = NULL, all2 = NULL, all3 = NULL;

        set_all(outermost, "{\"item\": 100, \"n\": 0}");
        set_all(scope, "{\"item\": 200}");
        set_all(local, "{\"item\": 300}");

        g_assert_cmpint(script_run(script, scope, NULL, &error), ==, 0);
        all1 = blackboard_to_json(scope);
        in_scope = written(all1);
        g_assert_cmpstr(in_scope, ==, "{\"item\":201,\"n\":201}");

        g_assert_cmpint(script_run(script, local, NULL, &error), ==, 0);
        all2 = blackboard_to_json(local);
        in_local = written(all2);
        g_assert_cmpstr(in_local, ==, "{\"item\":301,\"n\":301}");

        g_assert_cmpint(script_run(script, outermost, NULL, &error), ==, 0);
        all3 = blackboard_to_json(outermost);
        in_outermost = written(all3);
        g_assert_cmpstr(in_outermost, ==, "{\"item\":131,\"n\":131}");
}

/* A watch evaluates something as soon as the first variable is set. */
typedef struct Observer {
        const Blackboard *blackboard;
        const Script *script;
        GString *seen;
} Observer;

static void on_changed(void *userdata) {
        Observer *observer = userdata;
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL, *text = NULL;

        g_assert_cmpint(script_evaluate(observer->script, observer->blackboard, NULL, &value, &error), ==, 0);
        text = written(value);
        g_string_append_printf(observer->seen, "%s ", text);
}

static void test_watch_evaluates(void) {
        static const char *const keys[] = { "a", "b", NULL };
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(GString) seen = g_string_new(NULL);
        const Script *script = compile(scripts, SCRIPT_CODE, "b = { a + 1 }; a = 5", NULL);
        Observer observer = {
                .blackboard = blackboard,
                .script = compile(scripts, SCRIPT_EXPRESSION, "{ a, b }", NULL),
                .seen = seen,
        };
        g_autoptr(BlackboardWatch) watch = NULL;
        g_autofree char *error = NULL;

        set_all(blackboard, "{\"a\": 1}");
        watch = blackboard_watch(blackboard, keys, on_changed, &observer);
        g_assert_cmpint(script_run(script, blackboard, NULL, &error), ==, 0);
        g_assert_cmpstr(seen->str, ==, "[5] [5,[2]] ");
}

/* A scope that comes where another one was. */
static void test_scope_replaced(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, "x", NULL);

        for (int i = 0; i < 100; i++) {
                g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
                g_autoptr(json_object) value = NULL, none = NULL;
                g_autofree char *error = NULL;

                g_assert_cmpint(script_evaluate(script, blackboard, NULL, &none, &error), ==, 0);
                g_assert_null(none);
                blackboard_set(blackboard, "x", json_object_new_int(i));
                g_assert_cmpint(script_evaluate(script, blackboard, NULL, &value, &error), ==, 0);
                g_assert_cmpint(json_object_get_int(value), ==, i);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/scripts/values", test_values);
        g_test_add_func("/scripts/comparison", test_comparison);
        g_test_add_func("/scripts/comparison-limits", test_comparison_limits);
        g_test_add_func("/scripts/round-trip", test_round_trip);
        g_test_add_func("/scripts/truth", test_truth);
        g_test_add_func("/scripts/extra", test_extra);
        g_test_add_func("/scripts/errors", test_errors);
        g_test_add_func("/scripts/run", test_run);
        g_test_add_func("/scripts/manual", test_manual);
        g_test_add_func("/scripts/large-numbers", test_large_numbers);
        g_test_add_func("/scripts/null-members", test_null_members);
        g_test_add_func("/scripts/zeros", test_zeros);
        g_test_add_func("/scripts/scopes", test_scopes);
        g_test_add_func("/scripts/watch-evaluates", test_watch_evaluates);
        g_test_add_func("/scripts/scope-replaced", test_scope_replaced);
        return g_test_run();
}
