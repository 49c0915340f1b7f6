/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the simulated systemd is going to do with a unit. How long each thing takes, and how it ends, comes from the
 * seed, the unit and how often its leaf has begun. Nothing goes on while systemd is not on the bus.
 */

#include "dice.h"
#include "unit.h"

/* Different things, which take different times. */
typedef enum Step {
        STEP_QUEUE = 1,
        STEP_PROCESS,
        STEP_END,
        STEP_STOP,
        STEP_RELOAD,
} Step;

typedef void (*PlanDo)(LoadedUnit *unit);

void plan_open(uint64_t seed);

/* If the unit has the same job then, or the same process. */
void plan_for_job(const LoadedUnit *unit, Step step, PlanDo what);
void plan_for_process(const LoadedUnit *unit, Step step, PlanDo what);
Dice plan_dice(const LoadedUnit *unit, Step step);
