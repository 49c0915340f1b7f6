/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the service manager is told of the daemon: that it is ready, reloads or stops, in a line what it is doing, and
 * where that is asked for that it is alive. See sd_notify(3).
 */

#include "basic/timers.h"
#include "runtime/manager.h"

typedef struct Notifier Notifier;

/* Everything is borrowed. The manager is observed from now on. */
Notifier *notifier_new(Timers *timers, Manager *manager);
void notifier_free(Notifier *notifier);

void notifier_ready(Notifier *notifier);

/* "3 trees, 1 run", to be freed. */
char *notifier_status(const Notifier *notifier);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notifier, notifier_free)
