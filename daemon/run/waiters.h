/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the list of units that are being started or stopped, and whose processes wait for the runs of a tree. A run that
 * waits for such a unit would wait for itself. A unit that is started waits until a run is ready or ends. A unit that
 * is stopped waits until the halt of a run completes; so does the unit of btd itself when btd stops.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct Waiters Waiters;

/* user: btd runs for a user, so the units are those of the user's service manager. directory: where the list is stored
 * for the next btd of the same boot, or NULL. */
Waiters *waiters_new(bool user, const char *directory);
void waiters_free(Waiters *waiters);

/* Records that the process waits for the runs of this tree and instance; stop: for the end of a halt. A process that is
 * not part of a unit is ignored. */
void waiters_add(Waiters *waiters, const char *tree, const char *instance, bool stop, uint32_t pid);
/* The unit of a process (0: of btd), to be freed. NULL: it is not part of a unit. */
char *waiters_unit_of(bool user, uint32_t pid);
/* Is this the unit of btd itself? NULL: has it one? */
bool waiters_are_in(const Waiters *waiters, const char *unit);
/* Does a process of the unit wait for these runs in this way? unit NULL: of any unit. */
bool waiters_has(Waiters *waiters, const char *tree, const char *instance, bool stop, const char *unit);
