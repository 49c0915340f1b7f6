/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the option --limit. */

#include <errno.h>
#include <glib.h>
#include <unistd.h>

#include "basic/limit.h"

static void test_set(void) {
        Limits limits = limits_default;
        g_autofree char *error = NULL;

        g_assert_cmpint(limits_set(&limits, "runs=1", &error), ==, 0);
        g_assert_cmpint(limits_set(&limits, "subscribers-of-a-caller=1000000", &error), ==, 0);
        g_assert_null(error);
        g_assert_cmpuint(limits.max[LIMIT_RUNS], ==, 1);
        g_assert_cmpuint(limits.max[LIMIT_SUBSCRIBERS_OF_A_CALLER], ==, 1000000);
        g_assert_cmpuint(limits.max[LIMIT_TREES], ==, limits_default.max[LIMIT_TREES]);
        g_assert_cmpuint(limits.max[LIMIT_HISTORY], ==, 1000);
}

static void test_refused(void) {
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "run=1", "there is no limit 'run'; did you mean 'runs'?" },
                { "", "there is no limit ''; see LIMITS in btd(8)" },
                { "=5", "there is no limit ''; see LIMITS in btd(8)" },
                { "bananas=5", "there is no limit 'bananas'; see LIMITS in btd(8)" },
                { "runs", "the limit 'runs' needs a number from 1 to 1000000, as in --limit=runs=1024" },
                { "runs=", "the limit 'runs' needs a number from 1 to 1000000, as in --limit=runs=1024" },
                { "runs=0", "the limit 'runs' needs a number from 1 to 1000000, as in --limit=runs=1024" },
                { "trees=1000001", "the limit 'trees' needs a number from 1 to 1000000, as in --limit=trees=10000" },
                { "runs=-1", "the limit 'runs' needs a number from 1 to 1000000, as in --limit=runs=1024" },
                { "depth=1001", "the limit 'depth' needs a number from 1 to 1000, as in --limit=depth=1000" },
                { "history-mb=1", "there is no limit 'history-mb'; did you mean 'history-mib'?" },
                { "runs=1x", "the limit 'runs' needs a number from 1 to 1000000, as in --limit=runs=1024" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Limits limits = limits_default;
                g_autofree char *error = NULL;

                g_assert_cmpint(limits_set(&limits, cases[i].text, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpmem(&limits, sizeof(limits), &limits_default, sizeof(limits));
        }
}

static void test_size(void) {
        g_autofree char *mib = limit_size_text(8192), *kib = limit_size_text(1500);

        g_assert_cmpstr(mib, ==, "8 MiB");
        g_assert_cmpstr(kib, ==, "1500 KiB");
}

static void test_bind(void) {
        g_assert_false(limits_bind(0));
        g_assert_false(limits_bind(geteuid()));
        g_assert_true(limits_bind(geteuid() + 1000));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/limit/set", test_set);
        g_test_add_func("/limit/refused", test_refused);
        g_test_add_func("/limit/size", test_size);
        g_test_add_func("/limit/bind", test_bind);
        return g_test_run();
}
