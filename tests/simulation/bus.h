/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A message bus in the same process. Every sd_bus_start() connects to it, by a socket, so that the simulation runs all
 * of the daemon's code down to the bytes. The bus owns names, applies match rules, and carries messages, each with a
 * delay; messages of one connection stay in order.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "dice.h"

/* A connection to the bus. */
typedef struct Link Link;

/* Answers the calls to a name. */
typedef struct Peer {
        const char *name;   /* well known */
        const char *unique; /* ":1.1" */
        void (*called)(Link *from, sd_bus_message *call);
        void (*left)(Link *link); /* a connection was closed; or NULL */
} Peer;

typedef struct BusManners {
        uint64_t delay;                          /* the longest delay of a message */
        unsigned twice;                          /* the percentage of signals that come twice */
        bool patient;                            /* a connection that has not read everything gets no more */
        unsigned most_pending;                   /* calls of a connection that wait for a reply; 0: any number */
        void (*heard)(sd_bus_message *signal);   /* a signal of the daemon */
        void (*answered)(sd_bus_message *reply); /* its reply to a question, see bus_ask() */
} BusManners;

void bus_open(Dice dice, const BusManners *manners);
void bus_close(void);

/* Peers are borrowed. When a peer leaves, its callers get no reply; it drops the messages that it has not sent. */
void bus_join(const Peer *peer);
void bus_leave(const Peer *peer);
bool bus_has(const Peer *peer);

/* Stops the bus, which closes all connections, and starts it again. */
void bus_stop(void);
void bus_start(void);

/* The daemon may have sent something. */
void bus_note_sent(void);
/* Receives what the daemon has sent. */
void bus_turn(void);

/* Calls the daemon as a client with its own connection. Send the message with bus_call(). */
sd_bus_message *bus_message_to_daemon(const char *path, const char *interface, const char *member);
/* As a user without privileges, whom polkit permits everything. */
sd_bus_message *bus_message_of_user(const char *path, const char *interface, const char *member);
void bus_call(sd_bus_message *message);
/* Sends it, and returns its cookie: the reply names it. */
uint64_t bus_ask(sd_bus_message *message);

/* Replies to a call, after the delay. Takes the message. */
sd_bus_message *bus_reply_new(sd_bus_message *call);
void bus_reply(Link *to, sd_bus_message *reply);
void bus_reply_error(Link *to, sd_bus_message *call, const char *name, const char *text);
/* An error of the bus itself. */
void bus_reply_own_error(Link *to, sd_bus_message *call, const char *name, const char *text);

/* Sends a signal to all connections with a matching rule. fill appends the arguments. to: only to this connection,
 * without regard to its rules. */
typedef void (*BusFill)(sd_bus_message *signal, const void *userdata);
void bus_signal(const Peer *from, Link *to, const char *path, const char *interface, const char *member, BusFill fill,
                const void *userdata);

Link *link_ref(Link *link);
void link_unref(Link *link);
bool link_is_open(const Link *link);
const char *link_unique(const Link *link);
