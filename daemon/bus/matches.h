/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Dispatches the signals of one connection to its matches, by a few lookups per signal, however many matches there are.
 * connection.c is its only user.
 */

#include "bus/connection.h"
#include "bus/names.h"
#include "bus/rules.h"

typedef struct Matches Matches;

/* Borrows both. */
Matches *matches_new(Rules *rules, Names *names);
void matches_free(Matches *matches);

/* The bus is connected. source: see bus/bus-source.h. */
void matches_attach(Matches *matches, GSource *source);
void matches_detach(Matches *matches);
/* Does deferred work, from the main loop. */
void matches_settle(Matches *matches);
/* Calls the matches of a signal. */
void matches_dispatch(Matches *matches, sd_bus_message *signal);

Match *matches_add(Matches *matches, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                   void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Matches, matches_free)
