/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusSignal: waits for a signal. */

#include "basic/cleanup.h"
#include "bus/value.h"
#include "engine/tree.h"
#include "leaves/dbus/dbus-outputs.h"
#include "leaves/dbus/dbus-params.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf.h"

typedef struct DBusSignalParams {
        DBusAddress address; /* first; the sender is its destination */
        const char *member;
        json_object *args;
        uint64_t timeout;
        DBusOutputs outputs;
} DBusSignalParams;

typedef struct DBusSignal {
        Connection *connection;
        Match *match;
} DBusSignal;

/* One of the arguments that is asked for as text; NULL: it is something else, or does not matter. */
static const char *text_arg(const DBusSignalParams *params, size_t i) {
        json_object *arg = json_object_array_get_idx(params->args, i);

        return json_object_is_type(arg, json_type_string) ? json_object_get_string(arg) : NULL;
}

static size_t count_args(const DBusSignalParams *params) {
        return params->args ? json_object_array_length(params->args) : 0;
}

/* The bus compares texts itself: the first one finds the signal, the others narrow the rule. */
static void add_args(const DBusSignalParams *params, SignalPattern *pattern, GString *more) {
        for (size_t i = 0; i < MIN(count_args(params), SIGNAL_PATTERN_ARGS); i++) {
                const char *text = text_arg(params, i);
                bool is_path = text && sd_bus_object_path_is_valid(text);

                if (!text)
                        continue;
                if (pattern->arg) {
                        signal_pattern_append_arg(more, (unsigned) i, text, is_path);
                        continue;
                }
                pattern->arg = text;
                pattern->arg_number = (unsigned) i;
                pattern->arg_is_path = is_path;
        }
}

/* What was compared as text by the bus is compared as text here. */
static bool arg_fits(json_object *wanted, char type, json_object *value) {
        if (!wanted)
                return true;
        if (json_object_is_type(wanted, json_type_string) && type != SD_BUS_TYPE_STRING &&
            type != SD_BUS_TYPE_OBJECT_PATH)
                return false;
        return value_equal(wanted, value);
}

static bool args_fit(const DBusSignalParams *params, sd_bus_message *message) {
        const char *signature = sd_bus_message_get_signature(message, true);

        for (size_t i = 0; i < count_args(params); i++) {
                g_autoptr(json_object) value = NULL;
                g_autofree char *error = NULL;

                if (*signature == '\0' || value_read_one(message, &value, &error) < 0 ||
                    !arg_fits(json_object_array_get_idx(params->args, i), *signature, value))
                        return false;
                signature += signature_first(signature);
        }
        return true;
}

static void on_signal(sd_bus_message *message, void *userdata) {
        Leaf *leaf = userdata;
        const DBusSignalParams *params = leaf->params;

        if (args_fit(params, message))
                leaf_end(leaf, dbus_outputs_take(leaf, &params->outputs, "signal", message));
}

static Status dbus_signal_start(Leaf *leaf) {
        const DBusSignalParams *params = leaf->params;
        g_autofree char *error = NULL;
        g_autoptr(GString) more = g_string_new(NULL);
        DBusSignal *op = leaf->op;
        SignalPattern pattern = {
                .sender = params->address.destination,
                .path = params->address.path,
                .interface = params->address.interface,
                .member = params->member,
        };

        if (dbus_bus_get(leaf, params->address.bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        add_args(params, &pattern, more);
        pattern.more = more->str;
        op->match = connection_match(op->connection, &pattern, on_signal, NULL, leaf);
        return STATUS_RUNNING;
}

static void dbus_signal_release(Leaf *leaf) {
        DBusSignal *op = leaf->op;

        g_clear_pointer(&op->match, match_free);
}

static void dbus_signal_describe(Leaf *leaf, GString *text) {
        const DBusSignalParams *params = leaf->params;
        const DBusAddress *address = &params->address;
        DBusSignal *op = leaf->op;

        if (dbus_describe_connection(op->connection, text))
                return;

        g_string_append_printf(text, "signal %s%s%s", address->interface ? address->interface : "",
                               address->interface ? "." : "", params->member);
        if (address->destination)
                g_string_append_printf(text, " from %s", address->destination);
}

static const Param dbus_signal_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "sender",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.destination),
                .format = &bus_name_format,
                .doc = "The bus name of the service that sends it; without it: anybody",
        },
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.path),
                .format = &object_path_format,
                .doc = "The path of the object; without it: any",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.interface),
                .format = &interface_format,
                .doc = "The interface of the signal; without it: any",
        },
        {
                .name = "member",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, member),
                .format = &signal_format,
                .required = true,
                .title = true,
                .doc = "The name of the signal",
        },
        {
                .name = "args",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusSignalParams, args),
                .elements = &any_value,
                .doc = "What its first arguments must be: an array of values, null for any; a string is a D-Bus string "
                       "or object path",
        },
        {
                .name = "timeout",
                .kind = PARAM_SPAN,
                .offset = offsetof(DBusSignalParams, timeout),
                .fallback = "\"infinity\"",
                .doc = "How long to wait; \"infinity\": without a limit",
        },
        DBUS_OUTPUTS_PARAMS(DBusSignalParams, outputs, "args"),
        {},
};

const LeafKind dbus_signal_kind = {
        .op_size = sizeof(DBusSignal),
        .start = dbus_signal_start,
        .recover = dbus_signal_start,
        .release = dbus_signal_release,
        .describe = dbus_signal_describe,
};

const NodeType dbus_signal_type = {
        .name = "DBusSignal",
        .class = NODE_ACTION,
        .params = dbus_signal_params,
        .params_size = sizeof(DBusSignalParams),
        .summary = "Waits for a D-Bus signal",
        .doc = "Succeeds at the first signal that fits. The bus is asked for it before anything that is sent later, so "
               "in a "
               "Parallel that has the DBusSignal before the DBusCall that brings the signal about, it is not missed. "
               "Of "
               "a sender only the one who owns the name at the moment counts. While the bus is lost it goes on "
               "waiting, "
               "but what is sent meanwhile is missed.",
        .has_timeout = true,
        .timeout_offset = offsetof(DBusSignalParams, timeout),
};
