/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of a run, for its own files only. Its life is in run.c, inputs in run-inputs.c, control by hand
 * in run-control.c, effects in run-host.c, the run record in run-journal.c, and recovery in run-recover.c.
 */

#include "run/activity.h"
#include "run/node-locks.h"
#include "run/node-timers.h"
#include "run/progress.h"
#include "run/run.h"

struct Run {
        const char *id, *tree, *instance; /* stored in names */
        const RunServices *services;
        TickerEntry turn;
        const RunCallbacks *callbacks;
        void *userdata;

        char *token;     /* NULL: the id is the token */
        uint32_t caller; /* UID of the owner */
        /* Number of kept inputs since the last input from outside. */
        unsigned unprompted : 31;
        bool ready_reported : 1;
        json_object *given; /* the variables of its start, or NULL */
        Progress *progress;
        ActivityContext context;
        NodeTimers *timers;         /* NULL before the first timer, and after the run has finished */
        NodeLocks *locks;           /* NULL likewise */
        GArray *kept;               /* inputs kept until the end of the tick; NULL: none */
        Timer *later;               /* delays kept inputs of a loop; NULL: none */
        uint64_t started, finished; /* CLOCK_REALTIME */
        uint64_t start;             /* CLOCK_MONOTONIC */
        uint64_t seed;
        char *not_durable; /* why it does not survive a restart; NULL: it does, or run records are not kept */
        char names[];
};

/* Makes a run without progress, times and seed. */
Run *run_make(const char *id, const char *tree, const char *instance, const RunServices *services,
              const RunCallbacks *callbacks, void *userdata);
/* Takes the progress; call it once. */
void run_set_progress(Run *run, Progress *progress);
/* The run has finished. */
void run_finish(Run *run);

/* Inputs that can occur during a tick. */
typedef enum RunInput {
        RUN_INPUT_CONDITION,
        RUN_INPUT_LOCK,
} RunInput;

void run_input(Run *run, RunInput kind, NodeId node);
/* Call it after each input, unless the run has finished. */
void run_settle(Run *run);

/* Called from the main loop. */
void run_on_timer(NodeId node, void *userdata);
bool run_on_activity_ended(Activity *activity, void *userdata);
/* Called at any time. */
void run_on_activity_changed(Activity *activity, void *userdata);
void run_on_lock_granted(NodeId node, void *userdata);
void run_on_activity_remembers(Activity *activity, json_object *memory, void *userdata);
void run_on_activity_rerun(Activity *activity, void *userdata);
void run_on_activity_output(Activity *activity, const char *key, json_object *value, void *userdata);

extern const ProgressHost run_host;
/* False: the run waits for the lock. */
bool run_take_lock(Run *run, NodeId node);

/* Tells that the run was paused or resumed, or that a breakpoint was reached. */
void run_tell_moved(Run *run);

/* CLOCK_MONOTONIC, microseconds. */
uint64_t run_now(void);
