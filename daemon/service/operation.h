/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Handles a method call that changes something, from its arrival to its reply. It asks the bus for the credentials of
 * the caller. Unless the caller is root or btd's own user, the tree's 'access' and polkit must permit the call. The
 * request, the caller and the result are logged. Permitted calls are done in turns, see service/turns.h. Methods that
 * only read do not use this.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "basic/users.h"
#include "runtime/caller.h"
#include "service/credentials.h"
#include "service/permission.h"

typedef struct Operations Operations;
typedef struct Operation Operation;

/* A method handler that is called when the call is permitted: replies, or returns a negative errno with the error set.
 * MANAGER_NOT_YET: call again after operations_retry(). */
typedef int (*OperationRun)(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error);

/* The same for work on a thread: call operation_waits(), and later operation_end(). drop() is called with the data
 * instead if the operation is freed first. */
typedef int (*OperationBegin)(Operation *operation, sd_bus_message *message, const Caller *who, void *userdata,
                              sd_bus_error *ret_error);
void operation_waits(Operation *operation, void *data, GDestroyNotify drop);
/* The call to reply to. Borrowed. */
sd_bus_message *operation_message(const Operation *operation);
/* Ends the operation. r is 0 or positive if a reply was sent, else a negative errno, with the error. */
void operation_end(Operation *operation, int r, const sd_bus_error *error);

/* Checks whether the target exists and whether the tree's 'access' permits the call. Completes the request. Returns a
 * negative errno with the error. TREE_ACCESS_NOT_KNOWN: call again when the accounts are looked up. */
typedef int (*OperationPermits)(Request *request, const Credentials *credentials, Accounts *accounts, void *userdata,
                                sd_bus_error *ret_error);

/* workers: for the lookup of accounts. users: NULL: nobody has a share. max: limit of pending calls per caller; further
 * calls are refused. */
Operations *operations_new(GMainContext *context, sd_bus *bus, Workers *workers, Users *users, unsigned max,
                           OperationPermits permits, void *userdata);
/* Drops operations without a reply. */
void operations_free(Operations *operations);

/* All trees and runs are known from now on. Until then, only root and btd's own user are permitted anything, and
 * permitted operations wait. */
void operations_open(Operations *operations);

/* Retries the operations that returned MANAGER_NOT_YET. */
void operations_retry(Operations *operations);

/* For method handlers: return the result of this function. Takes the names in the request. */
int operation_start(Operations *operations, sd_bus_message *message, Request request, OperationRun run,
                    sd_bus_error *ret_error);

int operation_start_long(Operations *operations, sd_bus_message *message, Request request, OperationBegin begin,
                         sd_bus_error *ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operations, operations_free)
