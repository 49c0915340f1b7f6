/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the reading and writing of time spans. */

#include <errno.h>
#include <glib.h>

#include "basic/span.h"

#define SEC UINT64_C(1000000)

static void test_good(void) {
        static const struct {
                const char *text;
                uint64_t usec;
        } cases[] = {
                { "150ms", 150000 },
                { "1min 30s", 90 * SEC },
                { "1min30s", 90 * SEC },
                { " 5 s ", 5 * SEC },
                { "5sec", 5 * SEC },
                { "5 seconds", 5 * SEC },
                { "1.5s", 1500000 },
                { "0.000001s", 1 },
                { "0.0000001s", 0 },
                { "1.5min", 90 * SEC },
                { "7us", 7 },
                { "7\xc2\xb5s", 7 },
                { "7\xce\xbcs", 7 },
                { "3m", 180 * SEC },
                { "1M", 2629800 * SEC },
                { "1y 12month", UINT64_C(31557600) * SEC * 2 },
                { "2h", 7200 * SEC },
                { "1d", 86400 * SEC },
                { "2w", 14 * 86400 * SEC },
                { "0s", 0 },
                { "infinity", UINT64_MAX },
                { " infinity ", UINT64_MAX },
                { "18446744073709551614us", UINT64_MAX - 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t usec = 12345;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(span_parse(cases[i].text, &usec), ==, 0);
                g_assert_cmpuint(usec, ==, cases[i].usec);
        }
}

static void test_bad(void) {
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                { "", -EINVAL },
                { " ", -EINVAL },
                { "5", -EINVAL },
                { "0", -EINVAL },
                { "1min 30", -EINVAL },
                { "-5s", -EINVAL },
                { "+5s", -EINVAL },
                { "5parsecs", -EINVAL },
                { "5S", -EINVAL },
                { "s", -EINVAL },
                { ".5s", -EINVAL },
                { "5.s", -EINVAL },
                { "1..5s", -EINVAL },
                { "1e3s", -EINVAL },
                { "infinity 5s", -EINVAL },
                { "infinitys", -EINVAL },
                { "5s,", -EINVAL },
                { "0x5s", -EINVAL },
                { "18446744073709551615us", -ERANGE },
                { "18446744073709551616us", -ERANGE },
                { "600000y", -ERANGE },
                { "99999999999999999999999999999999s", -ERANGE },
                { "584542y 200000y", -ERANGE },
                { "600000y 5", -EINVAL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t usec = 12345;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(span_parse(cases[i].text, &usec), ==, cases[i].error);
                g_assert_cmpuint(usec, ==, 12345);
        }
}

static void test_format(void) {
        static const struct {
                uint64_t usec;
                const char *text;
        } cases[] = {
                { 0, "0s" },
                { 7, "7us" },
                { 1500, "1.5ms" },
                { 150000, "150ms" },
                { 999999, "999.999ms" },
                { SEC, "1s" },
                { 1500000, "1.5s" },
                { 1050000, "1.05s" },
                { 1234567, "1.234s" },
                { 59 * SEC + 999999, "59.999s" },
                { 90 * SEC, "1min 30s" },
                { 125 * SEC, "2min 5s" },
                { 3600 * SEC, "1h" },
                { 3601 * SEC, "1h 1s" },
                { 3661 * SEC, "1h 1min" },
                { 8 * 86400 * SEC, "1w 1d" },
                { UINT64_C(31557600) * SEC, "1y" },
                { UINT64_MAX, "infinity" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = span_format(cases[i].usec);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

static void test_format_rounded(void) {
        static const struct {
                uint64_t usec;
                const char *text;
        } cases[] = {
                { 0, "0s" },
                { 999, "999us" },
                { 1000, "1ms" },
                { 1234, "1.23ms" },
                { 1235, "1.24ms" },
                { 91949, "91.9ms" },
                { 999499, "999ms" },
                { 999500, "1s" },
                { 3995000, "4s" },
                { 24995000, "25s" },
                { 59 * SEC + 949999, "59.9s" },
                { 59 * SEC + 950000, "1min" },
                { 125 * SEC + 499999, "2min 5s" },
                { 125 * SEC + 500000, "2min 6s" },
                { UINT64_MAX, "infinity" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = span_format_rounded(cases[i].usec);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* Whatever is written can be read again, and what has at most two units is the same again. */
static void test_round_trip(void) {
        for (uint64_t usec = 1; usec < UINT64_MAX / 3; usec = usec * 3 + 1) {
                g_autofree char *text = span_format(usec);
                g_autofree char *again = NULL;
                uint64_t parsed;

                g_assert_cmpint(span_parse(text, &parsed), ==, 0);
                g_assert_cmpuint(parsed, <=, usec);
                again = span_format(parsed);
                g_assert_cmpstr(again, ==, text);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/span/good", test_good);
        g_test_add_func("/span/bad", test_bad);
        g_test_add_func("/span/format", test_format);
        g_test_add_func("/span/format-rounded", test_format_rounded);
        g_test_add_func("/span/round-trip", test_round_trip);
        return g_test_run();
}
