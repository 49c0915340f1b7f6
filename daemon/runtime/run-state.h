/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a run is made of. For its own files only: its life is in run.c, what its machine asks for in run-host.c, and
 * what is kept of what the machine tells in run-record.c.
 */

#include "definition/history.h"
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
        History *history;
        Cause *last_look; /* why the condition that was looked at last is false, or NULL */
        Guard last_guard; /* that was asked for: if one has decided, it was this */
        bool first_look;  /* ... for the first time since it was released */

        Status status;
        bool halting, ticking;
        Cause *why;   /* it is halting */
        Cause *cause; /* of its result: of the run itself, and goes on with that of the root */
        uint64_t started, finished; /* CLOCK_REALTIME */
        uint64_t start, now;        /* CLOCK_MONOTONIC; now: of this tick or input */
};

/* Everything that happens outside of a tick goes through here, and is followed by run_wake(). */
void run_begin_input(Run *run);
/* It is to be ticked. */
void run_wake(Run *run);

extern const MachineHost run_host;

/* From the main loop. */
void run_on_timer(NodeId node, void *userdata);
void run_on_activity_ended(Activity *activity, void *userdata);
void run_on_activity_changed(Activity *activity, void *userdata);

void run_drop_activity(Run *run, Activity *activity);

/* What the machine has told; see MachineHost. */
void run_record(Run *run, NodeId node, Status status, Reason reason);
