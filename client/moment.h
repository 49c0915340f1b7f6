/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Points in time as people read them, in microseconds of CLOCK_REALTIME.
 */

#include <stdint.h>

/* "2026-11-21 12:00:00", of local time. To be freed. */
char *moment_format_date(uint64_t moment);

/* "Sat 2026-11-21 12:00:00 UTC; 3min 2s ago". To be freed. */
char *moment_format_point(uint64_t moment);
