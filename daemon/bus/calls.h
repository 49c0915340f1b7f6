/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The method calls of one connection: a window of them is in flight, the others wait, in order for each receiver.
 * connection.c is its only user.
 */

#include "bus/connection.h"

typedef struct Calls Calls;

/* bus_name: for messages, borrowed. */
Calls *calls_new(const char *bus_name);
void calls_free(Calls *calls);

/* The bus is connected: waiting calls are sent. source: see bus/bus-source.h. */
void calls_attach(Calls *calls, sd_bus *bus, GSource *source);
/* The bus is lost: calls in flight fail, waiting calls keep waiting. */
void calls_detach(Calls *calls);
/* Does deferred work, from the main loop. */
void calls_settle(Calls *calls);

/* See connection_set_away(). */
void calls_set_away(Calls *calls, const char *destination, bool away);

/* Selects what happens to a call whose receiver is not on the bus. */
typedef enum CallKind {
        CALL_PLAIN,   /* the call fails */
        CALL_PATIENT, /* it is sent when the receiver is back, unless it was already delivered */
        CALL_QUERY,   /* it has no effects, so it is also sent again if it got no answer, or one while the receiver was
                         away */
} CallKind;

/* Either message or make is given, make only for CALL_PLAIN; sending may be NULL. */
Call *calls_add(Calls *calls, CallKind kind, const char *destination, sd_bus_message *message, CallMake make,
                CallSending sending, CallDone done, void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Calls, calls_free)
