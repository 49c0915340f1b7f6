/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns one execution of a tree: its machine, its variables, the history of its nodes, its result, and its run record.
 * All of it follows from the inputs in run/run-inputs.h. A run that btd executes is live: it also has leaves, timers
 * and locks. The manager creates live runs, and the D-Bus interface reads them. A run can also be replayed, see
 * run/replay.h.
 */

#include "basic/locks.h"
#include "definition/definition.h"
#include "engine/machine.h"
#include "record/record-store.h"
#include "run/leaf.h"
#include "run/node-history.h"
#include "run/ticker.h"
#include "run/variables.h"
#include "run/waiters.h"

typedef struct Run Run;

/* Counts what a run has done since its start, also before a restart of btd. */
typedef struct RunCounts {
        uint64_t ticks, inputs;                  /* a tick is not an input */
        uint64_t action_starts, action_restarts; /* action_restarts: those after the first start of the same action */
} RunCounts;

/* What all live runs share. It must outlive them. */
typedef struct RunServices {
        const LeafServices *leaves;
        Ticker *ticker;
        Locks *locks;
        Waiters *waiters;  /* may be NULL */
        RunCounts *totals; /* of all live runs, while they are live; may be NULL */
} RunServices;

/* The state of a node, for display. Times are CLOCK_REALTIME microseconds. */
typedef struct NodeReport {
        Status status;     /* the current status or last outcome; IDLE: never started */
        const char *state; /* its name, "waiting" or "halting"; see node_history_state() */
        uint64_t since;    /* see node_history_since(); 0: never started */
        uint64_t duration; /* see node_history_duration() */
        char *element;     /* see run_node_element(); NULL: none */
        char *detail;      /* half a line: what it waits for, or why it failed; NULL: none */
} NodeReport;

typedef struct RunCallbacks {
        void (*changed)(Run *run, void *userdata); /* nodes have changed, see run_take_changes() */
        /* The run was paused or resumed, a breakpoint was set, removed or reached. Or the run is not durable any more,
         * which can happen during a tick. */
        void (*state_changed)(Run *run, void *userdata);
        void (*ready)(Run *run, void *userdata);    /* once, when a node has set the run to ready; may be NULL */
        void (*finished)(Run *run, void *userdata); /* once, from the main loop; does not free the run */
        /* Takes the messages about the run, with a level of syslog(3). NULL: they are logged. */
        void (*message)(NodeId node, int level, const char *text, void *userdata);
} RunCallbacks;

/* Makes a live run. References the definition, borrows the services. */
Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata);
void run_free(Run *run);

/* Checks the arguments of a start before a run is made. variables: a JSON object or NULL. -EINVAL: with an error
 * message.
 */
int run_check_start(const char *instance, json_object *variables, char **ret_error);
int run_check_token(const char *token, char **ret_error);

/* Sets the variables of the start: a JSON object, which must not change any more. Call it before run_start(). */
void run_give(Run *run, json_object *variables);
/* The variables of the start, or NULL; borrowed. */
json_object *run_given(const Run *run);
/* Sets the owner: the UID of the caller. Without it: 0, for btd itself. What the run uses counts for the owner. */
void run_set_caller(Run *run, uint32_t uid);
uint32_t run_caller(const Run *run);
/* For messages: "UID 0 (btctl)", "autostart" or RUN_RESTART; NULL: unknown. */
const char *run_starter(const Run *run);
/* The same; NULL: nobody counts what users use. */
User *run_user(const Run *run);
/* Sets the token, which a run and its restarts share: the token of the first start, or else the id of the first run.
 * Without it: the run's own id. */
void run_set_token(Run *run, const char *token);
const char *run_token(const Run *run);
/* What a run takes over from another one, which has finished: see retry.h. */
typedef struct RunTaken {
        const char *run, *hash; /* hash: of the tree whose nodes these are */
        const GArray *nodes;    /* NodeId: they succeed when they are started first, without being executed */
        json_object *variables; /* an object */
} RunTaken;
/* taken: borrowed, during the call only; or NULL. */
void run_start(Run *run, const RunTaken *taken);
/* Requests a halt; it is complete when finished() is called. why: the cause (taken), such as "halted by UID 0". Another
 * request changes nothing. */
void run_halt(Run *run, Cause *why);

/* Another unit waits for the run, see waiters.h. */
void run_tell_awaited(Run *run);
/* btd stops, and waits until the halt of the run completes. So does its own unit. */
void run_end_with_btd(Run *run);

/* Ends the run as UNFINISHED: the machine goes down, and it has not ended in time. What it has started is left alone.
 */
void run_give_up(Run *run);

/* Leaves all that the run has started to the next btd. After this, the run can only be freed. */
void run_abandon(Run *run);

/* The control of a live run by hand. These functions do nothing for a run that has finished or is halting. */

/* Pauses the run: starts nothing new. What already runs continues, and inputs are kept until the run is resumed. */
void run_pause(Run *run, const char *by);
void run_resume(Run *run, const char *by);
/* Does one tick of a paused run. False: there are no inputs to process. */
bool run_step(Run *run, const char *by);
/* Pauses the run before the node starts. The node starts when the run is resumed or stepped. */
void run_set_breakpoint(Run *run, NodeId node, bool set, const char *by);
/* Forces this outcome of the node: SUCCESS, FAILURE or SKIPPED. True: the node is running; it is halted, and then has
 * the outcome. False: the node has the outcome, once, when it would start next. why: its cause (taken). */
bool run_force(Run *run, NodeId node, Status status, Cause *why);
/* Sets all variables of the object, or none. -EINVAL with an error message. */
int run_set_values(Run *run, json_object *values, const char *by, char **ret_error);

/* The run record of a live run, from its start to its end. */

/* The starter of a run that follows one that has ended. */
#define RUN_RESTART "restart"
/* Creates the run record; call it before run_start(). starter: who starts the run, for messages. Logs a warning if the
 * run record cannot be created. */
void run_begin_record(Run *run, RecordStore *store, const char *starter);
/* The header of that record, without the files: a recovered run would write the same. */
RecordHeader run_record_header(const Run *run);
/* The run has no run record, or loses it, because of this error. */
void run_lose_record(Run *run, const char *error);
/* Closes the run record and keeps the file. */
void run_close_record(Run *run);
/* The same for an unfinished run: writes a snapshot first, so that the next btd, which may have another engine, need
 * not replay anything. */
void run_leave_record(Run *run);
/* Call it when the run has finished. */
void run_end_record(Run *run, RecordStore *store);
/* Of its run record, in bytes; 0: it has none. */
uint64_t run_record_size(const Run *run);
/* Would the run survive a restart of btd? */
bool run_is_durable(const Run *run);
/* Why the run would not survive, for messages; NULL: it would, or run records are not kept at all. */
const char *run_not_durable(const Run *run);

/* The state of any run. */

const char *run_id(const Run *run);
const char *run_tree(const Run *run);
const char *run_instance(const Run *run);
Definition *run_definition(const Run *run);
Variables *run_variables(const Run *run);
/* The variables that are visible from outside. */
Blackboard *run_blackboard(const Run *run);
const NodeHistory *run_node_history(const Run *run);
/* NULL after the run has finished. */
const Machine *run_machine(const Run *run);

/* RUNNING until it has finished; then SUCCESS, FAILURE, SKIPPED, HALTED or ERROR. */
Status run_status(const Run *run);
/* For messages: "running", "paused", "halting" or the result. */
const char *run_status_text(const Run *run);
bool run_halting(const Run *run);
bool run_paused(const Run *run);
/* Why the result is not SUCCESS, such as "Boot/LoadConfig: exited with status 3"; NULL: no cause. Known already while
 * the run is halting. */
const char *run_cause(const Run *run);
/* If the run has finished, this is what record_summary_read() reads from its record. The caller clears it. */
RunSummary run_summary(const Run *run);
/* The outputs of a run that has succeeded or failed, see variables_outputs(). */
json_object *run_outputs(const Run *run, uint32_t *ret_n_more);
/* The chain of this cause, from the run down to the origin. */
const Cause *run_cause_chain(const Run *run);
/* Why the node failed, was skipped, was or is being halted, or has an error; NULL: none of these. */
Cause *run_node_cause(const Run *run, NodeId node);
/* Describes what a node waits for: "at a breakpoint", "for the lock 'disk'", "for Fetch to stop". To be freed. Returns
 * NULL if it waits for nothing, so that the next tick starts it. */
char *run_describe_waiting(const Run *run, NodeId node);
/* The element that this child of a ForEach, or copy of it, got last, as text for people; NULL: none, or it is no such
 * child. Borrowed, until the next change. */
const char *run_node_element(const Run *run, NodeId node);
/* The same for the node of a cause in a chain; NULL also if the node has run for another element since. */
const char *run_cause_element(const Run *run, const Cause *cause);
/* The path of the node with the elements of each ForEach on it: "All/One[s3]/Load", or "All/One[2: s3]/Load" in a copy.
 * To be freed. NULL: there are none, or it is an event of the run. */
char *run_node_label(const Run *run, NodeId node);
/* Has this attempt of the leaf not ended yet? Accepts any numbers. For live runs. */
bool run_awaits(const Run *run, NodeId node, uint32_t attempt);

/* CLOCK_REALTIME, microseconds. */
uint64_t run_started(const Run *run);
uint64_t run_finished(const Run *run); /* 0: not finished */
/* See run_ready_at(); 0: not ready. */
uint64_t run_ready(const Run *run);
/* The time when a node made the run ready, or else when the run succeeded: CLOCK_MONOTONIC, microseconds; UINT64_MAX:
 * it is not ready. */
uint64_t run_ready_at(const Run *run);
/* True if a node has made the run ready. */
bool run_was_made_ready(const Run *run);
/* One of these times in CLOCK_MONOTONIC, microseconds; 0 stays 0. */
uint64_t run_time_monotonic(const Run *run, uint64_t time);
/* The time of the last input: CLOCK_MONOTONIC, microseconds. */
uint64_t run_now(const Run *run);
/* UINT64_MAX: the timer of the node is not armed. NODE_NONE: the timer of the run. */
uint64_t run_deadline(const Run *run, NodeId node);
/* The same for CLOCK_BOOTTIME, if the node's times continue while the machine is suspended. */
uint64_t run_boottime_deadline(const Run *run, NodeId node);

/* The breakpoints that are set, and those at which the run is paused: NodeIds, sorted; NULL: none. */
const GArray *run_breakpoints(const Run *run);
const GArray *run_stops(const Run *run);
bool run_is_at_breakpoint(const Run *run, NodeId node);

const RunCounts *run_counts(const Run *run);

/* How many nodes wait for their lock. */
unsigned run_n_lock_waiters(const Run *run);

void node_report_clear(NodeReport *report);
/* For live runs. The caller clears the report. */
void run_node_report(const Run *run, NodeId node, NodeReport *ret_report);
/* The nodes that have changed since the last call: NodeIds in order of change, each once; NULL: none. Collected only
 * while the run is watched. */
void run_set_watched(Run *run, bool watched);
GArray *run_take_changes(Run *run);

/* Reports the effects of the inputs, in order. The callbacks must not change the run, and may be NULL. */
typedef struct RunObserver {
        void (*changed)(NodeId node, void *userdata); /* the node history already has the change */
        void (*ready)(void *userdata);                /* a node has made the run ready */
} RunObserver;
/* The observer is borrowed. */
void run_observe(Run *run, const RunObserver *observer, void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)
