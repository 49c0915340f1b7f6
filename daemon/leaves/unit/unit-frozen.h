/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Searches the unit that must be thawed before the processes of a unit can run: one of its slices, or the unit itself.
 */

#include "basic/timers.h"
#include "bus/connection.h"

typedef struct FrozenSearch FrozenSearch;

/* frozen: the outermost one; NULL: none is frozen, or it cannot be read. May free the search. */
typedef void (*FrozenKnown)(const char *frozen, void *userdata);

FrozenSearch *frozen_search_new(Connection *connection, const char *unit, FrozenKnown known, void *userdata);
void frozen_search_free(FrozenSearch *search);

/* A job that lasts may wait for processes that are frozen, and systemd does not say so. This searches again and again,
 * with more time between, from a second after it was made. */
typedef struct FrozenWatch FrozenWatch;

FrozenWatch *frozen_watch_new(Connection *connection, Timers *timers, const char *unit);
/* The unit to be thawed, as far as is known; NULL: none. watch: may be NULL. */
const char *frozen_watch_found(const FrozenWatch *watch);
void frozen_watch_free(FrozenWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FrozenWatch, frozen_watch_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FrozenSearch, frozen_search_free)
