/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What D-Bus says of names, in words for people. */

#include <systemd/sd-bus.h>

#include "bus/buses.h"
#include "leaves/dbus-address.h"

char *dbus_address_problem(const DBusAddress *address) {
        g_autofree char *error = NULL;

        if (address->bus && buses_check_name(address->bus, &error) < 0)
                return g_strconcat("bus: ", error, NULL);
        if (address->destination && !sd_bus_service_name_is_valid(address->destination))
                return g_strdup_printf("destination: '%s' is not a bus name", address->destination);
        if (address->path && !sd_bus_object_path_is_valid(address->path))
                return g_strdup_printf("path: '%s' is not an object path", address->path);
        if (address->interface && !sd_bus_interface_name_is_valid(address->interface))
                return g_strdup_printf("interface: '%s' is not the name of an interface", address->interface);

        return NULL;
}

bool dbus_describe_connection(Connection *connection, GString *text) {
        if (connection_is_ready(connection))
                return false;

        g_string_append_printf(text, "connection to the bus '%s'", connection_name(connection));
        return true;
}
