/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns one start of a leaf: its resolved parameters, the state of its kind, its timeout, and its outcome. Runs use it.
 * It implements the host's side of the contract in run/leaf.h.
 */

#include "run/leaf.h"
#include "run/run-inputs.h"

typedef struct Activity Activity;

/* Never fails: if parameters cannot be resolved, the activity is a FAILURE with a cause. */
Activity *activity_start(Run *run, const RunLeaf *leaf);
/* Continues an activity that the previous btd started. Its status may differ from that of the leaf. */
Activity *activity_recover(Run *run, const RunLeaf *leaf);
/* Listens for the executions of the node; it has no end. NULL: it cannot. */
Activity *activity_listen(Run *run, const RunLeaf *leaf);
/* Actions that hear only: the leaf is running, and can get a signal; see LeafKind.heard. */
bool activity_waits_for_signal(const Activity *activity);
void activity_hear(Activity *activity, json_object *signal);
/* Drops what it is still doing. */
void activity_free(Activity *activity);
/* The same, but leaves what it has started to the next btd. */
void activity_abandon(Activity *activity);

/* A condition whose start has effects outside is started only with this, see LeafKind.acts. */
void activity_act(Activity *activity);
bool activity_is_to_act(const Activity *activity);

/* Actions only. Would its halt take no time? */
bool activity_halts_at_once(const Activity *activity);
/* Actions only. True: it has ended. False: it is ending, and run_leaf_ended() follows. */
bool activity_halt(Activity *activity);

/* The end that was kept, see run_keep(). */
void activity_tell_end(Activity *activity);
/* Nobody waits for leaf_read() any longer: the time limits of the leaf count from now on. */
void activity_end_reading(Activity *activity);

/* See LeafKind.awaited. */
void activity_tell_awaited(Activity *activity);

/* Conditions only: evaluates the condition now. */
Status activity_evaluate(Activity *activity);
/* False: the value of a recovered condition is still that of the previous btd. */
bool activity_is_known(const Activity *activity);

bool activity_is_condition(const Activity *activity);
uint32_t activity_attempt(const Activity *activity);
/* RUNNING until it has ended, or, for a condition, until its value is known. */
Status activity_status(const Activity *activity);
/* Borrowed; NULL: the leaf has set no cause. */
Cause *activity_cause(const Activity *activity);
/* For the cause of a time limit that ends it: what it could not begin without, and what may still come of it, such as
 * "it waited for connection to the bus 'system'". subject: "it", or its name. The caller frees it; NULL: nothing. */
char *activity_waited(const Activity *activity, const char *subject);
/* See LeafKind.remark. The caller frees it; NULL: there is none. */
char *activity_remark(const Activity *activity);
/* Describes what it waits for. The caller frees it; NULL: no description. */
char *activity_describe(Activity *activity);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Activity, activity_free)
