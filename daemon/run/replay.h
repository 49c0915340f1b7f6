/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replays a run record, input by input. The record answers what the run asks, and its effects must be those of the
 * record; nothing is done outside. After the last entry, the run is in the state in which the recording stopped.
 * Recovery and btctl use it.
 */

#include "record/run-record.h"
#include "run/run-inputs.h"

/* The definition must be that of the header, see record_definition_new(); both are borrowed. -EBADMSG: the run record
 * does not match it, with an error message. */
int replay_new(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error);
/* The same, but begins with the newest snapshot that has no event above the number, see run/events.h; UINT64_MAX: with
 * the newest one. */
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

/* Returns the run, which has no host then. Afterwards, only replay_position(), replay_has_finished() and replay_free()
 * may be called. */
Run *replay_take(Replay *replay);

/* For the run: the answers, and the effects. A mismatch ends the replay. */
Status replay_outcome(Replay *replay, const RunLeaf *leaf, Cause **ret_cause);
Status replay_value(Replay *replay, const RunLeaf *leaf, uint32_t evaluation, Cause **ret_cause);
bool replay_takes_no_time(Replay *replay, NodeId node);
bool replay_has_lock(Replay *replay, NodeId node);
void replay_note(Replay *replay, EntryKind kind, NodeId node);
void replay_note_number(Replay *replay, EntryKind kind, NodeId node, const char *name, uint64_t number);
void replay_note_noted(Replay *replay, EntryKind kind, NodeId node, json_object *noted);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)
