/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the analysis of expressions and code: the variables that they use, and the places of their errors. */

#include <errno.h>

#include "script/scripts.h"

static const Script *compile(Scripts *scripts, ScriptKind kind, const char *code) {
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;

        g_test_message("%s", code);
        if (scripts_compile(scripts, kind, code, NULL, NULL, NULL, &script, &error, &offset) < 0)
                g_error("%s: %zu: %s", code, offset, error);

        return script;
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
                const Script *script = compile(scripts, cases[i].kind, cases[i].code);

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
                { SCRIPT_EXPRESSION, "", 0, "the expression is empty" },
                { SCRIPT_EXPRESSION, " -- none", 8, "the expression is empty" },
                { SCRIPT_EXPRESSION, ";", 0, "the expression is empty" },
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
                { SCRIPT_EXPRESSION, "x near y", 2,
                  "the end expected near 'near'; this is Lua, and not a command line: a Command runs a program" },
                { SCRIPT_EXPRESSION, "1, 2", 1, "an expression has one value; unexpected text after it" },
                { SCRIPT_EXPRESSION, "1;", 1, "an expression has one value; unexpected text after it" },
                { SCRIPT_EXPRESSION, "a \"unfinished", 2, "unfinished string" },
                { SCRIPT_EXPRESSION, "[==[long", 0, "unfinished long string (starting at line 1)" },
                { SCRIPT_EXPRESSION, "'abc \\q def'", 5, "invalid escape sequence near ''abc \\q'" },
                { SCRIPT_EXPRESSION, "'abc\\300'", 4, "decimal escape too large near ''abc\\300''" },
                { SCRIPT_EXPRESSION, "'a\\n\\xg'", 4, "hexadecimal digit expected near ''a\\n\\xg'" },
                { SCRIPT_EXPRESSION, "1 + 3..2", 4,
                  "malformed number near '3..2'; a loop over numbers is 'for i = 1, 3 do'" },
                { SCRIPT_EXPRESSION, "{ a = 1 b = 2 }", 8, "'}' expected near 'b'" },
                { SCRIPT_EXPRESSION, "{ a b }", 4, "'}' expected near 'b'" },
                { SCRIPT_EXPRESSION, "f(1 2)", 4, "')' expected near '2'" },
                { SCRIPT_EXPRESSION, "a.", 2, "a name expected at the end" },
                { SCRIPT_EXPRESSION, "a.then", 2, "a name expected near 'then'" },
                { SCRIPT_EXPRESSION, "a:b", 3, "function arguments expected at the end" },
                { SCRIPT_EXPRESSION, "a $ b", 2, "the end expected near '$'" },
                { SCRIPT_EXPRESSION, "'\xc3\xbc' \xc3\xbc", 5,
                  "the end expected near '<\\195>'; a name has the letters a to z, digits and '_'; everything else "
                  "stands in "
                  "quotes" },
                { SCRIPT_EXPRESSION, "'ab\\\xc3\xa9'", 3, "invalid escape sequence near ''ab\\\ufffd'" },
                { SCRIPT_EXPRESSION, "\x1bLua", 0, "unexpected symbol near '<\\27>'" },
                { SCRIPT_CODE, "\x1bLua", 0, "unexpected symbol near '<\\27>'" },
                { SCRIPT_EXPRESSION, "(function() x = 1 end)()", 12,
                  "an expression cannot set a variable, but this sets 'x'" },
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
                  "'error' is a function and can only be called; a variable cannot have this name" },
                { SCRIPT_CODE, "x = 1; type = 2", 7,
                  "'type' is a function and can only be called; a variable cannot have this name" },
                { SCRIPT_EXPRESSION, "#table", 1,
                  "'table' is a library and can only be used as 'table.NAME'; a variable cannot have this name" },
                { SCRIPT_EXPRESSION, "string.dump(f)", 0, "there is no 'string.dump'" },
        };
        g_autoptr(Scripts) scripts = scripts_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *error = NULL;
                const Script *script = NULL;
                size_t offset;

                g_test_message("%s", cases[i].code);
                g_assert_cmpint(scripts_compile(scripts, cases[i].kind, cases[i].code, NULL, NULL, NULL, &script,
                                                &error, &offset),
                                ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpuint(offset, ==, cases[i].offset);
                g_assert_null(script);
        }
}

static void test_long_name(void) {
        g_autofree char *longest = g_strnfill(255, 'a'), *longer = g_strnfill(256, 'a'), *error = NULL;
        g_autoptr(Scripts) scripts = scripts_new();
        const Script *script = compile(scripts, SCRIPT_EXPRESSION, longest);
        size_t offset;

        g_assert_cmpstr(script_reads(script)[0], ==, longest);
        g_assert_cmpint(scripts_compile(scripts, SCRIPT_EXPRESSION, longer, NULL, NULL, NULL, &script, &error, &offset),
                        ==, -EINVAL);
        g_assert_cmpstr(error, ==, "the name of a variable must not be longer than 255 characters");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/script-text/names", test_names);
        g_test_add_func("/script-text/mistakes", test_bad_text);
        g_test_add_func("/script-text/long-name", test_long_name);
        return g_test_run();
}
