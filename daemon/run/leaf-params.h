/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parameters that several leaf kinds have in common: "on_recover" of actions, and "unknown" of conditions.
 */

#include "engine/type.h"

/* What to do with an action that was running when btd was restarted, and whose result cannot be known. In the order of
 * the values of the parameter, which is an int. */
typedef enum OnRecover {
        ON_RECOVER_FAIL,
        ON_RECOVER_RERUN,
} OnRecover;

extern const char *const on_recover_values[];

/* The entry in a table of parameters, of a struct with an int "on_recover". */
#define ON_RECOVER_PARAM(Type)                                                                                         \
        {                                                                                                              \
                .name = "on_recover", .kind = PARAM_ENUM, .offset = offsetof(Type, on_recover),                        \
                .values = on_recover_values, .fallback = "\"fail\"",                                                   \
                .doc = "What to do if btd is restarted meanwhile and cannot know how it ended"                         \
        }

/* The value of a condition while the state that it evaluates is not known, because its owner is gone or cannot be
 * asked. In the order of the values of the parameter, which is an int. */
extern const char *const unknown_values[];

/* FAILURE, SUCCESS or RUNNING. */
Status unknown_status(int unknown);

/* The entry in a table of parameters, of a struct with an int "unknown". */
#define UNKNOWN_PARAM(Type)                                                                                            \
        {                                                                                                              \
                .name = "unknown", .kind = PARAM_ENUM, .offset = offsetof(Type, unknown), .values = unknown_values,    \
                .fallback = "\"failure\"", .doc = "The result of the condition while its value is not known",          \
        }
