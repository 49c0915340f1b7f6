/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A message that is sent, and where to: what the parameters of DBusCall and DBusEmit begin with.
 */

#include "leaves/dbus-address.h"

typedef struct DBusMessage {
        DBusAddress address; /* first */
        const char *member, *signature;
        json_object *args;
} DBusMessage;

/* Why no such message can be, as a text to be freed, or NULL. A field that is NULL is not known yet. what: "method",
 * "signal". */
char *dbus_message_problem(const DBusMessage *message, const char *what);
/* The same when it is to be sent, with all that there is. checked: that was done before, see Leaf. */
char *dbus_message_problem_now(const DBusMessage *message, const char *what, bool checked);

/* Entries in a table of parameters, of a struct that begins with a DBusMessage. */
#define DBUS_MESSAGE_PARAMS(what)                                                                                      \
        {                                                                                                              \
                .name = "member",                                                                                      \
                .kind = PARAM_STRING,                                                                                  \
                .offset = offsetof(DBusMessage, member),                                                               \
                .required = true,                                                                                      \
                .title = true,                                                                                         \
                .doc = "The name of the " what,                                                                        \
        },                                                                                                             \
                {                                                                                                      \
                        .name = "signature",                                                                           \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(DBusMessage, signature),                                                    \
                        .literal = true,                                                                               \
                        .plain = true,                                                                                 \
                        .fallback = "\"\"",                                                                            \
                        .doc = "The D-Bus types of the arguments",                                                     \
                },                                                                                                     \
        {                                                                                                              \
                .name = "args", .kind = PARAM_JSON, .offset = offsetof(DBusMessage, args),                             \
                .doc = "The arguments: an array with a value for each type of the signature",                          \
        }
