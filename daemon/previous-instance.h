/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the connection of the previous btd instance, which holds its references to units. systemd drops such a
 * reference when the connection that requested it is closed. So btd stores this connection with the service manager,
 * see FileDescriptorStoreMax= in systemd.service(5), and the next btd finds it. That one closes it when its own leaves
 * hold the references that they need.
 */

#include "bus/connection.h"
#include "run/leaf.h"

typedef struct PreviousInstance PreviousInstance;

/* Looks for connections that previous instances have stored. NULL: none. */
PreviousInstance *previous_instance_find(void);
/* Free it after all leaves. A connection that was not released remains stored, for the next btd. */
void previous_instance_free(PreviousInstance *previous);

/* For recovered leaves; NULL for NULL. */
Inheritance *previous_instance_inheritance(PreviousInstance *previous);
/* All leaves are recovered: closes the connection as soon as no leaf uses it. NULL: does nothing. */
void previous_instance_release(PreviousInstance *previous);

/* Stores the connection with the service manager, if there is one, so that it survives this btd. */
Listener *previous_instance_store(Connection *connection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PreviousInstance, previous_instance_free)
