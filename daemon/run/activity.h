/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns one start of a leaf: its resolved parameters, the state of its kind, its timeout, and its outcome. Runs use it.
 * It implements the host's side of the contract in run/leaf.h.
 */

#include "run/leaf.h"
#include "run/replay.h"
#include "run/variables.h"

typedef struct Activity Activity;

/* Callbacks into the run. */
typedef struct ActivityCallbacks {
        /* An action has ended, see activity_status(). True: the activity is finished and is freed. Not called during
         * activity_start() and activity_halt(). */
        bool (*ended)(Activity *activity, void *userdata);
        /* The value of a condition is known or may have changed. Also called during activity_start() and during a
         * tick. */
        void (*changed)(Activity *activity, void *userdata);
        /* Sets a variable (takes the value), at any time. */
        void (*output)(Activity *activity, const char *key, json_object *value, void *userdata);
        /* Stores a memo for recovery (borrowed), at any time. */
        void (*remember)(Activity *activity, json_object *memory, void *userdata);
        /* Recovery is about to start this action again. Called during activity_recover() or from the main loop. */
        void (*rerun)(Activity *activity, void *userdata);
        /* See leaf_is_awaited_by(); NULL: always false. */
        bool (*awaited_by)(const char *unit, bool stop, void *userdata);
} ActivityCallbacks;

/* What all activities of a run share. It must outlive them. */
typedef struct ActivityContext {
        const char *tree, *run;
        Definition *definition;
        const LeafServices *services;
        Variables *variables;
        const ActivityCallbacks *callbacks;
        bool durable; /* the run has a run record */
        void *userdata;
        GQueue activities; /* all activities of the run */
} ActivityContext;

/* Never fails: if parameters cannot be resolved, the activity is a FAILURE with a cause. attempt: from 1. noted: as in
 * ProgressHost.leaf_start(). */
Activity *activity_start(ActivityContext *context, NodeId node, uint32_t attempt, json_object *noted);
/* Continues an activity that the previous btd started. Its status may differ from the status in the replay. */
Activity *activity_recover(ActivityContext *context, const ReplayLeaf *past);
/* Drops what it is still doing. */
void activity_free(Activity *activity);
/* The same, but leaves what it has started to the next btd. */
void activity_abandon(Activity *activity);

/* Actions only. True: it has ended. False: it is ending, and ended() follows. */
bool activity_halt(Activity *activity);

/* See LeafKind.awaited. */
void activity_tell_awaited(Activity *activity);

/* Conditions only: evaluates the condition now. */
Status activity_evaluate(Activity *activity);

NodeId activity_node(const Activity *activity);
uint32_t activity_attempt(const Activity *activity);
/* The values, at its start, of the variables in its parameters. Borrowed, or NULL. */
json_object *activity_noted(const Activity *activity);
void activity_report(const Activity *activity, LeafReport *ret_report);
/* RUNNING until it has ended, or, for a condition, until its value is known. */
Status activity_status(const Activity *activity);
/* True: halted by its run, and still ending. */
bool activity_is_ending(const Activity *activity);
/* Borrowed; NULL: the leaf has set no cause. */
Cause *activity_cause(const Activity *activity);
/* Describes what it waits for. The caller frees it; NULL: no description. */
char *activity_describe(Activity *activity);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Activity, activity_free)
