/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads and writes variables in D-Bus messages: a{ss}, each name with its value as JSON text.
 */

#include "service/answers.h"

/* Reads the variables as a JSON object. Returns what method handlers return, with the error set. */
int variables_bus_read(sd_bus_message *message, json_object **ret_variables, sd_bus_error *ret_error);

/* For an AnswerKind: appends the next part of the answer's variables. */
#define VARIABLE_SIGNATURE "{ss}"
int variables_bus_append(Answer *answer, sd_bus_error *ret_error);
/* The same if the answer is a single value, as one string. */
int variables_bus_append_value(Answer *answer, sd_bus_error *ret_error);
