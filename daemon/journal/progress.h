/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How far a run has come: its machine, its variables, what became of each node, where it stands and what its result is.
 * All of it follows from what happens to the run, so the same inputs at the same times give the same, whether they
 * happen now (runtime/run.h) or are read from a journal (journal/replay.h).
 *
 * Everything that happens goes through here, and is written down on its way where there is a journal: an input before
 * anything follows from it, and what the world answers before anything else is asked of the world.
 */

#include "definition/history.h"
#include "definition/variables.h"
#include "journal/journal-writer.h"

typedef struct Progress Progress;

/* A lock that a node holds or waits for. */
typedef struct ProgressLock {
        NodeId node;
        bool held;
        uint64_t since; /* it holds it, or waits */
} ProgressLock;

/* What there is to know of a leaf besides its status and its cause, for a snapshot. */
typedef struct LeafReport {
        uint32_t attempt;    /* from 1 */
        uint64_t since;      /* it was started then */
        bool begun;          /* an action that may have been started in the world */
        bool halted;         /* an action that is ending */
        bool remembers;      /* see progress_remember() */
        json_object *memory; /* borrowed, or NULL */
} LeafReport;

/* The world, as a run sees it. None of these may call back into the progress. */
typedef struct ProgressHost {
        /* A leaf, from its start on. attempt: how often its node has been started, from 1. */
        void *(*leaf_start)(NodeId node, uint32_t attempt, void *userdata);
        /* RUNNING, or how it has ended; of a condition, the value that was seen last. */
        Status (*leaf_status)(void *leaf);
        /* Conditions only: the value as it is now. look: how many looks at conditions there have been since the run is
         * at work on its last input, this one included. */
        Status (*leaf_look)(void *leaf, uint32_t look);
        /* Why, borrowed; NULL: there is nothing to say. */
        Cause *(*leaf_cause)(void *leaf);
        /* Actions only. True: has ended. False: is ending, progress_leaf_ended() follows. */
        bool (*leaf_halt)(void *leaf);
        /* NULL: there are no snapshots of this world. */
        void (*leaf_report)(void *leaf, LeafReport *ret_report);
        /* Nothing is asked of it any more. */
        void (*leaf_free)(void *leaf);

        /* One timer a node, and one for the run itself (NODE_NONE). CLOCK_MONOTONIC microseconds. */
        void (*timer_arm)(NodeId node, uint64_t deadline, void *userdata);
        void (*timer_disarm)(NodeId node, void *userdata);

        /* As in MachineHost. */
        bool (*lock)(NodeId node, void *userdata);
        void (*unlock)(NodeId node, void *userdata);

        /* The node has failed for a reason of its own; before: why it had failed the time before, or NULL. NULL: nobody
         * is to be told. */
        void (*failed)(NodeId node, const Cause *before, void *userdata);
        /* The journal could not be written on, and is gone. */
        void (*journal_failed)(const char *error, void *userdata);
} ProgressHost;

/* The definition is referenced, the host is borrowed. start: in CLOCK_MONOTONIC microseconds, as all times here. */
Progress *progress_new(Definition *definition, uint64_t seed, uint64_t start, const ProgressHost *host, void *userdata);
void progress_free(Progress *progress);

/* Another world takes over: what is armed is armed there, and the leaves are its own from now on, see
 * progress_set_leaf(). */
void progress_set_host(Progress *progress, const ProgressHost *host, void *userdata);
/* From now on it is written down; takes the writer, NULL: it is not. */
void progress_set_journal(Progress *progress, JournalWriter *writer);
/* The writer, borrowed, or NULL. */
JournalWriter *progress_journal(const Progress *progress);

/* The variables that it is started with, an object; before it is. */
void progress_give(Progress *progress, json_object *variables);

/*
 * Inputs. Not while it is at work: what happens then has to wait until that is over.
 */
void progress_start(Progress *progress, uint64_t now);
/* RUNNING, or its result. */
Status progress_tick(Progress *progress, uint64_t now);
/* Is there reason for a tick, and is it allowed one? */
bool progress_wants_tick(const Progress *progress);
/* Takes the cause. Once. */
void progress_halt(Progress *progress, Cause *why, uint64_t now);
/* True: the leaf was halted, and nothing more is asked of it; else it is, until it is freed. */
bool progress_leaf_ended(Progress *progress, NodeId node, uint64_t now);
void progress_condition_changed(Progress *progress, NodeId node, uint64_t now);
/* The same, but by what the run itself did while it was busy: a tree that always does so is slowed down. */
void progress_condition_turned(Progress *progress, NodeId node, uint64_t now);
void progress_timer_expired(Progress *progress, NodeId node, uint64_t now);
void progress_lock_granted(Progress *progress, NodeId node, uint64_t now);
/* From outside: an object. */
void progress_set_variables(Progress *progress, json_object *values, uint64_t now);
/* By a leaf, at any time; takes the value. */
void progress_set_output(Progress *progress, NodeId node, const char *key, json_object *value, uint64_t now);

/* By an action, at any time, before it does what cannot be seen in the world: what a daemon that takes the run up is to
 * know of it, an object, or NULL. It is written when this returns. */
void progress_remember(Progress *progress, NodeId node, json_object *memory, uint64_t now);

/* By hand, while it is running and not halting; see runtime/run-control.h. */
void progress_pause(Progress *progress, uint64_t now);
void progress_resume(Progress *progress, uint64_t now);
/* Goes on past its breakpoints; a tick may follow. */
void progress_step(Progress *progress, uint64_t now);
void progress_set_breakpoint(Progress *progress, NodeId node, bool set, uint64_t now);
/* True: it runs, and has the outcome when it has been halted. False: when it would next start. why: its cause (taken).
 */
bool progress_force(Progress *progress, NodeId node, Status status, Cause *why, uint64_t now);

/* Another daemon has taken the run up as its journal says. */
void progress_recovered(Progress *progress, uint64_t now);
/* ... and is about to start the action, again or because it had not been yet. */
void progress_rerun(Progress *progress, NodeId node, uint64_t now);

/*
 * What there is to see.
 */
Definition *progress_definition(const Progress *progress);
Variables *progress_variables(const Progress *progress);
const History *progress_history(const Progress *progress);
void progress_set_watched(Progress *progress, bool watched);
GArray *progress_take_changes(Progress *progress);
/* To be told of what follows from the inputs, in order; the callbacks only look, and may be NULL. */
typedef struct ProgressObserver {
        void (*changed)(NodeId node, void *userdata);  /* and the history has it */
        void (*computed)(NodeId node, void *userdata); /* what it has set by itself until now, if anything, is set */
} ProgressObserver;
/* The observer is borrowed. */
void progress_observe(Progress *progress, const ProgressObserver *observer, void *userdata);
/* NULL when it is over. */
const Machine *progress_machine(const Progress *progress);
bool progress_is_busy(const Progress *progress);
/* The time of the last input. */
uint64_t progress_now(const Progress *progress);

/* RUNNING until it is over: then SUCCESS, FAILURE, SKIPPED, HALTED or ERROR. */
Status progress_status(const Progress *progress);
/* As for people: "running", "paused", "halting" or how it ended. */
const char *progress_status_text(const Progress *progress);
/* Why, from the run down to where it began; already while it is halting. */
const Cause *progress_cause(const Progress *progress);
/* Why the node failed, was skipped or halted, or is in error; NULL: it is in none of these states. */
Cause *progress_node_cause(const Progress *progress, NodeId node);
bool progress_is_halting(const Progress *progress);
bool progress_is_paused(const Progress *progress);

/* Of NodeId, in order; NULL: none. */
const GArray *progress_breakpoints(const Progress *progress);
/* Where it stands: at breakpoints. */
const GArray *progress_stops(const Progress *progress);
bool progress_stands_at(const Progress *progress, NodeId node);
/* Are there others than when this was asked last, or is it paused and was not, or the other way round? */
bool progress_take_moved(Progress *progress);

/* What leaf_start has answered, or the host has said; NULL: it has not been started, or is no node of a leaf. */
void *progress_leaf(const Progress *progress, NodeId node);
void progress_set_leaf(Progress *progress, NodeId node, void *leaf);
/* Of ProgressLock, in the order in which they were asked for; borrowed. */
const GArray *progress_locks(const Progress *progress);
bool progress_waits_for_lock(const Progress *progress, NodeId node);
/* UINT64_MAX: it is not armed. */
uint64_t progress_deadline(const Progress *progress, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_free)
