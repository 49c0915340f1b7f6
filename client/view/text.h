/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Handles text on a terminal: makes it safe to print, and measures its width. A text may have colours in it: escape
 * sequences of the form ESC [ ... m, which have no width.
 */

#include <glib.h>
#include <stdbool.h>

/* A copy on one line: white space becomes blanks, and characters that cannot be printed (with ascii: all but ASCII)
 * become '?'. */
char *text_clean(const char *text, bool ascii);

/* A copy of a text with JSON that is safe, too: control characters other than newlines and tabs, and those that change
 * the direction of text, become "\u202e". They can be only in strings or comments, so the values stay the same. */
char *text_escape_json(const char *json);

/* The width in columns. The text must be valid UTF-8, as from text_clean(). */
size_t text_width(const char *text);

/* Cuts the text to that many columns, with an ellipsis at the end. */
void text_ellipsize(GString *text, size_t columns, bool ascii);

/* Appends paragraphs, wrapped at that many columns and indented. */
void text_append_wrapped(GString *text, const char *paragraphs, size_t indent, size_t columns);
/* Appends a line, wrapped at that many columns; words that are longer are broken. */
void text_append_broken(GString *text, const char *line, size_t columns);
