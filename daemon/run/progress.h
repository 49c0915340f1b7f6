/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Executes one run: it owns the machine, the variables, the history of the nodes, and the result. All of it follows
 * from the inputs, so the same inputs at the same times give the same states, whether they happen now (run/run.h)
 * or are read from a run record (run/replay.h).
 *
 * All inputs pass through here and are written to the run record, if there is one: an input before its effects, and
 * each answer of the host before the next request to the host.
 */

#include "record/journal-writer.h"
#include "run/history.h"
#include "run/variables.h"

typedef struct Progress Progress;

/* A lock that a node holds or waits for. */
typedef struct ProgressLock {
        NodeId node;
        bool held;
        uint64_t since; /* since then it holds the lock, or waits */
} ProgressLock;

/* The state of a leaf besides its status and its cause, for a snapshot. */
typedef struct LeafReport {
        uint32_t attempt;    /* from 1 */
        uint64_t since;      /* the time of its start */
        uint64_t suspended;  /* at that time, see progress_suspended() */
        bool begun;          /* an action that may have had effects outside */
        bool halted;         /* an action that is ending */
        bool remembers;      /* see progress_remember() */
        json_object *memory; /* borrowed, or NULL */
        json_object *noted;  /* as given at its start */
} LeafReport;

/* The environment of a run, which starts leaves and keeps timers and locks. Its functions must not call functions of
 * the progress for inputs. */
typedef struct ProgressHost {
        /* Starts a leaf. attempt: how often its node has been started, from 1. noted: the values of the variables to
         * which its parameters refer, see definition_note_variables(); borrowed, or NULL. */
        void *(*leaf_start)(NodeId node, uint32_t attempt, json_object *noted, void *userdata);
        /* RUNNING, or the outcome; for a condition, its last value. */
        Status (*leaf_status)(void *leaf);
        /* Evaluates a condition. evaluation: the number of evaluations of conditions since the last input, including
         * this one. */
        Status (*leaf_evaluate)(void *leaf, uint32_t evaluation);
        /* The cause of the status, borrowed; NULL: none. */
        Cause *(*leaf_cause)(void *leaf);
        /* Halts an action. True: it has ended. False: it is ending, and progress_leaf_ended() follows. */
        bool (*leaf_halt)(void *leaf);
        /* NULL: this host does not support snapshots. */
        void (*leaf_report)(void *leaf, LeafReport *ret_report);
        /* Frees the leaf. */
        void (*leaf_free)(void *leaf);

        /* See progress_suspended(); NULL: the machine is never suspended. */
        uint64_t (*suspended)(void *userdata);

        /* One timer for each node, and one for the run itself (NODE_NONE). CLOCK_MONOTONIC microseconds. */
        void (*timer_arm)(NodeId node, uint64_t deadline, void *userdata);
        void (*timer_disarm)(NodeId node, void *userdata);

        /* As in MachineHost. */
        bool (*lock)(NodeId node, void *userdata);
        void (*unlock)(NodeId node, void *userdata);

        /* The node has failed with a cause of its own; before: the cause of its previous failure, or NULL. Callback
         * NULL: failures are not reported. */
        void (*failed)(NodeId node, const Cause *before, void *userdata);
        /* The run record could not be written, and was deleted. */
        void (*journal_failed)(const char *error, void *userdata);
} ProgressHost;

/* References the definition, and borrows the host. start: CLOCK_MONOTONIC microseconds, as all times here. */
Progress *progress_new(Definition *definition, uint64_t seed, uint64_t start, const ProgressHost *host, void *userdata);
void progress_free(Progress *progress);

/* Replaces the host: armed timers are armed there, and the leaves belong to it, see progress_set_leaf(). */
void progress_set_host(Progress *progress, const ProgressHost *host, void *userdata);
/* Starts writing the run record; takes the writer. NULL: nothing is written. */
void progress_set_journal(Progress *progress, JournalWriter *writer);
/* Writes a snapshot, so that the next daemon, which may have another engine, need not replay anything, and closes the
 * run record. A negative errno with an error message: the run record is still valid, but must be replayed. */
int progress_close(Progress *progress, char **ret_error);
/* The writer, borrowed, or NULL. */
JournalWriter *progress_journal(const Progress *progress);

/* Sets the variables given at the start, an object; before progress_start(). */
void progress_give(Progress *progress, json_object *variables);

/* Inputs. Do not call them while the run processes an input; queue the input instead. */
void progress_start(Progress *progress, uint64_t now);
/* RUNNING, or the result of the run. */
Status progress_tick(Progress *progress, uint64_t now);
/* True if a tick is needed and allowed. */
bool progress_wants_tick(const Progress *progress);
/* Takes the cause. At most once. */
void progress_halt(Progress *progress, Cause *why, uint64_t now);
/* True: the leaf was halted and is not used any more, so the caller frees it; else it is used until leaf_free(). */
bool progress_leaf_ended(Progress *progress, NodeId node, uint64_t now);
void progress_condition_changed(Progress *progress, NodeId node, uint64_t now);
/* The same for a change that the run itself caused while it processed an input: a tree that does this all the time is
 * slowed down. */
void progress_condition_turned(Progress *progress, NodeId node, uint64_t now);
void progress_timer_expired(Progress *progress, NodeId node, uint64_t now);
void progress_lock_granted(Progress *progress, NodeId node, uint64_t now);
/* Sets variables from outside: an object. */
void progress_set_variables(Progress *progress, json_object *values, uint64_t now);
/* Sets a variable for a leaf, at any time; takes the value. */
void progress_set_output(Progress *progress, NodeId node, const char *key, json_object *value, uint64_t now);

/* Stores data of an action for its recovery, at any time, before an effect that cannot be observed outside: an object,
 * or NULL. It is written when this returns. */
void progress_remember(Progress *progress, NodeId node, json_object *memory, uint64_t now);

/* Requests of users, while the run is running and not halting; see run/run-control.h. */
void progress_pause(Progress *progress, uint64_t now);
void progress_resume(Progress *progress, uint64_t now);
/* Continues past the current breakpoints, for one tick. */
void progress_step(Progress *progress, uint64_t now);
void progress_set_breakpoint(Progress *progress, NodeId node, bool set, uint64_t now);
/* Forces an outcome of the node. True: it is running, and gets the outcome when it has been halted. False: it gets the
 * outcome when it starts next. why: its cause (taken). */
bool progress_force(Progress *progress, NodeId node, Status status, Cause *why, uint64_t now);

/* Records that another daemon has recovered the run. */
void progress_recovered(Progress *progress, uint64_t now);
/* Records that this daemon is about to start the action, either again or for the first time. noted: as at its start. */
void progress_rerun(Progress *progress, NodeId node, json_object *noted, uint64_t now);

/* Functions that read the state. */
Definition *progress_definition(const Progress *progress);
Variables *progress_variables(const Progress *progress);
const History *progress_history(const Progress *progress);
void progress_set_watched(Progress *progress, bool watched);
GArray *progress_take_changes(Progress *progress);
/* Reports the effects of the inputs, in order. The callbacks must not change the progress, and may be NULL. */
typedef struct ProgressObserver {
        void (*changed)(NodeId node, void *userdata);  /* the history already has the change */
        void (*computed)(NodeId node, void *userdata); /* variables that the node itself has set are set */
        void (*ready)(void *userdata);                 /* a node has made the run ready */
} ProgressObserver;
/* The observer is borrowed. */
void progress_observe(Progress *progress, const ProgressObserver *observer, void *userdata);
/* NULL after the run has finished. */
const Machine *progress_machine(const Progress *progress);
bool progress_is_busy(const Progress *progress);
/* How far CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC, in microseconds, when the run last checked; only for a tree that
 * uses it. */
uint64_t progress_suspended(const Progress *progress);
void progress_set_suspended(Progress *progress, uint64_t suspended);
/* The time of the last input. */
uint64_t progress_now(const Progress *progress);

/* RUNNING, then the result: SUCCESS, FAILURE, SKIPPED, HALTED or ERROR. */
Status progress_status(const Progress *progress);
/* For messages: "running", "paused", "halting" or the result. */
const char *progress_status_text(const Progress *progress);
/* True if a node has made the run ready. */
bool progress_was_made_ready(const Progress *progress);
/* The time when a node made the run ready, or else when the run succeeded; UINT64_MAX: it is not ready. */
uint64_t progress_ready(const Progress *progress);
/* The cause of the result, or of the halt while the run is halting; with the chain down to the origin. */
const Cause *progress_cause(const Progress *progress);
/* Why the node failed, was skipped or halted, or is in ERROR; NULL: it is in none of these states. */
Cause *progress_node_cause(const Progress *progress, NodeId node);
bool progress_is_halting(const Progress *progress);
/* True if the node was halted, and nodes below it have not ended yet. For controls and decorators. */
bool progress_is_ending(const Progress *progress, NodeId node);
bool progress_is_paused(const Progress *progress);

/* Returns the nodes with breakpoints, as sorted NodeIds, or NULL if there are none. */
const GArray *progress_breakpoints(const Progress *progress);
/* The breakpoints at which the run is paused. */
const GArray *progress_stops(const Progress *progress);
bool progress_stands_at(const Progress *progress, NodeId node);
/* True if breakpoints, or whether the run is paused, have changed since the last call. */
bool progress_take_moved(Progress *progress);

/* The return value of leaf_start(), or the leaf that the host has set; NULL: it was not started, or the node is not a
 * leaf. */
void *progress_leaf(const Progress *progress, NodeId node);
void progress_set_leaf(Progress *progress, NodeId node, void *leaf);
/* Returns the ProgressLocks in the order in which the nodes requested them. The array is borrowed. */
const GArray *progress_locks(const Progress *progress);
bool progress_waits_for_lock(const Progress *progress, NodeId node);
/* The same for CLOCK_BOOTTIME, if the node's times continue while the machine is suspended. */
uint64_t progress_boottime_deadline(const Progress *progress, NodeId node);
/* UINT64_MAX: the timer is not armed. */
uint64_t progress_deadline(const Progress *progress, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_free)
