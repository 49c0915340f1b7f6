/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stops btd on a signal: halts the runs or leaves them to the next btd, waits until that is done, and limits the time.
 * Finds out whether the machine goes down; of a user, the service manager. main.c uses it.
 */

#include "basic/timers.h"
#include "bus/buses.h"
#include "runtime/manager.h"

typedef struct Shutdown Shutdown;

typedef struct ShutdownOptions {
        Timers *timers;
        uint64_t timeout; /* µs; SPAN_INFINITY: no limit */
        Connection *connection;
        Connection *questions; /* to the same bus: its calls wait for no others */
        Buses *buses;
        bool user;
        bool supervised; /* a service manager has started btd */
        bool stored;     /* and may start the next btd */
        Manager *manager;
        /* btd was asked to stop, because the machine goes down: recover the runs now if that was not done. */
        void (*going_down)(void *userdata);
        /* btd can exit. given_up: something did not end in time. */
        void (*over)(bool given_up, void *userdata);
        void *userdata;
} ShutdownOptions;

/* Borrows all arguments, and observes the manager. */
Shutdown *shutdown_new(const ShutdownOptions *options);
void shutdown_free(Shutdown *shutdown);

/* Finds out whether the machine goes down. Then all runs wait until btd is stopped. Calls known() when systemd has
 * answered, perhaps during the call; not if btd is asked to stop before. */
typedef void (*ShutdownKnown)(void *userdata);
void shutdown_find_out(Shutdown *shutdown, ShutdownKnown known, void *userdata);

/* Call it on SIGTERM or SIGINT. The second call stops waiting. */
void shutdown_on_signal(Shutdown *shutdown, int number);
/* Leaves all runs to the next btd. */
void shutdown_leave(Shutdown *shutdown);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shutdown, shutdown_free)
