/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements Inhibitor of run/held.h. logind gives a file descriptor for a lock, and releases the lock when all copies
 * of the descriptor are closed; it also finds the lock again after its own restart. The service manager stores a copy,
 * so that the lock outlives btd. The next btd takes a lock of its own, and closes the stored copy then
 * (previous-instance.c).
 */

#include <fcntl.h>
#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

/* logind replies at once, or waits for polkit. That asks nobody, but one of its own rules that never ends keeps it for
 * 15 s. 25 s is also the limit of sd-bus for a reply. */
#define REPLY_USEC (25 * (uint64_t) G_USEC_PER_SEC)

struct Inhibitor {
        char *what;
        HeldChanged changed;
        void *userdata;
        Inheritance *inheritance; /* NULL: no lock of a previous btd has to be kept */
        Timer *timer;             /* until the reply */
        Call *call;
        Cause *refused;
        int fd;
        char *stored; /* the name of the stored copy; NULL: there is none */
};

static void finish(Inhibitor *inhibitor, Cause *refused) {
        g_autoptr(Cause) cause = refused;

        g_clear_pointer(&inhibitor->timer, timer_free);
        g_clear_pointer(&inhibitor->call, call_free);
        if (inhibitor->inheritance)
                inheritance_leave(g_steal_pointer(&inhibitor->inheritance));
        inhibitor->changed(cause, inhibitor->userdata);
}

static Cause *cause_of(const Inhibitor *inhibitor, const char *kind, json_object *facts, const char *reason) {
        g_autofree char *text =
                g_strdup_printf("logind did not give the inhibitor lock '%s': %s", inhibitor->what, reason);

        return cause_new(kind, facts, text);
}

static void on_reply(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Inhibitor *inhibitor = userdata;
        g_autofree char *state = NULL;
        int fd, r;

        if (error) {
                finish(inhibitor,
                       cause_of(inhibitor, CAUSE_DBUS_ERROR, dbus_error_facts(error), error->message ?: error->name));
                return;
        }

        r = sd_bus_message_read(reply, "h", &fd);
        if (r >= 0)
                r = inhibitor->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (r < 0) {
                finish(inhibitor, cause_of(inhibitor, CAUSE_FAILED, NULL, "the reply has no file descriptor"));
                return;
        }

        /* Each name is different, so that it can be removed alone. Not storing it only means that the lock is released
         * for a moment when btd is restarted. */
        inhibitor->stored = g_strdup_printf("inhibit-%" PRIi64 "-%d", g_get_monotonic_time(), inhibitor->fd);
        state = g_strdup_printf("FDSTORE=1\nFDNAME=%s", inhibitor->stored);
        (void) sd_pid_notify_with_fds(0, false, state, &inhibitor->fd, 1);
        finish(inhibitor, NULL);
}

static void on_late(void *userdata) {
        Inhibitor *inhibitor = userdata;

        if (inhibitor->refused)
                finish(inhibitor, g_steal_pointer(&inhibitor->refused));
        else
                finish(inhibitor, cause_of(inhibitor, CAUSE_TIMEOUT, NULL, "no reply within 25s"));
}

static Inhibitor *inhibitor_take(const LeafServices *services, const InhibitorRequest *request, bool again,
                                 HeldChanged changed, void *userdata) {
        Inhibitor *inhibitor = g_new0(Inhibitor, 1);
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        Connection *connection;
        int r;

        inhibitor->what = g_strdup(request->what);
        inhibitor->changed = changed;
        inhibitor->userdata = userdata;
        inhibitor->fd = -1;
        if (again && services->inheritance) {
                inheritance_use(services->inheritance);
                inhibitor->inheritance = services->inheritance;
        }

        r = buses_get(services->buses, services->user ? "system" : NULL, NULL, &connection, &error);
        if (r >= 0)
                r = sd_bus_message_new_method_call(connection_bus(connection), &message, "org.freedesktop.login1",
                                                   "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                                                   "Inhibit");
        if (r >= 0)
                r = sd_bus_message_append(message, "ssss", request->what, request->who, request->why, request->mode);
        if (r >= 0)
                inhibitor->call = connection_call(connection, message, on_reply, inhibitor);
        else
                inhibitor->refused = cause_of(inhibitor, CAUSE_FAILED, NULL, error ?: g_strerror(-r));
        inhibitor->timer = timer_new(services->timers, r < 0 ? 0 : REPLY_USEC, on_late, inhibitor);
        return inhibitor;
}

static void inhibitor_free(Inhibitor *inhibitor, bool kept) {
        timer_free(inhibitor->timer);
        call_free(inhibitor->call);
        cause_unref(inhibitor->refused);
        /* A lock that was not taken again stays stored. */
        if (inhibitor->inheritance && !kept)
                inheritance_leave(inhibitor->inheritance);

        if (inhibitor->fd >= 0)
                close(inhibitor->fd);
        if (inhibitor->stored && !kept) {
                g_autofree char *state = g_strdup_printf("FDSTOREREMOVE=1\nFDNAME=%s", inhibitor->stored);

                /* It must not be lost: nobody else would release the lock. */
                (void) sd_notify(false, state);
        }
        g_free(inhibitor->stored);
        g_free(inhibitor->what);
        g_free(inhibitor);
}

const InhibitorKind logind_inhibitors = { .take = inhibitor_take, .free = inhibitor_free };
