/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The timeline of a recording, drawn.
 */

#include "plot.h"
#include "recording.h"

typedef char *(*PlotFormat)(const Timeline *timeline, const PlotTitle *title);

/* plot_svg or plot_trace. To be freed; NULL: the journal cannot be read, with a text for people. */
char *plot_recording(const Recording *recording, PlotFormat format, char **ret_error);
