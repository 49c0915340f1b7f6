/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A row of horizontal lines as a path of SVG, in a few bytes for each.
 */

#include <glib.h>
#include <stdbool.h>

/* Zeroed: there are none yet. */
typedef struct Strokes {
        GString *path; /* to be freed; NULL: there are none */
        long at;       /* where the last one ended, in tenths */
} Strokes;

/* Behind those that there are, of which it covers none; y is the same for all. */
void strokes_add(Strokes *strokes, double x, double width, unsigned y);
