/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * "Did you mean": the candidate that a misspelt word was most likely meant to be.
 */

#include <stddef.h>

typedef struct Nearest {
        const char *word;
        const char *best; /* NULL while none is near enough */
        size_t distance;
} Nearest;

/* Start with { .word = WORD }, offer each candidate (borrowed), read best. Case does not count. */
void nearest_offer(Nearest *nearest, const char *candidate);
