/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Searches the unit that must be thawed before the processes of a unit can run: one of its slices, or the unit itself.
 */

#include "bus/connection.h"

typedef struct FrozenSearch FrozenSearch;

/* frozen: the outermost one; NULL: none is frozen, or it cannot be read. May free the search. */
typedef void (*FrozenKnown)(const char *frozen, void *userdata);

FrozenSearch *frozen_search_new(Connection *connection, const char *unit, FrozenKnown known, void *userdata);
void frozen_search_free(FrozenSearch *search);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FrozenSearch, frozen_search_free)
