/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes statuses, durations, points in time and events in the same style in every verb. A status comes as the word
 * that btd uses; an unknown one is shown as it is.
 */

#include <stdint.h>

#include "client/bus/node-info.h"
#include "client/view/output.h"
#include "run/events.h"

/* The symbol of the status in its colour; or the word. */
void style_append_symbol(const Output *output, GString *line, const char *status);
void style_append_word(const Output *output, GString *line, const char *status);

/* How long it has lasted or took, and why: " for 3s, waits for ..." or " after 1.2s: it said ...".
 * duration 0: not known. detail: may be empty. */
void style_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                          const char *detail);

/* The three of them: "✗ boot.3: failure after 1.2s: it said ...". What is paused or halting is so only since a while:
 * "‖ boot.3: paused, started 5s ago". */
void style_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                        const char *detail);

/* Microseconds of CLOCK_REALTIME as local time: "2026-11-21 12:00:00". To be freed. */
char *time_format_date(uint64_t time);
/* "Sat 2026-11-21 12:00:00 UTC; 3min 2s ago". To be freed. */
char *time_format_point(uint64_t time);

/*
 * The lines of events: of a run that is followed, recorded or simulated. The functions that print do so for events as
 * they happen, one line of text or JSON for each.
 */

/* Appends an event of the node with that path, or of the run itself. stamp: the start of the line, usually a time; may
 * be empty. Without an end of line. */
void event_append(const Output *output, GString *line, const char *stamp, const char *run, const char *path,
                  const RunEvent *event);
/* The stamp for an event at so many microseconds after the start of the run: "   1.500s". To be freed. */
char *event_stamp(uint64_t offset);
/* time: CLOCK_REALTIME µs; 0: simulated, so there is none. */
json_object *event_to_json(const char *run, const char *path, uint64_t time, const RunEvent *event);

void event_print_started(const Output *output, const char *stamp, const char *run);
void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause);
void event_print_reloaded(const Output *output, const char *stamp, char **errors);
