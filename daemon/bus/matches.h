/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The match rules of one connection, each once on the bus however many ask for it.
 */

#include "bus/connection.h"

typedef struct Matches Matches;

/* bus_name: for messages, borrowed. */
Matches *matches_new(const char *bus_name);
void matches_free(Matches *matches);

/* The bus is there: all rules are added to it. The source is that of the bus, see bus/bus-source.h. */
void matches_attach(Matches *matches, sd_bus *bus, GSource *source);
void matches_detach(Matches *matches);
/* From the main loop: does what had to be put off. */
void matches_settle(Matches *matches);

Match *matches_add(Matches *matches, const char *text, MatchSignal signal, MatchReady ready, void *userdata);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Matches, matches_free)
