/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Controls runs by hand for a caller, see run/run.h: pause, resume, step, breakpoints, forced outcomes, variables.
 * Each function fails with an error message and with MANAGER_NO_SUCH_RUN, with MANAGER_NOT_RUNNING (also while the run
 * is halting), or with its own errors.
 */

#include "runtime/manager.h"

int manager_pause(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* Error: MANAGER_NOT_PAUSED. */
int manager_resume(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* Errors: MANAGER_NOT_PAUSED; MANAGER_NOTHING_HAPPENED: there are no inputs to process. */
int manager_step(Manager *manager, const char *id, const Caller *who, char **ret_error);

/* Error: -EINVAL: there is no such node. */
int manager_set_breakpoint(Manager *manager, const char *id, NodeId node, bool set, const Caller *who,
                           char **ret_error);
/* status: SUCCESS, FAILURE or SKIPPED. Error: -EINVAL: another status, or no such node. */
int manager_force(Manager *manager, const char *id, NodeId node, Status status, const Caller *who, char **ret_error);
/* values: a JSON object. Error: -EINVAL: a name or a value is not allowed in this tree. */
int manager_set_variables(Manager *manager, const char *id, json_object *values, const Caller *who, char **ret_error);
