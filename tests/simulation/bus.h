/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A message bus in the same process. Whatever sd_bus_start() is asked to connect to, it is connected to this, by a
 * socket, so that all code of the daemon down to the bytes is the one that is used. The bus owns names, follows match
 * rules, and carries messages, each with a delay; those of one connection stay in their order.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "dice.h"

/* A connection to the bus. */
typedef struct Link Link;

/* What answers calls for a name. */
typedef struct Peer {
        const char *name;   /* well known */
        const char *unique; /* ":1.1" */
        void (*called)(Link *from, sd_bus_message *call);
        void (*left)(Link *link); /* a connection is gone; or NULL */
} Peer;

typedef struct BusManners {
        uint64_t delay;                        /* how long a message is under way at most */
        unsigned twice;                        /* how many percent of the signals come twice */
        bool patient;                          /* who has not read everything gets no more */
        void (*heard)(sd_bus_message *signal); /* a signal of the daemon */
} BusManners;

void bus_open(Dice dice, const BusManners *manners);
void bus_close(void);

/* Peers are borrowed. One that leaves leaves all its callers without a reply; the caller drops what it wants to send.
 */
void bus_join(const Peer *peer);
void bus_leave(const Peer *peer);
bool bus_has(const Peer *peer);

/* The bus is lost, with all connections to it, and comes again. */
void bus_stop(void);
void bus_start(void);

/* Something may have been sent. */
void bus_note_sent(void);
/* Takes what has been sent. */
void bus_turn(void);

/* Calls the daemon itself, as somebody with a connection of his own. The message is to be sent with bus_call(). */
sd_bus_message *bus_message_to_daemon(const char *path, const char *interface, const char *member);
void bus_call(sd_bus_message *message);

/* A reply to a call, in time: takes the message. */
sd_bus_message *bus_reply_new(sd_bus_message *call);
void bus_reply(Link *to, sd_bus_message *reply);
void bus_reply_error(Link *to, sd_bus_message *call, const char *name, const char *text);

/* A signal to all whose rules say so. fill appends what it carries. to: only this one, whatever its rules. */
typedef void (*BusFill)(sd_bus_message *signal, const void *userdata);
void bus_signal(const Peer *from, Link *to, const char *path, const char *interface, const char *member, BusFill fill,
                const void *userdata);

Link *link_ref(Link *link);
void link_unref(Link *link);
bool link_is_open(const Link *link);
const char *link_unique(const Link *link);
