/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the statuses of nodes and runs and the states of trees look, the same in every verb. They come as the words
 * that the daemon uses; one that is not known here is shown as it is.
 */

#include <stdint.h>

#include "output.h"

/* The symbol of the status, in its colour; or the word. */
void look_append_symbol(const Output *output, GString *line, const char *status);
void look_append_word(const Output *output, GString *line, const char *status);

/* How long it has been so or what it took, and why: " for 3s, waits for ..." or " after 1.2s: it said ...".
 * duration 0: not known. detail: may be empty. */
void look_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                         const char *detail);

/* The three of them: "✗ boot.3: failure after 1.2s: it said ...". */
void look_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                       const char *detail);
