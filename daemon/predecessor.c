/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The descriptor of the connection is stored each time that the bus comes; systemd drops those that were closed. */

#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "leaves/systemd.h"
#include "notify.h"
#include "predecessor.h"

struct Predecessor {
        GStrv names; /* of what is stored */
        int n_fds;
        Connection *connection;
        Call *call;
        JobReplies *replies;
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
        predecessor->replies = job_replies_new();
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

static void on_delivered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Predecessor *predecessor = userdata;

        for (int i = 0; i < predecessor->n_fds; i++)
                job_replies_look(predecessor->replies, SD_LISTEN_FDS_START + i);
        predecessor->done(predecessor->userdata);
}

/* What the bus had to deliver when it delivered this has been delivered by its next answer. */
static void on_answered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Predecessor *predecessor = userdata;

        call_free(predecessor->call);
        predecessor->call = systemd_look(predecessor->connection, on_delivered, predecessor);
}

void predecessor_settle(Predecessor *predecessor, Connection *connection, void (*done)(void *userdata),
                        void *userdata) {
        predecessor->connection = connection;
        predecessor->done = done;
        predecessor->userdata = userdata;
        call_free(predecessor->call);
        predecessor->call =
                systemd_get(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", on_answered, predecessor);
}

const JobReplies *predecessor_replies(const Predecessor *predecessor) {
        return predecessor ? predecessor->replies : NULL;
}

void predecessor_drop(Predecessor *predecessor) {
        for (int i = 0; predecessor && i < predecessor->n_fds; i++) {
                g_autofree char *state = g_strdup_printf("FDSTOREREMOVE=1\nFDNAME=%s", predecessor->names[i]);

                close(SD_LISTEN_FDS_START + i);
                notify_try(state);
        }

        if (predecessor)
                predecessor->n_fds = 0;
}

/* Each has a name of its own, so that it can be dropped without the others. */
static void store(Connection *connection, void *userdata) {
        int fd = sd_bus_get_fd(connection_bus(connection));
        g_autofree char *state = g_strdup_printf("FDSTORE=1\nFDNAME=jobs-%" PRIi64, g_get_monotonic_time());

        if (fd >= 0)
                (void) sd_pid_notify_with_fds(0, false, state, &fd, 1);
}

/* One that is there already is told of later, and stored once more: systemd takes no descriptor twice. */
Listener *predecessor_become(Connection *connection) {
        static const ListenerCallbacks callbacks = { .connected = store };

        if (connection_is_ready(connection))
                store(connection, NULL);
        return connection_listen(connection, &callbacks, NULL);
}
