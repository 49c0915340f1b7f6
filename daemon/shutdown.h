/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the daemon ends: what it has started is brought to an end, or left for the next daemon, and waited for, but not
 * longer than it may take.
 */

#include "basic/timers.h"
#include "bus/connection.h"
#include "runtime/manager.h"

typedef struct Shutdown Shutdown;

typedef struct ShutdownOptions {
        Timers *timers;
        uint64_t timeout; /* µs; SPAN_INFINITY: none */
        Connection *connection;
        Connection *lasting; /* the one that outlives the daemon, or NULL */
        Manager *manager;
        /* The daemon can go. given_up: something has not ended in time. */
        void (*over)(bool given_up, void *userdata);
        void *userdata;
} ShutdownOptions;

/* Everything is borrowed, and the manager observed from now on. */
Shutdown *shutdown_new(const ShutdownOptions *options);
void shutdown_free(Shutdown *shutdown);

/* SIGTERM or SIGINT. Asked for once more, nothing is waited for any longer. */
void shutdown_on_signal(Shutdown *shutdown, int number);
/* What is kept for the next daemon stays as it is. */
void shutdown_leave(Shutdown *shutdown);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shutdown, shutdown_free)
