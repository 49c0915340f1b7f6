/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the types DBusCall, DBusSignal, DBusEmit, DBusProperty and DBusName. */

#include <json-c/json_tokener.h>

#include "basic/dbus-value.h"
#include "definition/params/param-report.h"
#include "definition/params/params.h"
#include "engine/types/types.h"
#include "leaf-types/dbus.h"
#include "leaf-types/leaf-types.h"
#include "script/reference.h"

static const Param any_value = { .name = "", .kind = PARAM_JSON };

typedef struct Fitting {
        const ParamSetter *setter;
        const Place *args;
        int result;
} Fitting;

static bool on_unknown(json_object *value, void *userdata) {
        const Fitting *fitting = userdata;

        return fitting->setter->provisional && json_object_is_type(value, json_type_string) && reference_inside(value);
}

static void on_mismatch(const ValueStep *steps, size_t n_steps, bool at_key, const char *text, void *userdata) {
        Fitting *fitting = userdata;
        g_autofree Place *places = g_new0(Place, n_steps + 1);
        const Place *at = n_steps == 0 ? fitting->args : &places[n_steps - 1];
        g_autofree char *variable = NULL;

        for (size_t i = 0; i < n_steps; i++)
                places[i] = (Place){ .parent = i == 0 ? fitting->args : &places[i - 1],
                                     .key = steps[i].key,
                                     .index = steps[i].index };

        variable = at_key ? NULL : param_variable_at(fitting->setter, at);
        fitting->result = param_report_instead(fitting->setter, at, at_key, NULL,
                                               variable ? g_strdup_printf("%s (the value of {%s})", text, variable)
                                                        : g_strdup(text));
}

static int args_fit_signature(const ParamSetter *setter, const Place *place, json_object *args, const void *values) {
        const DBusMessage *message = values;
        Fitting fitting = { .setter = setter, .args = place };
        const ValueCheck check = { .unknown = on_unknown, .report = on_mismatch, .userdata = &fitting };

        if (message->signature && !(args && param_may_be_anything(setter, args)))
                value_check_all(message->signature, args, &check);

        return fitting.result;
}

/* The entry in a table of parameters, of a struct that begins with a DBusAddress. */
#define DBUS_BUS_PARAM                                                                                                 \
        {                                                                                                              \
                .name = "bus", .kind = PARAM_STRING, .offset = offsetof(DBusAddress, bus), .format = &bus_format,      \
                .doc = "\"system\", \"session\", \"host:USER@HOST\", \"machine:NAME\" or an address",                  \
        }

/* The same for the object of a service. */
#define DBUS_OBJECT_PARAMS                                                                                             \
        {                                                                                                              \
                .name = "destination",                                                                                 \
                .kind = PARAM_STRING,                                                                                  \
                .offset = offsetof(DBusAddress, destination),                                                          \
                .format = &bus_name_format,                                                                            \
                .required = true,                                                                                      \
                .doc = "The bus name of the service",                                                                  \
        },                                                                                                             \
        {                                                                                                              \
                .name = "path", .kind = PARAM_STRING, .offset = offsetof(DBusAddress, path),                           \
                .format = &object_path_format, .required = true, .doc = "The path of the object",                      \
        }

/* Entries in a table of parameters, of a struct that begins with a DBusMessage. what: method, signal. */
#define DBUS_MESSAGE_PARAMS(what)                                                                                      \
        {                                                                                                              \
                .name = "member",                                                                                      \
                .kind = PARAM_STRING,                                                                                  \
                .offset = offsetof(DBusMessage, member),                                                               \
                .required = true,                                                                                      \
                .title = true,                                                                                         \
                .format = &what##_format,                                                                              \
                .doc = "The name of the " #what,                                                                       \
        },                                                                                                             \
                {                                                                                                      \
                        .name = "signature",                                                                           \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(DBusMessage, signature),                                                    \
                        .literal = true,                                                                               \
                        .plain = true,                                                                                 \
                        .format = &signature_format,                                                                   \
                        .fallback = "\"\"",                                                                            \
                        .doc = "The D-Bus types of the arguments",                                                     \
                },                                                                                                     \
        {                                                                                                              \
                .name = "args", .kind = PARAM_JSON, .offset = offsetof(DBusMessage, args), .elements = &any_value,     \
                .fits = args_fit_signature, .fits_with = "signature",                                                  \
                .doc = "The arguments: an array with a value for each type of the signature",                          \
        }

/* Two entries in a table of parameters. list: how expressions call the list of the values. */
#define DBUS_OUTPUTS_PARAMS(Type, field, list, is_open)                                                                \
        {                                                                                                              \
                .name = "outputs",                                                                                     \
                .kind = PARAM_STRINGS,                                                                                 \
                .offset = offsetof(Type, field.names),                                                                 \
                .writes = true,                                                                                        \
                .openly = is_open,                                                                                     \
                .doc = "The variables that receive the values, in order; \"\" skips one",                              \
        },                                                                                                             \
        {                                                                                                              \
                .name = "outputs", .kind = PARAM_EXPRESSIONS, .offset = offsetof(Type, field.expressions),             \
                .writes = true, .openly = is_open, .extra = (const char *const[]){ list, "value", NULL },              \
                .doc = "Or an object: variables, with an expression for each over " list                               \
                       " (the list of the values) and value (the first)",                                              \
        }

static const Param dbus_call_params[] = {
        DBUS_BUS_PARAM,
        DBUS_OBJECT_PARAMS,
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusCallParams, message.address.interface),
                .format = &interface_format,
                .doc = "The interface of the method",
        },
        DBUS_MESSAGE_PARAMS(method),
        TIMEOUT_PARAM(DBusCallParams, "\"25s\"",
                      .doc = "How long to wait for the reply; \"infinity\": without a limit"),
        {
                .name = "auto_start",
                .kind = PARAM_BOOL,
                .offset = offsetof(DBusCallParams, auto_start),
                .fallback = "true",
                .doc = "Whether the bus may start a service that is not running",
        },
        ON_RECOVER_PARAM(DBusCallParams),
        DBUS_OUTPUTS_PARAMS(DBusCallParams, outputs, "reply", false),
        {},
};

/* Another machine does not go down with this one. systemd is there as long as btd. */
static void check_call(const Tree *tree, NodeId node, Findings *findings) {
        const DBusCallParams *params = tree->nodes[node].params;
        const DBusAddress *address = &params->message.address;

        if (params->auto_start && !(address->bus && strchr(address->bus, ':')) && cleanup_depends_on(tree, node) &&
            g_strcmp0(address->destination, "org.freedesktop.systemd1") != 0)
                findings_trap(findings, NULL,
                              "the bus starts no service while the machine goes down, so a clean-up that needs this "
                              "fails then if the service is not running; give its unit Before=btd.service, and set "
                              "\"auto_start\" to false; see btd-shutdown(7)");
}

const NodeType dbus_call_type = {
        .name = "DBusCall",
        .class = NODE_ACTION,
        .params = dbus_call_params,
        .params_size = sizeof(DBusCallParams),
        .summary = "Calls a D-Bus method and waits for its reply",
        .doc = "Succeeds when the method returns. Fails when it returns an error, when no reply comes within the "
               "timeout, or when the bus is lost. If the bus is not there yet, the node waits for it. The "
               "signature decides the types of the arguments: numbers are range-checked, \"ay\" also takes a string, "
               "and \"a{sv}\" takes an object. Write a variant whose type is not obvious as {\"signature\": "
               "\"u\", \"value\": 7}.",
        .halting = "Ends at once and ignores the reply; the service may still do what was requested.",
        .recovery = "If the call was sent, on_recover decides: \"fail\" is a FAILURE with a cause of the kind lost, "
                    "\"rerun\" sends it again.",
        .check = check_call,
        .has_timeout = true,
        .timeout_offset = offsetof(DBusCallParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(DBusCallParams, on_recover),
};

static const char *const dbus_signal_test_names[] = { "args", "value", NULL };

static const char *const on_owner_lost_values[] = { "fail", "wait", NULL };

static const Param dbus_signal_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "sender",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.destination),
                .format = &bus_name_format,
                .doc = "The bus name of the service that sends it; default: any",
        },
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.path),
                .format = &object_path_format,
                .doc = "The path of the object; default: any",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusSignalParams, address.interface),
                .format = &interface_format,
                .doc = "The interface of the signal; default: any",
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
                .doc = "An array of values that the first arguments must have; null matches anything; a string matches "
                       "a D-Bus string or object path; a variant matches like its value",
        },
        {
                .name = "test",
                .kind = PARAM_EXPRESSION,
                .offset = offsetof(DBusSignalParams, test),
                .extra = dbus_signal_test_names,
                .doc = "An expression over args (the list of the values), value (the first) and the variables; signals "
                       "for which it is not true are ignored",
        },
        TIMEOUT_PARAM(DBusSignalParams, "\"infinity\"", .doc = "How long to wait; \"infinity\": without a limit"),
        {
                .name = "queue",
                .kind = PARAM_INT,
                .offset = offsetof(DBusSignalParams, queue),
                .literal = true,
                .fallback = "0",
                .min = 0,
                .max = 1000,
                .doc = "How many signals are kept for the node between its executions in a run",
        },
        {
                .name = "on_owner_lost",
                .kind = PARAM_ENUM,
                .offset = offsetof(DBusSignalParams, on_owner_lost),
                .values = on_owner_lost_values,
                .fallback = "\"fail\"",
                .doc = "What to do if the sender leaves the bus",
        },
        {
                .name = "on_recover",
                .kind = PARAM_ENUM,
                .offset = offsetof(DBusSignalParams, on_recover),
                .values = on_recover_values,
                .fallback = "\"rerun\"",
                .doc = "What to do if btd is restarted meanwhile and may have missed the signal; \"rerun\": wait again",
        },
        DBUS_OUTPUTS_PARAMS(DBusSignalParams, outputs, "args", true),
        {},
};

const NodeType dbus_signal_type = {
        .name = "DBusSignal",
        .class = NODE_ACTION,
        .params = dbus_signal_params,
        .params_size = sizeof(DBusSignalParams),
        .summary = "Waits for a D-Bus signal",
        .doc = "Succeeds at the first signal that matches. When the node starts, btd subscribes to the signal. To "
               "miss no signal that a DBusCall causes, put the DBusSignal before the DBusCall in a Parallel.\n\nIf a "
               "sender is given, only the "
               "current owner of this name counts. When this owner leaves the bus, on_owner_lost decides. If the bus "
               "is lost, the node continues to wait, but misses signals that are sent meanwhile.",
        .halting = "Ends at once.",
        .recovery =
                "Waits again. Signals that were sent while no btd was there are missed. FAILURE if the sender has left "
                "the bus meanwhile; with on_recover \"fail\", FAILURE with a cause of the kind lost.",
        .has_timeout = true,
        .timeout_offset = offsetof(DBusSignalParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(DBusSignalParams, on_recover),
        .hears = true,
        .queue_offset = offsetof(DBusSignalParams, queue),
};

static const Param dbus_emit_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, message.address.path),
                .format = &object_path_format,
                .required = true,
                .doc = "The path of the object that sends the signal",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusEmitParams, message.address.interface),
                .format = &interface_format,
                .required = true,
                .doc = "The interface of the signal",
        },
        DBUS_MESSAGE_PARAMS(signal),
        TIMEOUT_PARAM(DBusEmitParams, "\"25s\"",
                      .doc = "How long to wait for the bus if it is not there or slow; \"infinity\": without a limit"),
        ON_RECOVER_PARAM(DBusEmitParams),
        {},
};

const NodeType dbus_emit_type = {
        .name = "DBusEmit",
        .class = NODE_ACTION,
        .params = dbus_emit_params,
        .params_size = sizeof(DBusEmitParams),
        .summary = "Sends a D-Bus signal to all subscribers",
        .doc = "Succeeds when the bus has taken the signal. If the bus is not there yet, the node waits for it. "
               "btd cannot know which programs receive the signal, or whether the policy of the bus allows it. The "
               "arguments are as for DBusCall.",
        .halting = "Ends at once; a signal that was sent cannot be taken back.",
        .recovery = "As for DBusCall.",
        .has_timeout = true,
        .timeout_offset = offsetof(DBusEmitParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(DBusEmitParams, on_recover),
};

/* Reading is a call of the service each time, 10 times per second at most. */
#define PROPERTY_INTERVAL_MIN (INT64_C(100) * 1000)

const char *const dbus_property_test_names[] = { "value", NULL };

static int field_check(const ParamSetter *setter, const Place *place, json_object *value) {
        int r = 0;

        if (!json_object_is_type(value, json_type_array))
                return param_report_kind(setter, place, "an array of keys and indices", value);

        for (size_t i = 0; i < json_object_array_length(value); i++) {
                json_object *step = json_object_array_get_idx(value, i);
                Place at = { .parent = place, .index = i };

                if (!json_object_is_type(step, json_type_string) &&
                    !(json_object_is_type(step, json_type_int) && json_object_get_int64(step) >= 0))
                        r = param_report_kind(setter, &at, "a key or an index from 0", step);
        }

        return r;
}

static json_object *field_schema(void) {
        return json_tokener_parse("{\"type\": \"array\", \"items\": {\"anyOf\": [{\"type\": \"string\"}, "
                                  "{\"type\": \"integer\", \"minimum\": 0}]}}");
}

static const ValueFormat matcher_field_format = { .check = field_check, .schema = field_schema };

/* D-Bus has no null. Taken for no value at all, the null of a variable would accept any value. */
static int equals_check(const ParamSetter *setter, const Place *place, json_object *value) {
        return value ? 0 : param_report_kind(setter, place, "a value that a property can have", value);
}

static json_object *equals_schema(void) {
        return json_tokener_parse("{\"not\": {\"type\": \"null\"}}");
}

static const ValueFormat matcher_equals_format = { .check = equals_check, .schema = equals_schema };

static const Param dbus_property_params[] = {
        DBUS_BUS_PARAM,
        DBUS_OBJECT_PARAMS,
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.interface),
                .format = &interface_format,
                .required = true,
                .doc = "The interface of the property",
        },
        {
                .name = "property",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, property),
                .format = &property_format,
                .required = true,
                .title = true,
                .doc = "The name of the property",
        },
        {
                .name = "equals",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, matcher.equals),
                .value_format = &matcher_equals_format,
                .doc = "The value that it must have, also a text for bytes. If equals, one_of and test are missing: "
                       "any value except false, 0 and empty values",
        },
        {
                .name = "one_of",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, matcher.one_of),
                .elements = &any_value,
                .not_empty = true,
                .doc = "An array of the values that it may have",
        },
        {
                .name = "test",
                .kind = PARAM_EXPRESSION,
                .offset = offsetof(DBusPropertyParams, test),
                .extra = dbus_property_test_names,
                .doc = "Instead of these: an expression over the value and the variables, like \"value > limit\"",
        },
        {
                .name = "field",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, matcher.field),
                .value_format = &matcher_field_format,
                .doc = "The part of the value that counts: an array of keys, and of indices from 0, unlike in "
                       "references",
        },
        {
                .name = "interval",
                .kind = PARAM_SPAN,
                .offset = offsetof(DBusPropertyParams, interval),
                .fallback = "\"infinity\"",
                .min = PROPERTY_INTERVAL_MIN,
                .doc = "The time after which the property is read again, for a service that sends no signals; "
                       "\"infinity\": never",
        },
        {
                .name = "output",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, output),
                .writes = true,
                .openly = true,
                .doc = "The variable that gets the value, or its field, whenever it is read or changes",
        },
        UNKNOWN_PARAM(DBusPropertyParams),
        {},
};

static const ParamRule dbus_property_rules[] = { { RULE_AT_MOST_ONE, { "equals", "one_of", "test" } }, {} };

/* logind and systemd know the caller's own objects by such names, too, but send signals from the objects' own paths. */
static void check_property(const Tree *tree, NodeId node, Findings *findings) {
        const DBusPropertyParams *params = tree->nodes[node].params;
        const char *path = params->address.path;

        if (params->interval == UINT64_MAX && path && g_str_has_prefix(path, "/org/freedesktop/") &&
            (g_str_has_suffix(path, "/self") || g_str_has_suffix(path, "/auto")))
                findings_trap(findings, "path",
                              "no signal comes from this path, because the object has another one, so changes are not "
                              "noticed; name the object's own path, or give an interval");
}

const NodeType dbus_property_type = {
        .name = "DBusProperty",
        .class = NODE_CONDITION,
        .params = dbus_property_params,
        .params_size = sizeof(DBusPropertyParams),
        .rules = dbus_property_rules,
        .summary = "True while a property of a D-Bus object has a certain value",
        .doc = "At each start of the node, btd reads the property, which can start the service. Then it follows the "
               "signals of the service. If the service sends none, give an interval. If it answers with an error, the "
               "property is read again after 1, 2, 4, 8, 16 and 32 s, since it may still be starting. Numbers are "
               "compared by value, "
               "whatever their types. A test is evaluated again when the value, or a variable in the test, "
               "changes.\n\nThe value is unknown while the service is not running, while the object, the property or "
               "the field does not exist, while the bus is lost, if the service does not answer a read "
               "within 25s, and if the test cannot be evaluated.",
        .check = check_property,
};

static const Param dbus_name_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "name",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusNameParams, address.destination),
                .format = &bus_name_format,
                .required = true,
                .doc = "The bus name; it is also the name of the node",
        },
        UNKNOWN_PARAM(DBusNameParams),
        {},
};

const NodeType dbus_name_type = {
        .name = "DBusName",
        .class = NODE_CONDITION,
        .params = dbus_name_params,
        .params_size = sizeof(DBusNameParams),
        .summary = "True while a bus name has an owner",
        .doc = "Follows the name by the signals of the bus, without polling, and never starts the service. The value "
               "is unknown while the bus is lost.",
};
