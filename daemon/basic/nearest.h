/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the candidate that a misspelt word probably means, for "did you mean" in messages.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct Nearest {
        const char *word;
        const char *best; /* NULL: no candidate is close enough */
        size_t distance;
} Nearest;

/* Start with { .word = WORD }, offer each candidate (borrowed), then read best. Case is ignored. */
void nearest_offer(Nearest *nearest, const char *candidate);
/* Is the best candidate so close that it was almost certainly meant? */
bool nearest_is_close(const Nearest *nearest);
