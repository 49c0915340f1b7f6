/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The systemd that has started the daemon. It comes to a bus only after that has been started, and at the login of a
 * user or early at boot it may be the daemon who is the first to use the bus. What trees want of systemd as soon as
 * they are started should not depend on who is faster.
 */

#include "basic/timers.h"
#include "bus/connection.h"

typedef struct Supervisor Supervisor;

/* Calls back once when systemd is on the bus, or does not come within a few seconds: perhaps at once. */
Supervisor *supervisor_await(Connection *connection, Timers *timers, void (*done)(void *userdata), void *userdata);
void supervisor_free(Supervisor *supervisor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Supervisor, supervisor_free)
