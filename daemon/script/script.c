/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One evaluation of a chunk: variables in, Lua, values out. Only what is in between is spent from the budget, and can
 * raise errors.
 */

#include <errno.h>

#include "script/bindings.h"
#include "script/budget.h"
#include "script/script-error.h"
#include "script/script.h"
#include "script/values.h"

static void on_value_dropped(void *value) {
        json_object_put(value);
}

static void end(const Script *script) {
        lua_settop(script->lua, BINDINGS_TOP);
        if (budget_has_garbage(script->lua)) {
                bindings_clear(script->lua);
                budget_collect(script->lua);
        }
}

/* Leaves the value on the stack. */
static int call(const Script *script, const Blackboard *blackboard, json_object *const *extra, char **ret_error) {
        g_autofree char *reason = NULL;
        lua_State *lua = script->lua;
        int status;

        if (bindings_load(script, blackboard, extra, &reason) < 0) {
                *ret_error = script_error_value(script, reason);
                return -EINVAL;
        }

        lua_rawgeti(lua, LUA_REGISTRYINDEX, script->function);
        budget_begin(lua);
        status = lua_pcall(lua, 0, 1, 0);
        budget_end(lua);
        if (status == LUA_OK)
                return 0;

        *ret_error = script_error(script, blackboard, status);
        return -EINVAL;
}

int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error) {
        int r = call(script, blackboard, extra, ret_error);

        if (r == 0)
                *ret_truth = lua_toboolean(script->lua, -1);
        end(script);
        return r;
}

int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error) {
        g_autofree char *reason = NULL;
        int r = call(script, blackboard, extra, ret_error);

        if (r == 0 && (r = value_read(script->lua, -1, "", ret_value, &reason)) < 0)
                *ret_error = script_error_value(script, reason);
        end(script);
        return r;
}

/* What the variables are after the code has run, in the order of the uses. */
static int read_variables(const Script *script, const Blackboard *blackboard, json_object **values, char **ret_error) {
        for (unsigned i = 0; i < script->uses->len; i++) {
                const Use *use = &g_array_index(script->uses, Use, i);
                g_autofree char *reason = NULL;
                int r;

                bindings_push(script, blackboard, use);
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

static int check_room(const Script *script, const Blackboard *blackboard, json_object *const *values,
                      char **ret_error) {
        g_autofree char *text = NULL;
        int64_t growth = 0;

        for (unsigned i = 0; i < script->uses->len; i++) {
                const char *name = g_array_index(script->uses, Use, i).name;

                if (has_changed(blackboard, name, values[i]))
                        growth += blackboard_growth(blackboard, name, values[i]);
        }
        if (blackboard_has_room(blackboard, growth))
                return 0;

        text = blackboard_full_text();
        *ret_error = script_error_value(script, text);
        return -EINVAL;
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
        g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(on_value_dropped);
        int r = call(script, blackboard, NULL, ret_error);

        g_ptr_array_set_size(values, (int) script->uses->len);
        if (r == 0)
                r = read_variables(script, blackboard, (json_object **) values->pdata, ret_error);
        end(script);
        if (r == 0)
                r = check_room(script, blackboard, (json_object *const *) values->pdata, ret_error);
        if (r == 0)
                set_variables(script, blackboard, (json_object *const *) values->pdata);

        return r;
}
