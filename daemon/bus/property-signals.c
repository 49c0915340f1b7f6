/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of such signals little is of interest: the rest is skipped, not read. */

#include <glib.h>

#include "bus/property-signals.h"

static int read_entry(sd_bus_message *message, const PropertyHandler *handler, void *userdata) {
        const char *name;
        int r = sd_bus_message_read(message, "s", &name);

        if (r < 0)
                return r;

        if (handler->wanted(name, userdata))
                r = handler->changed(name, message, userdata);
        else
                r = sd_bus_message_skip(message, "v");
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_values(sd_bus_message *message, const PropertyHandler *handler, void *userdata) {
        int r = sd_bus_message_enter_container(message, 'a', "{sv}");

        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = read_entry(message, handler, userdata);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_invalidated(sd_bus_message *message, const PropertyHandler *handler, void *userdata) {
        const char *name;
        int r = sd_bus_message_enter_container(message, 'a', "s");

        if (r < 0)
                return r;

        while ((r = sd_bus_message_read(message, "s", &name)) > 0)
                if (handler->wanted(name, userdata))
                        handler->invalidated(name, userdata);
        return r;
}

int properties_changed_read(sd_bus_message *message, const PropertyHandler *handler, void *userdata) {
        int r = sd_bus_message_skip(message, "s");

        if (r >= 0)
                r = read_values(message, handler, userdata);
        return r < 0 ? r : read_invalidated(message, handler, userdata);
}

bool interfaces_added_has(sd_bus_message *message, const char *interface) {
        const char *name;

        if (sd_bus_message_skip(message, "o") < 0 || sd_bus_message_enter_container(message, 'a', "{sa{sv}}") < 0)
                return false;

        while (sd_bus_message_enter_container(message, 'e', "sa{sv}") > 0) {
                if (sd_bus_message_read(message, "s", &name) < 0)
                        return false;
                if (g_str_equal(name, interface))
                        return true;
                if (sd_bus_message_skip(message, "a{sv}") < 0 || sd_bus_message_exit_container(message) < 0)
                        return false;
        }
        return false;
}

bool interfaces_removed_has(sd_bus_message *message, const char *interface) {
        const char *name;

        if (sd_bus_message_skip(message, "o") < 0 || sd_bus_message_enter_container(message, 'a', "s") < 0)
                return false;

        while (sd_bus_message_read(message, "s", &name) > 0)
                if (g_str_equal(name, interface))
                        return true;
        return false;
}
