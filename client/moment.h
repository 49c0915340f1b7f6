/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Times as people read them: no more precise than they are worth. All in microseconds, points in time by
 * CLOCK_REALTIME.
 */

#include <stdint.h>

/* "1.23s", "2min 5s". To be freed. */
char *moment_format_span(uint64_t usec);

/* "2026-11-21 12:00:00", of local time. To be freed. */
char *moment_format_date(uint64_t moment);

/* "Sat 2026-11-21 12:00:00 UTC; 3min 2s ago". To be freed. */
char *moment_format_point(uint64_t moment);
