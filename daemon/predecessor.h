/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a daemon that was killed had sent, and what becomes of it. systemd does nothing for a sender that is gone by the
 * time it looks: so the connection over which it is asked for jobs is stored with the service manager, see
 * FileDescriptorStoreMax= in systemd.service(5), and is still there when the next daemon comes. Once systemd has
 * answered that one, it has dealt with everything that was sent before.
 */

#include "bus/connection.h"

/* From now on the connection outlives the daemon. Without a service manager, it does not. */
Listener *predecessor_store(Connection *connection);

typedef struct Predecessor Predecessor;

/* Looks for what one before us has stored. NULL: nothing, so there is nothing to wait for. */
Predecessor *predecessor_find(void);
void predecessor_free(Predecessor *predecessor);

/* Asks systemd for an answer; done is called when it has come, or cannot come, and what was stored goes then. */
void predecessor_settle(Predecessor *predecessor, Connection *connection, void (*done)(void *userdata), void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Predecessor, predecessor_free)
