/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The value matcher of a condition: compares a JSON value, or a part of it, with its parameters. DBusProperty uses it.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

#include "engine/type.h"

/* NULL: not given. Without equals and one_of, any value matches but false, 0, null and empty ones. */
typedef struct ValueMatcher {
        json_object *field; /* the path of a part of the value: an array of keys, and of indices from 0 */
        json_object *equals, *one_of;
} ValueMatcher;

/* The format of the parameter for the field. */
extern const ValueFormat matcher_field_format;

/* name: of the value, for messages. ret_text: why it does not match ("Powered is false, not true"), to be freed. */
bool matcher_find_field(const ValueMatcher *matcher, const char *name, json_object *value, json_object **ret_field,
                        char **ret_text);
bool matcher_matches(const ValueMatcher *matcher, const char *name, json_object *field, char **ret_text);

/* The expected value, for programs. A new reference. */
json_object *matcher_wanted(const ValueMatcher *matcher);
