/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a run is made of. For its own files only: its life is in run.c, what happens to it in run-inputs.c, what its
 * machine asks for in run-host.c, and what is kept of what the machine tells in run-record.c.
 */

#include "definition/history.h"
#include "definition/node-locks.h"
#include "definition/variables.h"
#include "runtime/activity.h"
#include "runtime/node-timers.h"
#include "runtime/run.h"

struct Run {
        char *id, *tree, *instance;
        Definition *definition;
        const RunServices *services;
        TickerEntry turn;
        const RunCallbacks *callbacks;
        void *userdata;

        json_object *given; /* the variables that it was started with, or NULL */
        Variables *variables;
        ActivityContext context;
        Machine *machine;   /* NULL when it has finished, as are */
        NodeTimers *timers; /* these */
        NodeLocks *locks;
        History *history;
        Cause *last_look; /* why the condition that was looked at last is false, or NULL */
        NodeId refused;  /* the last SubTree or ForEach for which its variables were wrong, until it has failed for that
                          */
        int asked;       /* last, of variables: see definition/reasons.h */
        bool first_look; /* ... for the first time since it was released */

        Status status;
        bool halting;
        bool paused;                /* it gets no ticks, unless it is halting */
        bool moved;                 /* it stands at another breakpoint, which is to be told */
        bool busy;                  /* its machine is at work, and takes no inputs */
        GArray *kept;               /* inputs that have to wait for that; NULL: none */
        GArray *breakpoints;        /* of NodeId, in order; NULL: none, as with */
        GArray *stops;              /* those that it stands at */
        Cause *why;                 /* it is halting */
        Cause *cause;               /* of its result: of the run itself, and goes on with that of the root */
        uint64_t started, finished; /* CLOCK_REALTIME */
        uint64_t start, now;        /* CLOCK_MONOTONIC; now: of this tick or input */
};

/* Around everything that is said to the machine; run_end() is followed by run_wake(), unless the run is over. */
void run_begin(Run *run);
void run_end(Run *run);
/* It is to be ticked, if there is reason to. */
void run_wake(Run *run);

/* What can happen while the machine is at work. */
typedef enum RunInput {
        RUN_INPUT_CONDITION,
        RUN_INPUT_LOCK,
} RunInput;

void run_input(Run *run, RunInput kind, NodeId node);

/* From the main loop. */
void run_on_timer(NodeId node, void *userdata);
void run_on_activity_ended(Activity *activity, void *userdata);
void run_variable_changed(Run *run);
/* At any time. */
void run_on_activity_changed(Activity *activity, void *userdata);
void run_on_lock_granted(NodeId node, void *userdata);
void run_on_activity_output(Activity *activity, void *userdata);

extern const MachineHost run_host;

void run_drop_activity(Run *run, Activity *activity);

/* The node waits at its breakpoint; it does not any more. */
void run_stop_at(Run *run, NodeId node);
void run_leave_stop(Run *run, NodeId node);
bool run_stands_at(const Run *run, NodeId node);
/* Whatever it stands at, it goes on. */
void run_pass_breakpoints(Run *run);
void run_tell_moved(Run *run);

/* What the machine has told; see MachineHost. */
void run_record(Run *run, NodeId node, Status status, Reason reason);
