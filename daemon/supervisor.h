/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits at start for the systemd that has started btd. systemd connects to a bus only after it has started the bus. At
 * the login of a user or early at boot, btd may be on the bus first; but trees must not depend on who is faster.
 */

#include "basic/timers.h"
#include "bus/connection.h"

typedef struct Supervisor Supervisor;

/* Calls back once, when systemd is on the bus or does not come within a few seconds; perhaps during the call. */
Supervisor *supervisor_await(Connection *connection, Timers *timers, void (*done)(void *userdata), void *userdata);
void supervisor_free(Supervisor *supervisor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Supervisor, supervisor_free)
