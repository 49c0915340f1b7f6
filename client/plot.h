/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A timeline as a picture (SVG 1.1, a row a node), or as events for trace viewers (the JSON of Chrome's and Perfetto's,
 * "Trace Event Format").
 */

#include "timeline.h"

typedef struct PlotTitle {
        const char *run;      /* "boot.3" */
        const char *subtitle; /* "failure after 3.2s: Boot/LoadConfig: ..." */
        uint64_t started;     /* CLOCK_REALTIME µs */
} PlotTitle;

/* To be freed. */
char *plot_svg(const Timeline *timeline, const PlotTitle *title);
char *plot_trace(const Timeline *timeline, const PlotTitle *title);
