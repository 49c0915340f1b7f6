/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Counts what was sent to one subscriber and may be unread. The bus queues unread messages for a peer, and a
 * dbus-daemon that queues too many stops reading from the sender: one subscriber that does not read would block btd
 * for all others. So a subscriber with many unread messages gets a Ping. When it replies, it has read everything that
 * was sent before.
 */

#include "bus/connection.h"

typedef struct Backlog Backlog;

typedef struct BacklogCallbacks {
        void (*caught_up)(void *userdata); /* it has read; there is room again */
        void (*given_up)(void *userdata);  /* it did not reply for 30 s */
        /* Returns the connection for the Pings. It is not the connection of the signals: a call without a reply uses up
         * the number of calls that one connection can have pending. */
        Connection *(*asking)(void *userdata);
} BacklogCallbacks;

/* Copies the name, borrows the rest. */
Backlog *backlog_new(GMainContext *context, const char *name, const BacklogCallbacks *callbacks, void *userdata);
void backlog_free(Backlog *backlog);

/* How much more can be sent if max can be unread. 0: nothing until caught_up() is called. */
unsigned backlog_room(Backlog *backlog, unsigned max);
void backlog_add(Backlog *backlog, unsigned amount);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Backlog, backlog_free)
