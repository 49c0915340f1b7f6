/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a machine for tests of the engine: the tree is a line of text (see stage-tree.h), inputs and effects are words,
 * so that a test is a table of inputs and the effects that follow.
 */

#include "engine/machine.h"

typedef struct Step {
        /*
         * Several, separated by commas, come before one tick:
         *
         * "start", "halt", "nothing", "time" (the earliest timer expires), "variable" (one has changed),
         * "tick" (alone: one that no input asked for),
         * "LEAF success|failure|skipped|error" (its end, or a condition's value),
         * "NODE granted" (its lock), "NODE forced success", "NODE break", "NODE unbreak", "NODE pass".
         *
         * What the host will say from now on: "NODE busy" (its lock is), "NODE fail_if|success_if|skip_if
         * no|yes|error", "NODE while ...", "NODE test ..." (of a Precondition, at first no), "NODE new" (what an
         * OnChange compares), "NODE raises" (its code), "NODE matches" (a cause of it), "NODE elements 3", "NODE
         * refuses" (to be entered), "NODE spoils" (its outputs).
         */
        const char *inputs;
        /* "start a, halt b, arm 5000 Timeout, disarm Timeout, release c, lock a, unlock a, on_halted a, always a,
         * stop a, enter SubTree, leave SubTree success, list ForEach, give a 0": in order. */
        const char *effects;
        Status result;
} Step;

/* Runs the steps, each followed by a tick if one is due, and checks what each gives. Ended by an entry without inputs.
 */
void stage_play(const char *tree, const Step *steps);
/* The same; effects have "RUNNING a", "SUCCESS a", ... for what the machine tells, besides. */
void stage_play_told(const char *tree, const Step *steps);

/* The same with the steps as arguments: PLAY("a", { "start", "start a", STATUS_RUNNING }, { "a success", ... }). */
#define PLAY(tree, ...) stage_play(tree, (Step[]){ __VA_ARGS__, {} })
#define PLAY_TOLD(tree, ...) stage_play_told(tree, (Step[]){ __VA_ARGS__, {} })
