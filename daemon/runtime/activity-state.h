/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What an activity is made of. For its own files only: its life is in activity.c, what its kind says of it in
 * activity-leaf.c, and how it is taken up after another daemon in activity-recover.c.
 */

#include <stdalign.h>

#include "basic/timers.h"
#include "runtime/activity.h"
#include "script/secrets.h"

struct Activity {
        Leaf leaf; /* first: a Leaf is its Activity */
        ActivityContext *context;
        GList link; /* of the context's activities */
        Params params;
        Secrets secrets; /* that are in them */
        Timer *timeout;
        Timer *halt_timeout; /* while it is stopping and may not take for ever */
        Status status;
        bool held;      /* the kind has been called, and its release is due */
        bool stopping;  /* the kind has been told to stop */
        bool no_room;   /* there was none for one of its results */
        bool timed_out; /* ... because its time was over */
        bool halted;    /* ... or its outcome is no longer asked for */
        Cause *cause;
        alignas(max_align_t) char op[];
};

static inline const LeafKind *activity_kind(const Activity *activity) {
        return activity->leaf.type->leaf;
}

static inline bool activity_is_condition(const Activity *activity) {
        return activity->leaf.type->class == NODE_CONDITION;
}

/* started: CLOCK_MONOTONIC microseconds. */
Activity *activity_new(ActivityContext *context, NodeId node, uint32_t attempt, uint64_t started);
/* RUNNING, or FAILURE with its cause. */
Status activity_fill_params(Activity *activity);
void activity_call_start(Activity *activity);
/* What start or recover of the kind has answered; within its limit from now on. */
void activity_set_begun(Activity *activity, Status status);
/* Who could not leave his results has not succeeded. */
Status activity_bound(Activity *activity, Status status);

/* True: it has ended, nothing will be reported. */
bool activity_stop(Activity *activity);
/* It has ended, or its value is another one. Frees it where nobody is interested any more. */
void activity_settle(Activity *activity, Status status);
/* Takes the cause. */
void activity_replace_cause(Activity *activity, Cause *cause);
/* The kind lets go of what it has. */
void activity_release(Activity *activity);

/* Nothing is left in the world of what was started there: it is started again, or has failed. */
void activity_give_up(Activity *activity);
