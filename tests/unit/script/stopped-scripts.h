/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Scripts that would run or grow without end, and the errors that stop them. The test "budget" judges what they do; the
 * benchmark measures how long they take.
 */

#define STOPPED_BY_STEPS "ran for more than 1000000 instructions"
#define STOPPED_BY_MEMORY "used more than 8 MiB of memory"
#define STOPPED_BY_VALUES "a function cannot return more than 10000 values"
#define STOPPED_BY_CALLS "more than 1000 nested function calls"

typedef struct StoppedScript {
        const char *code;
        const char *error; /* without the code before it; NULL: it is not stopped */
        /* How many thousand instructions Lua executes at most, if most of the steps are the work of a library function,
         * which is counted before it is done. */
        unsigned thousands;
} StoppedScript;

static const StoppedScript stopped_scripts[] = {
        { "while true do end", STOPPED_BY_STEPS },
        { "repeat until false", STOPPED_BY_STEPS },
        { "::again:: goto again", STOPPED_BY_STEPS },
        { "for i = 1, math.huge do end", STOPPED_BY_STEPS },
        { "for i = 1, math.maxinteger do end", STOPPED_BY_STEPS },
        { "while true do while true do end end", STOPPED_BY_STEPS },
        { "local function f() return f() end f()", STOPPED_BY_STEPS },
        { "local x = 0 while true do x = x + math.sin(x) end", STOPPED_BY_STEPS },
        { "while true do local t = #'x' end", STOPPED_BY_STEPS },
        { "table.sort({ 2, 1 }, function() while true do end end)", STOPPED_BY_STEPS },
        { "('x'):gsub('x', function() while true do end end)", STOPPED_BY_STEPS },
        { "local t = {} for i = 1, 100000 do t[i] = -i end table.sort(t)", STOPPED_BY_STEPS, 400 },
        { "local t = {} for i = 1, 40000 do t[i] = i end for i = 1, 1000 do table.insert(t, 1, i) end",
          STOPPED_BY_STEPS, 100 },
        { "local t = {} for i = 1, 40000 do t[i] = i end while true do table.concat(t) end", STOPPED_BY_STEPS, 100 },
        { "local t = {} for i = 1, 4000 do t[i] = i end while true do for k in pairs(t) do break end end",
          STOPPED_BY_STEPS, 20 },
        { "local s = (' '):rep(1000000) while true do tonumber(s) end", STOPPED_BY_STEPS, 2 },
        { "local s = ('x'):rep(1000000) while true do utf8.len(s) end", STOPPED_BY_STEPS, 2 },
        { "local s = ('x'):rep(1000000) while true do s:find('y', 1, true) end", STOPPED_BY_STEPS, 2 },
        { "while true do (''):rep(1 << 60) end", STOPPED_BY_STEPS },
        { "now(('%c'):rep(100000))", STOPPED_BY_STEPS, 1 },
        /* Patterns that try all ways there are. */
        { "('a'):rep(30):match(('a*'):rep(30) .. 'b')", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(30):match(('a?'):rep(30) .. ('a'):rep(30) .. 'b')", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(3000):find('.-.-.-.-b')", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(100000):find('a-b')", STOPPED_BY_STEPS, 1 },
        { "('('):rep(100000):gsub('%b()', '')", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(1000):gsub('(.-)(.-)(.-)%1%2%3b', '')", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(2000):match(('[' .. ('b'):rep(2000) .. ']?'):rep(100) .. 'c')", STOPPED_BY_STEPS, 1 },
        { "for x in ('a'):rep(3000):gmatch('.-.-.-b') do end", STOPPED_BY_STEPS, 1 },
        { "('a'):rep(300):match(('a?'):rep(300))", "the pattern is too complex" },
        /* Memory. */
        { "local s = 'x' while true do s = s .. s end", STOPPED_BY_MEMORY },
        { "local t = {} for i = 1, math.huge do t[i] = i end", STOPPED_BY_MEMORY },
        { "local t = {} while true do t = { t } end", STOPPED_BY_MEMORY },
        { "local t = {} while true do t[#t + 1] = { function() return t end, {}, {} } end", STOPPED_BY_MEMORY },
        { "local t = {} for i = 1, 1e9 do t[i .. ''] = {} end", STOPPED_BY_MEMORY },
        { "('x'):rep(1e9)", STOPPED_BY_MEMORY },
        { "('x'):rep(1e9, 'y')", STOPPED_BY_MEMORY },
        { "(''):rep(1e9, 'y')", STOPPED_BY_MEMORY },
        { "('x'):rep(math.maxinteger)", "resulting string too large" },
        { "local t = {} for i = 1, 100 do t[i] = ('x'):rep(100000) end", STOPPED_BY_MEMORY },
        { "local s = ('x'):rep(100000) s:gsub('x', s)", STOPPED_BY_MEMORY },
        { "local s, t = ('x'):rep(100000), {} for i = 1, 1000 do t[i] = s end table.concat(t)", STOPPED_BY_MEMORY },
        { "local s = ('%s'):rep(100) s:format(table.unpack({ s:rep(100000) }))", STOPPED_BY_MEMORY },
        /* What is thrown away counts, too: to look for it again and again would take long. */
        { "while true do local t = { {}, {}, {} } end", STOPPED_BY_MEMORY },
        { "local t = {} for i = 1, 120000 do t[i] = i end while true do local s = {} end", STOPPED_BY_MEMORY },
        /* Recursion, in Lua and in C. */
        { "local function f() return 1 + f() end f()", STOPPED_BY_CALLS },
        { "local function f() return (f()) end f()", STOPPED_BY_CALLS },
        { "local f, g function f() g() end function g() f() end f()", STOPPED_BY_CALLS },
        { "local function f() return (('x'):gsub('x', f)) end f()", "C stack overflow" },
        { "local function f() table.sort({ 2, 1 }, f) end f()", "C stack overflow" },
        /* Values that are too many for the stack. */
        { "('x'):rep(20000):byte(1, -1)", STOPPED_BY_VALUES },
        { "('x'):rep(20000):byte(-20000, 1 << 62)", STOPPED_BY_VALUES },
        { "utf8.codepoint(('x'):rep(20000), 1, -1)", STOPPED_BY_VALUES },
        { "table.unpack({}, 1, 20000)", STOPPED_BY_VALUES },
        { "table.unpack({}, math.mininteger, math.maxinteger)", STOPPED_BY_VALUES },
        { "table.unpack({}, 1, 10000)", NULL },
        { "while true do select('#', table.unpack({}, 1, 10000)) end", STOPPED_BY_STEPS, 2 },
        { "local function f(...) while true do local a = ... end end f(table.unpack({}, 1, 10000))", STOPPED_BY_STEPS },
};
