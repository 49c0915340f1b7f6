/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Holds a set of node indices, for the machine. Finding its members in order costs according to how many there are, not
 * to how large the tree is: it is a bitmap, with a bitmap of its non-zero words above it, and so on up to a single
 * word.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct IndexSet {
        uint64_t *bits; /* of the members; then those of the next level, and so on */
        uint32_t n;     /* members are below this */
        uint32_t top;   /* where the single word of the highest level is */
} IndexSet;

/* No member has this index. */
#define INDEX_SET_END UINT32_MAX

/* How many words of memory a set for n indices needs, n at most 2^24. */
uint32_t index_set_words(uint32_t n);
/* Uses the memory, which must be zeroed and outlive the set. */
void index_set_init(IndexSet *set, uint32_t n, uint64_t *memory);

/* The first member that is not below from, or INDEX_SET_END. */
uint32_t index_set_next(const IndexSet *set, uint32_t from);
/* Removes all members in from..end-1. */
void index_set_remove_range(IndexSet *set, uint32_t from, uint32_t end);

/* How many words a level needs for n bits. */
static inline uint32_t index_set_level(uint32_t n) {
        return n / 64 + (n % 64 != 0);
}

static inline bool index_set_has(const IndexSet *set, uint32_t index) {
        return set->bits[index / 64] >> (index % 64) & 1;
}

static inline bool index_set_is_empty(const IndexSet *set) {
        return set->bits[set->top] == 0;
}

static inline void index_set_add(IndexSet *set, uint32_t index) {
        uint64_t *level = set->bits;
        uint32_t n = set->n;

        for (;;) {
                uint64_t *word = level + index / 64, before = *word;

                *word |= UINT64_C(1) << (index % 64);
                if (before != 0 || level == set->bits + set->top)
                        return;

                n = index_set_level(n);
                level += n;
                index /= 64;
        }
}

static inline void index_set_remove(IndexSet *set, uint32_t index) {
        uint64_t *level = set->bits;
        uint32_t n = set->n;

        for (;;) {
                uint64_t *word = level + index / 64;

                *word &= ~(UINT64_C(1) << (index % 64));
                if (*word != 0 || level == set->bits + set->top)
                        return;

                n = index_set_level(n);
                level += n;
                index /= 64;
        }
}

/* Is there a member in from..end-1? */
static inline bool index_set_has_any(const IndexSet *set, uint32_t from, uint32_t end) {
        return !index_set_is_empty(set) && index_set_next(set, from) < end;
}
