/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prints events as they happen, one line of text or JSON for each. stamp: the start of a line of text, usually a time.
 */

#include "client/bus/node-info.h"

void event_print_started(const Output *output, const char *stamp, const char *run);
void event_print_ready(const Output *output, const char *stamp, const char *run);
void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause);
/* known: all known nodes, for the paths of the changed ones. */
void event_print_nodes(const Output *output, const char *stamp, const char *run, const GPtrArray *changed,
                       const GPtrArray *known);
void event_print_reloaded(const Output *output, const char *stamp, char **errors);
