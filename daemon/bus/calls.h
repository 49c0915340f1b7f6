/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The method calls of one connection, for connection.c. Others send them with connection_call() and its like. */

#include "bus/connection.h"

typedef struct Calls Calls;

/* The connection has its name and its names already. */
Calls *calls_new(Connection *connection);
/* The calls belong to their owners. */
void calls_free(Calls *calls);

/* The bus is connected: waiting calls are sent. source: see bus/bus-source.h. */
void calls_attach(Calls *calls, sd_bus *bus, GSource *source);
/* The bus is lost: calls in flight fail, waiting calls keep waiting. */
void calls_detach(Calls *calls);
/* Does deferred work, from the main loop. */
void calls_settle(Calls *calls);

Calls *connection_calls(const Connection *connection);
