/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calls a function later, from the main loop. The main loop owns the source: who waits for it destroys it to cancel it,
 * and forgets it when the function returns G_SOURCE_REMOVE.
 */

#include <glib.h>

/* msec: after which time; 0: in the next turn of the loop. */
static inline GSource *call_later(GMainContext *context, unsigned msec, GSourceFunc function, void *userdata) {
        GSource *source = msec > 0 ? g_timeout_source_new(msec) : g_idle_source_new();

        g_source_set_priority(source, G_PRIORITY_DEFAULT);
        g_source_set_callback(source, function, userdata, NULL);
        g_source_attach(source, context);
        g_source_unref(source);
        return source;
}
