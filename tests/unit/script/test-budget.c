/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that scripts that would run or grow without end are stopped, with a message. */

#include <dlfcn.h>
#include <errno.h>
#include <json-c/json_object.h>
#include <lua.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sanitized.h"
#include "script/scripts.h"
#include "stopped-scripts.h"

/* A script looks at its stack after every 50 instructions, so this counts them. */
static unsigned n_looks;

int lua_getstack(lua_State *lua, int level, lua_Debug *ret_call) {
        static int (*next)(lua_State *, int, lua_Debug *);

        next = next ?: (int (*)(lua_State *, int, lua_Debug *)) dlsym(RTLD_NEXT, "lua_getstack");
        n_looks++;
        return next(lua, level, ret_call);
}

/* What stops a script must not depend on a clock. */
static bool timeless;

int clock_gettime(clockid_t id, struct timespec *ret_time) {
        g_assert_false(timeless);
        return (int) syscall(SYS_clock_gettime, id, ret_time);
}

/* Runs the code in a sandbox of its own. Returns its error without the code before it, or NULL. */
static char *run(const char *code) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;
        int r;

        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, NULL, &script, &error, &offset), ==, 0);
        n_looks = 0;
        timeless = true;
        r = script_run(script, blackboard, NULL, &error);
        timeless = false;
        if (r == 0)
                return NULL;

        g_assert_cmpint(r, ==, -EINVAL);
        return g_strdup(g_strrstr(error, ": ") + strlen(": "));
}

static void test_limits(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(stopped_scripts); i++) {
                const StoppedScript *script = &stopped_scripts[i];
                g_autofree char *error = run(script->code);

                g_test_message("%s: %u times 50 instructions", script->code, n_looks);
                g_assert_cmpstr(error, ==, script->error);
                if (script->thousands > 0)
                        g_assert_cmpuint(n_looks * 50, <, script->thousands * 1000);
                else if (g_strcmp0(error, STOPPED_BY_STEPS) == 0)
                        g_assert_cmpuint(n_looks * 50, >, 900000);
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

        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, "x = s .. #s; y = { x, { x } }; s = 0", NULL, NULL, NULL,
                                        &script, &error, &offset),
                        ==, 0);
        for (unsigned i = 0; i < 100; i++) {
                blackboard_set(blackboard, "s", json_object_new_string(text));
                g_assert_cmpint(script_run(script, blackboard, NULL, &error), ==, 0);
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
        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, NULL, &script, &error, &offset), ==,
                        -EINVAL);
        g_assert_cmpstr(error, ==, "needs more than 8 MiB of memory");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/budget/limits", test_limits);
        g_test_add_func("/budget/garbage", test_garbage);
        g_test_add_func("/budget/compiling", test_compiling);
        return g_test_run();
}
