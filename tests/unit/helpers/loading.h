/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lets unit tests wait for what a manager loads in a thread: a reload, or a tree that is given as text.
 */

#include "runtime/manager.h"

/* Returns the messages of the reload; the caller frees them. */
GPtrArray *loading_reload(Manager *manager, GMainContext *context);
/* Returns what manager_start_text() reports at the end: 0 and the run, or an error and its text. */
int loading_start_text(Manager *manager, GMainContext *context, const char *name, const char *text, const Caller *who,
                       Run **ret_run, char **ret_error);
