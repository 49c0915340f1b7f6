/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the lines that the units and processes of a run wrote to the journal of this machine, for btctl logs.
 */

#include "client/recording/recording.h"

typedef struct LogLine {
        uint64_t time;                           /* microseconds since the start of the run */
        NodeId node;                             /* that started the unit or the process */
        uint64_t begun;                          /* ... when, since the start of the run; 0: not known */
        int priority;                            /* of syslog(3) */
        char *unit, *identifier, *pid, *message; /* pid: NULL if it is not known */
        char *cursor;                            /* of the journal: names the line */
        char *starts;                            /* the invocation ID of the unit that it announces; NULL: none */
} LogLine;

void log_line_free(LogLine *line);

/* Reads the lines since that time, in microseconds since the start of the run; in no order. gaps: gets texts for people
 * that say what cannot be read, and why; NULL: they are not wanted. */
void run_log_read(const Client *client, const Recording *recording, uint64_t since, GPtrArray *lines, GPtrArray *gaps);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogLine, log_line_free)
