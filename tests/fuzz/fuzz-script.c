/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any text at all is compiled as an expression and as code. What is accepted is evaluated over a few variables: it ends
 * soon, with a value or a text for people, and only code changes variables.
 */

#include <glib.h>
#include <json-c/json_tokener.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "fuzz.h"
#include "script/scripts.h"

/* Some twenty times what it may be, for sanitizers. Only a search for slow code measures time: a corpus is a test like
 * any other. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define MS_MAX 1000
#else
#define MS_MAX INT64_MAX
#endif

static const char *const extra[] = { "value", NULL };

static Blackboard *fuzz_blackboard(void) {
        Blackboard *blackboard = blackboard_new(&limits_default);

        blackboard_set(blackboard, "a", json_object_new_int(1));
        blackboard_set(blackboard, "b", json_object_new_string("two"));
        blackboard_set(blackboard, "c", json_tokener_parse("{ \"list\": [1, null, 2.5, \"x\"], \"none\": {} }"));
        blackboard_set(blackboard, "d", NULL);
        return blackboard;
}

static int64_t now_ms(void) {
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void check(int r, const char *error) {
        g_assert_true((r < 0) == (error != NULL));
        g_assert_true(!error || g_utf8_validate(error, -1, NULL));
}

static void evaluate(const Script *script) {
        g_autoptr(Blackboard) outermost = fuzz_blackboard(), scope = blackboard_new_local(outermost, extra);
        g_autoptr(json_object) value = NULL, given = json_object_new_int(5);
        g_autofree char *error = NULL;
        uint64_t version = blackboard_version(scope);

        int r = script_evaluate(script, scope, &given, &value, &error);

        check(r, error);
        g_assert_true(blackboard_version(scope) == version);
        g_assert_cmpstr(script_writes(script)[0], ==, NULL);
}

static void run(const Script *script) {
        g_autoptr(Blackboard) outermost = fuzz_blackboard(), scope = blackboard_new_scope(outermost);
        g_autofree char *error1 = NULL, *error2 = NULL;
        int r;

        r = script_run(script, outermost, NULL, &error1);
        check(r, error1);
        r = script_run(script, scope, NULL, &error2);
        check(r, error2);
}

static void compile(Scripts *scripts, ScriptKind kind, const char *code) {
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset = 0;
        int r = scripts_compile(scripts, kind, code, kind == SCRIPT_EXPRESSION ? extra : NULL, NULL, NULL, &script,
                                &error, &offset);

        check(r, error);
        g_assert_cmpuint(offset, <=, strlen(code));
        if (r < 0)
                return;

        if (kind == SCRIPT_EXPRESSION)
                evaluate(script);
        else
                run(script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *code = g_strndup((const char *) data, size);
        g_autoptr(Scripts) scripts = scripts_new();
        int64_t begin = now_ms();

        compile(scripts, SCRIPT_EXPRESSION, code);
        compile(scripts, SCRIPT_CODE, code);
        g_assert_cmpint(now_ms() - begin, <, MS_MAX);
        return 0;
}
