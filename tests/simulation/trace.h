/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prints the events of a simulation, if wanted, and stores the first broken rule, which ends the simulation.
 */

#include <glib.h>
#include <stdbool.h>

/* Prints lines only if they are wanted. */
void trace_open(bool wanted);
bool trace_is_open(void);
void trace(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Reports a broken rule. The first one of a simulation is stored. */
void violation(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* NULL: none. Borrowed. */
const char *violation_text(void);
void violation_clear(void);
