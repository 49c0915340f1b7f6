/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What becomes of an action that was under way when the daemon was restarted, and of which nothing can be known: the
 * parameter "on_recover" of all actions for which that can be so.
 */

#include "engine/type.h"

/* In the order of the values of the parameter, which is an int. */
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
                .doc = "What becomes of it if btd is restarted meanwhile and cannot know how it ended"                 \
        }
