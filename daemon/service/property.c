/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes vtables and lists of changed properties from a table of properties. */

#include <glib.h>
#include <stdbool.h>

#include "service/property.h"

static uint64_t flags_of(const Property *property) {
        g_assert(property->changes);

        if (property->changes & CHANGES_NEVER)
                return SD_BUS_VTABLE_PROPERTY_CONST;
        if (property->changes & CHANGES_SILENTLY)
                return 0;

        return property->changes & WITHOUT_VALUE ? SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION
                                                 : SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
}

/* The properties come behind the start of the methods. */
sd_bus_vtable *object_kind_vtable(const ObjectKind *kind) {
        GArray *vtable = g_array_new(FALSE, FALSE, sizeof(sd_bus_vtable));
        const sd_bus_vtable *method = kind->methods;

        g_array_append_val(vtable, *method);
        for (const Property *property = kind->properties; property->name; property++) {
                const sd_bus_vtable row =
                        SD_BUS_PROPERTY(property->name, property->type, property->get, 0, flags_of(property));

                g_array_append_val(vtable, row);
        }
        do
                g_array_append_val(vtable, *++method);
        while (method->type != _SD_BUS_VTABLE_END);

        return (sd_bus_vtable *) (void *) g_array_free(vtable, false);
}

static int append_property(const ObjectKind *kind, const Property *property, sd_bus_message *message, const char *path,
                           void *userdata, sd_bus_error *ret_error) {
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", property->name);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', property->type);
        if (r >= 0)
                r = property->get(sd_bus_message_get_bus(message), path, kind->interface, property->name, message,
                                  userdata, ret_error);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* The interfaces before ours are those that sd-bus implements for each object. */
int object_kind_append(const ObjectKind *kind, sd_bus_message *message, const char *path, void *userdata,
                       sd_bus_error *ret_error) {
        int r = sd_bus_message_append(message, "o", path);

        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sa{sv}}");
        if (r >= 0)
                r = sd_bus_message_append(message, "{sa{sv}}{sa{sv}}{sa{sv}}", "org.freedesktop.DBus.Peer", 0,
                                          "org.freedesktop.DBus.Introspectable", 0, "org.freedesktop.DBus.Properties",
                                          0);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'e', "sa{sv}");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", kind->interface);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (const Property *property = kind->properties; r >= 0 && property->name; property++)
                r = append_property(kind, property, message, path, userdata, ret_error);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

bool object_kind_changes(const ObjectKind *kind, unsigned events) {
        for (const Property *property = kind->properties; property->name; property++)
                if (property->changes & events & ON_ANY)
                        return true;

        return false;
}

char **object_kind_changed(const ObjectKind *kind, unsigned events) {
        GPtrArray *names = g_ptr_array_new();

        for (const Property *property = kind->properties; property->name; property++)
                if (property->changes & events & ON_ANY)
                        g_ptr_array_add(names, (void *) property->name);
        g_ptr_array_add(names, NULL);

        return (char **) g_ptr_array_free(names, false);
}
