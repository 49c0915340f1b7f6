/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of StartUnit, StopUnit, RestartUnit and ReloadUnit, and those of UnitState. */

#include <stdint.h>

#include "engine/type.h"

typedef struct UnitJobParams {
        const char *unit;
        int mode;
        uint64_t timeout;
        const char *bus;
} UnitJobParams;

typedef struct UnitStateParams {
        const char *unit;
        const char *const *state, *const *sub_state, *const *result, *const *load_state;
        const Script *test;
        int unknown;
        const char *bus;
} UnitStateParams;

/* The names of UnitJobParams.mode, as systemd has them; NULL-terminated. */
extern const char *const unit_job_modes[];
/* The names that the test of UnitState can use, NULL-terminated. */
extern const char *const unit_state_test_names[];
