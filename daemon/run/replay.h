/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replays a run record, input by input. After the last entry, the run is in the state in which the recording stopped.
 * Requests of the run are answered from the run record; nothing is done outside. Recovery and btctl use it.
 *
 * If the run record ends in the middle of an input, the rest of it is done without further knowledge: an action has not
 * begun, a condition is not known, a lock is not free. The same holds at each point where another daemon has recovered
 * the run and continued it.
 */

#include "record/run-record.h"
#include "run/run-inputs.h"

typedef struct Replay Replay;

/* A leaf that was started and is still needed. */
typedef struct ReplayLeaf {
        NodeId node;
        uint32_t attempt;   /* from 1 */
        Status status;      /* of an action RUNNING, or an outcome that no tick has seen; of a condition its value */
        Cause *cause;       /* of the status, or NULL */
        bool begun;         /* an action that may have had effects outside; else it certainly had none */
        bool halted;        /* an action that is ending */
        bool has_memo;      /* an action that stored a memo, see input_memo() */
        json_object *memo;  /* the last memo, or NULL */
        json_object *noted; /* the variables to which it refers, at its start; or NULL */
        uint64_t since;     /* the time of its start */
        uint64_t suspended; /* at that time, see run_suspended() */

        Replay *replay;
        GList link;
} ReplayLeaf;

/* The definition must be that of the header, see record_definition_new(); both are borrowed. -EBADMSG: the run record
 * does not match it, with an error message. */
int replay_new(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error);
/* The same, but begins with the newest snapshot, if there is one. */
int replay_new_of_end(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error);
/* The same, but begins with the newest snapshot that has no event above the number, see run/events.h. */
int replay_new_after(const RunRecord *record, Definition *definition, uint64_t n_events, Replay **ret_replay,
                     char **ret_error);
void replay_free(Replay *replay);

/* Applies the next input, with all its effects. 1; 0: there are no more; -EBADMSG: as above. */
int replay_step(Replay *replay, char **ret_error);
/* Applies all inputs up to the time, CLOCK_MONOTONIC microseconds; UINT64_MAX: all. */
int replay_until(Replay *replay, uint64_t time, char **ret_error);

/* The run in its current state; borrowed. */
Run *replay_run(const Replay *replay);
/* The state of a node then. now: CLOCK_MONOTONIC, microseconds, for durations. A running leaf has no detail of its own
 * here, because only its run record is known. The caller clears the report. */
void replay_node_report(const Replay *replay, NodeId node, uint64_t now, NodeReport *ret_report);
/* The number of entries that were read. */
unsigned replay_position(const Replay *replay);
/* True if the last of these says that the run has finished. */
bool replay_has_finished(const Replay *replay);

/* Of ReplayLeaf, in order of start; and of RunLock. Borrowed, until the next step. */
const GQueue *replay_leaves(const Replay *replay);
const GArray *replay_locks(const Replay *replay);

/* Returns the run, whose leaves have no owner then: use run_set_host() and run_set_leaf(). Afterwards,
 * only replay_leaves(), replay_locks() and replay_free() may be called. */
Run *replay_take(Replay *replay);

/*
 * Recovers a run that the previous btd left, in three steps; see live-run.c. Each step is done for all runs before the
 * next step, because runs share locks.
 */

/* Step 1: makes a run in the state of the replay. Takes the execution out of the replay, which can then only be used
 * for the other steps. Takes the writer, to which the run appends; NULL: no run record. */
Run *run_recover(const RecordHeader *header, Replay *replay, RecordWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata);

/* Step 2: requests a lock again. Request all held locks before all waiting ones, each group sorted by time. */
void run_recover_lock(Run *run, const RunLock *lock);

/* Step 3: continues the leaves. If the run had finished, its end is processed; if it had not started, it is started. */
void run_recover_leaves(Run *run, const Replay *replay);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)
