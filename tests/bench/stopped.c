/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How long scripts take that are stopped because they would run or grow without end. Prints the milliseconds of the one
 * that takes longest, at its best, and those of as many instructions of plain Lua as a script may execute, separated by
 * a tab. It is the time of the processor, as that is what a script has a limit for.
 */

#include <glib.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>

#include "../unit/script/stopped-scripts.h"
#include "samples.h"
#include "script/sandbox.h"
#include "script/scripts.h"

#define SAMPLES 5

static double processor_ms(void) {
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static double run(const char *code) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;
        double begin;

        if (scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, NULL, &script, &error, &offset) < 0)
                abort();

        begin = processor_ms();
        (void) script_run(script, blackboard, NULL, &error);
        return processor_ms() - begin;
}

static double run_plain(void) {
        lua_State *lua = luaL_newstate();
        double begin = processor_ms();

        if (luaL_dostring(lua, "for i = 1, " G_STRINGIFY(BUDGET_STEPS) " do end") != LUA_OK)
                abort();

        lua_close(lua);
        return processor_ms() - begin;
}

int main(void) {
        double plain[SAMPLES], longest = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(stopped_scripts); i++) {
                double shortest = INFINITY;

                for (unsigned j = 0; j < SAMPLES; j++)
                        shortest = MIN(shortest, run(stopped_scripts[i].code));
                longest = MAX(longest, shortest);
        }
        for (unsigned j = 0; j < SAMPLES; j++)
                plain[j] = run_plain();

        printf("%.2f\t%.2f\n", longest, bench_median(plain, SAMPLES));
        return EXIT_SUCCESS;
}
