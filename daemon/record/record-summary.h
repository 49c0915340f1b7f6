/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the summary of a run from the beginning and the end of its run record. It reads no more than that, however long
 * the record is. The list of finished runs uses it.
 */

#include <glib.h>
#include <stdint.h>

typedef struct RecordSummary {
        char *run, *tree, *instance, *token;
        char *status;               /* its result; "running" if the record does not say that it has finished */
        char *cause;                /* as text; "": none */
        uint64_t started, finished; /* CLOCK_REALTIME µs; finished: or else the last known time */
} RecordSummary;

/* Negative: it cannot be read, with an error message. */
int record_summary_read(const char *path, RecordSummary *ret_summary, char **ret_error);
void record_summary_clear(RecordSummary *summary);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RecordSummary, record_summary_clear)
