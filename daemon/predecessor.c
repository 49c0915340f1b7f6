/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The descriptor of the connection is stored each time that the bus comes; systemd drops those that were closed. Each
 * has a name of its own, so that it can be dropped without the others: jobs-1.42-TIME is the connection :1.42.
 */

#include <inttypes.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "leaves/systemd.h"
#include "notify.h"
#include "predecessor.h"

#define NAME_PREFIX "jobs-"

struct Predecessor {
        GStrv names; /* of what is stored */
        int n_fds;
        JobReplies *replies;
        Call *call;
        void (*done)(void *userdata);
        void *userdata;
};

Predecessor *predecessor_find(void) {
        Predecessor *predecessor;
        g_auto(GStrv) names = NULL;
        int n = sd_listen_fds_with_names(true, &names);

        if (n <= 0)
                return NULL;

        predecessor = g_new0(Predecessor, 1);
        predecessor->names = g_steal_pointer(&names);
        predecessor->n_fds = n;
        return predecessor;
}

void predecessor_free(Predecessor *predecessor) {
        if (!predecessor)
                return;

        call_free(predecessor->call);
        job_replies_free(predecessor->replies);
        g_strfreev(predecessor->names);
        g_free(predecessor);
}

/* A name that is not one of ours is in nobody's mind. */
static char *unique_name(const char *name) {
        const char *number = g_str_has_prefix(name, NAME_PREFIX) ? name + strlen(NAME_PREFIX) : name;

        return g_strdup_printf(":%.*s", (int) strcspn(number, "-"), number);
}

static void on_done(int fd, void *userdata) {
        const Predecessor *predecessor = userdata;
        g_autofree char *state =
                g_strdup_printf("FDSTOREREMOVE=1\nFDNAME=%s", predecessor->names[fd - SD_LISTEN_FDS_START]);

        close(fd);
        notify_try(state);
}

static void on_answered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Predecessor *predecessor = userdata;

        predecessor->done(predecessor->userdata);
}

void predecessor_settle(Predecessor *predecessor, Connection *connection, void (*done)(void *userdata),
                        void *userdata) {
        job_replies_free(predecessor->replies);
        predecessor->replies = job_replies_new(connection, on_done, predecessor);
        for (int i = 0; i < predecessor->n_fds; i++) {
                g_autofree char *name = unique_name(predecessor->names[i]);

                job_replies_add(predecessor->replies, name, SD_LISTEN_FDS_START + i);
        }

        predecessor->done = done;
        predecessor->userdata = userdata;
        call_free(predecessor->call);
        predecessor->call =
                systemd_get(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", on_answered, predecessor);
}

JobReplies *predecessor_replies(const Predecessor *predecessor) {
        return predecessor ? predecessor->replies : NULL;
}

void predecessor_release(Predecessor *predecessor) {
        if (predecessor)
                job_replies_release(predecessor->replies);
}

static void store(Connection *connection, void *userdata) {
        sd_bus *bus = connection_bus(connection);
        int fd = sd_bus_get_fd(bus);
        g_autofree char *state = NULL;
        const char *name;

        if (fd < 0 || sd_bus_get_unique_name(bus, &name) < 0)
                return;

        state = g_strdup_printf("FDSTORE=1\nFDNAME=" NAME_PREFIX "%s-%" PRIi64, name + 1, g_get_monotonic_time());
        (void) sd_pid_notify_with_fds(0, false, state, &fd, 1);
}

/* One that is there already is told of later, and stored once more: systemd takes no descriptor twice. */
Listener *predecessor_become(Connection *connection) {
        static const ListenerCallbacks callbacks = { .connected = store };

        if (connection_is_ready(connection))
                store(connection, NULL);
        return connection_listen(connection, &callbacks, NULL);
}
