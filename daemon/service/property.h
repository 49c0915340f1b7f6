/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the table of the properties of an interface. All that clients see of a property comes from its row: Get and
 * GetAll, GetManagedObjects, PropertiesChanged and the introspection.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* When a property can change. Each row needs a value; ON_ANY is always right for a property that changes. */
typedef enum PropertyChange {
        CHANGES_NEVER = 1 << 0,
        CHANGES_SILENTLY = 1 << 1, /* no signal, also when only the states of nodes change */
        WITHOUT_VALUE = 1 << 2,    /* the signal has the name only, see "invalidates" in the D-Bus specification */

        /* Of the run, a run of the tree, any run. */
        ON_RUN_ADDED = 1 << 3,
        ON_RUN_STATE = 1 << 4, /* paused, resumed, breakpoints, durable */
        ON_RUN_READY = 1 << 5,
        ON_RUN_HALTING = 1 << 6,
        ON_RUN_FINISHED = 1 << 7,
        ON_RESTART = 1 << 8, /* a restart was cancelled */
        ON_RUN_REMOVED = 1 << 9,
        /* Of the tree, any tree. */
        ON_TREE_ADDED = 1 << 10,
        ON_TREE_CHANGED = 1 << 11,
        ON_TREE_REMOVED = 1 << 12,
        ON_WAITING = 1 << 13, /* it waits to be started, or no longer */
        /* Of btd. */
        ON_STATUS = 1 << 14,
        ON_DISK = 1 << 15,
        ON_ANY = (1 << 16) - ON_RUN_ADDED,
} PropertyChange;

/* A table ends with a row without a name. */
typedef struct Property {
        const char *name, *type;
        sd_bus_property_get_t get;
        unsigned changes; /* PropertyChange */
} Property;

/* An interface of objects. Each object of btd has one. */
typedef struct ObjectKind {
        const char *interface;
        const Property *properties;
        const sd_bus_vtable *methods; /* and signals */
} ObjectKind;

/* Makes the vtable for sd-bus. The caller frees it, after the slot that uses it. */
sd_bus_vtable *object_kind_vtable(const ObjectKind *kind);

/* path, {interface: {property: value}} */
#define OBJECT_SIGNATURE "oa{sa{sv}}"

/* Appends the object at this path with all its properties, as GetManagedObjects and InterfacesAdded have it. userdata:
 * for the getters. */
int object_kind_append(const ObjectKind *kind, sd_bus_message *message, const char *path, void *userdata,
                       sd_bus_error *ret_error);

/* Is there a property that can have changed with one of these events? */
bool object_kind_changes(const ObjectKind *kind, unsigned events);
/* The names of the properties that can have changed with these events. The caller
 * frees the array only. */
char **object_kind_changed(const ObjectKind *kind, unsigned events);

/* Defines property_get_NAME(), which appends the value to reply. */
#define PROPERTY_GETTER(name)                                                                                          \
        static int property_get_##name(sd_bus *bus, const char *path, const char *interface, const char *property,     \
                                       sd_bus_message *reply, void *userdata, sd_bus_error *ret_error)

/* The same for a basic type. value: an expression of the declared variable. */
#define PROPERTY_GET(name, type, declaration, value)                                                                   \
        PROPERTY_GETTER(name) {                                                                                        \
                declaration;                                                                                           \
                return sd_bus_message_append(reply, type, value);                                                      \
        }
