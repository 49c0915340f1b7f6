/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Time spans as systemd writes them ("150ms", "1min 30s", "infinity"), see systemd.time(7).
 */

#include <stdint.h>

/* Microseconds, UINT64_MAX for "infinity". -EINVAL: not a span, a bare number included;
 * -ERANGE: too long. */
int span_parse(const char *text, uint64_t *ret_usec);

/* The shortest text with at most two units: "1.5s", "2min 5s", "150ms". To be freed. */
char *span_format(uint64_t usec);
/* Of a span that was measured, no more than anybody wants to read: three digits up to a minute, then whole seconds.
 * "1.23s", "2min 5s". To be freed. */
char *span_format_rounded(uint64_t usec);
