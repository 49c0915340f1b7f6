/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits until the bus has processed all messages of the previous btd, for DBusCall and DBusEmit. That is so when the
 * bus has released the previous btd's connection; until then, no message that must come later may be sent.
 */

#include "bus/connection.h"
#include "bus/names.h"
#include "run/leaf.h"

/* Part of a kind's record. */
typedef struct DBusRecovery {
        Leaf *leaf; /* NULL: not waiting */
        Connection *connection;
        char *bus; /* the ID that the bus had then, or NULL */
        NameUse sender;
} DBusRecovery;

/* The memo for leaf_set_memo(), right before the leaf sends its message. */
json_object *dbus_recovery_memo(const Leaf *leaf, Connection *connection);

/* For LeafKind.recover: IDLE, or RUNNING, and leaf_lost() follows. */
Status dbus_recovery_begin(DBusRecovery *recovery, Leaf *leaf, Connection *connection);
void dbus_recovery_end(DBusRecovery *recovery);
