/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The names of instances. Any text can be an instance; in its name, characters other than letters, digits, '_', '.',
 * ':' and '-' are written as "\xNN", as in the names of units. So a name can be a part of an operand, a file name or a
 * unit name. The tree gets the text.
 */

#include <stdbool.h>

/* "": no instance. -EINVAL: not a name, with an error message. */
int instance_check(const char *name, char **ret_error);
/* The name of the instance with this text. escaped: each "\xNN" in it is an escape already. To be freed. */
char *instance_name(const char *text, bool escaped);
/* The text of a valid name. To be freed. */
char *instance_text(const char *name);
