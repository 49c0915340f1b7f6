/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the connection to one bus: an sd_bus on the main loop, a window of calls in flight, and matches that
 * survive a reconnection. A lost connection is made again, with backoff. Nothing here blocks.
 *
 * While there is no connection, calls wait (limited by their leaf's timeout), and matches are added
 * when it is established. Calls in flight fail when it is lost.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "bus/matches.h"

typedef struct Connection Connection;
typedef struct Call Call;

/* The maximum number of calls in flight; a dbus-daemon refuses the 129th of a connection. */
#define CONNECTION_WINDOW 100u
/* The maximum for one destination, while there are none to others. */
#define CONNECTION_SHARE (CONNECTION_WINDOW / 2)

/* The maximum length of the text of an error, in bytes. */
#define CONNECTION_ERROR_MAX 4096u

/* name: for messages ("system", "session", "unix:path=..."). Connects from the main loop. */
Connection *connection_new(GMainContext *context, const char *name, const char *address);
/* Another connection to the same bus. descriptors: it takes messages with file descriptors; otherwise the bus refuses
 * them, so that calls which wait for their replies cannot hold all that btd may have. */
Connection *connection_again(const Connection *connection, bool descriptors);
/* All its calls hang on it, as with connection_call_bound(). */
void connection_bind(Connection *connection);
/* For a connection that replies to others: see bus_source_pace(). If it is closed for that reason, it reconnects. */
void connection_pace(Connection *connection, uint64_t patience_usec);
/* Was the previous connection closed for that reason? The bus may not have noticed that it is gone. */
bool connection_was_stuck(const Connection *connection);
void connection_free(Connection *connection);

const char *connection_name(const Connection *connection);

/* The current sd_bus: never NULL, but it may be closed. Messages can be created on it at any time. Do not keep it. */
sd_bus *connection_bus(Connection *connection);
bool connection_is_ready(const Connection *connection);
/* The reason why it is not, a negative errno; 0: it is, or the first attempt has not ended. */
int connection_error(const Connection *connection);
/* The same as a message that names the bus; NULL: no reason. To be freed. */
char *connection_problem(const Connection *connection);
/* The id of the bus; a bus that was restarted at the same address has another one. "": not connected. */
char *connection_bus_id(Connection *connection);

/*
 * Exactly one of reply (borrowed) and error is set; a long text of an error is cut. The owner must still free the call,
 * now or later. If the bus was lost, the error is org.freedesktop.DBus.Error.NoReply or
 * org.freedesktop.DBus.Error.Disconnected.
 */
typedef void (*CallDone)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Sends the message, or queues it, in order with others to the same destination. A destination may have no more calls
 * in flight than the window has left for all others. If the bus itself refuses the call with LimitsExceeded, it is sent
 * again. There is no timeout. Freeing the call cancels it: a later reply is ignored. If calls that were given up leave
 * no room, it is sent over another connection to the same bus. */
Call *connection_call(Connection *connection, sd_bus_message *message, CallDone done, void *userdata);

/* The same for a call whose effect hangs on this connection. */
Call *connection_call_bound(Connection *connection, sd_bus_message *message, CallDone done, void *userdata);

/* The same for a query without effects: it is sent again if the receiver leaves the bus without a reply. If the
 * receiver is away (see below), the query is sent again when it is back; replies in the meantime are ignored. */
Call *connection_ask(Connection *connection, sd_bus_message *message, CallDone done, void *userdata);

/* The same for a call that must have its effect once: it waits while the receiver is away, and is sent again if it was
 * not delivered. sending is called before each sending, so that the owner can record it. */
typedef void (*CallSending)(void *userdata);
Call *connection_call_told(Connection *connection, sd_bus_message *message, CallSending sending, CallDone done,
                           void *userdata);

/* The same for many calls that wait for each other: make creates the message when its turn comes, and again when it
 * must be sent again. If it returns a negative errno, the call fails. This sd_bus is the one that sends it. */
typedef int (*CallMake)(sd_bus *bus, sd_bus_message **ret_message, void *userdata);
Call *connection_call_made(Connection *connection, const char *destination, CallMake make, CallDone done,
                           void *userdata);
void call_free(Call *call);
/* Was it sent, and not answered yet? */
bool call_is_in_flight(const Call *call);
/* Why the call was not sent yet, although the bus is connected: its receiver has not answered so many calls that were
 * given up, and calls to it wait until it does. 0: for no such reason. */
unsigned call_unanswered(const Call *call);

/* Frees a call that may have been sent, and whose effect must be undone: if it succeeds, the message is sent to the
 * same destination, without a reply. */
void call_undo(Call *call, sd_bus_message *undo);

/* Marks the owner of the name as away: it will be back in a moment, and its replies do not count until then. */
void connection_set_away(Connection *connection, const char *destination, bool away);

/* Attaches the data of another module to the connection, by name; it is freed with the connection. */
void connection_set_data(Connection *connection, const char *name, void *data, GDestroyNotify free);
/* The data, or NULL. */
void *connection_data(Connection *connection, const char *name);
/* Data that is a hash table by texts, which owns nothing; made when it is first needed. */
GHashTable *connection_table(Connection *connection, const char *name);
GMainContext *connection_context(const Connection *connection);

/* Receives the signals of a pattern until the Match is freed, also after reconnections (see connection_listen() for
 * those). Equal patterns share one rule on the bus. ready (may be NULL) is called each time that the bus has confirmed
 * the rule and named the owner of the sender's name: from then on no signal is missed. */
Match *connection_match(Connection *connection, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                        void *userdata);

/* The owners of names, which all users of the connection share. */
Names *connection_names(Connection *connection);

/* Called each time that the connection is established (to publish objects, request names, read values again), and when
 * it is lost, or an attempt to establish it has failed for the first time. If that is already so, called from the main
 * loop. */
typedef struct Listener Listener;
typedef struct ListenerCallbacks {
        void (*connected)(Connection *connection, void *userdata); /* the bus has replied to Hello */
        void (*lost)(Connection *connection, void *userdata);      /* see connection_problem() */
} ListenerCallbacks;
Listener *connection_listen(Connection *connection, const ListenerCallbacks *callbacks, void *userdata);
void listener_free(Listener *listener);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Connection, connection_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Call, call_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Listener, listener_free)
