/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusProperty: a condition on the value of a D-Bus property, or on a part of it. */

#include "bus/property-watch.h"
#include "engine/tree.h"
#include "leaves/dbus/dbus-params.h"
#include "leaves/dbus/value-matcher.h"
#include "leaves/kinds.h"
#include "leaves/live-test.h"
#include "leaves/registry.h"
#include "run/leaf-params.h"
#include "run/leaf.h"

typedef struct DBusPropertyParams {
        DBusAddress address; /* first */
        const char *property;
        ValueMatcher matcher;
        const Script *test;
        int unknown;
} DBusPropertyParams;

typedef struct DBusProperty {
        Connection *connection;
        PropertyWatch *watch;
        LiveTest *test; /* NULL: there is none */
        Status value;   /* RUNNING: not known yet */
} DBusProperty;

static const char *const test_names[] = { "value", NULL };

static void set_cause(Leaf *leaf, const char *kind, json_object *facts, json_object *seen, const char *text) {
        const DBusPropertyParams *params = leaf->params;

        json_object_object_add(facts, "destination", fact_text(params->address.destination));
        json_object_object_add(facts, "path", fact_text(params->address.path));
        json_object_object_add(facts, "property", fact_text(params->property));
        json_object_object_add(facts, "seen", json_object_get(seen));
        json_object_object_add(facts, "wanted", matcher_wanted(&params->matcher));
        leaf_set_cause_of(leaf, kind, facts, "%s", text);
}

static void set_problem(Leaf *leaf, const PropertyProblem *problem) {
        bool told = sd_bus_error_is_set(&problem->error);

        set_cause(leaf,
                  problem->lost ? CAUSE_CONNECTION_LOST
                  : told        ? CAUSE_DBUS_ERROR
                                : CAUSE_CONDITION,
                  told ? dbus_error_facts(&problem->error) : json_object_new_object(), NULL, problem->text);
}

/* The value comes from the service, so a test that raises an error is a FAILURE, not an ERROR of the tree. */
static Status judge_by_test(Leaf *leaf, json_object *field) {
        const DBusPropertyParams *params = leaf->params;
        DBusProperty *op = leaf->op;
        Status status = live_test_evaluate(op->test, test_names, &field);

        return status == STATUS_ERROR ? unknown_status(params->unknown) : status;
}

static Status judge(Leaf *leaf, json_object *value) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;
        g_autofree char *text = NULL;
        json_object *field;

        if (!matcher_find_field(&params->matcher, params->property, value, &field, &text)) {
                set_cause(leaf, CAUSE_CONDITION, json_object_new_object(), NULL, text);
                return unknown_status(params->unknown);
        }
        if (op->test)
                return judge_by_test(leaf, field);
        if (matcher_matches(&params->matcher, params->property, field, &text))
                return STATUS_SUCCESS;

        set_cause(leaf, CAUSE_CONDITION, json_object_new_object(), field, text);
        return STATUS_FAILURE;
}

static Status judge_state(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;

        switch (property_watch_state(op->watch)) {
        case PROPERTY_KNOWN:
                return judge(leaf, property_watch_value(op->watch));
        case PROPERTY_UNKNOWN:
                set_problem(leaf, property_watch_problem(op->watch));
                return unknown_status(params->unknown);
        default:
                return op->value;
        }
}

/* May free the leaf. */
static void on_changed(void *userdata) {
        Leaf *leaf = userdata;
        DBusProperty *op = leaf->op;
        Status value = judge_state(leaf);
        bool news = value != op->value;

        op->value = value;
        if (news)
                leaf_set_value(leaf, value);
}

static Status dbus_property_evaluate(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        if (op->test && live_test_is_stale(op->test))
                op->value = judge_state(leaf);
        return op->value;
}

/* What others watch already is known at once. */
static Status dbus_property_start(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusAddress *where = &params->address;
        PropertyAddress address = { where->destination, where->path, where->interface, params->property };
        g_autofree char *error = NULL;
        DBusProperty *op = leaf->op;

        if (dbus_bus_get(leaf, where->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->value = STATUS_RUNNING;
        op->watch = property_watch_new(op->connection, &address, on_changed, leaf);
        if (params->test)
                op->test = live_test_new(leaf, params->test);

        op->value = judge_state(leaf);
        return op->value;
}

static void dbus_property_release(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        g_clear_pointer(&op->watch, property_watch_free);
        g_clear_pointer(&op->test, live_test_free);
}

static void dbus_property_describe(Leaf *leaf, GString *text) {
        const DBusPropertyParams *params = leaf->params;
        DBusProperty *op = leaf->op;

        if (!dbus_describe_connection(op->connection, text))
                g_string_append_printf(text, "value of %s.%s from %s", params->address.interface, params->property,
                                       params->address.destination);
}

static const Param dbus_property_params[] = {
        DBUS_BUS_PARAM,
        {
                .name = "destination",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.destination),
                .format = &bus_name_format,
                .required = true,
                .doc = "The bus name of the service",
        },
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(DBusPropertyParams, address.path),
                .format = &object_path_format,
                .required = true,
                .doc = "The path of the object",
        },
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
                .doc = "The value that it must have; without it and one_of: any but false, 0 and the empty ones",
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
                .extra = test_names,
                .doc = "Instead of these: an expression over the value and the variables, like \"value > limit\"",
        },
        {
                .name = "field",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, matcher.field),
                .value_format = &matcher_field_format,
                .doc = "Where in the value to look: an array of keys, and of indices from 0",
        },
        UNKNOWN_PARAM(DBusPropertyParams),
        {},
};

static const ParamRule dbus_property_rules[] = { { RULE_AT_MOST_ONE, { "equals", "one_of", "test" } }, {} };

const LeafKind dbus_property_kind = {
        .op_size = sizeof(DBusProperty),
        .start = dbus_property_start,
        .evaluate = dbus_property_evaluate,
        .release = dbus_property_release,
        .describe = dbus_property_describe,
};

const NodeType dbus_property_type = {
        .name = "DBusProperty",
        .class = NODE_CONDITION,
        .params = dbus_property_params,
        .params_size = sizeof(DBusPropertyParams),
        .rules = dbus_property_rules,
        .summary = "Holds while a property of a D-Bus object has a certain value",
        .doc = "Follows the property by the signals of its service, without polling; all who look at the same property "
               "share one value. It is unknown while the service is not there, the object or the property is gone, it "
               "has no such field, or the bus is lost; it is known again when they are back. Asking for the first time "
               "may start the service; later it is only waited for. Integers and other numbers are compared by value. "
               "A "
               "test is evaluated again when the value has changed, or a variable that it reads; where it cannot be, "
               "since the value is not what it expects, the value counts as unknown.",
};
