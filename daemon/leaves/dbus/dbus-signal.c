/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusSignal: waits for a signal. */

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

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

const LeafKind dbus_signal_kind = {
        .op_size = sizeof(DBusSignal),
        .start = dbus_signal_start,
        .recover = dbus_signal_start,
        .release = dbus_signal_release,
        .describe = dbus_signal_describe,
};
