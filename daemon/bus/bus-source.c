/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Puts an sd_bus on the main loop. In every turn it reads the file descriptor, the events and the (absolute) timeout
 * from the sd_bus again, since all of them can change at any time.
 */

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "bus/bus-source.h"

/* Messages in one dispatch: enough to be fast, few enough that timers are not late under a flood. */
#define BATCH 32u
/* With more unsent messages than this, no more are read. */
#define UNSENT_MAX 8u
/* A flooded dbus-daemon takes seconds to read much more. The kernel doubles it. */
#define BUFFER_SIZE 16384

typedef struct BusSource {
        GSource source;
        sd_bus *bus;
        GPollFD poll;
        bool polled;
        int error;
        uint64_t patience; /* how long the bus may read nothing; 0: forever */
        uint64_t stuck;    /* when that time ends; 0: the bus has read everything */
        int unread;        /* bytes that it had not read at the last check */
} BusSource;

static bool is_full(const BusSource *source) {
        uint64_t n_unsent = 0;

        if (source->patience == 0)
                return false;

        (void) sd_bus_get_n_queued_write(source->bus, &n_unsent);
        return n_unsent > UNSENT_MAX;
}

/* When to dispatch the bus, even if no message comes. */
static int next_deadline(const BusSource *source, uint64_t *ret_deadline) {
        uint64_t deadline = UINT64_MAX;
        int r = sd_bus_get_timeout(source->bus, &deadline);

        if (r < 0)
                return r;

        if (is_full(source))
                deadline = UINT64_MAX;
        *ret_deadline = source->stuck > 0 ? MIN(deadline, source->stuck) : deadline;
        return 0;
}

/* Most of the data that the bus has not read is in the socket buffer, which can be large. */
static void note_unread(BusSource *source, int fd, uint64_t now) {
        int unread = 0;

        if (source->patience > 0 && fd >= 0)
                (void) ioctl(fd, SIOCOUTQ, &unread);
        if (unread == 0)
                source->stuck = 0;
        else if (source->stuck == 0 || unread < source->unread)
                source->stuck = now + source->patience;
        source->unread = unread;
}

static gboolean source_prepare(GSource *base, int *ret_timeout) {
        BusSource *source = (BusSource *) base;
        uint64_t now = (uint64_t) g_source_get_time(base), deadline = UINT64_MAX;
        int fd = sd_bus_get_fd(source->bus), events = sd_bus_get_events(source->bus);

        note_unread(source, fd, now);
        /* A closed bus has none of these; dispatch finds the reason. */
        if (fd < 0 || events < 0 || next_deadline(source, &deadline) < 0)
                return TRUE;

        /* GLib sorts its GPollFDs by file descriptor, so a new descriptor must be added again. */
        if (source->polled && source->poll.fd != fd)
                g_source_remove_poll(base, &source->poll);
        source->poll.events = (gushort) (is_full(source) ? POLLOUT : events);
        if (!source->polled || source->poll.fd != fd) {
                source->poll.fd = fd;
                g_source_add_poll(base, &source->poll);
                source->polled = true;
        }

        if (deadline == UINT64_MAX)
                *ret_timeout = -1;
        else if (deadline > now)
                *ret_timeout = (int) MIN((deadline - now + 999) / 1000, (uint64_t) G_MAXINT);
        else
                *ret_timeout = 0;
        return *ret_timeout == 0;
}

static gboolean source_check(GSource *base) {
        BusSource *source = (BusSource *) base;
        uint64_t deadline = UINT64_MAX;

        return source->poll.revents != 0 || next_deadline(source, &deadline) < 0 ||
               deadline <= (uint64_t) g_source_get_time(base);
}

static gboolean source_dispatch(GSource *base, GSourceFunc callback, void *userdata) {
        BusSource *source = (BusSource *) base;
        uint64_t now = (uint64_t) g_source_get_time(base);
        int64_t ready_time = g_source_get_ready_time(base);
        int r;

        if (ready_time >= 0 && (uint64_t) ready_time <= now)
                g_source_set_ready_time(base, -1);

        if (source->stuck > 0 && source->stuck <= now)
                note_unread(source, sd_bus_get_fd(source->bus), now);
        /* So late, btd or the machine was stopped, perhaps with the bus: nobody has watched it. */
        if (source->stuck > 0 && now - source->patience > source->stuck)
                source->stuck = now + source->patience;
        r = source->stuck > 0 && source->stuck <= now ? -ETIMEDOUT : 1;
        /* No batch limit while the bus is closing: then it only fails the pending calls. */
        for (unsigned i = 0; r > 0; i++) {
                bool closing = sd_bus_is_open(source->bus) <= 0, full = is_full(source);

                if (!closing && (i == BATCH || (full && (i > 0 || source->poll.revents == 0))))
                        break;

                r = sd_bus_process(source->bus, NULL);
        }
        if (r < 0) {
                source->error = r;
                sd_bus_close(source->bus);
        }

        return callback(userdata);
}

static void source_finalize(GSource *base) {
        BusSource *source = (BusSource *) base;

        sd_bus_unref(source->bus);
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
        .finalize = source_finalize,
};

GSource *bus_source_new(sd_bus *bus) {
        BusSource *source = (BusSource *) g_source_new(&source_funcs, sizeof(BusSource));

        source->bus = sd_bus_ref(bus);
        source->error = -ENOTCONN;
        g_source_set_name(&source->source, "bus");
        /* It never recurses. But otherwise GLib removes the file descriptor during each dispatch, and wakes up twice
         * for that. */
        g_source_set_can_recurse(&source->source, TRUE);
        return &source->source;
}

void bus_source_pace(GSource *base, uint64_t patience_usec) {
        BusSource *source = (BusSource *) base;
        int fd = sd_bus_get_fd(source->bus);

        source->patience = patience_usec;
        /* sd-bus asks for megabytes; new messages would wait behind a long queue of old replies. */
        if (patience_usec > 0 && fd >= 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ BUFFER_SIZE }, sizeof(int));
}

void bus_source_wake(GSource *source, uint64_t when) {
        int64_t ready_time = g_source_get_ready_time(source);

        if (ready_time < 0 || when < (uint64_t) ready_time)
                g_source_set_ready_time(source, (int64_t) MIN(when, (uint64_t) INT64_MAX));
}

int bus_source_error(GSource *source) {
        return ((BusSource *) source)->error;
}
