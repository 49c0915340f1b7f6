/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Forwards the events of the manager to the service manager. */

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "notifier.h"

void notify_try(const char *state) {
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t length = path ? strlen(path) : 0;
        g_auto(AutoFd) fd = -1;

        if (length == 0 || length >= sizeof(address.sun_path))
                return;

        memcpy(address.sun_path, path, length);
        if (*path == '@')
                address.sun_path[0] = '\0';

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0)
                (void) sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *) &address,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length));
}

/* Delay of the status line, which only people read. */
#define STATUS_USEC (100 * UINT64_C(1000))

/* A recovery of many runs may take longer than the service manager waits for READY. It is asked for this time again and
 * again, so that only a btd that hangs is killed. */
#define EXTEND_USEC (60 * G_USEC_PER_SEC)
#define EXTEND_EVERY_USEC G_USEC_PER_SEC

struct Notifier {
        Timers *timers;
        Manager *manager;
        int64_t extended; /* when it was asked last, CLOCK_MONOTONIC microseconds; 0: never */
        bool ready;
        Timer *status; /* until the next status line; NULL: nothing has changed */
        uint64_t watchdog_usec;
        Timer *watchdog;
};

char *notifier_status(const Notifier *notifier) {
        g_autoptr(GPtrArray) trees = library_list(notifier->manager->library);
        unsigned running = runs_n_running(notifier->manager->runs);

        return g_strdup_printf("%u tree%s, %u run%s", trees->len, trees->len == 1 ? "" : "s", running,
                               running == 1 ? "" : "s");
}

static void on_status_due(void *userdata) {
        Notifier *notifier = userdata;
        g_autofree char *text = notifier_status(notifier), *state = g_strconcat("STATUS=", text, NULL);

        g_clear_pointer(&notifier->status, timer_free);
        notify_try(state);
}

/* Updates the status line once for all changes within the delay. */
static void status_changed(Notifier *notifier) {
        if (notifier->ready && !notifier->status)
                notifier->status = timer_new(notifier->timers, STATUS_USEC, on_status_due, notifier);
}

static void on_tree_event(const LibraryEntry *entry, void *userdata) {
        status_changed(userdata);
}

static void on_run_event(Run *run, void *userdata) {
        status_changed(userdata);
}

static void on_recovering(unsigned n_done, unsigned n, void *userdata) {
        Notifier *notifier = userdata;
        int64_t now = g_get_monotonic_time();
        g_autofree char *state = NULL;

        if (notifier->extended > 0 && now < notifier->extended + EXTEND_EVERY_USEC)
                return;

        notifier->extended = now;
        state = g_strdup_printf("EXTEND_TIMEOUT_USEC=%i\nSTATUS=recovering: %u of %u runs", EXTEND_USEC, n_done, n);
        notify_try(state);
}

static void on_reloading(void *userdata) {
        const Notifier *notifier = userdata;

        if (notifier->ready)
                sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIi64, g_get_monotonic_time());
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        Notifier *notifier = userdata;

        if (notifier->ready)
                notifier_ready(notifier);
}

static void on_stopping(void *userdata) {
        notify_try("STOPPING=1");
}

static const ManagerObserver observer = {
        .tree_added = on_tree_event,
        .tree_removed = on_tree_event,
        .run_added = on_run_event,
        .run_finished = on_run_event,
        .recovering = on_recovering,
        .reloading = on_reloading,
        .reloaded = on_reloaded,
        .stopping = on_stopping,
};

static void on_watchdog(void *userdata) {
        Notifier *notifier = userdata;

        notify_try("WATCHDOG=1");
        timer_free(notifier->watchdog);
        notifier->watchdog = timer_new(notifier->timers, notifier->watchdog_usec / 2, on_watchdog, notifier);
}

Notifier *notifier_new(Timers *timers, Manager *manager) {
        Notifier *notifier = g_new0(Notifier, 1);

        notifier->timers = timers;
        notifier->manager = manager;
        manager_observe(manager, &observer, notifier);
        if (sd_watchdog_enabled(false, &notifier->watchdog_usec) > 0)
                notifier->watchdog = timer_new(timers, notifier->watchdog_usec / 2, on_watchdog, notifier);

        return notifier;
}

void notifier_free(Notifier *notifier) {
        if (!notifier)
                return;

        manager_unobserve(notifier->manager, &observer, notifier);
        timer_free(notifier->status);
        timer_free(notifier->watchdog);
        g_free(notifier);
}

void notifier_ready(Notifier *notifier) {
        g_autofree char *text = notifier_status(notifier);

        notifier->ready = true;
        sd_notifyf(false, "READY=1\nSTATUS=%s", text);
}
