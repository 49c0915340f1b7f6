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
        };
        g_autoptr(Blackboard) blackboard = example();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *value = evaluate(cases[i].code, blackboard);

                g_assert_cmpstr(value, ==, cases[i].value);
        }
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
                g_autoptr(Blackboard) blackboard = blackboard_new();
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

static void test_names(void) {
        static const struct {
                ScriptKind kind;
                const char *code, *reads, *writes;
        } cases[] = {
                { SCRIPT_EXPRESSION, "1", "", "" },
                { SCRIPT_EXPRESSION, "b < a and a < c.a", "a b c", "" },
                { SCRIPT_EXPRESSION, "a.b[c].d", "a c", "" },
                { SCRIPT_EXPRESSION, "a:b(c, 'd')", "a c", "" },
                { SCRIPT_EXPRESSION, "a'b'{ c }", "a c", "" },
                { SCRIPT_EXPRESSION, "{ a, b = c, [d] = e; 'f', g }", "a c d e g", "" },
                { SCRIPT_EXPRESSION, "_G.a + a + _G['b-c'] + _G.a.b", "@a @b-c a", "" },
                { SCRIPT_EXPRESSION, "-a .. not b .. #c .. ~d", "a b c d", "" },
                { SCRIPT_EXPRESSION, "(function(a, ...) local b = c; return a + b + d end)(e)", "c d e", "" },
                { SCRIPT_EXPRESSION, "a --[[ b ]] + --[==[ c ]] ]==] d -- e", "a d", "" },
                { SCRIPT_EXPRESSION, "'a' .. \"b\\\"c\" .. [[d]] .. [=[ e ]] ]=] .. f", "f", "" },
                { SCRIPT_EXPRESSION, "0xA + 1e-5 + .5 + a", "a", "" },
                { SCRIPT_EXPRESSION, "string.format('%d', math.floor(a)) .. tostring(b)", "a b", "" },
                { SCRIPT_EXPRESSION, "a.string + b.error + c.type", "a b c", "" },
                { SCRIPT_EXPRESSION, "_G.error", "@error", "" },
                { SCRIPT_CODE, "", "", "" },
                { SCRIPT_CODE, "a = b", "b", "a" },
                { SCRIPT_CODE, "a, b.c, _G.d = e, f", "b e f", "@d a" },
                { SCRIPT_CODE, "a = a + 1", "a", "a" },
                { SCRIPT_CODE, "a.b = 1; c[d] = 2", "a c d", "" },
                { SCRIPT_CODE, "f(a).b = 1", "a f", "" },
                { SCRIPT_CODE, "(a).b = 1 ; (f)()", "a f", "" },
                { SCRIPT_CODE, "local a = a; a = 1; b = a", "a", "b" },
                { SCRIPT_CODE, "local a, b <const> = 1, c; a = b", "c", "" },
                { SCRIPT_CODE, "do local a = 1 end a = 2", "", "a" },
                { SCRIPT_CODE, "if a then local b = 1; c = b elseif d then c = b else e = b end", "a b d", "c e" },
                { SCRIPT_CODE, "while a do local b = 1; break end c = b", "a b", "c" },
                { SCRIPT_CODE, "repeat local a = b until a; c = a", "a b", "c" },
                { SCRIPT_CODE, "for i = a, b do c = i end d = i", "a b i", "c d" },
                { SCRIPT_CODE, "for k, v in pairs(a) do b = k end c = v", "a v", "b c" },
                { SCRIPT_CODE, "for i = i, 1 do end", "i", "" },
                { SCRIPT_CODE, "local function f(x) return f(x) end a = f(x)", "x", "a" },
                { SCRIPT_CODE, "local f = function(x) return f(x) end", "f", "" },
                { SCRIPT_CODE, "local t = {} function t.a.b:c(d) self.x = d; e = self end self = 1", "", "e self" },
                { SCRIPT_CODE, "function a.b(c) return c end", "a", "" },
                { SCRIPT_CODE, "goto done; a = 1; ::done:: b = 2", "", "a b" },
                { SCRIPT_CODE, "local string = { rep = a }; b = string", "a", "b" },
                { SCRIPT_CODE, "return a, b;", "a b", "" },
        };
        g_autoptr(Scripts) scripts = scripts_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *reads = NULL, *writes = NULL;
                const Script *script = compile(scripts, cases[i].kind, cases[i].code, NULL);

                reads = g_strjoinv(" ", (char **) script_reads(script));
                writes = g_strjoinv(" ", (char **) script_writes(script));
                g_assert_cmpstr(reads, ==, cases[i].reads);
                g_assert_cmpstr(writes, ==, cases[i].writes);
        }
}

static void test_bad_text(void) {
        static const struct {
                ScriptKind kind;
                const char *code;
                size_t offset;
                const char *error;
        } cases[] = {
                { SCRIPT_EXPRESSION, "", 0, "there is no expression" },
                { SCRIPT_EXPRESSION, " -- none", 8, "there is no expression" },
                { SCRIPT_EXPRESSION, ";", 0, "there is no expression" },
                { SCRIPT_EXPRESSION, "battery <", 9, "unexpected symbol at the end" },
                { SCRIPT_EXPRESSION, "battery < < 20", 10, "unexpected symbol near '<'" },
                { SCRIPT_EXPRESSION, "battery <= < 5", 11, "unexpected symbol near '<'" },
                { SCRIPT_EXPRESSION, "battery = 20", 8, "the end expected near '='; 'equal' is '=='" },
                { SCRIPT_EXPRESSION, "battery != 20", 8, "the end expected near '!'; 'not equal' is '~='" },
                { SCRIPT_EXPRESSION, "!battery", 0, "unexpected symbol near '!'; write 'not'" },
                { SCRIPT_EXPRESSION, "a && b", 3, "unexpected symbol near '&'; write 'and'" },
                { SCRIPT_EXPRESSION, "a || b", 3, "unexpected symbol near '|'; write 'or'" },
                { SCRIPT_EXPRESSION, "return 1", 0,
                  "unexpected symbol near 'return'; an expression needs no 'return'" },
                { SCRIPT_EXPRESSION, "(battery < 20", 13, "')' expected at the end" },
                { SCRIPT_EXPRESSION, "battery 20", 8, "the end expected near '20'" },
                { SCRIPT_EXPRESSION, "((1)))", 5, "the end expected near ')'" },
                { SCRIPT_EXPRESSION, "x near y", 2, "the end expected near 'near'" },
                { SCRIPT_EXPRESSION, "1, 2", 1, "an expression has one value, and ends before this" },
                { SCRIPT_EXPRESSION, "1;", 1, "an expression has one value, and ends before this" },
                { SCRIPT_EXPRESSION, "a \"unfinished", 2, "unfinished string" },
                { SCRIPT_EXPRESSION, "[==[long", 0, "unfinished long string (starting at line 1)" },
                { SCRIPT_EXPRESSION, "'abc \\q def'", 5, "invalid escape sequence near ''abc \\q'" },
                { SCRIPT_EXPRESSION, "'abc\\300'", 4, "decimal escape too large near ''abc\\300''" },
                { SCRIPT_EXPRESSION, "'a\\n\\xg'", 4, "hexadecimal digit expected near ''a\\n\\xg'" },
                { SCRIPT_EXPRESSION, "1 + 3..2", 4, "malformed number near '3..2'" },
                { SCRIPT_EXPRESSION, "{ a = 1 b = 2 }", 8, "'}' expected near 'b'" },
                { SCRIPT_EXPRESSION, "{ a b }", 4, "'}' expected near 'b'" },
                { SCRIPT_EXPRESSION, "f(1 2)", 4, "')' expected near '2'" },
                { SCRIPT_EXPRESSION, "a.", 2, "a name expected at the end" },
                { SCRIPT_EXPRESSION, "a.then", 2, "a name expected near 'then'" },
                { SCRIPT_EXPRESSION, "a:b", 3, "function arguments expected at the end" },
                { SCRIPT_EXPRESSION, "a $ b", 2, "the end expected near '$'" },
                { SCRIPT_EXPRESSION, "'\xc3\xbc' \xc3\xbc", 5, "the end expected near '<\\195>'" },
                { SCRIPT_EXPRESSION, "\x1bLua", 0, "unexpected symbol near '<\\27>'" },
                { SCRIPT_CODE, "\x1bLua", 0, "unexpected symbol near '<\\27>'" },
                { SCRIPT_EXPRESSION, "(function() x = 1 end)()", 12,
                  "an expression cannot set a variable, and this sets 'x'" },
                { SCRIPT_EXPRESSION, "(function() local x <const> = 1 x = 2 end)()", 34,
                  "attempt to assign to const variable 'x'" },
                { SCRIPT_CODE, "x = = 5", 4, "unexpected symbol near '='" },
                { SCRIPT_CODE, "if x then y = 1", 15, "'end' expected at the end" },
                { SCRIPT_CODE, "if x then\ny = 1", 15, "'end' expected (to close 'if' at line 1) at the end" },
                { SCRIPT_CODE, "x = 1\n  y = )\n", 12, "unexpected symbol near ')'" },
                { SCRIPT_CODE, "x + 1", 2, "syntax error near '+'" },
                { SCRIPT_CODE, "while true do end end", 18, "the end expected near 'end'" },
                { SCRIPT_CODE, "x = 5 break", 6, "break outside loop at line 1" },
                { SCRIPT_CODE, "a = 1;; b = 'x", 12, "unfinished string" },
                { SCRIPT_CODE, "a = --[[ unfinished", 19, "unfinished long comment (starting at line 1)" },
                { SCRIPT_EXPRESSION, "_G", 0,
                  "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'" },
                { SCRIPT_EXPRESSION, "1 + _G[x]", 4,
                  "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'" },
                { SCRIPT_EXPRESSION, "_G['a b']", 0,
                  "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'" },
                { SCRIPT_CODE, "_G = 1", 0,
                  "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'" },
                { SCRIPT_CODE, "local _G = 1", 6, "'_G' cannot be a local name" },
                { SCRIPT_CODE, "local function f(_ENV) end", 17, "'_ENV' cannot be a local name" },
                { SCRIPT_EXPRESSION, "a + _ENV.x", 4, "'_ENV' cannot be used here" },
                { SCRIPT_EXPRESSION, "error ~= ''", 0,
                  "'error' is a function here, and can only be called; a variable of that name cannot be used" },
                { SCRIPT_CODE, "x = 1; type = 2", 7,
                  "'type' is a function here, and can only be called; a variable of that name cannot be used" },
                { SCRIPT_EXPRESSION, "#table", 1,
                  "'table' is a library here, and can only be used as 'table.NAME'; a variable of that name cannot be "
                  "used" },
                { SCRIPT_EXPRESSION, "string.dump(f)", 0, "there is no 'string.dump' here" },
        };
        g_autoptr(Scripts) scripts = scripts_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *error = NULL;
                const Script *script = NULL;
                size_t offset;

                g_test_message("%s", cases[i].code);
                g_assert_cmpint(scripts_compile(scripts, cases[i].kind, cases[i].code, NULL, &script, &error, &offset),
                                ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpuint(offset, ==, cases[i].offset);
                g_assert_null(script);
        }
}

static void test_long_name(void) {
        g_autofree char *longest = g_strnfill(255, 'a'), *longer = g_strnfill(256, 'a'), *error = NULL;
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, longest, NULL);
        size_t offset;

        g_assert_cmpstr(script_reads(script)[0], ==, longest);
        g_assert_cmpint(scripts_compile(scripts, SCRIPT_EXPRESSION, longer, NULL, &script, &error, &offset), ==,
                        -EINVAL);
        g_assert_cmpstr(error, ==, "this is too long for the name of a variable");
}

static void test_errors(void) {
        static const struct {
                const char *code, *error;
        } cases[] = {
                { "missing < 20", "missing < 20: attempt to compare nil with number (missing is not set)" },
                { "nothing < missing", "nothing < missing: attempt to compare two nil values (missing is not set, "
                                       "nothing is null)" },
                { "missing + 1", "missing + 1: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "battery.x.y + missing",
                  "battery.x.y + missing: attempt to index a number value (variable 'battery')" },
                { "config.a.b", "config.a.b: attempt to index a nil value (field 'a')" },
                { "not missing and config.a.b",
                  "not missing and config.a.b: attempt to index a nil value (field 'a')" },
                { "_G.missing .. 'x'",
                  "_G.missing .. 'x': attempt to concatenate a nil value (_G.missing is not set)" },
                { "nil < 1", "nil < 1: attempt to compare nil with number" },
                { "missing()", "missing(): attempt to call a nil value (missing is not set)" },
                { "mode < 5", "mode < 5: attempt to compare string with number" },
                { "1 // 0", "1 // 0: attempt to divide by zero" },
                { "1 % 0", "1 % 0: attempt to perform 'n%0'" },
                { "1 / 0", "1 / 0: infinity (which 1/0 gives) is no number of JSON" },
                { "0 / 0", "0 / 0: NaN (which 0/0 gives) is no number of JSON" },
                { "{ a = { 1, { b = -1 / 0 } } }",
                  "{ a = { 1, { b = -1 / 0 } } }: a[2].b: infinity (which 1/0 gives) is no number of JSON" },
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
                { "{ f = function() end }", "{ f = function() end }: f: a function cannot be kept in a variable" },
                { "error('no\\xff')", "error('no\\xff'): no\xef\xbf\xbd" },
                { "error({})", "error({}): an error that is no text" },
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
        int r = script_run(compile(scripts, SCRIPT_CODE, code, NULL), blackboard, &error);

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
                                           "(variable 'list')" },
                { "x = 1\ny = missing + 1\n",
                  "line 2: y = missing + 1: attempt to perform arithmetic on a nil value (missing is not set)" },
                { "x = 1; y = 1 / 0", "x = 1; y = 1 / 0: y: infinity (which 1/0 gives) is no number of JSON" },
                { "x = 1; config.self = config", "x = 1; config.self = config: config.self: a table that contains "
                                                 "itself cannot be kept in a variable" },
                { "function x() end", "function x() end: x: a function cannot be kept in a variable" },
                { "local s = 'x' .. x", "local s = 'x' .. x: attempt to concatenate a nil value (x is not set)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *changed = run(cases[i].code);

                g_assert_cmpstr(changed, ==, cases[i].changed);
        }
}

/* The examples of the manual page. */
static void test_manual(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new();
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
                g_assert_cmpint(script_run(count, blackboard, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "broken", &broken));
        result = written(broken);
        g_assert_cmpstr(result, ==, "[\"x.service\"]");
}

/* A member that is null is none for Lua, but that does not make it another value. */
static void test_null_members(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new();
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *look = compile(scripts, SCRIPT_CODE, "local a, b = x.list[1], x.n == nil and #x.list", NULL);
        const Script *change = compile(scripts, SCRIPT_CODE, "x.list[4] = 4", NULL);
        g_autofree char *error = NULL, *after = NULL;
        json_object *value;
        uint64_t version;

        set_all(blackboard, "{\"x\": {\"n\": null, \"list\": [1, null, 3, null]}}");
        version = blackboard_version(blackboard);
        g_assert_cmpint(script_run(look, blackboard, &error), ==, 0);
        g_assert_cmpuint(blackboard_version(blackboard), ==, version);

        g_assert_cmpint(script_run(change, blackboard, &error), ==, 0);
        g_assert_true(blackboard_get(blackboard, "x", &value));
        after = written(value);
        g_assert_cmpstr(after, ==, "{\"list\":[1,null,3,4]}");
}

/* One chunk, evaluated in all kinds of scopes one after the other. */
static void test_scopes(void) {
        static const char *const names[] = { "item", NULL };
        g_autoptr(Blackboard) outermost = blackboard_new(), scope = blackboard_new_scope(outermost),
                              local = blackboard_new_local(outermost, names);
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_CODE, "item = item + 1; _G.item = _G.item + 10; n = item", NULL);
        g_autofree char *error = NULL, *in_outermost = NULL, *in_scope = NULL, *in_local = NULL;
        g_autoptr(json_object) all1 = NULL, all2 = NULL, all3 = NULL;

        set_all(outermost, "{\"item\": 100, \"n\": 0}");
        set_all(scope, "{\"item\": 200}");
        set_all(local, "{\"item\": 300}");

        g_assert_cmpint(script_run(script, scope, &error), ==, 0);
        all1 = blackboard_to_json(scope);
        in_scope = written(all1);
        g_assert_cmpstr(in_scope, ==, "{\"item\":201,\"n\":201}");

        g_assert_cmpint(script_run(script, local, &error), ==, 0);
        all2 = blackboard_to_json(local);
        in_local = written(all2);
        g_assert_cmpstr(in_local, ==, "{\"item\":301,\"n\":301}");

        g_assert_cmpint(script_run(script, outermost, &error), ==, 0);
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
        g_autoptr(Blackboard) blackboard = blackboard_new();
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
        g_assert_cmpint(script_run(script, blackboard, &error), ==, 0);
        g_assert_cmpstr(seen->str, ==, "[5] [5,[2]] ");
}

/* A scope that comes where another one was. */
static void test_scope_replaced(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, "x", NULL);

        for (int i = 0; i < 100; i++) {
                g_autoptr(Blackboard) blackboard = blackboard_new();
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
        g_test_add_func("/scripts/round-trip", test_round_trip);
        g_test_add_func("/scripts/truth", test_truth);
        g_test_add_func("/scripts/extra", test_extra);
        g_test_add_func("/scripts/names", test_names);
        g_test_add_func("/scripts/bad-text", test_bad_text);
        g_test_add_func("/scripts/long-name", test_long_name);
        g_test_add_func("/scripts/errors", test_errors);
        g_test_add_func("/scripts/run", test_run);
        g_test_add_func("/scripts/manual", test_manual);
        g_test_add_func("/scripts/null-members", test_null_members);
        g_test_add_func("/scripts/scopes", test_scopes);
        g_test_add_func("/scripts/watch-evaluates", test_watch_evaluates);
        g_test_add_func("/scripts/scope-replaced", test_scope_replaced);
        return g_test_run();
}
