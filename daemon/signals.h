/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Receives SIGHUP, SIGINT and SIGTERM on the main loop. GLib's own sources would start a second thread, and in a
 * process with several threads each allocation and each system call costs more.
 */

#include <glib.h>

typedef struct Signals Signals;
typedef void (*SignalCame)(int number, void *userdata);

/* Blocks SIGHUP, SIGINT and SIGTERM for good, and calls came() for each from the main loop. */
int signals_new(GMainContext *context, SignalCame came, void *userdata, Signals **ret_signals);
void signals_free(Signals *signals);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Signals, signals_free)
