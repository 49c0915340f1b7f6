/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Matches Lua's patterns in a limited number of steps, for library-string.c. Lua's own matcher has no limit: some
 * patterns have so many possible matches that it would take years.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_CAPTURES_MAX 32

typedef struct Capture {
        const char *start;
        size_t length;
        enum {
                CAPTURE_OPEN,
                CAPTURE_TEXT,
                CAPTURE_POSITION,
        } kind;
} Capture;

typedef struct Match {
        const char *text, *text_end;
        const char *pattern_end;
        uint64_t steps; /* used so far */
        uint64_t steps_max;
        const char *error; /* a message: the pattern is wrong, or took too many steps */
        unsigned depth;
        unsigned n_captures;
        Capture captures[PATTERN_CAPTURES_MAX];
} Match;

/* The end of the match at start, which is inside of the text; NULL: no match, or an error. The caller handles an anchor
 * ('^'). */
const char *pattern_match(Match *match, const char *start, const char *pattern);
/* Is it plain text? */
bool pattern_is_plain(const char *pattern, size_t length);
