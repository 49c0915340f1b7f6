/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that scripts that would run or grow without end are stopped, with a message. */

#include <errno.h>
#include <json-c/json_object.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "sanitized.h"
#include "script/scripts.h"
#include "stopped-scripts.h"

#define NSEC_PER_SEC INT64_C(1000000000)

/* The clocks of processor time and of time, in nanoseconds; they move when the second one is read. A script reads it
 * after every 50 instructions. */
static int64_t processor_ns, ns, processor_step_ns, step_ns;
static unsigned n_readings;

int clock_gettime(clockid_t id, struct timespec *ret_time) {
        int64_t now = NSEC_PER_SEC;

        if (id == CLOCK_MONOTONIC) {
                n_readings++;
                processor_ns += processor_step_ns;
                ns += step_ns;
                now += ns;
        } else
                now += processor_ns;

        *ret_time = (struct timespec){ .tv_sec = now / NSEC_PER_SEC, .tv_nsec = now % NSEC_PER_SEC };
        return 0;
}

/* Runs the code in a sandbox of its own. Returns its error without the code before it, or NULL. */
static char *run(const char *code) {
        g_autoptr(Scripts) scripts = scripts_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL;
        const Script *script;
        size_t offset;
        int r;

        g_assert_cmpint(scripts_compile(scripts, SCRIPT_CODE, code, NULL, NULL, &script, &error, &offset), ==, 0);
        n_readings = 0;
        r = script_run(script, blackboard, &error);
        if (r == 0)
                return NULL;

        g_assert_cmpint(r, ==, -EINVAL);
        return g_strdup(g_strrstr(error, ": ") + strlen(": "));
}

static void test_limits(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(stopped_scripts); i++) {
                const StoppedScript *script = &stopped_scripts[i];
                g_autofree char *error = NULL;

                processor_step_ns = step_ns = g_strcmp0(script->error, STOPPED_BY_TIME) == 0 ? NSEC_PER_SEC / 1000 : 0;
                error = run(script->code);
                g_test_message("%s: %u readings", script->code, n_readings);
                g_assert_cmpstr(error, ==, script->error);
                if (script->thousands > 0)
                        g_assert_cmpuint(n_readings * 50, <, script->thousands * 1000);
                else if (g_strcmp0(error, STOPPED_BY_STEPS) == 0)
                        g_assert_cmpuint(n_readings * 50, >, 900000);
        }
}

/* Some instructions take long. Only the time counts that the script itself has had the processor. */
static void test_time(void) {
        static const char code[] = "local a, b = ('x'):rep(2000), ('x'):rep(2000) while true do local c = a == b end";
        g_autofree char *slow = NULL, *on_a_busy_machine = NULL;

        processor_step_ns = step_ns = NSEC_PER_SEC / 1000;
        slow = run(code);
        g_assert_cmpstr(slow, ==, STOPPED_BY_TIME);
        g_assert_cmpuint(n_readings, ==, 32); /* the first is the start; 31 ms is too long */

        processor_step_ns = NSEC_PER_SEC / 1000000;
        on_a_busy_machine = run(code);
        g_assert_cmpstr(on_a_busy_machine, ==, STOPPED_BY_STEPS);
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
        g_test_add_func("/budget/time", test_time);
        g_test_add_func("/budget/garbage", test_garbage);
        g_test_add_func("/budget/compiling", test_compiling);
        return g_test_run();
}
