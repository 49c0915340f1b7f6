/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What may be asked for when a tree is started.
 */

#include <json-c/json_object.h>

/* variables: an object, or NULL. -EINVAL with a text for people. */
int request_check(const char *instance, json_object *variables, char **ret_error);
