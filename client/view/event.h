/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The lines of events: of a run that is followed, recorded or simulated. The functions that print do so for events as
 * they happen, one line of text or JSON for each.
 */

#include "client/bus/node-info.h"

/* what: a status in words, or another word of LogEvent or SimulationEvent. */
typedef struct Event {
        const char *title; /* the path of the node, or the name of the run */
        const char *what;
        uint64_t duration;   /* microseconds that a node or a run took; 0: unknown, or it has not ended */
        const char *text;    /* why, or NULL */
        json_object *values; /* of variables, or NULL */
} Event;

/* stamp: the start of the line, usually a time; may be empty. Without an end of line. */
void event_append(const Output *output, GString *line, const char *stamp, const Event *event);
/* The stamp for an event at so many microseconds after the start of the run: "   1.500s". To be freed. */
char *event_stamp(uint64_t offset);

void event_print_started(const Output *output, const char *stamp, const char *run);
void event_print_ready(const Output *output, const char *stamp, const char *run);
void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause);
/* known: all known nodes, for the paths of the changed ones. */
void event_print_nodes(Client *client, const char *stamp, const char *run, const char *run_path,
                       const GPtrArray *changed, const GPtrArray *known);
void event_print_reloaded(const Output *output, const char *stamp, char **errors);
