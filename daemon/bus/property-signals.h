/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What services say of their objects: the signals PropertiesChanged, InterfacesAdded and InterfacesRemoved.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER_INTERFACE "org.freedesktop.DBus.ObjectManager"

typedef struct PropertyHandler {
        /* Is the property of interest? */
        bool (*wanted)(const char *name, void *userdata);
        /* Reads the value, which is next in the message. Negative: it could not. */
        int (*changed)(const char *name, sd_bus_message *message, void *userdata);
        /* There is another value, which has to be asked for. */
        void (*invalidated)(const char *name, void *userdata);
} PropertyHandler;

/* A message PropertiesChanged, from its beginning. Negative: what is left of it cannot be read. */
int properties_changed_read(sd_bus_message *message, const PropertyHandler *handler, void *userdata);

/* A message InterfacesAdded or InterfacesRemoved, from its beginning: is it about the interface? */
bool interfaces_added_has(sd_bus_message *message, const char *interface);
bool interfaces_removed_has(sd_bus_message *message, const char *interface);
