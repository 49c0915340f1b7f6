/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a daemon that was killed had sent, and what becomes of it. systemd does nothing for a sender that is gone by the
 * time it looks: so the connection over which it is asked for jobs is stored with the service manager, see
 * FileDescriptorStoreMax= in systemd.service(5), and is still there when the next daemon comes. Once systemd has
 * answered that one, it has dealt with everything that was sent before, and its answers to that can be looked for.
 */

#include "bus/connection.h"
#include "leaves/job-replies.h"

typedef struct Predecessor Predecessor;

/* Looks for what those before us have stored. NULL: nothing, so there is nothing to wait for. */
Predecessor *predecessor_find(void);
/* Behind all who look for answers. What they have not seen to stays stored, for the next one. */
void predecessor_free(Predecessor *predecessor);

/* Asks systemd for an answer; done is called when it has come, or cannot come. */
void predecessor_settle(Predecessor *predecessor, Connection *connection, void (*done)(void *userdata), void *userdata);
/* What systemd has answered to it, once that is settled; borrowed. NULL for NULL. */
JobReplies *predecessor_replies(const Predecessor *predecessor);
/* All who look for answers have begun to; what nobody needs any more goes. Accepts NULL. */
void predecessor_release(Predecessor *predecessor);

/* From now on the connection, over which nothing was asked for yet, outlives the daemon, if there is a service manager.
 */
Listener *predecessor_become(Connection *connection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Predecessor, predecessor_free)
