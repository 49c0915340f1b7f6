/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Compares the lines of a simulation with a stored trace. The same events always give the same lines.
 */

#include <glib.h>
#include <stdbool.h>

/* A stored trace, which the lines are compared with one by one. */
typedef struct Expectation Expectation;

/* NULL, with a text for people: the file cannot be read, or is no trace. */
Expectation *expectation_read(const char *path, char **ret_error);
void expectation_free(Expectation *expectation);

/* How its lines are written: as JSON or as text, with ASCII characters only or not. */
bool expectation_is_json(const Expectation *expectation);
bool expectation_is_ascii(const Expectation *expectation);

/* Compares the next line. */
void expectation_compare(Expectation *expectation, const char *line);
/* After the last line. NULL: all lines were as expected. Else the first difference and the lines before it, to be
 * freed: '-' marks an expected line, '+' the actual one. */
char *expectation_difference(Expectation *expectation, unsigned *ret_line);
unsigned expectation_count(const Expectation *expectation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Expectation, expectation_free)
