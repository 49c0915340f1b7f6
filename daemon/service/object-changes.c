/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Collects changes of objects and sends their signals. Each object of btd has one interface, so its path is the key. */

#include "service/object-changes.h"
#include "basic/cleanup.h"
#include "basic/later.h"
#include "basic/log.h"

/* Pause between signals of one object: nobody needs each value when there are thousands of runs a second. */
#define PAUSE_USEC 20000
/* Time limit in one turn of the main loop. */
#define BUDGET_USEC 2000

struct ObjectChanges {
        GMainContext *context;
        sd_bus *bus;
        const char *manager;
        void *userdata;
        GHashTable *objects; /* path -> Object */
        GSource *due;        /* NULL: nothing to send */
        int64_t last_sent;   /* when signals were last sent */
};

typedef struct Object {
        const ObjectKind *kind;
        unsigned events;     /* PropertyChange */
        bool removed, added; /* both true: removed, then added again */
} Object;

ObjectChanges *object_changes_new(GMainContext *context, sd_bus *bus, const char *manager, void *userdata) {
        ObjectChanges *changes = g_new0(ObjectChanges, 1);

        changes->context = context;
        changes->bus = sd_bus_ref(bus);
        changes->manager = manager;
        changes->userdata = userdata;
        changes->objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return changes;
}

void object_changes_free(ObjectChanges *changes) {
        if (!changes)
                return;

        g_clear_pointer(&changes->due, g_source_destroy);
        g_hash_table_unref(changes->objects);
        sd_bus_unref(changes->bus);
        g_free(changes);
}

/* Has all properties, also those that sd-bus leaves out of this signal because PropertiesChanged only invalidates them:
 * a client that keeps objects would have those of old objects only. */
static int send_added(const ObjectChanges *changes, const char *path, const ObjectKind *kind) {
        g_autoptr(sd_bus_message) signal = NULL;
        int r = sd_bus_message_new_signal(changes->bus, &signal, changes->manager, "org.freedesktop.DBus.ObjectManager",
                                          "InterfacesAdded");

        if (r >= 0)
                r = object_kind_append(kind, signal, path, changes->userdata, NULL);
        return r < 0 ? r : sd_bus_send(changes->bus, signal, NULL);
}

static void check_sent(const char *path, int r) {
        if (r < 0)
                log_debug("%s: changes cannot be sent: %s", path, g_strerror(-r));
}

/* sd-bus can send InterfacesRemoved only while the object still exists. InterfacesAdded already contains the
 * properties. */
static void send_changes(const ObjectChanges *changes, const char *path, const Object *object) {
        g_autofree char **names = object_kind_changed(object->kind, object->events);
        g_autoptr(sd_bus_message) removed = NULL;
        int r = 0;

        if (object->removed) {
                r = sd_bus_message_new_signal(changes->bus, &removed, changes->manager,
                                              "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved");
                if (r >= 0)
                        r = sd_bus_message_append(removed, "oas", path, 4, "org.freedesktop.DBus.Peer",
                                                  "org.freedesktop.DBus.Introspectable",
                                                  "org.freedesktop.DBus.Properties", object->kind->interface);
                if (r >= 0)
                        r = sd_bus_send(changes->bus, removed, NULL);
        }
        if (r >= 0 && object->added)
                r = send_added(changes, path, object->kind);
        else if (r >= 0 && !object->removed)
                r = sd_bus_emit_properties_changed_strv(changes->bus, path, object->kind->interface, names);
        check_sent(path, r);
}

static void schedule(ObjectChanges *changes, int64_t pause);

/* Sends in several turns: a reload may change thousands of objects. */
static gboolean on_due(void *userdata) {
        ObjectChanges *changes = userdata;
        int64_t until;
        GHashTableIter iter;
        void *path, *object;

        changes->due = NULL;
        changes->last_sent = g_get_monotonic_time();
        until = changes->last_sent + BUDGET_USEC;
        g_hash_table_iter_init(&iter, changes->objects);
        while (g_hash_table_iter_next(&iter, &path, &object)) {
                send_changes(changes, path, object);
                g_hash_table_iter_remove(&iter);
                if (g_get_monotonic_time() >= until) {
                        schedule(changes, 0);
                        break;
                }
        }

        return G_SOURCE_REMOVE;
}

static void schedule(ObjectChanges *changes, int64_t pause) {
        if (!changes->due)
                changes->due = call_later(changes->context, (unsigned) (MAX(pause, 0) / 1000), on_due, changes);
}

static Object *change(ObjectChanges *changes, const char *path, const ObjectKind *kind) {
        Object *object = g_hash_table_lookup(changes->objects, path);

        if (!object) {
                object = g_new(Object, 1);
                *object = (Object){ .kind = kind };
                g_hash_table_insert(changes->objects, g_strdup(path), object);
        }

        schedule(changes, changes->last_sent + PAUSE_USEC - g_get_monotonic_time());
        return object;
}

void object_changes_touch(ObjectChanges *changes, const char *path, const ObjectKind *kind, unsigned events) {
        if (object_kind_changes(kind, events))
                change(changes, path, kind)->events |= events;
}

void object_changes_add(ObjectChanges *changes, const char *path, const ObjectKind *kind) {
        change(changes, path, kind)->added = true;
}

void object_changes_add_now(ObjectChanges *changes, const char *path, const ObjectKind *kind) {
        check_sent(path, send_added(changes, path, kind));
}

void object_changes_remove(ObjectChanges *changes, const char *path, const ObjectKind *kind) {
        Object *object = change(changes, path, kind);

        object->removed |= !object->added;
        object->added = false;
        if (!object->removed)
                object_changes_forget(changes, path);
}

void object_changes_forget(ObjectChanges *changes, const char *path) {
        g_hash_table_remove(changes->objects, path);
}
