/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A method call that changes something, from its arrival to its reply: asks the bus who the caller is, and, unless that
 * is root or the user that the daemon runs as, the tree and polkit whether he may. Who asks for what, and what he was
 * answered, is logged. Reading needs none of this. What is permitted is done in turns, see service/turns.h.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "runtime/caller.h"
#include "service/credentials.h"
#include "service/permission.h"

typedef struct Operations Operations;

/* Like a method handler, but later: replies, or returns a negative errno with the error. */
typedef int (*OperationRun)(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error);

/* Is there what it is to be done to, and does the tree itself let the caller in? Adds to the deed what was not known
 * when the call came. A negative errno with the error. */
typedef int (*OperationPermits)(Deed *deed, const Credentials *credentials, void *userdata, sd_bus_error *ret_error);

/* max: how many of one caller wait to be answered; another one is refused. */
Operations *operations_new(GMainContext *context, sd_bus *bus, unsigned max, OperationPermits permits, void *userdata);
/* Those under way are not answered any more. */
void operations_free(Operations *operations);

/* From now on it is known what there is: before, nobody but root and the daemon's user is permitted anything, and what
 * is permitted waits. */
void operations_open(Operations *operations);

/* To be returned by the method handler. Takes the names in the deed. */
int operation_start(Operations *operations, sd_bus_message *message, Deed deed, OperationRun run,
                    sd_bus_error *ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operations, operations_free)
