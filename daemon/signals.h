/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The signals by which the daemon is asked to do something. GLib has such sources, too, but they take a second thread,
 * and in a process of more than one thread each allocation and each system call costs more.
 */

#include <glib.h>

typedef struct Signals Signals;
typedef void (*SignalCame)(int number, void *userdata);

/* Tells of SIGHUP, SIGINT and SIGTERM from the main loop, and blocks them for good. */
int signals_new(GMainContext *context, SignalCame came, void *userdata, Signals **ret_signals);
void signals_free(Signals *signals);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Signals, signals_free)
