/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the simulated world is going to do, and when.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*AgendaDo)(void *userdata);

/* usec from now; of those at the same time, the first that was added comes first. drop (or NULL) is called for
 * what agenda_clear() drops; what is done frees what it was given. */
void agenda_add(uint64_t usec, AgendaDo what, void *userdata, GDestroyNotify drop);
/* Were two things ever planned so near to each other that the timers of a daemon decide which of them it sees first?
 * That may depend on whether it has died. */
bool agenda_had_ties(void);
/* When the next one is due; UINT64_MAX: there is none. */
uint64_t agenda_next(void);
/* Does what is due by now. */
void agenda_run(void);
void agenda_clear(void);
