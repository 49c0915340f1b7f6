/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One start of a leaf: its parameters with references filled in, its kind's record, its timeout, and how it ended.
 * The other side of the contract in leaves/leaf.h.
 */

#include "definition/variables.h"
#include "journal/replay.h"
#include "leaves/leaf.h"

typedef struct Activity Activity;

/* What the activities of a run have in common; outlives them. */
typedef struct ActivityContext {
        const char *tree, *run;
        Definition *definition;
        const LeafServices *services;
        Variables *variables;
        /* An action has ended: activity_status() tells how. True: that is all that there is to it, and it is freed. Not
         * called from within activity_start() or activity_halt(). */
        bool (*ended)(Activity *activity, void *userdata);
        /* The value of a condition is known, or may be another one; also within activity_start(), and while the machine
         * is at work. */
        void (*changed)(Activity *activity, void *userdata);
        /* It gives a variable a value (taken), at any time. */
        void (*output)(Activity *activity, const char *key, json_object *value, void *userdata);
        /* What it is to remember (borrowed), at any time. */
        void (*remember)(Activity *activity, json_object *memory, void *userdata);
        /* It is about to be started again, of a life before; from within activity_recover() or from the main loop. */
        void (*rerun)(Activity *activity, void *userdata);
        bool durable; /* there is reason to remember */
        void *userdata;
        GQueue activities; /* all that there are */
} ActivityContext;

/* Never fails: parameters that cannot be resolved are a FAILURE with a cause. attempt: from 1. */
Activity *activity_start(ActivityContext *context, NodeId node, uint32_t attempt);
/* One that a daemon before this one has started, as far as it has come. Its status may be another than the replay's. */
Activity *activity_recover(ActivityContext *context, const ReplayLeaf *past);
/* Whatever it was doing is dropped. */
void activity_free(Activity *activity);
/* The same, but what it has started in the world is left to the next daemon. */
void activity_abandon(Activity *activity);

/* Actions only. True: has ended. False: is ending, the ended callback follows. */
bool activity_halt(Activity *activity);

/* Conditions only: the value, as it is now. */
Status activity_look(Activity *activity);

NodeId activity_node(const Activity *activity);
uint32_t activity_attempt(const Activity *activity);
void activity_report(const Activity *activity, LeafReport *ret_report);
/* RUNNING until it has ended, or its value is known. */
Status activity_status(const Activity *activity);
/* Halted, by its run, and not over yet. */
bool activity_is_ending(const Activity *activity);
/* Borrowed; NULL: the leaf gave none. */
Cause *activity_cause(const Activity *activity);
/* What it waits for. To be freed; NULL: nothing to say. */
char *activity_describe(Activity *activity);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Activity, activity_free)
