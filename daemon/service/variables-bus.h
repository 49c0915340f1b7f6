/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads and writes variables in D-Bus messages, as a{sv} with native types:
 *
 *   b true, false          s  string               ab ax at ad as  list whose values all have this type
 *   x integer              d  other number         av              any other list, also an empty one
 *   t integer above 2^63-1 a{sv} object            (s)             JSON text, if D-Bus has no type for the value
 *
 * D-Bus has no type for null, for strings with a NUL or invalid UTF-8, and for what is nested too deeply. Readers
 * accept all types that can be converted, see basic/dbus-value.h.
 */

#include "basic/limit.h"
#include "service/answers.h"

/* Reads the variables as a JSON object. Returns what method handlers return, with the error set. */
int variables_bus_read(sd_bus_message *message, const Limits *limits, json_object **ret_variables,
                       sd_bus_error *ret_error);

/* Writes in steps, because variables can have megabytes and must not block the main loop. */
typedef struct VariableWriter VariableWriter;

/* The values must not change meanwhile. all: an a{sv} of all members of an object; otherwise one variant. */
VariableWriter *variable_writer_new(json_object *value, bool all);
void variable_writer_free(VariableWriter *writer);

/* Appends an entry of an a{sv} with a small value, at once. */
int variables_bus_append_entry(sd_bus_message *message, const char *key, json_object *value);

/* Where a message has many values, only the beginnings of those with more bytes than this are sent. */
#define VALUE_MAX 4096u
/* The beginning of a value as JSON text, as btctl shows it. The caller frees it. */
char *variables_bus_shorten(json_object *value);

/* For an AnswerKind: continues to write the answer's variables. */
int variables_bus_append(Answer *answer, sd_bus_error *ret_error);
