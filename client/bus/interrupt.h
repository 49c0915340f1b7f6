/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lets Ctrl-C end btctl during a call that btd does not answer.
 *
 * A verb with a Watch blocks SIGINT and SIGTERM and handles them after the call, so that a call is not broken off in
 * the middle: sd_bus_call() of systemd 252 fails with EINTR if a signal handler runs. But the call may take 25 s. So a
 * thread looks for these signals during the call, and leaves them pending. If the call then takes another second, it
 * ends the process. A caller can have the first SIGINT for itself.
 */

#include <glib.h>

typedef struct Interrupt Interrupt;

/* For the time until interrupt_free(). NULL: the signals are not blocked, and end btctl themselves; or there is no
 * thread to be had.
 * cancel: the first SIGINT only calls this, in the thread or in interrupt_free(). NULL: SIGINT ends the process, as
 * SIGTERM does. */
Interrupt *interrupt_new(void (*cancel)(void *userdata), void *userdata);
void interrupt_free(Interrupt *interrupt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Interrupt, interrupt_free)

/* The thread calls this before it ends the process. NULL: it calls nothing. */
void interrupt_before_exit(void (*callback)(void));
