/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Written as systemctl writes them: local time, and how long ago that was. */

#include <glib.h>

#include "basic/span.h"
#include "moment.h"

static char *format_local(uint64_t moment, const char *format) {
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(moment / G_USEC_PER_SEC);

        return time ? g_date_time_format(time, format) : g_strdup("?");
}

char *moment_format_date(uint64_t moment) {
        return format_local(moment, "%Y-%m-%d %H:%M:%S");
}

char *moment_format_point(uint64_t moment) {
        g_autofree char *date = format_local(moment, "%a %Y-%m-%d %H:%M:%S %Z");
        uint64_t now = g_get_real_time();
        g_autofree char *ago = span_format_rounded(now > moment ? now - moment : 0);

        return g_strdup_printf("%s; %s ago", date, ago);
}
