/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the message that asks systemd to run a process as a transient unit.
 */

#include "bus/connection.h"
#include "leaves/spawn/spawn.h"

/* A negative errno with an error message. */
int spawn_transient_message(Connection *connection, const SpawnRequest *request, const char *unit,
                            sd_bus_message **ret_message, char **ret_error);
