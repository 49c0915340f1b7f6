/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The events of the simulated world that are still to come, by time.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*EventDo)(void *userdata);

/* usec: from now. Events at the same time run in the order in which they were added. what frees its userdata; drop (or
 * NULL) frees it if event_queue_clear() drops the event. */
void event_queue_add(uint64_t usec, EventDo what, void *userdata, GDestroyNotify drop);
/* Were two events ever so close to each other that the timers of a daemon decide which of them it sees first? The order
 * may then depend on whether the daemon was killed. */
bool event_queue_had_ties(void);
/* The time of the next event; UINT64_MAX: there is none. */
uint64_t event_queue_next(void);
/* Runs the events that are due. */
void event_queue_run(void);
void event_queue_clear(void);
