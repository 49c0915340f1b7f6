/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusCall: calls a method and waits for its reply. */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

typedef struct DBusCall {
        Connection *connection;
        DBusRecovery recovery; /* waits for messages of the previous daemon */
        Call *call;
} DBusCall;

/* If the peer does not exist, the bus replies, and not every bus names the peer. */
static char *error_describe(const DBusCallParams *params, const sd_bus_error *error) {
        const char *message = error->message ?: "";
        bool absent = sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                             SD_BUS_ERROR_NO_REPLY);

        if (absent && !strstr(message, params->message.address.destination))
                return g_strdup_printf("%s: %s (%s)", error->name, message, params->message.address.destination);
        if (*message)
                return g_strdup_printf("%s: %s", error->name, message);
        return g_strdup(error->name);
}

static void set_cause(Leaf *leaf, const sd_bus_error *error) {
        const DBusCallParams *params = leaf->params;
        g_autofree char *text = error_describe(params, error);
        json_object *facts = dbus_error_facts(error);

        json_object_object_add(facts, "destination", fact_text(params->message.address.destination));
        json_object_object_add(facts, "path", fact_text(params->message.address.path));
        json_object_object_add(facts, "member", fact_text(params->message.member));
        leaf_set_cause_of(leaf, dbus_error_kind(error), facts, "%s", text);
}

static void on_reply(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        const DBusCallParams *params = leaf->params;

        if (!error) {
                leaf_end(leaf, dbus_outputs_take(leaf, &params->outputs, "reply", reply));
                return;
        }

        set_cause(leaf, error);
        leaf_end(leaf, STATUS_FAILURE);
}

/* It is sent next. What can be wrong with the arguments has been found before. */
static int make_message(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        Leaf *leaf = userdata;
        const DBusCall *op = leaf->op;
        const DBusCallParams *params = leaf->params;
        const DBusAddress *address = &params->message.address;
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        int r = sd_bus_message_new_method_call(bus, &message, address->destination, address->path, address->interface,
                                               params->message.member);

        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, params->auto_start);
        if (r >= 0)
                r = value_append(message, params->message.signature, params->message.args, &error);
        if (r < 0)
                return r;

        leaf_set_memo(leaf, dbus_recovery_memo(leaf, op->connection));
        *ret_message = g_steal_pointer(&message);
        return 0;
}

static Status dbus_call_start(Leaf *leaf) {
        const DBusCallParams *params = leaf->params;
        g_autofree char *error = NULL;
        DBusCall *op = leaf->op;

        if (dbus_bus_get(leaf, params->message.address.bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->call =
                connection_call_made(op->connection, params->message.address.destination, make_message, on_reply, leaf);
        return STATUS_RUNNING;
}

static Status dbus_call_recover(Leaf *leaf) {
        const DBusCallParams *params = leaf->params;
        g_autofree char *error = NULL;
        DBusCall *op = leaf->op;

        if (!leaf->has_memo || dbus_bus_get(leaf, params->message.address.bus, &op->connection, &error) < 0)
                return STATUS_IDLE;

        return dbus_recovery_begin(&op->recovery, leaf, op->connection);
}

static void dbus_call_release(Leaf *leaf) {
        DBusCall *op = leaf->op;

        dbus_recovery_end(&op->recovery);
        g_clear_pointer(&op->call, call_free);
}

static void dbus_call_describe(Leaf *leaf, GString *text) {
        const DBusCallParams *params = leaf->params;
        const DBusAddress *address = &params->message.address;
        DBusCall *op = leaf->op;

        if (!dbus_describe_connection(op->connection, text))
                g_string_append_printf(text, "reply of %s%s%s from %s", address->interface ? address->interface : "",
                                       address->interface ? "." : "", params->message.member, address->destination);
}

const LeafKind dbus_call_kind = {
        .op_size = sizeof(DBusCall),
        .start = dbus_call_start,
        .release = dbus_call_release,
        .recover = dbus_call_recover,
        .describe = dbus_call_describe,
};
