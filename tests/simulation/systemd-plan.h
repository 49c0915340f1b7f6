/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The next steps of the simulated systemd with a unit. The seed, the unit and the number of starts of its leaf decide
 * how long each step takes and how it ends. While systemd is not on the bus, nothing happens.
 */

#include "dice.h"
#include "unit.h"

/* Steps that take different times. */
typedef enum Step {
        STEP_QUEUE = 1,
        STEP_PROCESS,
        STEP_END,
        STEP_STOP,
        STEP_RELOAD,
} Step;

typedef void (*PlanDo)(LoadedUnit *unit);

void plan_open(uint64_t seed);

/* Runs what later, if the unit then has the same job, or the same process. */
void plan_for_job(const LoadedUnit *unit, Step step, PlanDo what);
void plan_for_process(const LoadedUnit *unit, Step step, PlanDo what);
Dice plan_dice(const LoadedUnit *unit, Step step);
