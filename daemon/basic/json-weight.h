/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Measures JSON values for limits of memory. A value takes more memory than its text, an empty object 300 times as
 * much; so a text of some megabytes could fill gigabytes. Weights are a quarter of the memory that json-c needs besides
 * the texts, so a limit of weight limits memory to four times as much.
 */

#include <json-c/json_object.h>
#include <stddef.h>
#include <stdint.h>

/* A value that has no others inside, besides the bytes of a text. */
#define JSON_WEIGHT_VALUE 16u
/* An array or an object, besides what is inside. */
#define JSON_WEIGHT_ARRAY 40u
#define JSON_WEIGHT_OBJECT 200u
/* A member of an object, besides the bytes of its key, and its value. */
#define JSON_WEIGHT_MEMBER 32u

uint64_t json_weight(json_object *value);

/* The weight of the value of a JSON text, before it is made; a little more if it has escapes. */
uint64_t json_text_weight(const char *text, size_t length);
