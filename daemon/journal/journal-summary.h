/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run in a line: what its journal says at its beginning and at its end. However long the journal is, no more than
 * that is read.
 */

#include <glib.h>
#include <stdint.h>

typedef struct JournalSummary {
        char *run, *tree, *instance;
        char *status;               /* its result; "running" where the journal does not say that it has finished */
        char *cause;                /* for people; "": there is nothing to say */
        uint64_t started, finished; /* CLOCK_REALTIME µs; finished: or else what is known of it last */
} JournalSummary;

/* Negative: it cannot be read, with a text for people. */
int journal_summary_read(const char *path, JournalSummary *ret_summary, char **ret_error);
void journal_summary_clear(JournalSummary *summary);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JournalSummary, journal_summary_clear)
