/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a condition is while the value that it looks at is not known, since what has it is gone, or cannot be asked: the
 * parameter "unknown" of all conditions that look at something outside.
 */

#include "engine/type.h"

/* In the order of the values of the parameter, which is an int. */
extern const char *const unknown_values[];

/* FAILURE, SUCCESS or RUNNING. */
Status unknown_status(int unknown);

/* The entry in a table of parameters, of a struct with an int "unknown". */
#define UNKNOWN_PARAM(Type)                                                                                            \
        {                                                                                                              \
                .name = "unknown", .kind = PARAM_ENUM, .offset = offsetof(Type, unknown), .values = unknown_values,    \
                .fallback = "\"failure\"", .doc = "What the condition is while its value is not known",                \
        }
