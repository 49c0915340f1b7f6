/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which unit has failed that another one requires: systemd says only that there is one. Those that it requires itself
 * are looked at, and, where they have not been started either, those that these require.
 */

#include "bus/connection.h"

typedef struct UnitRequired UnitRequired;

/* unit: borrowed; NULL: none of them is seen to have failed, any more. May free the look. */
typedef void (*UnitRequiredKnown)(const char *unit, void *userdata);

/* Of the unit with that path; the connection is borrowed. */
UnitRequired *unit_required_new(Connection *connection, const char *path, UnitRequiredKnown known, void *userdata);
void unit_required_free(UnitRequired *required);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitRequired, unit_required_free)
