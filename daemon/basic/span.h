/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parses and formats time spans in systemd's format ("150ms", "1min 30s", "infinity"), see systemd.time(7).
 */

#include <stdint.h>

/* In microseconds, UINT64_MAX for "infinity". -EINVAL: the text is not a time span; a number without a unit is not,
 * either. -ERANGE: the span is too long. */
int span_parse(const char *text, uint64_t *ret_usec);

/* Formats with at most two units: "1.5s", "2min 5s", "150ms". The caller frees it. */
char *span_format(uint64_t usec);
/* Formats a measured span: three digits below a minute, else whole seconds. "1.23s", "2min 5s". The caller frees it. */
char *span_format_rounded(uint64_t usec);
