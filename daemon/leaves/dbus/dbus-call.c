/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusCall: calls a method and waits for its reply. */

#include <string.h>

#include "basic/cleanup.h"
#include "bus/value.h"
#include "engine/tree.h"
#include "leaves/dbus/dbus-outputs.h"
#include "leaves/dbus/dbus-params.h"
#include "leaves/dbus/dbus-recovery.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf-params.h"
#include "run/leaf.h"

typedef struct DBusCallParams {
        DBusMessage message; /* first */
        uint64_t timeout;
        bool auto_start;
        int on_recover;
        DBusOutputs outputs;
} DBusCallParams;

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

static const Param dbus_call_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "destination",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusCallParams, message.address.destination),
                .format = &bus_name_format,
                .required = true,
                .doc = "The bus name of the service",
        },
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusCallParams, message.address.path),
                .format = &object_path_format,
                .required = true,
                .doc = "The path of the object",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusCallParams, message.address.interface),
                .format = &interface_format,
                .doc = "The interface of the method",
        },
        DBUS_MESSAGE_PARAMS(method),
        {
                .name = "timeout",
                .kind = PARAM_SPAN,
                .offset = offsetof(DBusCallParams, timeout),
                .fallback = "\"25s\"",
                .doc = "How long to wait for the reply; \"infinity\": without a limit",
        },
        {
                .name = "auto_start",
                .kind = PARAM_BOOL,
                .offset = offsetof(DBusCallParams, auto_start),
                .fallback = "true",
                .doc = "Whether the bus may start a service that is not running",
        },
        ON_RECOVER_PARAM(DBusCallParams),
        DBUS_OUTPUTS_PARAMS(DBusCallParams, outputs, "reply"),
        {},
};

const LeafKind dbus_call_kind = {
        .op_size = sizeof(DBusCall),
        .start = dbus_call_start,
        .release = dbus_call_release,
        .recover = dbus_call_recover,
        .describe = dbus_call_describe,
};

const NodeType dbus_call_type = {
        .name = "DBusCall",
        .class = NODE_ACTION,
        .params = dbus_call_params,
        .params_size = sizeof(DBusCallParams),
        .summary = "Calls a D-Bus method and waits for its reply",
        .doc = "Succeeds when the method returns, fails when it returns an error, when no reply comes within the "
               "timeout, or when the bus is lost. A bus that is not there yet is waited for. Arguments go by the "
               "signature: numbers are range-checked, \"ay\" also takes a string, \"a{sv}\" an object, and a variant "
               "whose type is not obvious is written as {\"signature\": \"u\", \"value\": 7}.",
        .has_timeout = true,
        .timeout_offset = offsetof(DBusCallParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(DBusCallParams, on_recover),
};
