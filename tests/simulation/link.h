/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A connection to the simulated bus: its names, its match rules, and the calls whose replies it waits for.
 */

#include <stdbool.h>

#include "bus.h"

struct Link {
        unsigned n_refs;
        sd_bus *peer;
        int other_fd; /* the other end of its socket, while the daemon lives that opened it */
        char unique[16];
        bool open;
        uint64_t deaf_after;        /* when it was closed: later messages are dropped */
        uint64_t in_time, out_time; /* arrival of the last message at the daemon, and here */
        GPtrArray *rules;           /* of BusRule */
        GPtrArray *names;           /* of char */
        GArray *pending;            /* of Pending */
        GQueue held;                /* of sd_bus_message: not sent yet */
};

Link *link_new(unsigned number);

void link_add_rule(Link *link, const char *text);
void link_remove_rule(Link *link, const char *text);
bool link_wants(Link *link, const char *sender, const char *unique, sd_bus_message *signal);

/* peer: the one that is to reply; NULL: the bus. */
void link_add_pending(Link *link, sd_bus_message *call, const Peer *peer);
/* The calls that wait for a reply of a peer. */
unsigned link_n_pending(const Link *link);
/* True: there was one; it is removed. */
bool link_take_pending(Link *link, uint64_t cookie);
/* The peer will not reply any more. */
void link_fail_pending(Link *link, const Peer *peer);

/* The connection in the array that owns the name; NULL: none. */
Link *link_named(const GPtrArray *links, const char *name);
const char *link_owner_of(const GPtrArray *links, const char *name);
