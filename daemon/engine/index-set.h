/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A set of node indices whose members can be found in order at a cost that depends on how many there are, not on how
 * large the tree is: a bitmap, with a bitmap of its non-zero words above it, and so on up to a single word.
 */

#include <stdbool.h>
#include <stdint.h>

#define INDEX_SET_LEVELS 4

typedef struct IndexSet {
        uint64_t *top;                      /* the single word of the highest level */
        uint64_t *levels[INDEX_SET_LEVELS]; /* from the members up */
        unsigned n_levels;
        uint32_t n; /* members are below this */
} IndexSet;

/* What no member can be. */
#define INDEX_SET_END UINT32_MAX

/* How many words of memory a set for n indices needs, n at most 2^24. */
uint32_t index_set_words(uint32_t n);
/* Uses the memory, which must be zeroed and outlive the set. */
void index_set_init(IndexSet *set, uint32_t n, uint64_t *memory);

/* The first member that is not below from, or INDEX_SET_END. */
uint32_t index_set_next(const IndexSet *set, uint32_t from);
/* Takes out all members in from..end-1. */
void index_set_remove_range(IndexSet *set, uint32_t from, uint32_t end);

static inline bool index_set_has(const IndexSet *set, uint32_t index) {
        return set->levels[0][index / 64] >> (index % 64) & 1;
}

static inline bool index_set_is_empty(const IndexSet *set) {
        return *set->top == 0;
}

static inline void index_set_add(IndexSet *set, uint32_t index) {
        for (uint64_t *const *level = set->levels;; level++) {
                uint64_t *word = *level + index / 64, before = *word;

                *word |= UINT64_C(1) << (index % 64);
                if (before != 0 || *level == set->top)
                        return;

                index /= 64;
        }
}

static inline void index_set_remove(IndexSet *set, uint32_t index) {
        for (uint64_t *const *level = set->levels;; level++) {
                uint64_t *word = *level + index / 64;

                *word &= ~(UINT64_C(1) << (index % 64));
                if (*word != 0 || *level == set->top)
                        return;

                index /= 64;
        }
}

/* Is there a member in from..end-1? */
static inline bool index_set_has_any(const IndexSet *set, uint32_t from, uint32_t end) {
        return !index_set_is_empty(set) && index_set_next(set, from) < end;
}
