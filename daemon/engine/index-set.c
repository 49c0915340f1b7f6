/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the operations of an IndexSet that walk through its levels; the short ones are inline. */

#include <assert.h>

#include "engine/index-set.h"

#define LEVELS_MAX 4

uint32_t index_set_words(uint32_t n) {
        uint32_t total = 0;

        do {
                n = index_set_level(n);
                total += n;
        } while (n > 1);

        return total;
}

void index_set_init(IndexSet *set, uint32_t n, uint64_t *memory) {
        assert(n > 0 && n <= 1u << 6 * LEVELS_MAX);

        *set = (IndexSet){ .bits = memory, .n = n, .top = index_set_words(n) - 1 };
}

uint32_t index_set_next(const IndexSet *set, uint32_t from) {
        const uint64_t *levels[LEVELS_MAX], *bits = set->bits;
        uint32_t limit = set->n;

        for (unsigned level = 0; from < limit; level++) {
                uint64_t word = bits[from / 64] >> (from % 64);

                if (word != 0) {
                        /* Go down to the first member below this bit. */
                        from += (uint32_t) __builtin_ctzll(word);
                        while (level-- > 0)
                                from = from * 64 + (uint32_t) __builtin_ctzll(levels[level][from]);

                        return from;
                }
                if (bits == set->bits + set->top)
                        break;

                levels[level] = bits;
                from = from / 64 + 1;
                limit = index_set_level(limit);
                bits += limit;
        }

        return INDEX_SET_END;
}

void index_set_remove_range(IndexSet *set, uint32_t from, uint32_t end) {
        if (index_set_is_empty(set))
                return;

        for (uint32_t index = index_set_next(set, from); index < end; index = index_set_next(set, index + 1))
                index_set_remove(set, index);
}
