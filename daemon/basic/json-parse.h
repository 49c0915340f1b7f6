/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads JSON text that others have sent. */

#include <json-c/json.h>
#include <stddef.h>

/* text ends with a NUL, which length does not count. -EINVAL: it is not JSON, or nested more than depth levels deep.
 * -ERANGE: it has a number that a 64-bit integer or a double cannot hold, which json-c would replace by another one;
 * ret_number is an excerpt of it, which the caller frees. */
int json_parse(const char *text, size_t length, int depth, json_object **ret_value, char **ret_number);
