/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A machine on a stage: trees written as a line of text, inputs and effects as words, so that a test of the engine is
 * a table of what happens and what follows.
 *
 * Trees: "Sequence(a, Timeout{timeout=5000}(b), c!)". What starts with a capital is a type of the engine, with its
 * parameters in braces (spans in microseconds); anything else a leaf: "a" takes time, "a!" takes time to end
 * when it is halted, "a+" succeeds at once, "a-" fails at once, "a?" is a condition, at first unknown.
 */

#include "engine/machine.h"

typedef struct Step {
        /* "start", "halt", "nothing", "LEAF success|failure|skipped" (its end, or a condition's value), "time" (the
         * earliest timer expires); several, separated by commas, come before one tick. */
        const char *inputs;
        /* "start a, halt b, arm 5000 Timeout, disarm Timeout, release c": in order. */
        const char *effects;
        Status result;
} Step;

/* Runs the steps, each followed by a tick if one is due, and checks what each gives. Ended by an entry without inputs.
 */
void stage_play(const char *tree, const Step *steps);
