/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Properties of the machine, on random trees with random inputs: a tick that visits only what has been marked gives
 * the same states, effects and results as one that visits everything; and what must hold after every step holds.
 */

#include "random-tree.h"
#include "rounds.h"
#include "world-pair.h"

#define TREES 50000

static void test_event_equals_full(void) {
        unsigned n_ended = 0;

        for (unsigned seed = 0; seed < rounds(TREES); seed++) {
                g_autoptr(Dice) dice = dice_new(seed);
                g_autoptr(RandomTree) random_tree = random_tree_new(dice, 1 + seed % 5);
                g_auto(WorldPair) pair = {};

                g_test_message("seed %u", seed);
                world_pair_init(&pair, random_tree->tree, seed % 3 == 0, seed % 4 == 0, dice);
                world_pair_live(&pair);
                n_ended += world_pair_end(&pair);
        }

        g_test_message("%u have ended", n_ended);
        g_assert_cmpuint(n_ended, >, rounds(TREES) / 100 * 95);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/machine/event-equals-full", test_event_equals_full);
        return g_test_run();
}
