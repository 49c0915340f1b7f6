/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns one execution of a tree: its machine, its blackboard, its leaves and timers, and the state of each node. The
 * manager creates runs, and the D-Bus interface reads them.
 */

#include "basic/locks.h"
#include "definition/definition.h"
#include "engine/machine.h"
#include "run/leaf.h"
#include "run/ticker.h"
#include "run/waiters.h"

typedef struct Run Run;

/* What all runs share. It must outlive them. */
typedef struct RunServices {
        const LeafServices *leaves;
        Ticker *ticker;
        Locks *locks;
        Waiters *waiters; /* may be NULL */
} RunServices;

/* The state of a node, for display. Times are CLOCK_REALTIME microseconds. */
typedef struct NodeReport {
        Status status;     /* the current status or last outcome; IDLE: never started */
        uint64_t since;    /* time of the last start; 0: never */
        uint64_t duration; /* how long it took, or has been running */
        char *detail;      /* what it waits for, or why it failed; NULL: none. The caller frees it */
} NodeReport;

typedef struct RunCallbacks {
        void (*changed)(Run *run, void *userdata); /* nodes have changed, see run_take_changes() */
        /* The run was paused or resumed, a breakpoint was set, removed or reached; see run-control.h. Or the run is not
         * durable any more, which can happen during a tick. */
        void (*state_changed)(Run *run, void *userdata);
        void (*ready)(Run *run, void *userdata);    /* once, when a node has set the run to ready; may be NULL */
        void (*finished)(Run *run, void *userdata); /* once, from the main loop; does not free the run */
} RunCallbacks;

/* References the definition, borrows the services. */
Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata);
void run_free(Run *run);

/* Sets the variables of the start: a JSON object, which must not change any more. Call it before run_start(). */
void run_give(Run *run, json_object *variables);
/* The variables of the start, or NULL; borrowed. */
json_object *run_given(const Run *run);
/* Sets the owner: the UID of the caller. Without it: 0, for btd itself. */
void run_set_caller(Run *run, uint32_t uid);
uint32_t run_caller(const Run *run);
/* Sets the token, which a run and its restarts share: the token of the first start, or else the id of the first run.
 * Without it: the run's own id. */
void run_set_token(Run *run, const char *token);
const char *run_token(const Run *run);
void run_start(Run *run);
/* Requests a halt; it is complete when finished() is called. why: the cause (taken), such as "halted by UID 0". Another
 * request changes nothing. */
void run_halt(Run *run, Cause *why);

/* Another unit waits for the run, see waiters.h. */
void run_tell_awaited(Run *run);

/* Leaves all that the run has started to the next btd. After this, the run can only be freed. */
void run_abandon(Run *run);

const char *run_id(const Run *run);
const char *run_tree(const Run *run);
const char *run_instance(const Run *run);
const Definition *run_definition(const Run *run);
Blackboard *run_blackboard(Run *run);
/* RUNNING until it has finished; then SUCCESS, FAILURE, SKIPPED, HALTED or ERROR. */
Status run_status(const Run *run);
bool run_halting(const Run *run);
/* See progress_status_text(). */
const char *run_status_text(const Run *run);
/* Why the result is not SUCCESS, such as "Boot/LoadConfig: exited with status 3"; NULL: no cause. Known already while
 * the run is halting. */
const char *run_cause(const Run *run);
/* The chain of this cause, from the run down to the origin. */
const Cause *run_cause_chain(const Run *run);
/* Why the node failed, was skipped, was halted, or has an error; NULL: none of these. */
Cause *run_node_cause(const Run *run, NodeId node);
/* Has this attempt of the leaf not ended yet? Accepts any numbers. */
bool run_awaits(const Run *run, NodeId node, uint32_t attempt);
uint64_t run_started(const Run *run);
uint64_t run_finished(const Run *run); /* 0: not finished */
/* See progress_ready(); 0: not ready. */
uint64_t run_ready(const Run *run);

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report);
/* The nodes that have changed since the last call: NodeIds in order of change, each once; NULL: none. Collected only
 * while the run is watched. */
void run_set_watched(Run *run, bool watched);
GArray *run_take_changes(Run *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)
