/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "trace.h"

static bool is_open;
static char *first;

void trace_open(bool wanted) {
        is_open = wanted;
}

bool trace_is_open(void) {
        return is_open;
}

void trace(const char *format, ...) {
        va_list args;

        if (!is_open)
                return;

        printf("%10" PRIu64 "  ", clock_now() % 100000000000);
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
        fflush(stdout);
}

void violation(const char *format, ...) {
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);

        trace("VIOLATION: %s", text);
        if (!first)
                first = g_steal_pointer(&text);
}

const char *violation_text(void) {
        return first;
}

void violation_clear(void) {
        g_clear_pointer(&first, g_free);
}
