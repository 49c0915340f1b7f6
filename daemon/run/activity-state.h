/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of an activity, for its own files only. Its life is in activity.c, the functions for its leaf
 * kind are in activity-leaf.c, and recovery is in activity-recover.c.
 */

#include <stdalign.h>

#include "basic/timers.h"
#include "run/activity.h"
#include "script/secrets.h"

struct Activity {
        Leaf leaf; /* must be the first member, see activity-leaf.c */
        ActivityContext *context;
        GList link;         /* in the context's activities */
        json_object *noted; /* the values of the variables in its parameters, or NULL */
        Params params;
        Secrets secrets; /* secrets in the parameters */
        Timer *timeout;
        Timer *halt_timeout; /* limits how long it may stop; NULL: no limit, or not stopping */
        Status status;
        bool held;     /* the kind was called, and release() must follow */
        bool stopping; /* halt() of the kind was called */
        bool no_room;  /* one of its results did not fit */
        bool failed;   /* failed because of its timeout or a lost secret: keep the cause */
        bool halted;   /* halted by its run */
        Cause *cause;
        alignas(max_align_t) char op[];
};

static inline const LeafKind *activity_kind(const Activity *activity) {
        return activity->leaf.type->leaf;
}

static inline bool activity_is_condition(const Activity *activity) {
        return activity->leaf.type->class == NODE_CONDITION;
}

/* started: CLOCK_MONOTONIC, microseconds. */
Activity *activity_new(ActivityContext *context, NodeId node, uint32_t attempt, json_object *noted, uint64_t started,
                       uint64_t suspended);
/* Resolves the parameters with the values that the variables had at the start. RUNNING, or FAILURE with its cause. */
Status activity_fill_params(Activity *activity);
/* The same without secrets, for an activity that only needs to be stopped. */
Status activity_fill_params_openly(Activity *activity);
void activity_call_start(Activity *activity);
/* Handles the status that start() or recover() of the kind returned. Starts the timeout. */
void activity_set_begun(Activity *activity, Status status);
/* SUCCESS becomes FAILURE if an output did not fit. */
Status activity_bound(Activity *activity, Status status);

/* True: it has ended, and no callback follows. */
bool activity_stop(Activity *activity);
/* Reports that the activity has ended, or that its value has changed. May free the activity. */
void activity_settle(Activity *activity, Status status);
/* Takes the cause. */
void activity_replace_cause(Activity *activity, Cause *cause);
/* Calls release() of the kind. */
void activity_release(Activity *activity);

/* Forgets what the previous btd started: the activity is rerun or fails. */
void activity_give_up(Activity *activity);
