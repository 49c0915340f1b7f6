/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Stores the connection that holds references to units. It is stored each time that btd connects; systemd drops stored
 * descriptors that were closed. Each has a name of its own, so that it can be removed alone: holds-1.42-TIME is the
 * connection :1.42.
 */

#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "notifier.h"
#include "previous-instance.h"

struct PreviousInstance {
        GStrv names; /* names of stored descriptors */
        int n_fds;
        Inheritance inheritance;
};

static void on_unused(void *userdata) {
        const PreviousInstance *previous = userdata;

        for (int i = 0; i < previous->n_fds; i++) {
                g_autofree char *state = g_strdup_printf("FDSTOREREMOVE=1\nFDNAME=%s", previous->names[i]);

                close(SD_LISTEN_FDS_START + i);
                notify_try(state);
        }
}

PreviousInstance *previous_instance_find(void) {
        PreviousInstance *previous;
        g_auto(GStrv) names = NULL;
        int n = sd_listen_fds_with_names(true, &names);

        if (n <= 0)
                return NULL;

        previous = g_new(PreviousInstance, 1);
        *previous = (PreviousInstance){
                .names = g_steal_pointer(&names),
                .n_fds = n,
                .inheritance = { .n_users = 1, .unused = on_unused, .userdata = previous },
        };
        return previous;
}

void previous_instance_free(PreviousInstance *previous) {
        if (!previous)
                return;

        g_strfreev(previous->names);
        g_free(previous);
}

Inheritance *previous_instance_inheritance(PreviousInstance *previous) {
        return previous ? &previous->inheritance : NULL;
}

void previous_instance_release(PreviousInstance *previous) {
        if (previous)
                inheritance_leave(&previous->inheritance);
}

static void store(Connection *connection, void *userdata) {
        sd_bus *bus = connection_bus(connection);
        int fd = sd_bus_get_fd(bus);
        g_autofree char *state = NULL;
        const char *name;

        if (fd < 0 || sd_bus_get_unique_name(bus, &name) < 0)
                return;

        state = g_strdup_printf("FDSTORE=1\nFDNAME=holds-%s-%" PRIi64, name + 1, g_get_monotonic_time());
        (void) sd_pid_notify_with_fds(0, false, state, &fd, 1);
}

/* If the bus is connected already, the callback comes later. Storing the same descriptor twice is safe: systemd ignores
 * it. */
Listener *previous_instance_store(Connection *connection) {
        static const ListenerCallbacks callbacks = { .connected = store };

        if (connection_is_ready(connection))
                store(connection, NULL);
        return connection_listen(connection, &callbacks, NULL);
}
