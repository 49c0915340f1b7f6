/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What happens in a simulation, told line by line where that is wanted; and what must not happen, which ends it.
 */

#include <glib.h>
#include <stdbool.h>

/* Nothing is told otherwise. */
void trace_open(bool wanted);
bool trace_is_open(void);
void trace(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* A rule is broken. The first one of a simulation is kept. */
void violation(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* NULL: none. Borrowed. */
const char *violation_text(void);
void violation_clear(void);
