/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks the arguments of a start: instance, variables and token. The manager uses it.
 */

#include <json-c/json_object.h>

/* variables: JSON object or NULL. -EINVAL: with an error message. */
int start_check(const char *instance, json_object *variables, char **ret_error);
/* Checks the token of a start in the same way. */
int start_check_token(const char *token, char **ret_error);
