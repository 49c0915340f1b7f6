/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints messages on stderr, and returns the exit status of each. */

#include <stdarg.h>
#include <stdio.h>

#include "client/view/report.h"
#include "client/view/text.h"

static ReportObserver observer;
static void *observer_userdata;

void report_observe(ReportObserver new_observer, void *userdata) {
        observer = new_observer;
        observer_userdata = userdata;
}

void report_line(const char *text) {
        g_autofree char *clean = text_clean(text, false);

        if (observer) {
                observer(clean, observer_userdata);
                return;
        }

        fflush(stdout);
        fprintf(stderr, "%s\n", clean);
}

static void G_GNUC_PRINTF(1, 0) report(const char *format, va_list arguments) {
        g_autofree char *message = g_strdup_vprintf(format, arguments);
        g_autofree char *line = g_strconcat("btctl: ", message, NULL);

        report_line(line);
}

int report_error(const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        report(format, arguments);
        va_end(arguments);

        return EXIT_FAILURE;
}

int report_usage(const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        report(format, arguments);
        va_end(arguments);
        if (!observer)
                fputs("Try 'btctl --help'.\n", stderr);

        return EXIT_USAGE;
}

int report_missing_input(const char *text) {
        report_error("%s", text);
        if (!observer)
                fputs("Give it with --set KEY=JSON, such as --set name='\"eth0\"' or --set retries=3.\n", stderr);

        return EXIT_FAILURE;
}

int report_exit_status(const char *outcome) {
        if (g_str_equal(outcome, "success") || g_str_equal(outcome, "skipped"))
                return EXIT_SUCCESS;
        if (g_str_equal(outcome, "halted"))
                return EXIT_HALTED;
        if (g_str_equal(outcome, "error"))
                return EXIT_ERROR;

        return EXIT_FAILURE;
}
