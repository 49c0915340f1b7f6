/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The objects of the daemon have one interface each, so their path is the key. */

#include "service/property-changes.h"
#include "basic/log.h"

struct PropertyChanges {
        GMainContext *context;
        sd_bus *bus;
        GHashTable *objects; /* of path: Object */
        GSource *idle;       /* while something is to be told */
};

typedef struct Object {
        const char *interface;
        GPtrArray *names; /* of literals */
} Object;

static void object_free(Object *object) {
        g_ptr_array_unref(object->names);
        g_free(object);
}

PropertyChanges *property_changes_new(GMainContext *context, sd_bus *bus) {
        PropertyChanges *changes = g_new0(PropertyChanges, 1);

        changes->context = context;
        changes->bus = sd_bus_ref(bus);
        changes->objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) object_free);
        return changes;
}

void property_changes_free(PropertyChanges *changes) {
        if (!changes)
                return;

        if (changes->idle)
                g_source_destroy(changes->idle);
        g_hash_table_unref(changes->objects);
        sd_bus_unref(changes->bus);
        g_free(changes);
}

static void tell(PropertyChanges *changes, const char *path, Object *object) {
        int r;

        g_ptr_array_add(object->names, NULL);
        r = sd_bus_emit_properties_changed_strv(changes->bus, path, object->interface, (char **) object->names->pdata);
        if (r < 0)
                log_debug("%s: changes cannot be told: %s", path, g_strerror(-r));
}

void property_changes_flush(PropertyChanges *changes) {
        GHashTableIter iter;
        void *path, *object;

        g_hash_table_iter_init(&iter, changes->objects);
        while (g_hash_table_iter_next(&iter, &path, &object)) {
                tell(changes, path, object);
                g_hash_table_iter_remove(&iter);
        }
}

static gboolean on_idle(void *userdata) {
        PropertyChanges *changes = userdata;

        changes->idle = NULL;
        property_changes_flush(changes);
        return G_SOURCE_REMOVE;
}

static void schedule(PropertyChanges *changes) {
        if (changes->idle)
                return;

        changes->idle = g_idle_source_new();
        g_source_set_priority(changes->idle, G_PRIORITY_DEFAULT);
        g_source_set_callback(changes->idle, on_idle, changes, NULL);
        g_source_attach(changes->idle, changes->context);
        g_source_unref(changes->idle);
}

void property_changes_add(PropertyChanges *changes, const char *path, const char *interface, const char *name) {
        Object *object = g_hash_table_lookup(changes->objects, path);

        if (!object) {
                object = g_new(Object, 1);
                *object = (Object){ .interface = interface, .names = g_ptr_array_new() };
                g_hash_table_insert(changes->objects, g_strdup(path), object);
        }

        for (unsigned i = 0; i < object->names->len; i++)
                if (g_str_equal(g_ptr_array_index(object->names, i), name))
                        return;

        g_ptr_array_add(object->names, (void *) name);
        schedule(changes);
}

void property_changes_forget(PropertyChanges *changes, const char *path) {
        g_hash_table_remove(changes->objects, path);
}
