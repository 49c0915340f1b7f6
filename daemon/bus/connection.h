/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One bus: its sd_bus on the main loop, a window of calls in flight, matches that last, and a
 * new connection with backoff when it is lost. Nothing here blocks.
 *
 * A connection that is not there yet is no error: calls wait for it (their leaf's timeout bounds
 * that), matches are added when it comes. What is in flight when it is lost fails.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "bus/signal-pattern.h"

typedef struct Connection Connection;
typedef struct Call Call;
typedef struct Match Match;
typedef struct Names Names;
typedef struct Properties Properties;

/* How many calls may wait for their replies at once; a dbus-daemon refuses the 129th of a connection. */
#define CONNECTION_WINDOW 100u
/* How many of them may be to the same destination, as long as there are none to others. */
#define CONNECTION_SHARE (CONNECTION_WINDOW / 2)

/* name: as users write it, for messages ("system", "session", "unix:path=..."). Connects from the main loop. */
Connection *connection_new(GMainContext *context, const char *name, const char *address);
/* Another one to the same bus. */
Connection *connection_again(const Connection *connection);
/* It answers others: see bus_source_pace(). When it is closed for that, it is made anew. */
void connection_pace(Connection *connection, uint64_t patience_usec);
/* Was the one before closed for that? The bus may not have noticed, and think that it is still there. */
bool connection_was_stuck(const Connection *connection);
void connection_free(Connection *connection);

const char *connection_name(const Connection *connection);

/* The sd_bus of the moment: never NULL, but it may be closed; messages can be made on it at any time.
 * Do not keep it. */
sd_bus *connection_bus(Connection *connection);
bool connection_is_ready(const Connection *connection);
/* Of the bus of the moment: another one that has begun anew at the same address has another. "": there is none. */
char *connection_bus_id(Connection *connection);
/* The serial number of the call that was sent last over the connection of the moment; 0: none was. */
uint64_t connection_last_serial(const Connection *connection);

/*
 * Exactly one of reply (borrowed) and error is set. The call is still its owner's: free it, then or later.
 * No reply because the bus was lost is an error of the name org.freedesktop.DBus.Error.NoReply or
 * org.freedesktop.DBus.Error.Disconnected with a text that says so.
 */
typedef void (*CallDone)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Sends the message, or queues it, in order with others to the same destination, which may have no more in flight than
 * is left of the window for all others; what the bus refuses with LimitsExceeded on its own account is
 * sent again. There is no timeout here. Freeing the call cancels it: a reply that comes later is ignored. */
Call *connection_call(Connection *connection, sd_bus_message *message, CallDone done, void *userdata);

/* The same, told when it is sent next, and when all of it has left the daemon: again if it is sent again. For those who
 * keep a record of what they do: the next one of these is not sent before, so whoever finds the records knows of all
 * but the last. */
typedef struct CallHooks {
        void (*sending)(void *userdata);
        void (*sent)(void *userdata);
} CallHooks;
Call *connection_call_hooked(Connection *connection, sd_bus_message *message, const CallHooks *hooks, CallDone done,
                             void *userdata);

/* The same for many calls that wait for each other: the message is made when its turn comes, and made again when it is
 * to be sent again. May be called before this returns. A negative errno is an answer, like a message that cannot be
 * sent. */
typedef int (*CallMake)(sd_bus *bus, sd_bus_message **ret_message, void *userdata);
Call *connection_call_made(Connection *connection, const char *destination, CallMake make, CallDone done,
                           void *userdata);
void call_free(Call *call);

/* Signals of a pattern, as long as the Match lives, through reconnections (the callback is not told of those, see
 * connection_listen). Equal patterns share one rule on the bus. ready (may be NULL) is called each time that the
 * bus has confirmed the rule and said who owns the sender's name: from then on no signal is missed. */
typedef void (*MatchSignal)(sd_bus_message *message, void *userdata);
typedef void (*MatchReady)(void *userdata);
Match *connection_match(Connection *connection, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                        void *userdata);
void match_free(Match *match);

/* What is shared by those who look at the same: who owns which name, see bus/names.h, and the values of properties, see
 * bus/property-watch.h. */
Names *connection_names(Connection *connection);
Properties *connection_properties(Connection *connection);

/* Told when the connection comes (each time: publish objects, request names, ask for values again) and when it
 * is lost. If it is there already, told from the main loop. */
typedef struct Listener Listener;
typedef struct ListenerCallbacks {
        void (*connected)(Connection *connection, void *userdata); /* the bus has answered Hello */
        void (*lost)(Connection *connection, void *userdata);
} ListenerCallbacks;
Listener *connection_listen(Connection *connection, const ListenerCallbacks *callbacks, void *userdata);
void listener_free(Listener *listener);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Connection, connection_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Call, call_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Match, match_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Listener, listener_free)
