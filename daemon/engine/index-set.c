/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Building an IndexSet, and what needs a walk through its levels. */

#include <assert.h>

#include "engine/index-set.h"

static uint32_t words_for(uint32_t n) {
        return n / 64 + (n % 64 != 0);
}

uint32_t index_set_words(uint32_t n) {
        uint32_t total = 0;

        do {
                n = words_for(n);
                total += n;
        } while (n > 1);

        return total;
}

void index_set_init(IndexSet *set, uint32_t n, uint64_t *memory) {
        assert(n > 0);

        *set = (IndexSet){ .n = n };
        do {
                assert(set->n_levels < INDEX_SET_LEVELS);

                n = words_for(n);
                set->levels[set->n_levels++] = set->top = memory;
                memory += n;
        } while (n > 1);
}

/* The rest of the way down from a word on some level to its first member. */
static uint32_t first_below(const IndexSet *set, unsigned level, uint32_t index) {
        while (level-- > 0)
                index = index * 64 + (uint32_t) __builtin_ctzll(set->levels[level][index]);

        return index;
}

uint32_t index_set_next(const IndexSet *set, uint32_t from) {
        uint32_t limit = set->n;

        for (unsigned level = 0; level < set->n_levels; level++) {
                uint64_t word;

                if (from >= limit)
                        return INDEX_SET_END;

                word = set->levels[level][from / 64] >> (from % 64);
                if (word != 0)
                        return first_below(set, level, from + (uint32_t) __builtin_ctzll(word));

                from = from / 64 + 1;
                limit = words_for(limit);
        }

        return INDEX_SET_END;
}

void index_set_remove_range(IndexSet *set, uint32_t from, uint32_t end) {
        if (index_set_is_empty(set))
                return;

        for (uint32_t index = index_set_next(set, from); index < end; index = index_set_next(set, index + 1))
                index_set_remove(set, index);
}
