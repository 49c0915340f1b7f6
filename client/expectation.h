/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A stored trace that another one is compared with, line by line.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Expectation Expectation;

/* NULL, with a text for people: the file cannot be read, or is no trace. */
Expectation *expectation_read(const char *path, char **ret_error);
void expectation_free(Expectation *expectation);

/* How its lines are written: as JSON or else as text, with nothing but ASCII. */
bool expectation_is_json(const Expectation *expectation);
bool expectation_is_ascii(const Expectation *expectation);

/* The next line that has come. */
void expectation_compare(Expectation *expectation, const char *line);
/* No more lines will come. NULL: all were as expected. Else the first difference and what stands before it, to be
 * freed: lines with '-' were expected, lines with '+' have come. */
char *expectation_difference(Expectation *expectation, unsigned *ret_line);
unsigned expectation_count(const Expectation *expectation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Expectation, expectation_free)
