/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a run is made of. For its own files only: its life is in run.c, what happens to it in run-inputs.c and, by hand,
 * in run-control.c, what it wants of the world in run-host.c, where it is written down in run-journal.c, and how it is
 * taken up after another daemon in run-recover.c.
 */

#include "definition/node-locks.h"
#include "journal/progress.h"
#include "runtime/activity.h"
#include "runtime/node-timers.h"
#include "runtime/run.h"

struct Run {
        char *id, *tree, *instance;
        const RunServices *services;
        TickerEntry turn;
        const RunCallbacks *callbacks;
        void *userdata;

        uint32_t caller;    /* whose it is */
        json_object *given; /* the variables that it was started with, or NULL */
        Progress *progress;
        ActivityContext context;
        NodeTimers *timers;         /* NULL when it has finished */
        NodeLocks *locks;           /* as is this */
        GArray *kept;               /* inputs that have to wait until it is no longer at work; NULL: none */
        unsigned unprompted;        /* how often it has given itself such, since anything else has happened */
        Timer *later;               /* until it gets those that it still has to wait for, or NULL */
        uint64_t started, finished; /* CLOCK_REALTIME */
        uint64_t start;             /* CLOCK_MONOTONIC */
        uint64_t seed;
        char *not_durable; /* why it is not, or not any more; NULL: it is, or nobody cares */
};

/* All but what it has come to: its progress, its times, its seed. */
Run *run_make(const char *id, const char *tree, const char *instance, const RunServices *services,
              const RunCallbacks *callbacks, void *userdata);
/* Takes the progress, once. */
void run_set_progress(Run *run, Progress *progress);
/* It is over. */
void run_finish(Run *run);

/* What can happen while it is at work. */
typedef enum RunInput {
        RUN_INPUT_CONDITION,
        RUN_INPUT_LOCK,
} RunInput;

void run_input(Run *run, RunInput kind, NodeId node);
/* After anything else that has happened to it, unless it is over. */
void run_settle(Run *run);

/* From the main loop. */
void run_on_timer(NodeId node, void *userdata);
bool run_on_activity_ended(Activity *activity, void *userdata);
/* At any time. */
void run_on_activity_changed(Activity *activity, void *userdata);
void run_on_lock_granted(NodeId node, void *userdata);
void run_on_activity_remembers(Activity *activity, json_object *memory, void *userdata);
void run_on_activity_rerun(Activity *activity, void *userdata);
void run_on_activity_output(Activity *activity, const char *key, json_object *value, void *userdata);

extern const ProgressHost run_host;
/* False: it is to be had later. */
bool run_take_lock(const Run *run, NodeId node);

/* Where it stands, or whether it is paused, may be different now. */
void run_tell_moved(Run *run);

/* CLOCK_MONOTONIC. */
uint64_t run_now(void);
