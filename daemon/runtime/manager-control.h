/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What people do to runs by hand, on behalf of somebody; see run-control.h. Each fails with a text: with
 * MANAGER_NO_SUCH_RUN, MANAGER_NOT_RUNNING (also while it is being halted), or as it says.
 */

#include "runtime/manager.h"

int manager_pause(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* MANAGER_NOT_PAUSED. */
int manager_resume(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* MANAGER_NOT_PAUSED; MANAGER_NOTHING_HAPPENED: there is nothing that a tick would look at. */
int manager_step(Manager *manager, const char *id, const Caller *who, char **ret_error);

/* -EINVAL: there is no such node. */
int manager_set_breakpoint(Manager *manager, const char *id, NodeId node, bool set, const Caller *who,
                           char **ret_error);
/* status: SUCCESS, FAILURE, SKIPPED, else -EINVAL, as without such a node. */
int manager_force(Manager *manager, const char *id, NodeId node, Status status, const Caller *who, char **ret_error);
/* values: an object. -EINVAL: a name or a value cannot be one of the tree's. */
int manager_set_variables(Manager *manager, const char *id, json_object *values, const Caller *who, char **ret_error);
