/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of a run, for the files of this folder only. Its inputs are in run-inputs.c, what
 * becomes of its nodes in outcomes.c, the entries of the run record in run-entries.c, and what only live runs have in
 * live-run.c.
 */

#include "run/activity.h"
#include "run/causes.h"
#include "run/node-locks.h"
#include "run/run-inputs.h"

/* The timer of a node, or of the run itself (NODE_NONE). */
typedef struct NodeTimer {
        Run *run;
        NodeId node;
        uint64_t span, deadline;
        uint64_t suspended; /* as of the run, when it was armed */
        bool armed;
        char *waited; /* what a leaf below it waited for when it expired, see activity_waited(); or NULL */
        Timer *timer; /* of a live run, from the effect on */
} NodeTimer;

/* The signals that come for a node between its executions. */
typedef struct SignalQueue {
        json_object *signals; /* those that no execution has taken yet: an array */
        json_object *noted;   /* as of the RunLeaf of its last execution */
        uint64_t bytes;       /* of the signals */
        uint64_t missed;

        /* Only of a live run. */
        uint64_t unrecorded; /* those missed since the last execution began */
        bool stale;          /* its last execution has other parameters than the listener */
        Activity *listener;  /* NULL: not yet, or its parameters cannot be resolved any more */
} SignalQueue;

typedef struct Past Past;
typedef struct RunEvents RunEvents;

/* Collects the effects and the outputs of the input that is processed. */
typedef struct RunInput {
        GArray *effects;      /* of Effect; NULL: none */
        GArray *held_back;    /* of NodeId, those that have begun to wait; NULL: none */
        json_object *outputs; /* of the action that computes, or NULL; and its message */
        char *message;
        int message_level;
} RunInput;

/* snapshot.c lists all members, with those that a snapshot saves. */
struct Run {
        const char *tree; /* stored in names, before the instance */
        Definition *definition;
        const RunHost *host; /* NULL: it is replayed */
        void *host_userdata;
        Replay *replay;              /* compares the effects and has the answers; NULL: it is not replayed */
        RecordWriter *writer;        /* NULL: there is no run record */
        const RunObserver *observer; /* or NULL */
        void *observer_userdata;
        RunEvents *events; /* NULL: nobody observes them */
        uint64_t n_events;
        GHashTable *skips; /* by node, see events.c; NULL: none */

        Variables *variables;
        Machine *machine; /* NULL after the run has finished */
        NodeHistory *history;
        Causes forced;          /* the causes of forced outcomes; and what has failed so far in ForEach nodes that run
                                 * for all elements */
        GHashTable *timers;     /* of NodeTimer, by node; NULL until there is one */
        GArray *locks;          /* of RunLock; see run_locks(); NULL likewise */
        GHashTable *queues;     /* of SignalQueue, by node; NULL likewise */
        GHashTable *broken;     /* of Cause: expressions that failed, by node */
        RunInput *input;        /* what comes of the input that is processed; NULL: nothing so far */
        Cause *last_evaluation; /* why the last evaluated condition is false, or NULL */
        GArray *breakpoints;    /* of NodeId, sorted; NULL: none */
        GArray *stops;          /* the breakpoints at which it is paused; NULL: none */
        Cause *why;             /* why it is halting */
        Cause *cause;           /* of the result: that of the run, with that of the root below it */
        json_object *given;     /* the variables of its start, or NULL */
        char *starter;          /* who has started it, or NULL */
        uint64_t seed, started; /* see RunOrigin */
        uint64_t start, now;    /* now: of this input */
        uint64_t suspended;     /* at the last input, see RunHost */
        uint64_t ready;         /* the time when a node made it ready; UINT64_MAX: none */
        RunCounts counts;
        NodeId refused;         /* the last SubTree or ForEach with wrong variables, until it has failed */
        uint32_t n_evaluations; /* evaluations of conditions in this input */
        uint32_t work;          /* what a replay has to do since the newest snapshot, see run_note_snapshot() */
        uint32_t n_sets_told;   /* how often the variables that were told had been set; the lower half of it */
        Status status;
        Status evaluated;      /* what the last evaluation of a condition gave */
        bool first_evaluation; /* the last evaluation was the first since the condition was released */
        bool computing;        /* the machine processes an input */
        bool acting;           /* its effects are carried out */
        bool halting;          /* requested, or after an ERROR */
        bool paused;           /* it gets no ticks, unless it is halting */
        bool moved; /* breakpoints, or whether the run is paused, have changed, and the owner was not told yet */

        /* Only of a live run. What the next btd must know of it is in the header of the run record, see
         * run_record_header() in run-entries.c and run_recover() in run-recovery.c. */
        bool ready_reported;
        bool durable;                /* it has a run record */
        bool ends_with_btd;          /* btd stops, and waits for its end */
        bool in_doubt;               /* an input may be a part of the shutdown of the machine */
        uint16_t unprompted;         /* number of kept inputs since the last input from outside */
        uint32_t caller;             /* UID of the owner */
        const RunServices *services; /* NULL: the run is not live */
        TickerEntry turn;
        const RunCallbacks *callbacks;
        void *callbacks_userdata;
        char *token;           /* NULL: the id is the token */
        NodeLocks *node_locks; /* NULL before the first one, and after the run has finished */
        GArray *kept;          /* inputs that came while the run was busy; NULL: none */
        GArray *seen;          /* values to which conditions have changed since the last tick; NULL: none */
        Timer *later;          /* delays kept inputs of a loop; NULL: none */
        Past *past;            /* NULL: it was not recovered, or all its leaves have been read */
        char *not_durable;     /* why it does not survive a restart; NULL: it does, or run records are not kept */
        char names[];          /* the id, the tree and the instance, each ends with a NUL */
};

/* Adds one to this member of the counts. A replayed run is not live, so the totals do not count its inputs again. */
#define RUN_COUNT(run, member)                                                                                         \
        do {                                                                                                           \
                (run)->counts.member++;                                                                                \
                if ((run)->services && (run)->services->totals)                                                        \
                        (run)->services->totals->member++;                                                             \
        } while (false)

/* For replays, too: the activities of a live run, its locks and its connections tell more. suspended: by how much
 * CLOCK_BOOTTIME is ahead then. */
void run_report_at(const Run *run, NodeId node, uint64_t now, uint64_t suspended, NodeReport *ret_report);

/* For the cause of a run that was cut off: names the first leaves that are running, and what they do, if the run is
 * live. */
void run_append_doings(const Run *run, const char *before, GString *text);

/* Sets of nodes: sorted NodeIds; NULL: empty. */
bool node_set_has(GArray *set, NodeId node);
void node_set_add(GArray **set, NodeId node);
/* False: the set does not have it. */
bool node_set_remove(GArray **set, NodeId node);

/* What the machine of a run reports and requests. */
extern const MachineHost run_machine_host;

/* Records a change that the machine reports, see MachineHost. */
void run_node_changed(Run *run, NodeId node, Status status, Reason reason);
/* Records the ERROR of the machine for its node and for those above it. */
void run_record_error(Run *run);
/* Records an outcome of the node in the node history, with its cause. */
void run_record_outcome(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause);
/* Tells of a change that the node history has already, and how long the node waited before. */
void run_tell_node(Run *run, NodeId node, Status before, uint64_t waited);
/* For a node that was started: it waits, if its last execution has not ended yet. */
void run_consider_waiting(Run *run, NodeId node);
/* The node has begun to wait. Told at the end of the input, because what it waits for may be halted after this. */
void run_note_held_back(Run *run, NodeId node);
/* A copy with the values of secret variables sealed. */
json_object *run_seal(const Run *run, json_object *values);
void run_set_variables(Run *run, json_object *values);
/* The cause of the run, passed on from the root; NULL: the root has succeeded. */
Cause *run_root_cause(const Run *run);
/* Frees what a run needs until it has finished. Its leaves have no activities any more. */
void run_clear_machine(Run *run);

/* Count an event, and make it if somebody observes the events; see events.h. Call them while the run processes the
 * input to which the event belongs. */
void run_tell(Run *run, NodeId node, const char *what);
/* A variable got a value: the set of BlackboardHost. */
void run_events_set(const char *key, json_object *value, void *run);
void run_tell_text(Run *run, NodeId node, const char *what, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* by: the user who has requested it, or NULL. */
void run_tell_request(Run *run, NodeId node, const char *what, const char *by);
void run_tell_start(Run *run);
/* The values are referenced. by: the user who has set them, or NULL. */
void run_tell_set(Run *run, NodeId node, json_object *values, const char *by);
/* The node may have computed variables. */
void run_tell_computed(Run *run, NodeId node);
/* The node history already has the change. before: the status of the node before. waited: how long it waited until
 * then. */
void run_tell_change(Run *run, NodeId node, Status before, uint64_t waited);
/* After the halt of a node was told: it did not end by itself. */
void run_tell_given_up(Run *run, NodeId node, const Cause *why);
void run_tell_result(Run *run);
/* After a snapshot was restored. */
void run_tell_restored(Run *run);
/* Reports the events of the input. */
void run_end_events(Run *run);
/* For snapshots: the node was skipped since its parent has changed last. */
bool run_was_skipped_before(const Run *run, NodeId node);
void run_put_skip(Run *run, NodeId node);

/* Adds a lock to those that nodes hold or wait for. */
void run_add_lock(Run *run, const RunLock *lock);
RunLock *run_find_lock(const Run *run, NodeId node);
/* Is the lock of the node an inhibitor lock, which logind gives? */
bool run_is_inhibitor(const Run *run, NodeId node);
/* Is it a connection of its own? */
bool run_is_connection(const Run *run, NodeId node);
/* For people, in quotes. To be freed. */
char *run_lock_name(const Run *run, NodeId node);

/* Adds a leaf that is started now, or that a snapshot has. */
RunLeaf *run_add_leaf(Run *run, NodeId node, uint32_t attempt, json_object *noted);
void run_remove_leaf(Run *run, RunLeaf *leaf);
/* cause: or NULL. */
void run_leaf_set(RunLeaf *leaf, Status status, Cause *cause);
/* The value of a condition. Copies the cause without the chain below it, which does not matter here. */
void run_leaf_set_value(RunLeaf *leaf, Status status, const Cause *cause);
void run_leaf_set_memo(RunLeaf *leaf, json_object *memo);

/* Are signals for the node received between its executions? If not, only while it is executed. */
bool run_hears(const Run *run, NodeId node);
/* How many of these are kept. */
unsigned run_queue_length(const Run *run, NodeId node);
/* NULL: the node was not executed yet, or does not hear. */
SignalQueue *run_queue(const Run *run, NodeId node);
SignalQueue *run_add_queue(Run *run, NodeId node, json_object *noted);
/* An execution of the node begins. */
void run_begin_queue(Run *run, NodeId node, json_object *noted);
/* False: there is no room. */
bool run_queue_put(Run *run, NodeId node, json_object *signal);
/* Nobody has kept signals for them while no btd was there. */
void run_tell_queues_were_deaf(Run *run);

/* Made when it is first needed. */
RunInput *run_get_input(Run *run);

/* Adds an effect to those of this input; takes its members. Not for a run that is replayed. */
void run_add_effect(Run *run, const Effect *effect);
/* NULL: it was never armed. */
NodeTimer *run_timer(const Run *run, NodeId node);
/* Takes the timer, in place of the one before. The host is not told. */
void run_put_timer(Run *run, NodeId node, NodeTimer *timer);

/* Notes that an expression of the node failed. The first failure counts, because it is the one that ends the machine,
 * if any does, and by then the leaf may be gone or started again. */
void run_note_broken(Run *run, NodeId node, Cause *why);
/* The cause of a node that was halted or is halting. */
Cause *run_halted_cause(const Run *run, NodeId node);

/* Write an entry, which is pending until run_flush(). */
void run_note(Run *run, EntryKind kind, NodeId node);
void run_note_status(Run *run, EntryKind kind, NodeId node, Status status, const Cause *cause);
void run_note_finished(Run *run);
/* values: an object, or NULL. */
void run_note_values(Run *run, EntryKind kind, NodeId node, json_object *values);
/* noted: the values of the variables to which the leaf refers, or NULL. */
void run_note_noted(Run *run, EntryKind kind, NodeId node, json_object *noted);
void run_note_number(Run *run, EntryKind kind, NodeId node, const char *name, uint64_t number);
/* Writes a request of a user. details: an object (borrowed), or NULL. by: the user, or NULL if unknown. */
void run_note_request(Run *run, EntryKind kind, NodeId node, json_object *details, const char *by);
/* Writes the outcome of an action that has computed, with its variables and its message. */
void run_note_outcome(Run *run, const RunLeaf *leaf);
/* Writes the value of a condition that was just evaluated. */
void run_note_evaluation(Run *run, const RunLeaf *leaf);
/* Writes what scripts have given in this input. */
void run_note_results(Run *run);
void run_flush(Run *run);
/* Writes a snapshot if one is due. Not while the run processes an input. */
void run_note_snapshot(Run *run);

/* For the files that implement live runs. */

/* CLOCK_MONOTONIC, microseconds. */
uint64_t live_run_clock(const Run *run);
/* Makes the run live. */
void live_run_begin(Run *run, const RunServices *services, const RunCallbacks *callbacks, void *userdata);
/* Call it after each input, unless the run has finished. */
void live_run_settle(Run *run);
/* True: the run has finished, and may have been freed. */
bool live_run_tick(Run *run);
void live_run_finish(Run *run);
/* NULL: the leaf has none. */
Activity *live_run_activity(const Run *run, NodeId node);
/* Gives the end of the action to the run, unless it is still running, and frees its activity. */
void live_run_give_end(Run *run, NodeId node);
void live_run_timer_expired(Run *run, NodeId node);
/* See node_locks_take(). */
bool live_run_take_lock(Run *run, NodeId node, bool again);

/* Makes the listener of the node. Not while the run computes. */
void live_run_listen(Run *run, NodeId node);
void live_run_record_missed(Run *run);
/* For the nodes below this one; NODE_NONE: for all. */
void live_run_end_listening(Run *run, NodeId above);

/* Frees what only a live run has; its run record stays. left: what it has started is left to the next btd. */
void run_end_live(Run *run, bool left);

/* For the activities of a live run, at any time unless said otherwise. */

/* An action has ended, see activity_status(); from the main loop. Frees its activity, perhaps later. */
void run_leaf_ended(Run *run, NodeId node);
/* A recovered leaf is being read. Until all have been, ends and expired timers are kept; then they become inputs in the
 * order of their times. */
void run_begin_reading(Run *run);
void run_end_reading(Run *run);
/* limit: the timer of the node has expired, at that time of CLOCK_MONOTONIC; else the leaf has ended, and
 * activity_tell_end() follows. A leaf may be kept twice; the earlier time is right. */
void run_keep(Run *run, NodeId node, bool limit, uint64_t time);
void run_forget_past(Run *run);
/* The value of a condition is known or may have changed. */
void run_condition_changed(Run *run, NodeId node);
/* The listener has received a signal; from the main loop. */
void run_hear(Run *run, NodeId node, json_object *signal);
/* See leaf_take_signal(). */
json_object *run_take_signal(Run *run, NodeId node);
/* Logs a message about the node. cause: for the fields, or NULL. */
void run_log(const Run *run, NodeId node, int level, const Cause *cause, const char *text);
