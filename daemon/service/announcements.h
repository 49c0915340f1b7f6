/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sends signals about trees and runs on one connection: added and removed objects, changed properties, and the signals
 * of the interfaces. Signals about nodes are sent only while there are subscribers.
 */

#include "service/finished-runs.h"
#include "service/published.h"

typedef struct Announcements Announcements;

/* Borrows all arguments. */
Announcements *announcements_new(GMainContext *context, sd_bus *bus, Published *published, FinishedRuns *finished);
void announcements_free(Announcements *announcements);

/* Call it when the status of btd has changed. */
void announcements_status_changed(Announcements *announcements);

/* Call it when what anybody is subscribed to has changed. */
void announcements_watch(Announcements *announcements);
/* Tells a subscriber the number of the last event of the run, because it has missed some. */
void announcements_tell_missed(Announcements *announcements, const char *name, const char *run_id);

/* Sends the current state of these nodes of a run to one subscriber. False: the run no longer exists. */
bool announcements_tell(Announcements *announcements, const char *name, const char *run_id, const GArray *nodes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Announcements, announcements_free)
