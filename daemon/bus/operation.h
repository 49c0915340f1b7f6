/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A method call that changes something: first asks the bus who the caller is, which takes a moment, and answers
 * AccessDenied unless it is root or the user that the daemon runs as. Reading needs none of this.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "runtime/caller.h"

typedef struct Operations Operations;

/* Like a method handler, but later: replies, or returns a negative errno with the error. */
typedef int (*OperationRun)(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error);

Operations *operations_new(sd_bus *bus, void *userdata);
/* Those under way are not answered any more. */
void operations_free(Operations *operations);

/* To be returned by the method handler. */
int operation_start(Operations *operations, sd_bus_message *message, OperationRun run, sd_bus_error *ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operations, operations_free)
