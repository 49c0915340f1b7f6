/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Text on a terminal: what is safe to print there, and how many columns it takes. A text may have colours in it
 * (escape sequences of the form ESC [ ... m, which take no columns).
 */

#include <glib.h>
#include <stdbool.h>

/* A copy on one line: white space as blanks, and whatever cannot be printed (in ASCII: all but ASCII) as '?'. */
char *text_clean(const char *text, bool ascii);

/* In columns. The text has to be valid UTF-8, as what text_clean() returns. */
size_t text_width(const char *text);

/* Cuts the text to that many columns; what is cut off is shown by an ellipsis. */
void text_ellipsize(GString *text, size_t columns, bool ascii);

/* Appends paragraphs, broken into lines of at most that many columns, each indented. */
void text_append_wrapped(GString *text, const char *paragraphs, size_t indent, size_t columns);
