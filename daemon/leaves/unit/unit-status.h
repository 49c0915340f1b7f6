/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the state of a unit by systemd's signals, through restarts of systemd and of the bus, for UnitState. Users of
 * the same unit of the same service manager share its watch.
 */

#include "bus/connection.h"
#include "leaves/unit/unit-facts.h"

typedef struct UnitStatus UnitStatus;

/* unit: its complete name. changed: one of its states is another, or is no longer known, or is known; it may free any
 * of these. */
UnitStatus *unit_status_new(Connection *connection, const char *unit, void (*changed)(void *userdata), void *userdata);
void unit_status_free(UnitStatus *status);

/* NULL: not known. */
const UnitFacts *unit_status_facts(const UnitStatus *status);
/* Why it is not known; NULL: it is known, or the reply is still outstanding. */
const char *unit_status_problem(const UnitStatus *status);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitStatus, unit_status_free)
