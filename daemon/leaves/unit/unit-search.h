/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Searches the other unit that explains why a unit is not up. If a required unit has failed, systemd reports only that
 * there is one; if a conflicting unit was started, it reports only that the job was cancelled.
 */

#include "leaves/unit/unit-facts.h"

typedef enum UnitSearchFor {
        UNIT_REQUIRED,    /* a required unit that is not up: it has failed, or a device has not appeared, ... */
        UNIT_CONFLICTING, /* one that conflicts with the unit and is up, or is being started */
} UnitSearchFor;

typedef struct UnitSearch UnitSearch;

/* unit, facts: borrowed; NULL: there is none, or it has recovered. May free the UnitSearch. */
typedef void (*UnitSearchKnown)(const char *unit, const UnitFacts *facts, void *userdata);

/* path: of the unit that is not up. */
UnitSearch *unit_search_new(Connection *connection, const char *path, UnitSearchFor what, UnitSearchKnown known,
                            void *userdata);
/* The same for a unit that systemd has forgotten. names: of the units that it required, or conflicted with; taken. */
UnitSearch *unit_search_new_among(Connection *connection, GPtrArray *names, UnitSearchFor what, UnitSearchKnown known,
                                  void *userdata);
void unit_search_free(UnitSearch *search);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitSearch, unit_search_free)
