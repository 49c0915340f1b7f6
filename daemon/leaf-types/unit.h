/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the parameters of StartUnit, StopUnit, RestartUnit and ReloadUnit, and those of UnitState. Completes the
 * names of systemd units, and makes their object paths, see systemd.unit(5).
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/type.h"

typedef struct UnitJobParams {
        const char *unit;
        int mode;
        bool wait_for_restarts, reset_failed; /* only of StartUnit and RestartUnit */
        bool if_active;                       /* only of RestartUnit and ReloadUnit */
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

/* "cam" means "cam.service", as for systemctl. -EINVAL: no unit can have that name, or hardly, as with a misspelt
 * suffix; with a text for people. */
int unit_name_complete(const char *name, char **ret_name, char **ret_error);

/* The object path of a unit with this complete name. To be freed. */
char *unit_name_path(const char *name);
