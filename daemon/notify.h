/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sends notifications to the service manager without ever blocking. READY and RELOADING use sd_notify(3) instead,
 * because the service manager waits for them; but sd_notify() blocks while the socket is full.
 */

/* Sends for example "STATUS=3 trees". The message is lost if it cannot be sent at once, or if there is no service
 * manager. */
void notify_try(const char *state);
