/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What StartUnit, StopUnit, RestartUnit and ReloadUnit have in common: unit-job.c does it, their tables are in
 * unit-job-types.c.
 */

#include "leaves/leaf.h"
#include "leaves/unit-cause.h"

typedef struct UnitJobParams {
        const char *unit;
        int mode;
        uint64_t timeout;
        const char *bus;
} UnitJobParams;

/* Of UnitJobParams.mode: as systemd calls them. */
extern const char *const unit_job_modes[];

UnitVerb unit_job_verb(const NodeType *type);

extern const LeafKind unit_job_kind;
