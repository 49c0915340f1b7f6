/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusProperty: a live condition over a property of a D-Bus object. */

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "bus/property-watch.h"
#include "bus/value.h"
#include "engine/tree.h"
#include "leaves/dbus-address.h"
#include "leaves/leaf.h"
#include "leaves/registry.h"

typedef struct DBusPropertyParams {
        DBusAddress address;
        const char *property;
        json_object *equals, *one_of;
} DBusPropertyParams;

typedef struct DBusProperty {
        Connection *connection;
        PropertyWatch *watch;
        Status told; /* IDLE: nothing yet */
} DBusProperty;

/* The leaf may be gone afterwards. */
static void report(Leaf *leaf, Status value) {
        DBusProperty *op = leaf->op;
        bool news = value != op->told;

        op->told = value;
        if (news)
                leaf_set_value(leaf, value);
}

static bool is_true(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_boolean:
                return json_object_get_boolean(value);
        case json_type_int:
        case json_type_double:
                return json_object_get_double(value) != 0;
        case json_type_string:
                return json_object_get_string_len(value) > 0;
        case json_type_array:
                return json_object_array_length(value) > 0;
        case json_type_object:
                return json_object_object_length(value) > 0;
        default:
                return false;
        }
}

static bool is_one_of(json_object *value, json_object *choices) {
        for (size_t i = 0; i < json_object_array_length(choices); i++)
                if (value_equal(value, json_object_array_get_idx(choices, i)))
                        return true;
        return false;
}

static bool holds(const DBusPropertyParams *params, json_object *value) {
        if (params->equals)
                return value_equal(value, params->equals);
        if (params->one_of)
                return is_one_of(value, params->one_of);
        return is_true(value);
}

/* "Powered is false, not true" */
static char *describe_mismatch(const DBusPropertyParams *params, json_object *value) {
        json_object *wanted = params->equals ? params->equals : params->one_of;
        g_autofree char *is = value_to_text(value), *should = NULL;

        if (wanted)
                should = value_to_text(wanted);
        else if (json_object_is_type(value, json_type_boolean))
                should = g_strdup("true");
        else
                return g_strdup_printf("%s is %s", params->property, is);

        return g_strdup_printf("%s is %s, not %s%s", params->property, is, wanted && !params->equals ? "one of " : "",
                               should);
}

/* seen: NULL when it is not known. */
static json_object *facts_of(const DBusPropertyParams *params, json_object *seen) {
        json_object *facts = facts_new("destination", fact_text(params->address.destination), "property",
                                       fact_text(params->property), "equals", json_object_get(params->equals), "one_of",
                                       json_object_get(params->one_of), NULL);

        json_object_object_add(facts, "seen", json_object_get(seen));
        return facts;
}

static void on_known(json_object *value, void *userdata) {
        Leaf *leaf = userdata;
        g_autofree char *text = NULL;

        if (holds(leaf->params, value)) {
                report(leaf, STATUS_SUCCESS);
                return;
        }

        text = describe_mismatch(leaf->params, value);
        leaf_set_cause_of(leaf, CAUSE_CONDITION, facts_of(leaf->params, value), "%s", text);
        report(leaf, STATUS_FAILURE);
}

static void on_unknown(const char *reason, void *userdata) {
        Leaf *leaf = userdata;

        leaf_set_cause_of(leaf, CAUSE_CONDITION, facts_of(leaf->params, NULL), "%s", reason);
        report(leaf, STATUS_FAILURE);
}

/* What cannot be watched, in the parameters that are known; NULL: nothing. */
static char *params_problem(const DBusPropertyParams *params) {
        if (params->property && !sd_bus_member_name_is_valid(params->property))
                return g_strdup_printf("property: '%s' is not the name of a property", params->property);
        if (params->one_of && !json_object_is_type(params->one_of, json_type_array)) {
                g_autofree char *text = value_to_text(params->one_of);

                return g_strdup_printf("one_of: expected an array of values, not %s", text);
        }
        if (params->equals && params->one_of)
                return g_strdup("give equals or one_of, not both");
        return dbus_address_problem(&params->address);
}

static char *dbus_property_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        *ret_is_error = true;
        return params_problem(tree->nodes[node].params);
}

static Status dbus_property_start(Leaf *leaf) {
        static const PropertyCallbacks callbacks = { .known = on_known, .unknown = on_unknown };
        const DBusPropertyParams *params = leaf->params;
        const DBusAddress *where = &params->address;
        PropertyAddress address = { where->destination, where->path, where->interface, params->property };
        g_autofree char *error = params_problem(params);
        DBusProperty *op = leaf->op;

        if (error || buses_get(leaf->services->buses, where->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->watch = property_watch_new(op->connection, &address, &callbacks, leaf);
        return STATUS_RUNNING;
}

static void dbus_property_release(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        g_clear_pointer(&op->watch, property_watch_free);
}

static void dbus_property_describe(Leaf *leaf, GString *text) {
        const DBusPropertyParams *params = leaf->params;
        DBusProperty *op = leaf->op;

        if (connection_is_ready(op->connection))
                g_string_append_printf(text, "value of %s.%s from %s", params->address.interface, params->property,
                                       params->address.destination);
        else
                g_string_append_printf(text, "connection to the bus '%s'", connection_name(op->connection));
}

static const Param dbus_property_params[] = {
        {
                .name = "bus",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.bus),
                .doc = "\"system\", \"session\", \"host:USER@HOST\", \"machine:NAME\" or an address",
        },
        {
                .name = "destination",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.destination),
                .required = true,
                .doc = "The bus name of the service",
        },
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.path),
                .required = true,
                .doc = "The path of the object",
        },
        {
                .name = "interface",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.interface),
                .required = true,
                .doc = "The interface of the property",
        },
        {
                .name = "property",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, property),
                .required = true,
                .doc = "The name of the property",
        },
        {
                .name = "equals",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, equals),
                .doc = "The value that it must have; without it and one_of: any but false, 0 and the empty ones",
        },
        {
                .name = "one_of",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, one_of),
                .doc = "An array of the values that it may have",
        },
        {},
};

static const LeafKind dbus_property_kind = {
        .op_size = sizeof(DBusProperty),
        .start = dbus_property_start,
        .release = dbus_property_release,
        .describe = dbus_property_describe,
};

const NodeType dbus_property_type = {
        .name = "DBusProperty",
        .class = NODE_CONDITION,
        .params = dbus_property_params,
        .params_size = sizeof(DBusPropertyParams),
        .summary = "Holds while a property of a D-Bus object has a certain value",
        .doc = "Follows the property by the signals of its service, without polling. A value that is not known, since "
               "the service is not there, the object is gone or the bus is lost, does not hold; it is known again when "
               "they are back. Asking for the first time may start the service; later it is only waited for. Integers "
               "and other numbers are compared by value.",
        .check = dbus_property_check,
        .leaf = &dbus_property_kind,
};
