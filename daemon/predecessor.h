/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a daemon that was killed had sent, and what becomes of it. systemd does nothing for a sender that is gone by the
 * time it looks: so the connection over which it is asked for jobs is stored with the service manager, see
 * FileDescriptorStoreMax= in systemd.service(5), and is still there when the next daemon comes. Once systemd has
 * answered that one, it has dealt with everything that was sent before, and what it has said to that can be looked at.
 */

#include "bus/connection.h"
#include "leaves/job-replies.h"

typedef struct Predecessor Predecessor;

/* Looks for what one before us has stored. NULL: nothing, so there is nothing to wait for. */
Predecessor *predecessor_find(void);
/* What is still stored stays, for the next one. */
void predecessor_free(Predecessor *predecessor);

/* Asks systemd for an answer; done is called when it has come, or cannot come. */
void predecessor_settle(Predecessor *predecessor, Connection *connection, void (*done)(void *userdata), void *userdata);
/* What systemd has answered to it, once that is settled. NULL for NULL. */
const JobReplies *predecessor_replies(const Predecessor *predecessor);
/* Nothing stays stored: what it was good for has been noted. Accepts NULL. */
void predecessor_drop(Predecessor *predecessor);

/* From now on the connection outlives the daemon, if there is a service manager; nothing has been asked for over it
 * yet. */
Listener *predecessor_become(Connection *connection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Predecessor, predecessor_free)
