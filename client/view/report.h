/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prints the messages of btctl on stderr, and defines its exit statuses.
 *
 * A function that fails prints the message itself, at the place where the reason is known, and returns the exit status;
 * 0 is success. Its callers only pass the status on.
 */

#include <glib.h>
#include <stdlib.h>

enum {
        EXIT_USAGE = 2,
        EXIT_HALTED = 3,
        EXIT_ERROR = 4,
        EXIT_NO_DAEMON = 5,
        EXIT_SIGNAL = 128, /* plus the number of the signal, as in a shell */
};

/* "btctl: MESSAGE"; EXIT_FAILURE. */
int report_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* The same, with a hint to --help; EXIT_USAGE. */
int report_usage(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* The same for a missing input of a tree, with a hint how to give it. */
int report_missing_input(const char *text);
/* The exit status for the result of a run. */
int report_exit_status(const char *outcome);
/* Calls back with each message instead of printing it, while the whole screen is in use. NULL: print them. */
typedef void (*ReportObserver)(const char *text, void *userdata);
void report_observe(ReportObserver observer, void *userdata);
/* A line without "btctl: ", such as an error of a tree file. */
void report_line(const char *text);
