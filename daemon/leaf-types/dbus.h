/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of DBusCall, DBusSignal, DBusEmit, DBusProperty and DBusName. */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/type.h"

typedef struct DBusAddress {
        const char *bus, *destination, *path, *interface;
} DBusAddress;

/* A message that DBusCall or DBusEmit sends, and its destination. */
typedef struct DBusMessage {
        DBusAddress address; /* first */
        const char *member, *signature;
        json_object *args;
} DBusMessage;

/* The parameter "outputs" of the leaves that receive a message: either names or expressions. */
typedef struct DBusOutputs {
        const char *const *names;       /* of variables, in the order of the values; "" skips one; or NULL */
        const NamedScript *expressions; /* of variables, with their new values; or NULL */
} DBusOutputs;

/* What a JSON value, or a part of it, is compared with. NULL: not given. Without equals and one_of, any value matches
 * but false, 0, null and empty ones. */
typedef struct ValueMatcher {
        json_object *field; /* the path of a part of the value: an array of keys, and of indices from 0 */
        json_object *equals, *one_of;
} ValueMatcher;

typedef struct DBusCallParams {
        DBusMessage message; /* first */
        uint64_t timeout;
        bool auto_start;
        int on_recover;
        DBusOutputs outputs;
} DBusCallParams;

typedef struct DBusSignalParams {
        DBusAddress address; /* first; the sender is its destination */
        const char *member;
        json_object *args;
        const Script *test;
        uint64_t timeout;
        int64_t queue;
        int on_owner_lost, on_recover;
        DBusOutputs outputs;
} DBusSignalParams;

/* A DBusSignal does this when its sender leaves the bus. The order is that of the values of the parameter. */
typedef enum OnOwnerLost {
        ON_OWNER_LOST_FAIL,
        ON_OWNER_LOST_WAIT,
} OnOwnerLost;

typedef struct DBusEmitParams {
        DBusMessage message; /* first */
        uint64_t timeout;
        int on_recover;
} DBusEmitParams;

typedef struct DBusPropertyParams {
        DBusAddress address; /* first */
        const char *property;
        ValueMatcher matcher;
        const Script *test;
        uint64_t interval;
        const char *output; /* or NULL */
        int unknown;
} DBusPropertyParams;

typedef struct DBusNameParams {
        DBusAddress address; /* first; the name is its destination */
        int unknown;
} DBusNameParams;

/* The names that the test of DBusProperty can use, NULL-terminated. */
extern const char *const dbus_property_test_names[];
