/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-driver.h"
#include "basic/cleanup.h"
#include "trace.h"

static const Peer driver = { .name = BUS_DRIVER_NAME, .unique = BUS_DRIVER_NAME };

typedef struct OwnerChange {
        const char *name, *before, *after;
} OwnerChange;

static void fill_owner(sd_bus_message *signal, const void *userdata) {
        const OwnerChange *change = userdata;

        (void) sd_bus_message_append(signal, "sss", change->name, change->before, change->after);
}

static void tell_owner_to(Link *to, const OwnerChange *change) {
        g_autoptr(sd_bus_message) probe = NULL;

        if (sd_bus_message_new_signal(to->peer, &probe, "/org/freedesktop/DBus", BUS_DRIVER_NAME, "NameOwnerChanged") <
            0)
                return;

        fill_owner(probe, change);
        if (link_wants(to, BUS_DRIVER_NAME, BUS_DRIVER_NAME, probe))
                bus_signal(&driver, to, "/org/freedesktop/DBus", BUS_DRIVER_NAME, "NameOwnerChanged", fill_owner,
                           change);
}

void bus_driver_tell_owner(Link *link, const char *name, const char *before, const char *after) {
        const OwnerChange change = { name, before, after };

        tell_owner_to(link, &change);
}

/* These methods send their reply themselves. */
static void answer(Link *link, sd_bus_message *call, const char *types, ...) {
        sd_bus_message *reply = bus_reply_new(call);
        va_list args;

        va_start(args, types);
        if (*types)
                (void) sd_bus_message_appendv(reply, types, args);
        va_end(args);
        (void) sd_bus_message_set_sender(reply, BUS_DRIVER_NAME);
        bus_reply(link, reply);
}

static void on_request_name(Link *link, sd_bus_message *call, const char *name) {
        const char *owner = bus_owner_of(name);

        if (!owner)
                g_ptr_array_add(link->names, g_strdup(name));
        answer(link, call, "u", !owner ? 1u : g_str_equal(owner, link->unique) ? 4u : 3u);
}

static void on_get_owner(Link *link, sd_bus_message *call, const char *name) {
        const char *owner = bus_owner_of(name);

        if (owner)
                answer(link, call, "s", owner);
        else
                bus_reply_error(link, call, SD_BUS_ERROR_NAME_HAS_NO_OWNER, "The name has no owner");
}

void bus_driver_called(Link *link, sd_bus_message *call) {
        const char *member = sd_bus_message_get_member(call), *argument = "";

        if (!g_str_equal(member, "Hello"))
                (void) sd_bus_message_read(call, "s", &argument);

        if (g_str_equal(member, "Hello")) {
                answer(link, call, "s", link->unique);
        } else if (g_str_equal(member, "RequestName")) {
                on_request_name(link, call, argument);
        } else if (g_str_equal(member, "AddMatch")) {
                link_add_rule(link, argument);
                answer(link, call, "");
        } else if (g_str_equal(member, "RemoveMatch")) {
                link_remove_rule(link, argument);
                answer(link, call, "");
        } else if (g_str_equal(member, "GetNameOwner")) {
                on_get_owner(link, call, argument);
        } else if (g_str_equal(member, "NameHasOwner")) {
                answer(link, call, "b", bus_owner_of(argument) ? 1 : 0);
        } else if (g_str_equal(member, "GetId")) {
                answer(link, call, "s", "0123456789abcdef0123456789abcdef");
        } else if (g_str_equal(member, "GetConnectionCredentials")) {
                answer(link, call, "a{sv}", 2, "UnixUserID", "u", g_str_equal(argument, BUS_USER) ? BUS_USER_UID : 0u,
                       "ProcessID", "u", 2u);
        } else {
                violation("the bus was asked for %s", member);
        }
}
