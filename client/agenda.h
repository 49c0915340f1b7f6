/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulated time: what is going to happen, and when. It begins at 0 and jumps from one entry to the next. Entries of
 * the same moment come in the order in which they were made.
 */

#include <glib.h>
#include <stdbool.h>

#include "engine/type.h"

typedef struct Agenda Agenda;
typedef struct AgendaEntry AgendaEntry;
typedef void (*AgendaCallback)(NodeId node, void *userdata);

Agenda *agenda_new(void);
void agenda_free(Agenda *agenda);

/* Microseconds since the beginning. */
uint64_t agenda_now(const Agenda *agenda);
/* When the first entry is due; false: there is none. */
bool agenda_next(const Agenda *agenda, uint64_t *ret_time);

/* The entry is gone when its callback is called. NULL: it would never come. */
AgendaEntry *agenda_add(Agenda *agenda, uint64_t delay, AgendaCallback callback, NodeId node, void *userdata);
void agenda_drop(AgendaEntry *entry);

/* Goes on to the next moment, and calls what is due then. What is made meanwhile is for later, though it be for the
 * same moment. */
void agenda_advance(Agenda *agenda);
/* Goes on to a moment before the next entry. */
void agenda_skip_to(Agenda *agenda, uint64_t time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agenda, agenda_free)
