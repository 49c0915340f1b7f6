/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks and decodes the backslash escapes in JSON strings, for the reader of the text. */

#include <glib.h>

/* The end of the escape at p; NULL if it is invalid, with an error message. The text must contain a character after the
 * backslash, and have a NUL byte at its end. */
const char *escape_check(const char *p, char **ret_error);

/* Appends the character that the escape at p means; returns its end. The escape must have been checked. */
const char *escape_append(GString *string, const char *p);
