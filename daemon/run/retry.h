/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds what a new run can take over from one that has finished: the nodes that have succeeded and that the new run
 * does not execute again. btctl shows it, and starts the new run with it.
 */

#include "run/run.h"

typedef struct RetryPlan {
        GArray *taken; /* NodeId, in depth-first order: none is below another */
        GArray *anew;  /* NodeId: controls that begin anew, though actions in them have succeeded */
        NodeId first;  /* the first one that is executed again; NODE_NONE: only conditions are evaluated */
} RetryPlan;

/* from: begin with this node, and execute it and all nodes after it again; NODE_NONE: with what has not succeeded.
 * -EINVAL with an error message: a run cannot begin there. */
int retry_plan_new(const Run *run, NodeId from, RetryPlan **ret_plan, char **ret_error);
void retry_plan_free(RetryPlan *plan);

/* The variables of the run at its end, without those that are secret or that each run gets from btd: its name, its
 * instance and kept values. A new object. */
json_object *retry_variables(const Run *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RetryPlan, retry_plan_free)
