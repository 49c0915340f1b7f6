/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests each known way out of a Lua sandbox: none works here. */

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "script/scripts.h"

/* What an expression gives, as JSON, or the error of compiling or evaluating it. */
static char *evaluate_in(Scripts *scripts, const char *code, const Blackboard *blackboard) {
        g_autoptr(json_object) value = NULL;
        const Script *script;
        char *error = NULL;
        size_t offset;

        g_test_message("%s", code);
        if (scripts_compile(scripts, SCRIPT_EXPRESSION, code, NULL, NULL, NULL, &script, &error, &offset) < 0 ||
            script_evaluate(script, blackboard, NULL, &value, &error) < 0)
                return error;

        return g_strdup(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

static char *evaluate(const char *code) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);

        return evaluate_in(scripts, code, blackboard);
}

/* Code that is expected to end well. */
static void run_in(Scripts *scripts, const char *code, Blackboard *blackboard) {
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;

        if (scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, NULL, &script, &error, &offset) < 0 ||
            script_run(script, blackboard, NULL, &error) < 0)
                g_error("%s", error);
}

/* They are variables like others, which nobody has set. */
static void test_functions_that_are_not_there(void) {
        static const char *const names[] = {
                "collectgarbage",
                "coroutine",
                "debug",
                "dofile",
                "getfenv",
                "getmetatable",
                "io",
                "load",
                "loadfile",
                "loadstring",
                "module",
                "newproxy",
                "next",
                "os",
                "package",
                "pcall",
                "print",
                "rawequal",
                "rawget",
                "rawlen",
                "rawset",
                "require",
                "setfenv",
                "setmetatable",
                "unpack",
                "warn",
                "xpcall",
                "_VERSION",
                "arg",
                "bit32",
                "jit",
                "ffi",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *code = g_strdup_printf("%s == nil", names[i]), *value = evaluate(code);
                g_autofree char *outermost = g_strdup_printf("_G.%s == nil", names[i]);
                g_autofree char *outermost_value = evaluate(outermost);

                g_assert_cmpstr(value, ==, "true");
                g_assert_cmpstr(outermost_value, ==, "true");
        }
}

static BlackboardMoment on_moment(uint64_t n, void *userdata) {
        return (BlackboardMoment){ .time = UINT64_C(86400000000) * 365, .random = n << 60 };
}

/* The run gives the time and the numbers; without a run they are 0. */
static void test_moment(void) {
        static const struct {
                const char *code, *value;
        } cases[] = {
                { "now()", "31536000" },
                { "#now('%Y')", "4" },
                { "random()", "0.0625" },
                { "({random(), random()})[2]", "0.125" },
                { "random(6) >= 1 and random(6) <= 6", "true" },
                { "random(7, 7)", "7" },
                { "math.type(random(math.mininteger, math.maxinteger))", "\"integer\"" },
        };
        static const BlackboardHost host = { .moment = on_moment };
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *without = evaluate("now() == 0 and random() == 0"), *empty = evaluate("random(2, 1)");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Scripts) scripts = scripts_new();
                g_autoptr(json_object) value = NULL;
                g_autofree char *error = NULL;
                const Script *script;
                size_t offset;

                blackboard_set_host(blackboard, &host, NULL);
                g_assert_cmpint(scripts_compile(scripts, SCRIPT_EXPRESSION, cases[i].code, NULL, NULL, NULL, &script,
                                                &error, &offset),
                                ==, 0);
                g_assert_cmpint(script_evaluate(script, blackboard, NULL, &value, &error), ==, 0);
                g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, cases[i].value);
        }
        g_assert_cmpstr(without, ==, "true");
        g_assert_cmpstr(empty, ==, "random(2, 1): bad argument #1 to 'random' (the interval is empty)");
}

static void test_members_that_are_not_there(void) {
        static const char *const names[][2] = {
                { "string", "dump" },  { "string", "pack" },    { "string", "unpack" }, { "string", "packsize" },
                { "table", "pack" },   { "table", "move" },     { "math", "random" },   { "math", "randomseed" },
                { "string", "gfind" }, { "string", "__index" }, { "table", "foreach" }, { "math", "pow" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *code = g_strdup_printf("%s.%s(function() end)", names[i][0], names[i][1]);
                g_autofree char *expected = g_strdup_printf("there is no '%s.%s'", names[i][0], names[i][1]);
                g_autofree char *value = evaluate(code), *method = g_strdup_printf("(''). %s == nil", names[i][1]);
                g_autofree char *method_value = evaluate(method);

                g_assert_true(g_str_has_prefix(value, expected)); /* perhaps with a hint */
                g_assert_cmpstr(method_value, ==, "true");
        }
}

#define A_FUNCTION "is a function and can only be called; a variable cannot have this name"

static void test_ways_out(void) {
        static const struct {
                const char *code, *value;
        } cases[] = {
                /* The environment and its tables. */
                { "_ENV", "'_ENV' cannot be used here" },
                { "_G", "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'" },
                { "(function() local _ENV = {} end)()", "'_ENV' cannot be a local name" },
                { "(function(...) return ... end)()", "null" },
                { "select('#', ...)", "0" },
                { "type", "'type' " A_FUNCTION },
                { "{ type }", "'type' " A_FUNCTION },
                { "(type)('x')", "'type' " A_FUNCTION },
                { "(tostring)('x')", "\"x\"" },
                { "('1 2'):gsub('%d', tostring)", "\"1 2\"" },
                { "(function() local each = pairs for k, v in each({ 'a' }) do return v end end)()", "\"a\"" },
                /* The tables of the library. */
                { "(function() string.rep = nil end)()",
                  "(function() string.rep = nil end)(): library functions cannot be changed" },
                { "(function() math.pi = 3 end)()",
                  "(function() math.pi = 3 end)(): library functions cannot be changed" },
                { "(function() function table.concat() end end)()",
                  "(function() function table.concat() end end)(): library functions cannot be changed" },
                { "(function() ('').rep = nil end)()",
                  "(function() ('').rep = nil end)(): attempt to index a string value (constant '')" },
                { "(function() ('').rep.x = nil end)()",
                  "(function() ('').rep.x = nil end)(): attempt to index a function value (field 'rep')" },
                /* Metatables of strings. */
                { "('').__index == nil and ('').__metatable == nil", "true" },
                /* Values that are closed, or collected, by their metatables. */
                { "(function() local x <close> = {} end)()",
                  "(function() local x <close> = {} end)(): variable 'x' got a non-closable value" },
                { "(function() local t = { __gc = error, __index = error, __tostring = error } return tostring(t) "
                  "end)()",
                  "'error' " A_FUNCTION },
                { "tostring({ __tostring = function() return 'x' end, __name = 'x' })", "\"table\"" },
                /* Bytecode. */
                { "\x1bLua", "unexpected symbol near '<\\27>'" },
                { "('\\27Lua')()", "('\\27Lua')(): attempt to call a string value (constant ' Lua')" },
                /* Addresses. */
                { "tostring({})", "\"table\"" },
                { "tostring(function() end)", "\"function\"" },
                { "string.format('%s %s', {}, function() end)", "\"table function\"" },
                { "('%5s'):format({})", "\"table\"" },
                { "string.format('%p', {})", "string.format('%p', {}): '%p' is not available here" },
                { "string.format('\\0%p', {})", "string.format('\\0%p', {}): '%p' is not available here" },
                { "string.format('%-20p', 'x')", "string.format('%-20p', 'x'): '%p' is not available here" },
                { "string.format('%%p')", "\"%p\"" },
                { "string.format('100%', 1)", "string.format('100%', 1): invalid conversion '%' to 'format'" },
                { "string.format('%q', {})",
                  "string.format('%q', {}): bad argument #2 to 'format' (value has no literal form)" },
                { "{} .. ''", "{} .. '': attempt to concatenate a table value" },
                { "table.concat({ {} })",
                  "table.concat({ {} }): invalid value (table) at index 1 in table for 'concat'" },
                { "('x'):gsub('x', function() return {} end)",
                  "('x'):gsub('x', function() return {} end): invalid replacement value (a table)" },
                { "('x'):gsub('x', '%y')", "('x'):gsub('x', '%y'): invalid use of '%' in replacement string" },
                /* Conversions that are too wide. */
                { "string.format('%99999d', 1)",
                  "string.format('%99999d', 1): invalid conversion specification: '%99999d'" },
                { "string.format('%.99999f', 1)",
                  "string.format('%.99999f', 1): invalid conversion specification: '%.99999f'" },
                { "#string.format('%99.99f', 1e308)", "409" },
                /* Comparisons that contradict themselves. */
                { "(function() local t = { 3, 1, 2 } table.sort(t, function() return true end) return #t end)()", "3" },
                { "(function() local t = { 3, 1, 2 } table.sort(t, function() return t end) t[9] = 1 end)()", "null" },
                { "(function() local t = { 3, 1, 2 } table.sort(t, function() t[2] = nil return true end) end)()",
                  "null" },
                { "(function() local t = { 3, {}, 2 } table.sort(t) end)()",
                  "(function() local t = { 3, {}, 2 } table.sort(t) end)(): attempt to compare table with number" },
                /* Orders that depend on chance. */
                { "(function() local s = '' for k in pairs({ b = 1, a = 1, [2] = 1, [1.5] = 1, [true] = 1 }) do "
                  "s = s .. tostring(k) end return s end)()",
                  "\"1.52abtrue\"" },
                { "(function() local s = '' for k in pairs({ [true] = 1, [false] = 1 }) do s = s .. tostring(k) end "
                  "return s end)()",
                  "\"falsetrue\"" },
                { "select('#', table.unpack({ 1, 2, 3 }, 2, 3))", "2" },
                { "(function() for k in pairs({ [{}] = 1, [{ 1 }] = 1 }) do end end)()",
                  "(function() for k in pairs({ [{}] = 1, [{ 1 }] = 1 }) do end...: the keys of this table have no "
                  "order (a "
                  "table is among them)" },
                { "(function() local t = {} for i = 1, 300 do t[i] = { i % 3, i } end table.sort(t, function(a, b) "
                  "return a[1] < b[1] end) for i = 2, 300 do local a, b = t[i - 1], t[i] assert(a[1] < b[1] or a[1] == "
                  "b[1] and a[2] < b[2]) end return true end)()",
                  "true" },
                /* Numbers that are none. */
                { "math.mininteger // -1", "-9223372036854775808" },
                { "math.mininteger % -1", "0" },
                { "1 // 0", "1 // 0: attempt to divide by zero" },
                { "1 % 0", "1 % 0: attempt to perform 'n%0'" },
                { "1 << 64 | 1 >> -64", "0" },
                { "math.tointeger(2^63)", "null" },
                { "2^53 | 0.5", "2^53 | 0.5: number has no integer representation" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
}

/* Values that take a way back that JSON has not. */
static void test_strange_values(void) {
        static const struct {
                const char *code, *value;
        } cases[] = {
                { "(function() local t = {} t.t = t return t end)()",
                  "(function() local t = {} t.t = t return t end)(): t: a table that contains itself cannot be stored "
                  "in "
                  "a "
                  "variable" },
                { "(function() local a, b = {}, {} a[1] = b b.a = a return a end)()",
                  "(function() local a, b = {}, {} a[1] = b b.a = a return a en...: [1].a: a table that contains "
                  "itself cannot be stored in a variable" },
                { "(function() local t = {} return { t, t } end)()", "[[],[]]" },
                { "(function() local t = 1 for i = 1, 100 do t = { t } end return t[1][1][1] ~= nil end)()", "true" },
                { "(function() local t = 1 for i = 1, 101 do t = { t } end return t end)()",
                  "(function() local t = 1 for i = 1, 101 do t = { t } end retu...: nested more than 100 levels deep" },
                { "(function() local t = 1 for i = 1, 60 do t = { t, t } end return t end)()",
                  "(function() local t = 1 for i = 1, 60 do t = { t, t } end re...: the value is too large" },
                { "(function() local s, t = ('x'):rep(1000000), {} for i = 1, 1000 do t[i] = s end return t end)()",
                  "(function() local s, t = ('x'):rep(1000000), {} for i = 1, 1...: the value is too large" },
                { "{ [1 << 62] = 1 }", "{ [1 << 62] = 1 }: more than half of the list is missing" },
                { "{ 1, nil, nil, 4 }", "[1,null,null,4]" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
}

static void test_unit_escape(void) {
        static const char *const cases[][2] = {
                { "unit_escape('a/b-c')", "\"a-b\\\\x2dc\"" },
                { "unit_escape(5)", "\"5\"" },
                { "unit_escape_path('/dev//sda1/')", "\"dev-sda1\"" },
                { "unit_escape_path('')", "\"-\"" },
                { "unit_escape_path('a/..')", "unit_escape_path('a/..'): a path with '..' cannot be escaped" },
                { "unit_escape(nil)", "unit_escape(nil): bad argument #1 to 'unit_escape' (string expected, got nil)" },
                { "unit_escape('a\\0')",
                  "unit_escape('a\\0'): bad argument #1 to 'unit_escape' (the text contains a NUL "
                  "character)" },
                { "unit_escape(('a'):rep(1000000))",
                  "unit_escape(('a'):rep(1000000)): ran for more than 1000000 instructions" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i][0]);

                g_assert_cmpstr(value, ==, cases[i][1]);
        }
}

static void test_deep_variable(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *text = NULL, *error = NULL;
        json_object *value = json_object_new_int(1);

        for (unsigned i = 0; i < 101; i++) {
                json_object *around = json_object_new_array();

                json_object_array_add(around, value);
                value = around;
        }

        blackboard_set(blackboard, "deep", value);
        error = evaluate_in(scripts, "#deep", blackboard);
        g_assert_cmpstr(error, ==, "#deep: deep: nested more than 100 levels deep");
        blackboard_set(blackboard, "deep", json_object_get(json_object_array_get_idx(value, 0)));
        text = evaluate_in(scripts, "#deep", blackboard);
        g_assert_cmpstr(text, ==, "1");
}

/* Names of the library are none of the variables, whatever these are. */
static void test_library_is_not_shadowed(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *text = NULL, *variable = NULL;

        blackboard_set(blackboard, "string", json_object_new_int(5));
        blackboard_set(blackboard, "tostring", json_object_new_int(6));
        run_in(scripts, "_G.string = _G.string + 1; _G.math = 7", blackboard);
        text = evaluate_in(scripts, "string.rep(tostring(math.floor(1.5)), 3)", blackboard);
        g_assert_cmpstr(text, ==, "\"111\"");
        variable = evaluate_in(scripts, "_G.string + _G.math", blackboard);
        g_assert_cmpstr(variable, ==, "13");
}

/* Nothing can be kept from one evaluation for another. */
static void test_nothing_is_kept(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) one = blackboard_new(&limits_default), other = blackboard_new(&limits_default);
        g_autofree char *changed = NULL, *again = NULL, *kept = NULL, *outermost = NULL, *failed = NULL;

        blackboard_set(one, "list", json_tokener_parse("[3, 1, 2]"));
        changed = evaluate_in(scripts, "(function() list[4] = 0 table.sort(list) return list end)()", one);
        g_assert_cmpstr(changed, ==, "[0,1,2,3]");
        again = evaluate_in(scripts, "list", one);
        g_assert_cmpstr(again, ==, "[3,1,2]");

        run_in(scripts, "a = 'kept'; _G.b = 'kept'", one);
        kept = evaluate_in(scripts, "{ a or 'none', _G.b or 'none', list or 'none' }", other);
        g_assert_cmpstr(kept, ==, "[\"none\",\"none\",\"none\"]");

        failed = evaluate_in(scripts, "(function() list[1] = 'kept' error(list[1]) end)()", one);
        g_assert_cmpstr(failed, ==, "(function() list[1] = 'kept' error(list[1]) end)(): kept");
        outermost = evaluate_in(scripts, "list[1]", one);
        g_assert_cmpstr(outermost, ==, "3");
}

/* Nor can what an evaluator has given besides the variables. */
static void test_extra_is_not_kept(void) {
        static const char *const names[] = { "value", NULL };
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(json_object) given = json_object_new_string("secret");
        g_autofree char *error = NULL, *later = NULL;
        const Script *script;
        size_t offset;
        bool truth;

        g_assert_cmpint(
                scripts_compile(scripts, SCRIPT_EXPRESSION, "value", names, NULL, NULL, &script, &error, &offset), ==,
                0);
        g_assert_cmpint(script_test(script, blackboard, &given, &truth, &error), ==, 0);
        later = evaluate_in(scripts, "value", blackboard);
        g_assert_cmpstr(later, ==, "null");
}

static void assert_gives(const char *code, const char *expected) {
        g_autofree char *result = evaluate(code);

        g_assert_cmpstr(result, ==, expected);
}

static void test_values_in_texts(void) {
        assert_gives("('a\\n\\nb'):lines()", "[\"a\",\"\",\"b\"]");
        assert_gives("('a b\\n'):lines()", "[\"a b\"]");
        assert_gives("(''):lines()", "[]");
        assert_gives("(' a\\tb \\n'):words()", "[\"a\",\"b\"]");
        assert_gives("string.words('x')", "[\"x\"]");

        assert_gives("('[1, {\"a\": \"\xc3\xbc\", \"b\": []}]'):json()", "[1,{\"a\":\"\xc3\xbc\",\"b\":[]}]");
        assert_gives("('9223372036854775807'):json()", "9223372036854775807");
        assert_gives("('18446744073709551615'):json()", "18446744073709551615");
        assert_gives("('[18446744073709551614, {\"a\": 9223372036854775809}]'):json()",
                     "[18446744073709551614,{\"a\":9223372036854775809}]");
        assert_gives("('18446744073709551615'):json() > 5", "true");
        assert_gives("('[18446744073709551614, 18446744073709551615]'):json()",
                     "('[18446744073709551614, 18446744073709551615]'):json(): [1]: Lua cannot tell this number from "
                     "another one, as both are larger than 9223372036854775807");
        assert_gives("('{\"a\": {\"b\": 5}}'):json().a.b + 1", "6");
        assert_gives("('null'):json()", "null");
        assert_gives("('[1] x'):json()", "null");
        assert_gives("select(2, ('[1] x'):json())", "\"the text is not JSON\"");
        assert_gives("select(2, ('['):rep(101):json())", "\"the text is nested more than 100 levels deep\"");
        assert_gives("select(2, ('1e999'):json())", "\"a number does not fit into 64 bits\"");
        assert_gives("select(2, ('x'):rep(1048577):json())", "\"the JSON is longer than 1 MiB\"");
        assert_gives("select(2, ('[' .. ('{},'):rep(100000) .. '1]'):json())", "\"the JSON has too many values\"");

        assert_gives("table.json({a = {1, 'x y', true}})", "\"{\\\"a\\\":[1,\\\"x y\\\",true]}\"");
        assert_gives("table.json(nil)", "\"null\"");
        assert_gives("table.json(function() end)",
                     "table.json(function() end): a function cannot be stored in a variable");

        assert_gives("('a\xc3\xbc'):bytes()", "[97,195,188]");
        assert_gives("table.text({97, 195, 188})", "\"a\xc3\xbc\"");
        assert_gives("table.text({97, 255, 0})", "\"a\xef\xbf\xbd\"");
        assert_gives("table.text({})", "\"\"");
        assert_gives("select(2, table.text({256}))", "\"the list has more than bytes, the numbers from 0 to 255\"");
}

/* A text of a megabyte is not too long to be searched for something that begins with a certain character. */
static void test_long_texts(void) {
        assert_gives("(('x'):rep(1000000) .. 'state: on'):match('state: (%a+)')", "\"on\"");
        assert_gives("(('x'):rep(1000000)):find('state')", "null");
        assert_gives("#((('a b\\n'):rep(100000)):lines())", "100000");
        assert_gives("(('x'):rep(100000) .. '5'):match('%d')", "\"5\"");
}

/* What they need counts. */
static void test_values_are_limited(void) {
        g_autofree char *error = evaluate("#(('x '):rep(2000000):words())");

        g_assert_nonnull(strstr(error, "more than"));
        assert_gives("#(('[' .. ('5,'):rep(200000) .. '1]'):json())", "200001");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/sandbox/functions-that-are-not-there", test_functions_that_are_not_there);
        g_test_add_func("/sandbox/moment", test_moment);
        g_test_add_func("/sandbox/members-that-are-not-there", test_members_that_are_not_there);
        g_test_add_func("/sandbox/values-in-texts", test_values_in_texts);
        g_test_add_func("/sandbox/long-texts", test_long_texts);
        g_test_add_func("/sandbox/values-are-limited", test_values_are_limited);
        g_test_add_func("/sandbox/ways-out", test_ways_out);
        g_test_add_func("/sandbox/strange-values", test_strange_values);
        g_test_add_func("/sandbox/unit-escape", test_unit_escape);
        g_test_add_func("/sandbox/deep-variable", test_deep_variable);
        g_test_add_func("/sandbox/library-is-not-shadowed", test_library_is_not_shadowed);
        g_test_add_func("/sandbox/nothing-is-kept", test_nothing_is_kept);
        g_test_add_func("/sandbox/extra-is-not-kept", test_extra_is_not_kept);
        return g_test_run();
}
