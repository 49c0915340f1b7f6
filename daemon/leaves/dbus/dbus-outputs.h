/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sets variables to the values of a message: the parameter "outputs" of the leaves that receive one, either names or
 * expressions.
 */

#include <systemd/sd-bus.h>

#include "run/leaf.h"

typedef struct DBusOutputs {
        const char *const *names;       /* of variables, in the order of the values; "" skips one; or NULL */
        const NamedScript *expressions; /* of variables, with their new values; or NULL */
} DBusOutputs;

/* Sets all of them or, after an error, none, and sets the cause. what: "reply", "signal". */
Status dbus_outputs_take(Leaf *leaf, const DBusOutputs *outputs, const char *what, sd_bus_message *message);

/* Two entries in a table of parameters. list: how expressions call the list of the values. */
#define DBUS_OUTPUTS_PARAMS(Type, field, list)                                                                         \
        {                                                                                                              \
                .name = "outputs",                                                                                     \
                .kind = PARAM_STRINGS,                                                                                 \
                .offset = offsetof(Type, field.names),                                                                 \
                .writes = true,                                                                                        \
                .doc = "The variables that receive the values, in order; \"\" skips one",                              \
        },                                                                                                             \
        {                                                                                                              \
                .name = "outputs", .kind = PARAM_EXPRESSIONS, .offset = offsetof(Type, field.expressions),             \
                .writes = true, .extra = (const char *const[]){ list, "value", NULL },                                 \
                .doc = "Or an object: variables, with an expression for each over " list                               \
                       " (the list of the values) and value (the first)",                                              \
        }
