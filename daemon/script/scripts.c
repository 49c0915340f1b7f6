/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All chunks of one tree are functions in the registry of one Lua state. */

#include <lauxlib.h>

#include "script/bindings.h"
#include "script/budget.h"
#include "script/chunk.h"
#include "script/sandbox.h"
#include "script/script.h"
#include "script/values.h"

struct Scripts {
        lua_State *lua;
        Budget budget;
        GPtrArray *compiled; /* Script */
};

static void script_free(void *data) {
        Script *script = data;

        names_clear(&script->names);
        g_array_unref(script->uses);
        g_free(script->code);
        g_free(script);
}

Scripts *scripts_new(void) {
        Scripts *scripts = g_new0(Scripts, 1);

        scripts->lua = budget_new_state(&scripts->budget);
        scripts->compiled = g_ptr_array_new_with_free_func(script_free);
        sandbox_open(scripts->lua);
        values_prepare(scripts->lua);
        bindings_prepare(scripts->lua);
        return scripts;
}

void scripts_free(Scripts *scripts) {
        if (!scripts)
                return;

        g_ptr_array_unref(scripts->compiled);
        lua_close(scripts->lua);
        g_free(scripts);
}

static const char *plain_key(const char *name) {
        return *name == '@' ? name + 1 : name;
}

static void add_use(lua_State *lua, GArray *uses, const char *name) {
        Use use = { .name = name, .key = plain_key(name), .is_outermost = *name == '@' };

        for (unsigned i = 0; i < uses->len; i++) {
                Use *other = &g_array_index(uses, Use, i);

                if (g_str_equal(other->name, name))
                        return;
                if (g_str_equal(other->key, use.key))
                        other->has_twin = use.has_twin = true;
        }

        lua_pushstring(lua, use.key);
        use.key_in_registry = luaL_ref(lua, LUA_REGISTRYINDEX);
        g_array_append_val(uses, use);
}

static GArray *uses_of(lua_State *lua, const Names *names) {
        GArray *uses = g_array_new(false, false, sizeof(Use));

        for (char **name = names->reads; *name; name++)
                add_use(lua, uses, *name);
        for (char **name = names->writes; *name; name++)
                add_use(lua, uses, *name);

        return uses;
}

int scripts_compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra, const Script **ret,
                    char **ret_error, size_t *ret_offset) {
        g_auto(Names) names = {};
        Script *script;
        int r;

        r = chunk_load(scripts->lua, kind, code, ret_error, ret_offset);
        if (r < 0)
                return r;

        r = names_find(kind, code, extra, &names, ret_error, ret_offset);
        if (r < 0) {
                lua_pop(scripts->lua, 1);
                return r;
        }

        script = g_new(Script, 1);
        *script = (Script){
                .lua = scripts->lua,
                .function = luaL_ref(scripts->lua, LUA_REGISTRYINDEX),
                .kind = kind,
                .code = g_strdup(code),
                .extra = extra,
                .names = names,
                .uses = uses_of(scripts->lua, &names),
        };
        names = (Names){};
        g_ptr_array_add(scripts->compiled, script);
        if (budget_has_garbage(scripts->lua))
                budget_collect(scripts->lua);
        *ret = script;
        return 0;
}

const char *script_code(const Script *script) {
        return script->code;
}

const char *const *script_reads(const Script *script) {
        return (const char *const *) script->names.reads;
}

const char *const *script_writes(const Script *script) {
        return (const char *const *) script->names.writes;
}
