/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any text at all as a time span. What is one is written as a span again, which is not longer than it. */

#include <errno.h>
#include <glib.h>

#include "basic/span.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = g_strndup((const char *) data, size), *written = NULL;
        uint64_t usec = 0, again = 0;
        int r = span_parse(text, &usec);

        g_assert_true(r == 0 || r == -EINVAL || r == -ERANGE);
        if (r < 0)
                return 0;

        written = span_format(usec);
        g_assert_cmpint(span_parse(written, &again), ==, 0);
        g_assert_true(again <= usec || usec == UINT64_MAX);
        return 0;
}
