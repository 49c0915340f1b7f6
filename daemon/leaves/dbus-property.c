/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusProperty: a live condition over a property of a D-Bus object. */

#include "bus/buses.h"
#include "bus/property-watch.h"
#include "engine/tree.h"
#include "leaves/claim.h"
#include "leaves/dbus-address.h"
#include "leaves/dbus-error.h"
#include "leaves/leaf.h"
#include "leaves/live-test.h"
#include "leaves/registry.h"
#include "leaves/unknown.h"

typedef struct DBusPropertyParams {
        DBusAddress address; /* first */
        const char *property;
        Claim claim;
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
        json_object_object_add(facts, "wanted", claim_wanted(&params->claim));
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

/* A test that fails for what the service says is no fault of the tree. */
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

        if (!claim_find_field(&params->claim, params->property, value, &field, &text)) {
                set_cause(leaf, CAUSE_CONDITION, json_object_new_object(), NULL, text);
                return unknown_status(params->unknown);
        }
        if (op->test)
                return judge_by_test(leaf, field);
        if (claim_holds(&params->claim, params->property, field, &text))
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

/* The leaf may be gone afterwards. */
static void on_changed(void *userdata) {
        Leaf *leaf = userdata;
        DBusProperty *op = leaf->op;
        Status value = judge_state(leaf);
        bool news = value != op->value;

        op->value = value;
        if (news)
                leaf_set_value(leaf, value);
}

static Status dbus_property_look(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        if (op->test && live_test_is_stale(op->test))
                op->value = judge_state(leaf);
        return op->value;
}

/* What cannot be watched, in the parameters that are known; NULL: nothing. */
static char *params_problem(const DBusPropertyParams *params) {
        char *problem;

        if (params->property && !sd_bus_member_name_is_valid(params->property))
                return g_strdup_printf("property: '%s' is not the name of a property", params->property);

        if (params->test && (params->claim.equals || params->claim.one_of))
                return g_strdup("give equals or one_of, or test, not both");

        problem = claim_problem(&params->claim);
        return problem ? problem : dbus_address_problem(&params->address);
}

static char *dbus_property_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        *ret_is_error = true;
        return params_problem(tree->nodes[node].params);
}

/* What others watch already is known at once. */
static Status dbus_property_start(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusAddress *where = &params->address;
        PropertyAddress address = { where->destination, where->path, where->interface, params->property };
        g_autofree char *error = params_problem(params);
        DBusProperty *op = leaf->op;

        if (error || buses_get(leaf->services->buses, where->bus, &op->connection, &error) < 0) {
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
                .title = true,
                .doc = "The name of the property",
        },
        {
                .name = "equals",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, claim.equals),
                .doc = "The value that it must have; without it and one_of: any but false, 0 and the empty ones",
        },
        {
                .name = "one_of",
                .kind = PARAM_JSON,
                .offset = offsetof(DBusPropertyParams, claim.one_of),
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
                .offset = offsetof(DBusPropertyParams, claim.field),
                .doc = "Where in the value to look: an array of keys, and of indices from 0",
        },
        UNKNOWN_PARAM(DBusPropertyParams),
        {},
};

static const LeafKind dbus_property_kind = {
        .op_size = sizeof(DBusProperty),
        .start = dbus_property_start,
        .look = dbus_property_look,
        .release = dbus_property_release,
        .describe = dbus_property_describe,
};

const NodeType dbus_property_type = {
        .name = "DBusProperty",
        .class = NODE_CONDITION,
        .params = dbus_property_params,
        .params_size = sizeof(DBusPropertyParams),
        .summary = "Holds while a property of a D-Bus object has a certain value",
        .doc = "Follows the property by the signals of its service, without polling; all who look at the same property "
               "share one value. It is unknown while the service is not there, the object or the property is gone, it "
               "has no such field, or the bus is lost; it is known again when they are back. Asking for the first time "
               "may start the service; later it is only waited for. Integers and other numbers are compared by value. "
               "A "
               "test is evaluated again when the value has changed, or a variable that it reads; where it cannot be, "
               "since the value is not what it expects, the value counts as unknown.",
        .check = dbus_property_check,
        .leaf = &dbus_property_kind,
};
