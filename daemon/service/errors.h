/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names the errors of the D-Bus interface.
 */

#include <systemd/sd-bus.h>

#define ERROR_NO_SUCH_TREE "org.btd1.Error.NoSuchTree"
#define ERROR_NO_SUCH_RUN "org.btd1.Error.NoSuchRun"
#define ERROR_NO_SUCH_VARIABLE "org.btd1.Error.NoSuchVariable"
#define ERROR_NOT_PAUSED "org.btd1.Error.NotPaused"
#define ERROR_NOTHING_HAPPENED "org.btd1.Error.NothingHappened"
#define ERROR_ALREADY_RUNNING "org.btd1.Error.AlreadyRunning"
#define ERROR_TREE_BROKEN "org.btd1.Error.TreeBroken"
#define ERROR_NOT_RUNNING "org.btd1.Error.NotRunning"
#define ERROR_INVALID_ARGUMENT "org.btd1.Error.InvalidArgument"
#define ERROR_MISSING_INPUT "org.btd1.Error.MissingInput"
#define ERROR_STOPPING "org.btd1.Error.Stopping"
#define ERROR_LIMIT_EXCEEDED "org.btd1.Error.LimitExceeded"
#define ERROR_ACCESS_DENIED "org.btd1.Error.AccessDenied"
#define ERROR_DAMAGED_RECORD "org.btd1.Error.DamagedRecord"

/* For ERROR_LIMIT_EXCEEDED, with the limit per caller. */
#define TEXT_TOO_MANY_CALLS "the limit 'calls-of-a-caller' (%u) is reached; wait for the reply to one of your calls"

/* Call it once, at start. It maps each error to an errno, because sd-bus does not keep errors without one. */
void errors_register(void);

/* Sets the D-Bus error for a negative errno of the manager, and returns what a method handler has to return. */
int error_from_manager(sd_bus_error *ret_error, int r, const char *text);

/* The same for an error of sd-bus about the arguments of a call. */
int error_from_message(sd_bus_error *ret_error, int r);
/* Replies with the error for a negative errno of sd-bus. */
void error_reply(sd_bus_message *call, int r);
