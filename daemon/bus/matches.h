/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who wants which signals of one connection: each signal is found its takers by a few look-ups, however many there
 * are.
 */

#include "bus/connection.h"
#include "bus/names.h"
#include "bus/rules.h"

typedef struct Matches Matches;

/* Both borrowed. */
Matches *matches_new(Rules *rules, Names *names);
void matches_free(Matches *matches);

/* The bus is there, see bus/bus-source.h. */
void matches_attach(Matches *matches, GSource *source);
void matches_detach(Matches *matches);
/* From the main loop: does what had to be put off. */
void matches_settle(Matches *matches);
/* A signal has come. */
void matches_hear(Matches *matches, sd_bus_message *signal);

Match *matches_add(Matches *matches, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                   void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Matches, matches_free)
