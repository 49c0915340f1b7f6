/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One evaluation of a chunk: variables in, Lua, values out. Only what is in between has a budget, and can raise
 * errors.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "script/bindings.h"
#include "script/budget.h"
#include "script/script-error.h"
#include "script/script.h"
#include "script/values.h"

/* Values that took more memory are let go at once, others when their names are set again. */
#define KEPT_MAX 4096u

typedef struct Evaluation {
        const Script *script;
        const Blackboard *blackboard;
        json_object *const *extra;
        size_t memory;
} Evaluation;

static void on_value_dropped(void *value) {
        json_object_put(value);
}

static int evaluate(lua_State *lua) {
        const Evaluation *evaluation = lua_touserdata(lua, 1);

        bindings_load(evaluation->script, evaluation->blackboard, evaluation->extra);
        lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation->script->function);
        lua_call(lua, 0, 1);
        return 1;
}

static void end(const Evaluation *evaluation) {
        lua_State *lua = evaluation->script->lua;

        lua_settop(lua, 0);
        if (evaluation->memory > KEPT_MAX)
                bindings_clear(evaluation->script, evaluation->blackboard);
        budget_collect(lua);
}

/* Leaves the value on the stack; nothing when there is an error. */
static int begin(Evaluation *evaluation, char **ret_error) {
        lua_State *lua = evaluation->script->lua;
        int status;

        budget_begin(lua);
        lua_pushcfunction(lua, evaluate);
        lua_pushlightuserdata(lua, evaluation);
        status = lua_pcall(lua, 1, 1, 0);
        evaluation->memory = budget_end(lua);
        if (status == LUA_OK)
                return 0;

        *ret_error = script_error(evaluation->script, evaluation->blackboard, status);
        end(evaluation);
        return -EINVAL;
}

int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error) {
        Evaluation evaluation = { .script = script, .blackboard = blackboard, .extra = extra };
        int r = begin(&evaluation, ret_error);

        if (r < 0)
                return r;

        *ret_truth = lua_toboolean(script->lua, -1);
        end(&evaluation);
        return 0;
}

int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error) {
        Evaluation evaluation = { .script = script, .blackboard = blackboard, .extra = extra };
        g_autofree char *reason = NULL;
        int r = begin(&evaluation, ret_error);

        if (r < 0)
                return r;

        r = value_read(script->lua, -1, "", ret_value, &reason);
        if (r < 0)
                *ret_error = script_error_value(script, reason);
        end(&evaluation);
        return r;
}

/* What the variables are after the code has run, in the order of the uses. */
static int read_variables(const Evaluation *evaluation, json_object **values, char **ret_error) {
        const Script *script = evaluation->script;

        for (unsigned i = 0; i < script->uses->len; i++) {
                const Use *use = &g_array_index(script->uses, Use, i);
                g_autofree char *reason = NULL;
                int r;

                bindings_push(script, evaluation->blackboard, use);
                r = value_read(script->lua, -1, use->key, &values[i], &reason);
                lua_pop(script->lua, 1);
                if (r < 0) {
                        *ret_error = script_error_value(script, reason);
                        return r;
                }
        }

        return 0;
}

static bool has_changed(const Blackboard *blackboard, const char *name, json_object *value) {
        json_object *before = NULL;

        (void) blackboard_get(blackboard, name, &before);
        return !value_same(before, value);
}

/* From here on nothing of Lua is in use any more, since who watches the variables may evaluate something, too. */
static void set_variables(const Script *script, Blackboard *blackboard, json_object *const *values) {
        for (unsigned i = 0; i < script->uses->len; i++) {
                const char *name = g_array_index(script->uses, Use, i).name;

                if (has_changed(blackboard, name, values[i]))
                        blackboard_set(blackboard, name, json_object_get(values[i]));
        }
}

int script_run(const Script *script, Blackboard *blackboard, char **ret_error) {
        Evaluation evaluation = { .script = script, .blackboard = blackboard };
        g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(on_value_dropped);
        int r = begin(&evaluation, ret_error);

        if (r < 0)
                return r;

        g_ptr_array_set_size(values, (int) script->uses->len);
        r = read_variables(&evaluation, (json_object **) values->pdata, ret_error);
        end(&evaluation);
        if (r == 0)
                set_variables(script, blackboard, (json_object *const *) values->pdata);

        return r;
}
