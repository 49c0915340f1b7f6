/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lua's patterns, matched in a bounded number of steps: some patterns try so many ways that the library of Lua would
 * take years.
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
        const char *error; /* for people: the pattern is wrong, or has taken too many steps */
        unsigned depth;
        unsigned n_captures;
        Capture captures[PATTERN_CAPTURES_MAX];
} Match;

/* The end of what matches the pattern at start, which is inside of the text; NULL: nothing does, or there was an error.
 * An anchor ('^') is left to the caller. */
const char *pattern_match(Match *match, const char *start, const char *pattern);
/* Is it plain text? */
bool pattern_is_plain(const char *pattern, size_t length);
