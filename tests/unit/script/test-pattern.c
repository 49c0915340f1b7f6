/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that btd's pattern functions give the same results as Lua's. */

#include <glib.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "rounds.h"
#include "script/sandbox.h"

/* Lua as it is, and Lua in the sandbox. */
typedef struct Pair {
        lua_State *plain, *ours;
        Budget budget;
} Pair;

static void pair_clear(Pair *pair) {
        lua_close(pair->plain);
        lua_close(pair->ours);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pair, pair_clear)

static void pair_init(Pair *pair) {
        pair->plain = luaL_newstate();
        luaL_openlibs(pair->plain);
        pair->ours = budget_new_state(&pair->budget);
        sandbox_open(pair->ours);
}

/* All that the code gives for a text and a pattern, as one text, or "error"; "open" is an error that Lua only notices
 * when it needs what is between the brackets. */
static char *results(lua_State *lua, const char *code, const GString *text, const GString *pattern) {
        g_autoptr(GString) all = g_string_new(NULL);
        int n;

        g_assert_cmpint(luaL_loadstring(lua, code), ==, LUA_OK);
        lua_pushlstring(lua, text->str, text->len);
        lua_pushlstring(lua, pattern->str, pattern->len);
        if (lua_pcall(lua, 2, LUA_MULTRET, 0) != LUA_OK) {
                bool is_open = strstr(lua_tostring(lua, -1), "a '(' of the pattern has no ')'");

                lua_settop(lua, 0);
                return g_strdup(is_open ? "open" : "error");
        }

        n = lua_gettop(lua);
        for (int i = 1; i <= n; i++) {
                size_t length;
                const char *value = luaL_tolstring(lua, i, &length);
                g_autofree char *escaped = g_strescape(value, NULL);

                g_string_append_printf(all, "%zu:%s ", length, escaped);
        }
        lua_settop(lua, 0);
        return g_string_free(g_steal_pointer(&all), false);
}

static void compare(Pair *pair, const GString *text, const GString *pattern) {
        static const char *const codes[] = {
                "local t, p = ... return string.find(t, p)",
                "local t, p = ... return string.find(t, p, 0)",
                "local t, p = ... return string.find(t, p, 3)",
                "local t, p = ... return string.find(t, p, -2)",
                "local t, p = ... return string.find(t, p, 1, true)",
                "local t, p = ... return string.match(t, p)",
                "local t, p = ... return string.match(t, p, 100)",
                "local t, p = ... return string.gsub(t, p, '<%0%1>')",
                "local t, p = ... return string.gsub(t, p, '%%%2', 2)",
                "local t, p = ... return string.gsub(t, p, { a = 1, b = false })",
                "local t, p = ... local n = 0 return string.gsub(t, p, function(...) n = n + 1 "
                "return n % 2 == 0 and select('#', ...) end)",
                "local t, p = ... local all = {} for a, b in string.gmatch(t, p) do "
                "all[#all + 1] = tostring(a) .. '/' .. tostring(b) end return table.concat(all, ' ')",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
                g_autofree char *expected = results(pair->plain, codes[i], text, pattern);
                g_autofree char *given = NULL;

                budget_begin(pair->ours);
                given = results(pair->ours, codes[i], text, pattern);
                budget_end(pair->ours);
                if (!g_str_equal(given, expected) && !g_str_equal(given, "open"))
                        g_error("%s\ntext '%s', pattern '%s'\n%s instead of %s", codes[i], text->str, pattern->str,
                                given, expected);
        }
        if (budget_has_garbage(pair->ours))
                budget_collect(pair->ours);
}

static void test_examples(void) {
        static const struct {
                const char *text, *pattern;
        } cases[] = {
                { "", "" },
                { "", ".*" },
                { "key = value", "^(%w+)%s*=%s*(%w+)$" },
                { "key = value", "(%w+)" },
                { "2026-11-21", "(%d+)-(%d+)-(%d+)" },
                { "THE (quick) fox", "%((%a+)%)" },
                { "f(a(b)c)d", "%b()" },
                { "THE (quick) fox", "%f[%a]%a+%f[%A]" },
                { "say \"hello\" or 'hi'", "([\"'])(.-)%1" },
                { "hello world", "()ll()" },
                { "a]b-c^d", "[]^-]" },
                { "a]b-c^d", "[^]a]" },
                { "[a-z]", "%[a%-z%]" },
                { "abc", "[a-]" },
                { "abc", "[%a-z]" },
                { "abc", "[a-%%]" },
                { "abc", "a$c" },
                { "a$c", "a$c" },
                { "a^c", "a^c" },
                { "aaa", "a-" },
                { "aaa", "a-$" },
                { "aaab", "a?a?a?a?b" },
                { "x", "%" },
                { "x", "[" },
                { "x", "[%" },
                { "x", "[]" },
                { "x", "[^" },
                { "x", "(" },
                { "x", ")" },
                { "x", "%1" },
                { "x", "(%1)" },
                { "x", "(x)%0" },
                { "x", "%9" },
                { "x", "()%1" },
                { "x", "%b" },
                { "x", "%bx" },
                { "x", "%f" },
                { "x", "%fx" },
                { "abc\xc3\xbc", "[\x80-\xff]+" },
                { "abc", "(a)(b)(c)%3" },
                { "abab", "(ab)%1" },
                { "((((((((((((((((((((((((((((((((((", "((((((((((((((((((((((((((((((((((" },
                { " \t\n\v\f\r", "%s+" },
                { "Az09_!\x7f", "%u%l%d%x%w?%p%p%c" },
                { "Az09_!\x7f", "%U%L%D+%S%g%C%W" },
        };
        g_auto(Pair) pair = {};

        pair_init(&pair);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) text = g_string_new(cases[i].text), pattern = g_string_new(cases[i].pattern);

                compare(&pair, text, pattern);
        }
}

static GString *random_text(const char *letters, int length) {
        GString *text = g_string_new(NULL);

        for (int i = 0; i < length; i++)
                g_string_append_c(text, letters[g_test_rand_int_range(0, (int) strlen(letters) + 1)]);

        return text;
}

/* A letter that is NUL is among them. */
static void test_random(void) {
        g_auto(Pair) pair = {};

        pair_init(&pair);
        for (unsigned i = 0; i < rounds(1000); i++) {
                g_autoptr(GString) text = random_text("aabbA1( )-%", g_test_rand_int_range(0, 10));
                g_autoptr(GString) pattern = random_text("aab.%%%[]()*+-?^$1wdsAbf", g_test_rand_int_range(0, 8));

                compare(&pair, text, pattern);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/pattern/examples", test_examples);
        g_test_add_func("/pattern/random", test_random);
        return g_test_run();
}
