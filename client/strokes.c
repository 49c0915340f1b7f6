/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All but the first are relative to the end of the one before, and to a tenth, so that errors do not add up. */

#include "strokes.h"

static void append_tenths(GString *text, long tenths) {
        g_string_append_printf(text, tenths % 10 ? "%ld.%ld" : "%ld", tenths / 10, tenths % 10);
}

void strokes_add(Strokes *strokes, double x, double width, unsigned y) {
        long begin = MAX((long) (x * 10 + 0.5), strokes->at), end = MAX((long) ((x + width) * 10 + 0.5), begin + 1);
        bool first = !strokes->path;

        if (first)
                strokes->path = g_string_new(NULL);

        g_string_append_c(strokes->path, first ? 'M' : 'm');
        append_tenths(strokes->path, begin - strokes->at);
        g_string_append_printf(strokes->path, " %uh", first ? y : 0);
        append_tenths(strokes->path, end - begin);
        strokes->at = end;
}
