/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* On another bus than before, which has begun anew meanwhile, there is nothing on its way, and its name may be that of
 * somebody else. */

#include "leaves/dbus-past.h"
#include "basic/cleanup.h"

json_object *dbus_past_memory(const Leaf *leaf, Connection *connection) {
        g_autofree char *id = NULL;
        json_object *memory;
        const char *sender;

        if (!leaf->durable || sd_bus_get_unique_name(connection_bus(connection), &sender) < 0)
                return NULL;

        id = connection_bus_id(connection);
        memory = json_object_new_object();
        json_object_object_add(memory, "sender", json_object_new_string(sender));
        json_object_object_add(memory, "bus", json_object_new_string(id));
        return memory;
}

static const char *member(json_object *memory, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(memory, name, &value);
        return json_object_get_string(value);
}

static bool is_same_bus(const DBusPast *past) {
        g_autofree char *id = connection_bus_id(past->connection);

        return g_strcmp0(id, past->bus) == 0;
}

/* Or was it there at all? */
static bool is_there(const DBusPast *past) {
        NameState state = name_state(&past->sender);

        return state == NAME_UNKNOWN || (state == NAME_OWNED && is_same_bus(past));
}

static void on_changed(void *userdata) {
        DBusPast *past = userdata;

        if (!is_there(past))
                leaf_lost(past->leaf);
}

Status dbus_past_begin(DBusPast *past, Leaf *leaf, Connection *connection) {
        const char *sender = member(leaf->memory, "sender");

        if (!sender || !sd_bus_service_name_is_valid(sender))
                return STATUS_IDLE;

        *past = (DBusPast){
                .leaf = leaf,
                .connection = connection,
                .bus = g_strdup(member(leaf->memory, "bus")),
                .sender.follower = { .changed = on_changed, .userdata = past },
        };
        name_use(connection_names(connection), &past->sender, sender);
        return is_there(past) ? STATUS_RUNNING : STATUS_IDLE;
}

void dbus_past_end(DBusPast *past) {
        if (past->leaf)
                name_leave(&past->sender);

        past->leaf = NULL;
        g_clear_pointer(&past->bus, g_free);
}
