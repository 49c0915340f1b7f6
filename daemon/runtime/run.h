/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One execution of a tree: its machine, its blackboard, its leaves and timers, and what became of each node.
 */

#include "basic/locks.h"
#include "definition/definition.h"
#include "engine/machine.h"
#include "leaves/leaf.h"
#include "runtime/ticker.h"

typedef struct Run Run;

/* What all runs of a daemon share; outlives them. */
typedef struct RunServices {
        const LeafServices *leaves;
        Ticker *ticker;
        Locks *locks;
} RunServices;

/* What became of a node, for people. Times are CLOCK_REALTIME microseconds. */
typedef struct NodeReport {
        Status status;     /* the last thing that happened to it; IDLE: nothing yet */
        uint64_t since;    /* when it was last started; 0: never */
        uint64_t duration; /* how long it took, or runs by now */
        char *detail;      /* what it waits for, or why it failed; NULL: nothing to say. To be freed */
} NodeReport;

typedef struct RunCallbacks {
        void (*changed)(Run *run, void *userdata); /* nodes have changed: run_take_changes() has them */
        /* It was paused or resumed, or its breakpoints are others, or where it stands; see run-control.h. Or it is not
         * durable any more, which can happen while it is at work. */
        void (*state_changed)(Run *run, void *userdata);
        void (*finished)(Run *run, void *userdata); /* once, from the main loop; the run stays until it is freed */
} RunCallbacks;

/* The definition is referenced, services are borrowed. */
Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata);
void run_free(Run *run);

/* Before run_start(): the variables that it is started with, an object, which must not change any more. */
void run_give(Run *run, json_object *variables);
/* These, or NULL; borrowed. */
json_object *run_given(const Run *run);
/* Whose run it is: the user ID of who wanted it; 0, until it is set, for the daemon itself. */
void run_set_caller(Run *run, uint32_t uid);
uint32_t run_caller(const Run *run);
void run_start(Run *run);
/* Asks; it is over when the callback says that it has finished. why: the cause to be (taken), "halted by UID 0". Asking
 * again changes nothing. */
void run_halt(Run *run, Cause *why);

/* What it has started is left to the next daemon: it can only be freed after this. */
void run_abandon(Run *run);

const char *run_id(const Run *run);
const char *run_tree(const Run *run);
const char *run_instance(const Run *run);
const Definition *run_definition(const Run *run);
Blackboard *run_blackboard(Run *run);
/* RUNNING until it has finished: then SUCCESS, FAILURE, SKIPPED, HALTED or ERROR. */
Status run_status(const Run *run);
bool run_halting(const Run *run);
/* See progress_status_text(). */
const char *run_status_text(const Run *run);
/* Why, for a result other than SUCCESS: "Boot/LoadConfig: exited with status 3"; else NULL. Known already while it is
 * halting. */
const char *run_cause(const Run *run);
/* The same as it came up, from the run down to where it began. */
const Cause *run_cause_chain(const Run *run);
/* Why the node failed, was skipped or halted, or is in error; NULL: it is in none of these states. */
Cause *run_node_cause(const Run *run, NodeId node);
/* Has this start of the leaf not ended yet? Any numbers can be given. */
bool run_awaits(const Run *run, NodeId node, uint32_t attempt);
uint64_t run_started(const Run *run);
uint64_t run_finished(const Run *run); /* 0 while it runs */

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report);
/* Nodes that have changed since the last call: NodeIds in order of change, each once; NULL when there are none. Only
 * collected while watched. */
void run_set_watched(Run *run, bool watched);
GArray *run_take_changes(Run *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)
