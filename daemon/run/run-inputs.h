/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the inputs of a run, and what it needs while it processes one. An input is processed in three steps: the
 * machine computes, and asks only for answers that change nothing outside of the run; the input, the answers and the
 * effects are written to the run record, as one block; then the host carries out the effects, in order. What comes of
 * them is an input of its own. So the record never lacks a part of what has led to an effect, and a block that is cut
 * off had none.
 *
 * The same inputs at the same times, with the same answers, give the same states and the same effects, whether they
 * happen now (live-run.c) or are read from a run record (replay.c). The caller of the inputs has the clock.
 */

#include "record/record-writer.h"
#include "run/run.h"

typedef struct Replay Replay; /* run/replay.h */

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

/* A leaf that was started and is still needed. The run record has all of it but the activity. */
typedef struct RunLeaf {
        NodeId node;
        uint32_t attempt; /* from 1 */
        /* An action is RUNNING, or has an outcome that no tick has seen yet. A condition has its last value. */
        Status status : 4;
        bool known : 1;      /* a condition that was evaluated; before, its value is RUNNING */
        bool halted : 1;     /* an action that is ending */
        bool has_memo : 1;   /* see input_memo() */
        bool starting : 1;   /* its EFFECT_START was not carried out yet */
        Status counts : 4;   /* of a condition: what its value counted as when it was evaluated last; IDLE: never */
        uint64_t since : 52; /* the time of its start */
        Cause *cause;        /* of the status, or NULL */
        json_object *memo;   /* the last one, or NULL */
        json_object *noted;  /* the variables to which its parameters refer, at its start; or NULL */
        uint64_t suspended;  /* when it was started, see RunHost */

        void *activity; /* of the host, which sets it; NULL: the effect of its start was not carried out yet */
} RunLeaf;

typedef enum EffectKind {
        EFFECT_START,  /* an action: the host sets its activity. Skipped if the leaf was halted meanwhile */
        EFFECT_HALT,   /* an action; if that takes time, input_leaf_ended() follows. over: the leaf is gone already */
        EFFECT_DROP,   /* the activity of a condition is not needed any more */
        EFFECT_TIMER,  /* of the node, or of the run itself (NODE_NONE): it was armed or disarmed, see run_deadline() */
        EFFECT_LOCK,   /* over: the lock was free; else the node waits for it, and input_lock_granted() follows */
        EFFECT_UNLOCK, /* also if it still waits */
        EFFECT_LOG,    /* the node has something to say */
} EffectKind;

typedef struct Effect {
        EffectKind kind;
        NodeId node;
        bool over;
        void *activity; /* of HALT and DROP; owned by the effect if it is over, or dropped */
        int level;      /* of LOG, as of syslog(3); and the text */
        char *text;
        char *label;  /* see run_node_label() */
        Cause *cause; /* or NULL */
} Effect;

/* Answers what a run asks while it computes, and carries out its effects. A run that is replayed has no host: its
 * record answers. The answers must neither change anything outside of the run nor cause inputs. */
typedef struct RunHost {
        /* Does what an action of TYPE_IMMEDIATE does, and answers its outcome. It may set variables and a message of
         * the leaf. The cause is a new reference. RUNNING: it is another action, which takes time. */
        Status (*compute)(RunLeaf *leaf, Cause **ret_cause, void *userdata);
        /* The value of a condition now; it is followed from the first call on. The cause as above. */
        Status (*look)(RunLeaf *leaf, Cause **ret_cause, void *userdata);
        /* Would the halt of the action take no time? */
        bool (*halts_at_once)(const RunLeaf *leaf, void *userdata);
        /* Would the node get its lock at once? */
        bool (*lock_is_free)(NodeId node, void *userdata);
        /* How far CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC, in microseconds. Called at each input of a run whose tree
         * uses CLOCK_BOOTTIME. */
        uint64_t (*suspended)(void *userdata);

        /* May be called before the next input only. During the call, only input_memo(), input_output(),
         * input_signal_taken(), input_signals_missed() and input_rerun() may be called. */
        void (*act)(const Effect *effect, void *userdata);
        /* The run record was lost; callbacks must not free the run. */
        void (*record_failed)(const char *error, void *userdata);
} RunHost;

/* Makes a run that is not live. Copies the origin, references the definition, and borrows the host; NULL: the run is
 * replayed. */
Run *run_make(const RunOrigin *origin, Definition *definition, const RunHost *host, void *userdata);
/* Makes a live run, as run_new() does, but without drawing a seed and reading clocks. */
Run *run_make_live(const RunOrigin *origin, Definition *definition, const RunServices *services,
                   const RunCallbacks *callbacks, void *userdata);
/* Gives a run that was replayed a host, which arms the armed timers. Its leaves have no activities yet. */
void run_set_host(Run *run, const RunHost *host, void *userdata);
/* The replay that has the answers, and gets the effects; borrowed. NULL: it has come to its end. */
void run_set_replay(Run *run, Replay *replay);
/* Starts writing the run record; takes the writer. NULL: nothing more is written. */
void run_set_writer(Run *run, RecordWriter *writer);

/* Do not call them while the run processes an input; queue the input instead. */
/* taken: from another run; NULL: nothing. */
void input_start(Run *run, const RunTaken *taken, uint64_t now);
/* RUNNING, or the result of the run. */
Status input_tick(Run *run, uint64_t now);
/* True if a tick is needed and allowed. */
bool run_wants_tick(const Run *run);
/* Takes the cause. At most once. */
void input_halt(Run *run, Cause *why, uint64_t now);
/* The machine goes down, and the run has not ended in time. Its leaves have no activities any more. Takes the cause. */
void input_give_up(Run *run, Cause *why, uint64_t now);
/* An action has ended, also one that was halted. Its activity belongs to the caller from then on. */
void input_leaf_ended(Run *run, NodeId node, Status status, Cause *cause, uint64_t now);
/* turned: the run itself caused the change while it processed an input. A tree that does this all the time is slowed
 * down. */
void input_condition_changed(Run *run, NodeId node, bool turned, uint64_t now);
/* A condition that is false, see run_is_false(), still is, but for another reason. */
void input_reason(Run *run, NodeId node, const Cause *cause, uint64_t now);
/* waited: see activity_waited(); NULL: nothing. */
void input_timer_expired(Run *run, NodeId node, const char *waited, uint64_t now);
void input_lock_granted(Run *run, NodeId node, uint64_t now);
/* The node does not get its lock, or loses it, and fails. Takes the cause. */
void input_lock_refused(Run *run, NodeId node, Cause *why, uint64_t now);
/* Sets variables from outside: an object. by: who does it, as in "UID 0 (btctl)"; NULL: not known. */
void input_variables(Run *run, json_object *values, const char *by, uint64_t now);
/* Sets a variable for a leaf, also for one that computes; takes the value. */
void input_output(Run *run, NodeId node, const char *key, json_object *value, uint64_t now);
/* For an action that computes: it logs this message. Takes the text. */
void run_set_message(Run *run, int level, char *text);

/* Stores a memo of an action for its recovery, before an effect that cannot be observed outside: an object, or NULL.
 * It is written when this returns. Not while the run computes. */
void input_memo(Run *run, NodeId node, json_object *memo, uint64_t now);

/* The signals that are kept for the action: an array, borrowed. NULL: it gets none between its executions, or was not
 * executed yet. */
json_object *run_signals(const Run *run, NodeId node);
bool run_queue_has_room(const Run *run, NodeId node, json_object *signal);
/* A signal has come for the action, and there is room to keep it. */
void input_signal(Run *run, NodeId node, json_object *signal, uint64_t now);
/* The running action takes the first one, which is in its memo then. */
void input_signal_taken(Run *run, NodeId node, uint64_t now);
/* So many were not kept. */
void input_signals_missed(Run *run, NodeId node, uint64_t n, uint64_t now);

/* Requests of users, while the run is running and not halting. by: as above. */
/* ENTRY_PAUSE, ENTRY_RESUME, or ENTRY_STEP: continues past the current breakpoints, for one tick. */
void input_control(Run *run, EntryKind kind, const char *by, uint64_t now);
void input_breakpoint(Run *run, NodeId node, bool set, const char *by, uint64_t now);
/* Forces an outcome of the node. True: it is running, and gets the outcome when it has been halted. False: it gets the
 * outcome when it starts next. why: its cause (taken). */
bool input_force(Run *run, NodeId node, Status status, Cause *why, uint64_t now);

/* Records that another daemon has recovered the run. */
void input_recovered(Run *run, uint64_t now);
/* Records that this daemon is about to start the action again. */
void input_rerun(Run *run, NodeId node, uint64_t now);
/* For replays: the machine was suspended, before the next input. */
void input_suspended(Run *run, uint64_t suspended, uint64_t now);

/* True while the run computes, or its effects are carried out: inputs must wait. */
bool run_is_busy(const Run *run);
/* NULL: it was not started, or the node is not a leaf. */
RunLeaf *run_leaf(const Run *run, NodeId node);
/* The leaf of the first node from this one on that has one; NULL: there are no more. */
RunLeaf *run_next_leaf(const Run *run, NodeId from);
/* Have the variables to which the parameters of the leaf refer still the values that they had at its start? */
bool run_is_as_noted(const Run *run, const RunLeaf *leaf);
/* The time when the last value of the condition counts, if it does not change before; UINT64_MAX: it does already. */
uint64_t run_holds_until(const Run *run, NodeId node);
/* Was the last value of the condition FAILURE? */
bool run_is_false(const Run *run, NodeId node);
/* Returns the RunLocks in the order in which the nodes requested them. The array is borrowed. */
const GArray *run_locks(const Run *run);
bool run_waits_for_lock(const Run *run, NodeId node);
