/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Waits for the owner of the previous connection to leave the bus. If the bus was restarted meanwhile, no message is
 * under way, and the unique name may belong to another client. */

#include "leaves/dbus/dbus-recovery.h"
#include "basic/cleanup.h"

json_object *dbus_recovery_memo(const Leaf *leaf, Connection *connection) {
        g_autofree char *id = NULL;
        json_object *memo;
        const char *sender;

        if (!leaf->durable || sd_bus_get_unique_name(connection_bus(connection), &sender) < 0)
                return NULL;

        id = connection_bus_id(connection);
        memo = json_object_new_object();
        json_object_object_add(memo, "sender", json_object_new_string(sender));
        json_object_object_add(memo, "bus", json_object_new_string(id));
        return memo;
}

static const char *member(json_object *memo, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(memo, name, &value);
        return json_object_get_string(value);
}

static bool is_same_bus(const DBusRecovery *recovery) {
        g_autofree char *id = connection_bus_id(recovery->connection);

        return g_strcmp0(id, recovery->bus) == 0;
}

/* Or was it there at all? */
static bool is_there(const DBusRecovery *recovery) {
        NameState state = name_state(&recovery->sender);

        return state == NAME_UNKNOWN || (state == NAME_OWNED && is_same_bus(recovery));
}

static void on_changed(void *userdata) {
        DBusRecovery *recovery = userdata;

        if (!is_there(recovery))
                leaf_lost(recovery->leaf);
}

Status dbus_recovery_begin(DBusRecovery *recovery, Leaf *leaf, Connection *connection) {
        const char *sender = member(leaf->memo, "sender");

        if (!sender || !sd_bus_service_name_is_valid(sender))
                return STATUS_IDLE;

        *recovery = (DBusRecovery){
                .leaf = leaf,
                .connection = connection,
                .bus = g_strdup(member(leaf->memo, "bus")),
                .sender.follower = { .changed = on_changed, .userdata = recovery },
        };
        name_use(connection_names(connection), &recovery->sender, sender);
        return is_there(recovery) ? STATUS_RUNNING : STATUS_IDLE;
}

void dbus_recovery_end(DBusRecovery *recovery) {
        if (recovery->leaf)
                name_leave(&recovery->sender);

        recovery->leaf = NULL;
        g_clear_pointer(&recovery->bus, g_free);
}
