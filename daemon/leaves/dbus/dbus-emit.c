/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusEmit: sends a signal. */

#include <errno.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

typedef struct DBusEmit {
        Connection *connection;
        DBusRecovery recovery; /* waits for messages of the previous daemon */
        Listener *listener;    /* while the bus is not there */
} DBusEmit;

static int emit(sd_bus *bus, const DBusEmitParams *params) {
        const DBusMessage *signal = &params->message;
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        int r = sd_bus_message_new_signal(bus, &message, signal->address.path, signal->address.interface,
                                          signal->member);

        if (r >= 0)
                r = value_append(message, signal->signature, signal->args, &error);
        return r < 0 ? r : sd_bus_send(bus, message, NULL);
}

/* RUNNING: the bus is not there. */
static Status try_to_emit(Leaf *leaf) {
        DBusEmit *op = leaf->op;
        int r = -ENOTCONN;

        if (connection_is_ready(op->connection)) {
                leaf_set_memo(leaf, dbus_recovery_memo(leaf, op->connection));
                r = emit(connection_bus(op->connection), leaf->params);
        }
        if (r == -ENOTCONN || r == -ECONNRESET)
                return STATUS_RUNNING;
        if (r >= 0)
                return STATUS_SUCCESS;

        leaf_set_cause(leaf, "the signal could not be sent: %s", g_strerror(-r));
        return STATUS_FAILURE;
}

static void on_connected(Connection *connection, void *userdata) {
        Status status = try_to_emit(userdata);

        if (status != STATUS_RUNNING)
                leaf_end(userdata, status);
}

static Status dbus_emit_start(Leaf *leaf) {
        static const ListenerCallbacks callbacks = { .connected = on_connected };
        const DBusEmitParams *params = leaf->params;
        g_autofree char *error = NULL;
        DBusEmit *op = leaf->op;
        Status status;

        if (dbus_bus_get(leaf, params->message.address.bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        status = try_to_emit(leaf);
        if (status == STATUS_RUNNING)
                op->listener = connection_listen(op->connection, &callbacks, leaf);
        return status;
}

static Status dbus_emit_recover(Leaf *leaf) {
        const DBusEmitParams *params = leaf->params;
        g_autofree char *error = NULL;
        DBusEmit *op = leaf->op;

        if (!leaf->has_memo || dbus_bus_get(leaf, params->message.address.bus, &op->connection, &error) < 0)
                return STATUS_IDLE;

        return dbus_recovery_begin(&op->recovery, leaf, op->connection);
}

static void dbus_emit_release(Leaf *leaf) {
        DBusEmit *op = leaf->op;

        dbus_recovery_end(&op->recovery);
        g_clear_pointer(&op->listener, listener_free);
}

static void dbus_emit_describe(Leaf *leaf, GString *text) {
        DBusEmit *op = leaf->op;

        dbus_describe_connection(op->connection, text);
}

const LeafKind dbus_emit_kind = {
        .op_size = sizeof(DBusEmit),
        .start = dbus_emit_start,
        .release = dbus_emit_release,
        .recover = dbus_emit_recover,
        .describe = dbus_emit_describe,
};
