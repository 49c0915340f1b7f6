/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What btctl says on stderr, and what it exits with.
 *
 * A function of the client that can fail for a reason which the user should read says it itself, where the reason is
 * known, and returns the exit status; 0 is success. So callers only pass it on.
 */

#include <glib.h>
#include <stdlib.h>

enum {
        EXIT_USAGE = 2,
        EXIT_HALTED = 3,
        EXIT_ERROR = 4,
        EXIT_NO_DAEMON = 5,
        EXIT_SIGNAL = 128, /* and the signal's number, as a shell counts */
};

/* "btctl: MESSAGE"; EXIT_FAILURE. */
int report_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* The same, and where the usage is explained; EXIT_USAGE. */
int report_usage(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* An input of the tree is missing, as the text says: the same, and how it is given. */
int report_missing_input(const char *text);
/* What the outcome of a run, in words, makes btctl exit with. */
int report_exit_status(const char *outcome);
/* A text that says itself what it is about. */
void report_line(const char *text);
