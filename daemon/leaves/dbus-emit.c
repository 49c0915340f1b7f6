/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusEmit: sends a signal. */

#include <errno.h>

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "bus/value.h"
#include "engine/tree.h"
#include "leaves/dbus-address.h"
#include "leaves/leaf.h"
#include "leaves/on-recover.h"
#include "leaves/registry.h"

typedef struct DBusEmitParams {
        DBusAddress address; /* first */
        const char *member, *signature;
        json_object *args;
        uint64_t timeout;
        int on_recover;
} DBusEmitParams;

typedef struct DBusEmit {
        Connection *connection;
        Listener *listener; /* while the bus is not there */
} DBusEmit;

/* What nobody would understand, in the parameters that are known; NULL: nothing. */
static char *params_problem(const DBusEmitParams *params) {
        char *error = NULL;

        if (params->member && !sd_bus_member_name_is_valid(params->member))
                return g_strdup_printf("member: '%s' is not the name of a signal", params->member);
        if (params->signature && value_check_signature(params->signature, &error) < 0)
                return error;
        return dbus_address_problem(&params->address);
}

static char *args_problem(const DBusEmitParams *params) {
        g_autofree char *error = NULL;

        if (value_check(params->signature, params->args, &error) >= 0)
                return NULL;
        return g_strconcat("args: ", error, NULL);
}

/* Arguments that are not there may come from the blackboard. */
static char *dbus_emit_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const DBusEmitParams *params = tree->nodes[node].params;
        char *problem = params_problem(params);

        *ret_is_error = true;
        return problem || !params->args ? problem : args_problem(params);
}

static char *emit_problem(const Leaf *leaf) {
        const DBusEmitParams *params = leaf->params;
        char *problem;

        if (leaf->checked && params->args)
                return NULL;

        problem = params_problem(params);
        return problem ? problem : args_problem(params);
}

static int emit(sd_bus *bus, const DBusEmitParams *params) {
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        int r = sd_bus_message_new_signal(bus, &message, params->address.path, params->address.interface,
                                          params->member);

        if (r >= 0)
                r = value_append(message, params->signature, params->args, &error);
        return r < 0 ? r : sd_bus_send(bus, message, NULL);
}

/* RUNNING: the bus is not there. */
static Status try_to_emit(Leaf *leaf) {
        DBusEmit *op = leaf->op;
        int r = -ENOTCONN;

        if (connection_is_ready(op->connection)) {
                leaf_remember(leaf, NULL);
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
        g_autofree char *error = emit_problem(leaf);
        DBusEmit *op = leaf->op;
        Status status;

        if (error || buses_get(leaf->services->buses, params->address.bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        status = try_to_emit(leaf);
        if (status == STATUS_RUNNING)
                op->listener = connection_listen(op->connection, &callbacks, leaf);
        return status;
}

static void dbus_emit_release(Leaf *leaf) {
        DBusEmit *op = leaf->op;

        g_clear_pointer(&op->listener, listener_free);
}

static void dbus_emit_describe(Leaf *leaf, GString *text) {
        DBusEmit *op = leaf->op;

        dbus_describe_connection(op->connection, text);
}

static const Param dbus_emit_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, address.path),
                .required = true,
                .doc = "The path of the object that the signal is said to be from",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, address.interface),
                .required = true,
                .doc = "The interface of the signal",
        },
        {
                .name = "member",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, member),
                .required = true,
                .title = true,
                .doc = "The name of the signal",
        },
        {
                .name = "signature",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, signature),
                .literal = true,
                .plain = true,
                .fallback = "\"\"",
                .doc = "The D-Bus types of the arguments",
        },
        {
                .name = "args",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusEmitParams, args),
                .doc = "The arguments: an array with a value for each type of the signature",
        },
        {
                .name = "timeout",
                .kind = PARAM_SPAN,
                .offset = offsetof(DBusEmitParams, timeout),
                .fallback = "\"25s\"",
                .doc = "How long to wait for a bus that is not there; \"infinity\": without a limit",
        },
        ON_RECOVER_PARAM(DBusEmitParams),
        {},
};

static const LeafKind dbus_emit_kind = {
        .op_size = sizeof(DBusEmit),
        .has_timeout = true,
        .timeout_offset = offsetof(DBusEmitParams, timeout),
        .start = dbus_emit_start,
        .release = dbus_emit_release,
        .describe = dbus_emit_describe,
        .has_on_recover = true,
        .on_recover_offset = offsetof(DBusEmitParams, on_recover),
};

const NodeType dbus_emit_type = {
        .name = "DBusEmit",
        .class = NODE_ACTION,
        .params = dbus_emit_params,
        .params_size = sizeof(DBusEmitParams),
        .summary = "Sends a D-Bus signal to all who listen",
        .doc = "Succeeds when the bus has been given the signal; a bus that is not there yet is waited for. Nobody "
               "tells "
               "who has heard it, nor whether the policy of the bus lets it through. Arguments go by the signature as "
               "those of DBusCall do.",
        .check = dbus_emit_check,
        .leaf = &dbus_emit_kind,
};
