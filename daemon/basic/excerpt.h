/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes quotations of arbitrary text safe to print in messages: short, on one line, without control characters.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* True for control characters, line separators and characters that change the text direction: a text that contains them
 * could be displayed as a different one. */
bool character_is_control(gunichar c);

/* Cuts long text and appends "...", and replaces invalid UTF-8 by U+FFFD. The caller frees it. */
char *excerpt(const char *text, size_t length);

/* Returns the text, or if it is longer, its first bytes up to max and "...". The caller frees it. */
char *text_cut(const char *text, size_t max);
