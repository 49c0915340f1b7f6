/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the inputs of a run, and the host that carries out its effects. The same inputs at the same times, with the
 * same answers of the host, give the same states, whether they happen now (live-run.c) or are read from a run record
 * (replay.c). The caller of the inputs has the clock.
 *
 * All inputs pass through here and are written to the run record, if there is one: an input before its effects, and
 * each answer of the host before the next request to the host.
 */

#include "record/record-writer.h"
#include "run/run.h"

/* The data of a run that are known at its start, and are in the header of its run record. */
typedef struct RunOrigin {
        const char *id, *tree, *instance;
        const char *starter; /* who starts the run, or NULL */
        uint64_t seed;
        uint64_t started; /* CLOCK_REALTIME, microseconds */
        uint64_t start;   /* CLOCK_MONOTONIC, microseconds, as all times here */
} RunOrigin;

/* A lock that a node holds or waits for. */
typedef struct RunLock {
        NodeId node;
        bool held;
        uint64_t since; /* since then it holds the lock, or waits */
} RunLock;

/* The state of a leaf besides its status and its cause, for a snapshot. */
typedef struct LeafReport {
        uint32_t attempt;   /* from 1 */
        uint64_t since;     /* the time of its start */
        uint64_t suspended; /* at that time, see run_suspended() */
        bool begun;         /* an action that may have had effects outside */
        bool halted;        /* an action that is ending */
        bool has_memo;      /* see input_memo() */
        json_object *memo;  /* borrowed, or NULL */
        json_object *noted; /* as given at its start */
} LeafReport;

/* The environment of a run, which starts leaves and keeps timers and locks. Its functions must not call functions for
 * inputs. */
typedef struct RunHost {
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
        /* Halts an action. True: it has ended. False: it is ending, and input_leaf_ended() follows. */
        bool (*leaf_halt)(void *leaf);
        /* NULL: this host does not support snapshots. */
        void (*leaf_report)(void *leaf, LeafReport *ret_report);
        /* Frees the leaf. */
        void (*leaf_free)(void *leaf);

        /* See run_suspended(); NULL: the machine is never suspended. */
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
        void (*record_failed)(const char *error, void *userdata);
} RunHost;

/* Makes a run that is not live. Copies the origin, references the definition, and borrows the host. */
Run *run_make(const RunOrigin *origin, Definition *definition, const RunHost *host, void *userdata);
/* Makes a live run, as run_new() does, but without drawing a seed and reading clocks. */
Run *run_make_live(const RunOrigin *origin, Definition *definition, const RunServices *services,
                   const RunCallbacks *callbacks, void *userdata);
/* Replaces the host: armed timers are armed there, and the leaves belong to it, see run_set_leaf(). */
void run_set_host(Run *run, const RunHost *host, void *userdata);
/* Starts writing the run record; takes the writer. NULL: nothing more is written. */
void run_set_writer(Run *run, RecordWriter *writer);

/* Do not call them while the run processes an input; queue the input instead. */
void input_start(Run *run, uint64_t now);
/* RUNNING, or the result of the run. */
Status input_tick(Run *run, uint64_t now);
/* True if a tick is needed and allowed. */
bool run_wants_tick(const Run *run);
/* Takes the cause. At most once. */
void input_halt(Run *run, Cause *why, uint64_t now);
/* True: the leaf was halted and is not used any more, so the caller frees it; else it is used until leaf_free(). */
bool input_leaf_ended(Run *run, NodeId node, uint64_t now);
void input_condition_changed(Run *run, NodeId node, uint64_t now);
/* The same for a change that the run itself caused while it processed an input: a tree that does this all the time is
 * slowed down. */
void input_condition_turned(Run *run, NodeId node, uint64_t now);
/* A condition that is false, see run_is_false(), still is, but for another reason. */
void input_reason(Run *run, NodeId node, const Cause *cause, uint64_t now);
void input_timer_expired(Run *run, NodeId node, uint64_t now);
void input_lock_granted(Run *run, NodeId node, uint64_t now);
/* Sets variables from outside: an object. by: who does it, as in "UID 0 (btctl)"; NULL: not known. */
void input_variables(Run *run, json_object *values, const char *by, uint64_t now);
/* Sets a variable for a leaf, at any time; takes the value. */
void input_output(Run *run, NodeId node, const char *key, json_object *value, uint64_t now);

/* Stores a memo of an action for its recovery, at any time, before an effect that cannot be observed outside: an
 * object, or NULL. It is written when this returns. */
void input_memo(Run *run, NodeId node, json_object *memo, uint64_t now);

/* Requests of users, while the run is running and not halting. by: as above. */
void input_pause(Run *run, const char *by, uint64_t now);
void input_resume(Run *run, const char *by, uint64_t now);
/* Continues past the current breakpoints, for one tick. */
void input_step(Run *run, const char *by, uint64_t now);
void input_breakpoint(Run *run, NodeId node, bool set, const char *by, uint64_t now);
/* Forces an outcome of the node. True: it is running, and gets the outcome when it has been halted. False: it gets the
 * outcome when it starts next. why: its cause (taken). */
bool input_force(Run *run, NodeId node, Status status, Cause *why, uint64_t now);

/* Records that another daemon has recovered the run. */
void input_recovered(Run *run, uint64_t now);
/* Records that this daemon is about to start the action, either again or for the first time. noted: as at its start. */
void input_rerun(Run *run, NodeId node, json_object *noted, uint64_t now);
/* For replays: the machine was suspended, before the next input. */
void input_suspended(Run *run, uint64_t suspended, uint64_t now);
void run_set_suspended(Run *run, uint64_t suspended);

/* True while the run processes an input. */
bool run_is_busy(const Run *run);
/* The return value of leaf_start(), or the leaf that the host has set; NULL: it was not started, or the node is not a
 * leaf. */
void *run_leaf(const Run *run, NodeId node);
/* Was the last value of the condition FAILURE? */
bool run_is_false(const Run *run, NodeId node);
void run_set_leaf(Run *run, NodeId node, void *leaf);
/* Returns the RunLocks in the order in which the nodes requested them. The array is borrowed. */
const GArray *run_locks(const Run *run);
bool run_waits_for_lock(const Run *run, NodeId node);
