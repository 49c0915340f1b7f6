/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The basic types: numbers, truth values and the kinds of strings.
 */

#include "bus/value-writer.h"

int write_basic(Writer *writer, const Place *place, char type, json_object *value);

/* What a text (the key of a dictionary) says as a value of the type; where it says nothing of the kind, the text. A
 * new reference. */
json_object *basic_from_text(char type, const char *text);
