/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The events of a simulation as lines: of text for people, of JSON for programs. The same events are the same lines.
 */

#include "output.h"
#include "simulation.h"

typedef struct Trace {
        const Tree *tree;
        const char *title; /* what the run is called */
} Trace;

/* Without an end of line. */
void trace_append_line(const Trace *trace, const Output *output, GString *line, const SimulationEvent *event);
