/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Computes the edit distance between two words: the number of letters to insert, delete or replace, and of neighbours
 * to swap. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "basic/nearest.h"

/* Longer words are not misspelt keywords. This also limits the size of the table. */
#define WORD_MAX 63u

#define PART_MIN 3u
#define CLOSE_MAX 2u

/* "Optimal string alignment". There is a row for each letter of a; only the last three are kept. */
static size_t distance_between(const char *a, size_t n_a, const char *b, size_t n_b) {
        size_t rows[3][WORD_MAX + 1];

        for (size_t j = 0; j <= n_b; j++)
                rows[0][j] = j;

        for (size_t i = 1; i <= n_a; i++) {
                size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);

                        row[j] = MIN(above[j], row[j - 1]) + 1;
                        row[j] = MIN(row[j], above[j - 1] + (x != y));
                        if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
                                row[j] = MIN(row[j], above2[j - 2] + 1);
                }
        }

        return rows[n_a % 3][n_b];
}

static void offer(Nearest *nearest, const char *candidate, size_t distance) {
        if (nearest->best && distance >= nearest->distance)
                return;

        nearest->best = candidate;
        nearest->distance = distance;
}

void nearest_offer(Nearest *nearest, const char *candidate) {
        const char *word = nearest->word;
        size_t n_word = strlen(word), n_candidate = strlen(candidate), distance, limit;

        if (n_word > WORD_MAX || n_candidate > WORD_MAX)
                return;

        /* For example "warn" in "warning" and "TERM" in "SIGTERM". */
        if (n_word >= PART_MIN && n_word < n_candidate &&
            (g_ascii_strncasecmp(candidate, word, n_word) == 0 ||
             g_ascii_strcasecmp(candidate + n_candidate - n_word, word) == 0)) {
                offer(nearest, candidate, 1);
                return;
        }

        /* For example "maximum", which begins with "max". */
        if (n_candidate >= PART_MIN && n_candidate < n_word && g_ascii_strncasecmp(word, candidate, n_candidate) == 0)
                offer(nearest, candidate, CLOSE_MAX + 1);

        /* Allow one mistake per three letters, but never all letters. */
        limit = MAX((MAX(n_word, n_candidate) + 1) / 3, 1);
        if (MAX(n_word, n_candidate) - MIN(n_word, n_candidate) > limit)
                return;

        distance = distance_between(word, n_word, candidate, n_candidate);
        if (distance <= limit && distance < n_candidate)
                offer(nearest, candidate, distance);
}

bool nearest_is_close(const Nearest *nearest) {
        return nearest->best && nearest->distance <= CLOSE_MAX;
}
