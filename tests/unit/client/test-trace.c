/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the comparison of traces: their first difference. */

#include <unistd.h>

#include "client/simulate/trace.h"

static char *compare(const char *expected, const char *const *lines, unsigned *ret_line) {
        g_autofree char *path = NULL, *error = NULL, *difference = NULL;
        Expectation *expectation;
        int fd = g_file_open_tmp("btctl-XXXXXX", &path, NULL);

        g_assert_cmpint(fd, >=, 0);
        g_assert_true(g_file_set_contents(path, expected, -1, NULL));
        expectation = expectation_read(path, &error);
        g_assert_nonnull(expectation);
        for (; *lines; lines++)
                expectation_compare(expectation, *lines);
        difference = expectation_difference(expectation, ret_line);

        expectation_free(expectation);
        unlink(path);
        close(fd);
        return g_steal_pointer(&difference);
}

static void test_difference(void) {
        static const char *const lines[] = { "a", "b", "c", "d", "e", NULL };
        unsigned line = 0;
        g_autofree char *same = compare("a\nb\nc\nd\ne\n", lines, &line),
                        *other = compare("a\nb\nc\nd\nx\ny\n", lines, &line), *shorter = compare("a", lines, &line),
                        *longer = compare("a\nb\nc\nd\ne\nf\n", lines, &line);

        g_assert_null(same);
        g_assert_cmpstr(other, ==, "  b\n  c\n  d\n- x\n+ e");
        g_assert_cmpstr(shorter, ==, "  a\n- (nothing more)\n+ b");
        g_assert_cmpstr(longer, ==, "  c\n  d\n  e\n- f\n+ (nothing more)");
        g_assert_cmpuint(line, ==, 6);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/trace/difference", test_difference);
        return g_test_run();
}
