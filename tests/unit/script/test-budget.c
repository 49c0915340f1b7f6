/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that scripts that would run or grow without end are stopped, with a message. */

#include <errno.h>
#include <json-c/json_object.h>
#include <malloc.h>
#include <time.h>

#include "sanitized.h"
#include "script/scripts.h"

/* What sanitizers make slower, or a compiler that does not optimise, is not what is tested. */
#ifdef __OPTIMIZE__
#define MS_MAX (SANITIZED ? 500 : 50)
#else
#define MS_MAX 500
#endif

#define STEPS "ran for more than 1000000 instructions"
#define MEMORY "used more than 8 MiB of memory"
#define TIME "took longer than 30 ms"
#define TIME_MS 30
#define VALUES "a function cannot return more than 10000 values"
#define CALLS "more than 1000 nested function calls"

/* Processor time, so that others on the machine do not count. */
static double now_ms(void) {
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/* Runs the code in a sandbox of its own. Returns its error without the code before it, or NULL, and the time. */
static char *run_once(const char *code, double *ret_ms) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;
        double begin;
        int r;

        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, &script, &error, &offset), ==, 0);
        begin = now_ms();
        r = script_run(script, blackboard, &error);
        *ret_ms = now_ms() - begin;
        if (r == 0)
                return NULL;

        g_assert_cmpint(r, ==, -EINVAL);
        return g_strdup(g_strrstr(error, ": ") + strlen(": "));
}

/* Others on the machine slow a processor down for a moment. Code that is too slow is too slow each time. */
static char *run(const char *code, double *ret_ms) {
        char *error = NULL;

        g_test_message("%s", code);
        for (unsigned i = 0; i < 20; i++) {
                g_free(error);
                error = run_once(code, ret_ms);
                if (*ret_ms < MS_MAX)
                        return error;
        }

        g_assert_cmpfloat(*ret_ms, <, MS_MAX);
        return error;
}

static void test_limits(void) {
        static const struct {
                const char *code, *error;
        } cases[] = {
                { "while true do end", STEPS },
                { "repeat until false", STEPS },
                { "::again:: goto again", STEPS },
                { "for i = 1, math.huge do end", STEPS },
                { "for i = 1, math.maxinteger do end", STEPS },
                { "while true do while true do end end", STEPS },
                { "local function f() return f() end f()", STEPS },
                { "local x = 0 while true do x = x + math.sin(x) end", STEPS },
                { "while true do local t = #'x' end", STEPS },
                { "table.sort({ 2, 1 }, function() while true do end end)", STEPS },
                { "('x'):gsub('x', function() while true do end end)", STEPS },
                { "local t = {} for i = 1, 100000 do t[i] = -i end table.sort(t)", STEPS },
                { "local t = {} for i = 1, 40000 do t[i] = i end for i = 1, 1000 do table.insert(t, 1, i) end", STEPS },
                { "local t = {} for i = 1, 40000 do t[i] = i end while true do table.concat(t) end", STEPS },
                { "local t = {} for i = 1, 4000 do t[i] = i end while true do for k in pairs(t) do break end end",
                  STEPS },
                { "local s = (' '):rep(1000000) while true do tonumber(s) end", STEPS },
                { "local s = ('x'):rep(1000000) while true do utf8.len(s) end", STEPS },
                { "local s = ('x'):rep(1000000) while true do s:find('y', 1, true) end", STEPS },
                { "while true do (''):rep(1 << 60) end", STEPS },
                /* Patterns that try all ways there are. */
                { "('a'):rep(30):match(('a*'):rep(30) .. 'b')", STEPS },
                { "('a'):rep(30):match(('a?'):rep(30) .. ('a'):rep(30) .. 'b')", STEPS },
                { "('a'):rep(3000):find('.-.-.-.-b')", STEPS },
                { "('a'):rep(100000):find('a-b')", STEPS },
                { "('('):rep(100000):gsub('%b()', '')", STEPS },
                { "('a'):rep(1000):gsub('(.-)(.-)(.-)%1%2%3b', '')", STEPS },
                { "('a'):rep(2000):match(('[' .. ('b'):rep(2000) .. ']?'):rep(100) .. 'c')", STEPS },
                { "for x in ('a'):rep(3000):gmatch('.-.-.-b') do end", STEPS },
                { "('a'):rep(300):match(('a?'):rep(300))", "the pattern is too complex" },
                /* Memory. */
                { "local s = 'x' while true do s = s .. s end", MEMORY },
                { "local t = {} for i = 1, math.huge do t[i] = i end", MEMORY },
                { "local t = {} while true do t = { t } end", MEMORY },
                { "local t = {} while true do t[#t + 1] = function() return t end end", MEMORY },
                { "local t = {} for i = 1, 1e9 do t[i .. ''] = {} end", MEMORY },
                { "('x'):rep(1e9)", MEMORY },
                { "('x'):rep(1e9, 'y')", MEMORY },
                { "(''):rep(1e9, 'y')", MEMORY },
                { "('x'):rep(math.maxinteger)", "resulting string too large" },
                { "local t = {} for i = 1, 100 do t[i] = ('x'):rep(100000) end", MEMORY },
                { "local s = ('x'):rep(100000) s:gsub('x', s)", MEMORY },
                { "local s, t = ('x'):rep(100000), {} for i = 1, 1000 do t[i] = s end table.concat(t)", MEMORY },
                { "local s = ('%s'):rep(100) s:format(table.unpack({ s:rep(100000) }))", MEMORY },
                /* What is thrown away counts, too: to look for it again and again would take long. */
                { "while true do local t = { {}, {}, {} } end", MEMORY },
                { "local t = {} for i = 1, 120000 do t[i] = i end while true do local s = {} end", MEMORY },
                /* Instructions that take long. */
                { "local a, b = ('x'):rep(2000000), ('x'):rep(2000000) while true do local c = a == b end", TIME },
                /* Recursion, in Lua and in C. */
                { "local function f() return 1 + f() end f()", CALLS },
                { "local function f() return (f()) end f()", CALLS },
                { "local f, g function f() g() end function g() f() end f()", CALLS },
                { "local function f() return (('x'):gsub('x', f)) end f()", "C stack overflow" },
                { "local function f() table.sort({ 2, 1 }, f) end f()", "C stack overflow" },
                /* Values that are too many for the stack. */
                { "('x'):rep(20000):byte(1, -1)", VALUES },
                { "('x'):rep(20000):byte(-20000, 1 << 62)", VALUES },
                { "utf8.codepoint(('x'):rep(20000), 1, -1)", VALUES },
                { "table.unpack({}, 1, 20000)", VALUES },
                { "table.unpack({}, math.mininteger, math.maxinteger)", VALUES },
                { "table.unpack({}, 1, 10000)", NULL },
                { "while true do select('#', table.unpack({}, 1, 10000)) end", STEPS },
                { "local function f(...) while true do local a = ... end end f(table.unpack({}, 1, 10000))", STEPS },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                double ms;
                g_autofree char *error = run(cases[i].code, &ms);

                /* On a slow or busy machine the time can be over first. */
                if (ms < TIME_MS || g_strcmp0(error, TIME) != 0)
                        g_assert_cmpstr(error, ==, cases[i].error);
        }
}

/* What evaluations leave behind is taken away. */
static void test_garbage(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL, *text = g_strnfill(1000000, 'x');
        const Script *script;
        size_t offset, before = 0;

        if (SANITIZED) {
                g_test_skip("the sanitizer has an allocator of its own");
                return;
        }

        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, "x = s .. #s; y = { x, { x } }; s = 0", NULL, NULL,
                                        &script, &error, &offset),
                        ==, 0);
        for (unsigned i = 0; i < 100; i++) {
                blackboard_set(blackboard, "s", json_object_new_string(text));
                g_assert_cmpint(script_run(script, blackboard, &error), ==, 0);
                if (i == 10)
                        before = mallinfo2().uordblks + mallinfo2().hblkhd;
        }

        g_assert_cmpuint(mallinfo2().uordblks + mallinfo2().hblkhd, <, before + 4 * 1024 * 1024);
}

/* To compile, too, takes no more than there is. */
static void test_compiling(void) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autofree char *text = g_strnfill(9 * 1024 * 1024, 'x'), *code = NULL, *error = NULL;
        const Script *script;
        size_t offset;

        code = g_strdup_printf("x = '%s'", text);
        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, &script, &error, &offset), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "needs more than 8 MiB of memory");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/budget/limits", test_limits);
        g_test_add_func("/budget/garbage", test_garbage);
        g_test_add_func("/budget/compiling", test_compiling);
        return g_test_run();
}
