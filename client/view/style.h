/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes statuses, durations and points in time in the same style in every verb. A status comes as the word that btd
 * uses; an unknown one is shown as it is.
 */

#include <stdint.h>

#include "client/view/output.h"

/* The symbol of the status in its colour; or the word. */
void style_append_symbol(const Output *output, GString *line, const char *status);
void style_append_word(const Output *output, GString *line, const char *status);

/* How long it has lasted or took, and why: " for 3s, waits for ..." or " after 1.2s: it said ...".
 * duration 0: not known. detail: may be empty. */
void style_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                          const char *detail);

/* The three of them: "✗ boot.3: failure after 1.2s: it said ...". */
void style_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                        const char *detail);

/* Microseconds of CLOCK_REALTIME as local time: "2026-11-21 12:00:00". To be freed. */
char *time_format_date(uint64_t time);
/* "Sat 2026-11-21 12:00:00 UTC; 3min 2s ago". To be freed. */
char *time_format_point(uint64_t time);
