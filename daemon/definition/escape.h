/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The escapes in JSON strings, which begin with a backslash.
 */

#include <glib.h>

/* Behind the escape at p, which does not end the text; NULL where it is none, with a text for people. The text is ended
 * by a NUL. */
const char *escape_check(const char *p, char **ret_error);

/* Appends what the escape at p stands for; where it ends. It has been checked. */
const char *escape_append(GString *string, const char *p);
