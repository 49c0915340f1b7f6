/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusName: a live condition over the owner of a bus name. */

#include "bus/names.h"
#include "leaf-types/leaf-types.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

typedef struct DBusName {
        Connection *connection;
        NameUse name;
} DBusName;

static json_object *facts_of(Leaf *leaf, json_object *seen) {
        const DBusNameParams *params = leaf->params;
        json_object *facts = facts_new("destination", fact_text(params->address.destination), NULL);

        json_object_object_add(facts, "seen", seen);
        json_object_object_add(facts, "wanted", json_object_new_boolean(true));
        return facts;
}

static Status look(Leaf *leaf) {
        const DBusNameParams *params = leaf->params;
        const DBusName *op = leaf->op;

        switch (name_state(&op->name)) {
        case NAME_OWNED:
                return STATUS_SUCCESS;
        case NAME_ABSENT:
                leaf_set_cause_of(leaf, CAUSE_CONDITION, facts_of(leaf, json_object_new_boolean(false)),
                                  "%s is not on the bus", params->address.destination);
                return STATUS_FAILURE;
        default:
                leaf_set_cause_of(leaf, CAUSE_CONNECTION_LOST, facts_of(leaf, NULL),
                                  "the connection to the bus '%s' was lost", connection_name(op->connection));
                return unknown_status(params->unknown);
        }
}

/* May free the leaf. */
static void on_changed(void *userdata) {
        leaf_set_value(userdata, look(userdata));
}

static Status dbus_name_start(Leaf *leaf) {
        const DBusNameParams *params = leaf->params;
        g_autofree char *error = NULL;
        DBusName *op = leaf->op;

        if (dbus_bus_get(leaf, params->address.bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->name.follower = (Follower){ .changed = on_changed, .userdata = leaf };
        name_use(connection_names(op->connection), &op->name, params->address.destination);
        return name_state(&op->name) == NAME_UNKNOWN ? STATUS_RUNNING : look(leaf);
}

static void dbus_name_release(Leaf *leaf) {
        DBusName *op = leaf->op;

        name_leave(&op->name);
}

static void dbus_name_describe(Leaf *leaf, GString *text) {
        const DBusNameParams *params = leaf->params;
        DBusName *op = leaf->op;

        if (!dbus_describe_connection(op->connection, text))
                g_string_append_printf(text, "owner of %s", params->address.destination);
}

const LeafKind dbus_name_kind = {
        .op_size = sizeof(DBusName),
        .start = dbus_name_start,
        .release = dbus_name_release,
        .describe = dbus_name_describe,
};
