/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a daemon before this one has sent to a bus may be on its way yet. The bus has dealt with all of it when it has
 * let go of the connection that it came from: until then, nothing that comes behind it is to be sent.
 */

#include "bus/connection.h"
#include "bus/names.h"
#include "leaves/leaf.h"

/* Part of a kind's record. */
typedef struct DBusPast {
        Leaf *leaf; /* NULL: nothing is waited for */
        Connection *connection;
        char *bus; /* its ID then, or NULL */
        NameUse sender;
} DBusPast;

/* Right before it sends: what leaf_remember() is to be told. */
json_object *dbus_past_memory(const Leaf *leaf, Connection *connection);

/* For LeafKind.recover: IDLE, or RUNNING, and leaf_lost() follows. */
Status dbus_past_begin(DBusPast *past, Leaf *leaf, Connection *connection);
void dbus_past_end(DBusPast *past);
