/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What somebody has been sent and, as far as is known, has not read yet. The bus keeps it for him, and a dbus-daemon
 * that keeps too much takes nothing more from the sender: who never reads would stop the daemon for everybody else. Who
 * has much unread is asked whether he is there, and once he has answered he has read all that came before the question.
 */

#include "bus/connection.h"

typedef struct Backlog Backlog;

typedef struct BacklogCallbacks {
        void (*caught_up)(void *userdata); /* what was turned away could be sent now */
        void (*given_up)(void *userdata);  /* he does not read */
        /* The connection for the questions, which is not that of what is sent, since one that is never answered takes
         * away from what a connection may have under way. */
        Connection *(*asking)(void *userdata);
} BacklogCallbacks;

/* All but the name is borrowed. */
Backlog *backlog_new(GMainContext *context, const char *name, const BacklogCallbacks *callbacks, void *userdata);
void backlog_free(Backlog *backlog);

/* May he be sent so much more? max: how much may be unread. */
bool backlog_add(Backlog *backlog, unsigned amount, unsigned max);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Backlog, backlog_free)
