/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tells the service manager about btd: READY, RELOADING, STOPPING, a status line, and the watchdog if it is enabled.
 * See sd_notify(3). Only READY and RELOADING use sd_notify(), because the service manager waits for them: it blocks
 * while the socket is full.
 */

#include "basic/timers.h"
#include "runtime/manager.h"

/* Sends for example "STATUS=3 trees". The message is lost if it cannot be sent at once, or if there is no service
 * manager. */
void notify_try(const char *state);

typedef struct Notifier Notifier;

/* Borrows all arguments, and observes the manager. */
Notifier *notifier_new(Timers *timers, Manager *manager);
void notifier_free(Notifier *notifier);

void notifier_ready(Notifier *notifier);

/* For example "3 trees, 1 run". The caller frees it. */
char *notifier_status(const Notifier *notifier);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notifier, notifier_free)
