/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The distance between two words: letters put in, left out, replaced, or two neighbours swapped. */

#include <glib.h>
#include <string.h>

#include "basic/nearest.h"

/* Longer words are no misspelt keywords; it also bounds the table. */
#define WORD_MAX 63u

static size_t min3(size_t a, size_t b, size_t c) {
        return MIN(MIN(a, b), c);
}

/* "Optimal string alignment": rows for the letters of a, of which the last three are kept. */
static size_t distance_between(const char *a, size_t n_a, const char *b, size_t n_b) {
        size_t rows[3][WORD_MAX + 1];

        for (size_t j = 0; j <= n_b; j++)
                rows[0][j] = j;

        for (size_t i = 1; i <= n_a; i++) {
                size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);

                        row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
                        if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
                                row[j] = MIN(row[j], above2[j - 2] + 1);
                }
        }

        return rows[n_a % 3][n_b];
}

void nearest_offer(Nearest *nearest, const char *candidate) {
        size_t n_word = strlen(nearest->word), n_candidate = strlen(candidate), distance, limit;

        if (n_word > WORD_MAX || n_candidate > WORD_MAX)
                return;

        /* One mistake in three letters; never all of them. */
        limit = MAX((MAX(n_word, n_candidate) + 1) / 3, 1);
        if (MAX(n_word, n_candidate) - MIN(n_word, n_candidate) > limit)
                return;

        distance = distance_between(nearest->word, n_word, candidate, n_candidate);
        if (distance > limit || distance >= n_candidate || (nearest->best && distance >= nearest->distance))
                return;

        nearest->best = candidate;
        nearest->distance = distance;
}
