/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The method calls of one connection: a window of them in flight, the rest waiting, in order for
 * each of those who are called.
 */

#include "bus/connection.h"

typedef struct Calls Calls;

/* bus_name: for messages, borrowed. */
Calls *calls_new(const char *bus_name);
void calls_free(Calls *calls);

/* The bus is there: what waits is sent. The source is that of the bus, see bus/bus-source.h. */
void calls_attach(Calls *calls, sd_bus *bus, GSource *source);
/* The bus is lost: what is in flight fails, what waits goes on waiting. */
void calls_detach(Calls *calls);
/* From the main loop: does what had to be put off. */
void calls_settle(Calls *calls);

/* See connection_last_serial(). */
uint64_t calls_last_serial(const Calls *calls);

/* Either the message or what makes it; hooks may be NULL. */
Call *calls_add(Calls *calls, const char *destination, sd_bus_message *message, CallMake make, const CallHooks *hooks,
                CallDone done, void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Calls, calls_free)
