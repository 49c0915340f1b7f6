/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What becomes of trees and runs, told on a bus: objects that come and go, properties that change, and the signals of
 * the interfaces. Of the nodes of a run only while somebody has subscribed to that.
 */

#include "runtime/manager.h"
#include "service/subscribers.h"

typedef struct Announcements Announcements;

/* Everything is borrowed. */
Announcements *announcements_new(GMainContext *context, sd_bus *bus, Manager *manager, Subscribers *subscribers);
void announcements_free(Announcements *announcements);

/* The daemon has another status. */
void announcements_status_changed(Announcements *announcements);

/* Tells one subscriber how all nodes of a run are now; nothing if the run is gone. */
void announcements_repeat(Announcements *announcements, const char *name, const char *run_id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Announcements, announcements_free)
