/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws the timeline of a recording, for btctl plot: plot.c makes the timeline, plot-svg.c and plot-trace.c write it.
 */

#include "client/plot/timeline.h"
#include "client/recording/recording.h"

typedef struct PlotTitle {
        const char *run;      /* "boot.3" */
        const char *subtitle; /* "failure after 3.2s: Boot/LoadConfig: ..." */
        uint64_t started;     /* CLOCK_REALTIME µs */
} PlotTitle;

/* To be freed. */
typedef char *(*PlotFormat)(const Timeline *timeline, const PlotTitle *title);

/* A picture: SVG 1.1, with a row for each node. */
char *plot_svg(const Timeline *timeline, const PlotTitle *title);
/* Events for trace viewers: Chrome's and Perfetto's JSON, the "Trace Event Format". */
char *plot_trace(const Timeline *timeline, const PlotTitle *title);

/* NULL, with a text for people: the run record cannot be read. */
char *plot_recording(const Recording *recording, PlotFormat format, char **ret_error);

/* A path of SVG: a row of horizontal lines, in a few bytes for each. Zeroed: there are none yet. */
typedef struct SvgPath {
        GString *text; /* to be freed; NULL: there are no lines */
        long end;      /* of the last line, in tenths */
} SvgPath;

/* Adds a line behind the others, which it does not cover; y is the same for all. */
void svg_path_add(SvgPath *path, double x, double width, unsigned y);
