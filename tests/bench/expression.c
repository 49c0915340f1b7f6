/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One simple comparison of a variable, beside a plain lua_pcall() of the same chunk over a global table: no variables
 * to look up, no limits, nothing kept out. Prints nanoseconds of both and the median of their ratios, separated by
 * tabs.
 */

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "samples.h"
#include "script/scripts.h"

#define SAMPLES 31
#define EVALUATIONS 20000

static double evaluate(const Script *script, const Blackboard *blackboard) {
        double begin = bench_now();

        for (unsigned i = 0; i < EVALUATIONS; i++) {
                g_autofree char *error = NULL;
                bool truth;

                if (script_test(script, blackboard, NULL, &truth, &error) < 0 || !truth)
                        abort();
        }

        return (bench_now() - begin) / EVALUATIONS;
}

/* The function is on top of the stack. */
static double call(lua_State *lua) {
        double begin = bench_now();

        for (unsigned i = 0; i < EVALUATIONS; i++) {
                lua_pushvalue(lua, -1);
                if (lua_pcall(lua, 0, 1, 0) != LUA_OK || !lua_toboolean(lua, -1))
                        abort();
                lua_pop(lua, 1);
        }

        return (bench_now() - begin) / EVALUATIONS;
}

static lua_State *plain_lua(void) {
        lua_State *lua = luaL_newstate();

        lua_pushinteger(lua, 15);
        lua_setglobal(lua, "battery");
        if (luaL_loadstring(lua, "return battery < 20") != LUA_OK)
                abort();

        return lua;
}

int main(void) {
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(Scripts) scripts = scripts_new();
        double ours[SAMPLES], plain[SAMPLES], ratios[SAMPLES];
        lua_State *lua = plain_lua();
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;

        /* As a tree would have it. */
        for (unsigned i = 0; i < 20; i++) {
                g_autofree char *key = g_strdup_printf("variable_%u", i);

                blackboard_set(blackboard, key, json_object_new_int64(i));
        }
        blackboard_set(blackboard, "battery", json_object_new_int64(15));
        if (scripts_compile(scripts, SCRIPT_EXPRESSION, "battery < 20", NULL, NULL, NULL, &script, &error, &offset) < 0)
                abort();

        for (unsigned i = 0; i < SAMPLES; i++) {
                ours[i] = evaluate(script, blackboard);
                plain[i] = call(lua);
                ratios[i] = ours[i] / plain[i];
        }

        lua_close(lua);
        printf("%.1f\t%.1f\t%.3f\n", bench_median(ours, SAMPLES), bench_median(plain, SAMPLES),
               bench_median(ratios, SAMPLES));
        return EXIT_SUCCESS;
}
