/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes a JSON value as text, in json-c's format without spaces. It works in steps, because a value can have
 * megabytes and must not block the main loop. Invalid UTF-8 is replaced, because a D-Bus string cannot carry it.
 */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct JsonText JsonText;

/* References the value (may be NULL), which must not change meanwhile. */
JsonText *json_text_new(json_object *value);
void json_text_free(JsonText *it);

/* Writes the next part, in about ten microseconds. False: the text is complete. */
bool json_text_continue(JsonText *it);
/* The text so far. Borrowed. */
const char *json_text_get(const JsonText *it, size_t *ret_length);

/* A number with the shortest text that gives the same number again; json-c would write 0.1 as 0.10000000000000001. */
json_object *json_double(double number);
