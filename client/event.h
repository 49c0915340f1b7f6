/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prints what happens, as it comes: a line of text or of JSON for each event. stamp: what a line of text starts with,
 * usually a time.
 */

#include "node-info.h"

void event_print_started(const Output *output, const char *stamp, const char *run);
void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause);
/* known: where the paths of the changed nodes are found. */
void event_print_nodes(const Output *output, const char *stamp, const char *run, const GPtrArray *changed,
                       const GPtrArray *known);
void event_print_reloaded(const Output *output, const char *stamp, char **errors);
