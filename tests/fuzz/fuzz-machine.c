/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any tree, and any inputs to its machine: ticks that visit only what has been marked come to the same as those that
 * visit everything, and what must hold in any world holds behind each of them. The first byte says how many of those
 * that follow make up the tree, the next one what kind of machine it is.
 */

#include "fuzz.h"
#include "random-tree.h"
#include "world-pair.h"

#define DEPTH_MAX 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        size_t n = size > 0 ? MIN(data[0], size - 1) : 0;
        g_autoptr(Dice) tree_dice = dice_new_of_bytes(data + (size > 0), n);
        g_autoptr(Dice) dice = dice_new_of_bytes(data + (size > 0) + n, size - n - (size > 0));
        g_autoptr(RandomTree) tree = random_tree_new(tree_dice, 1 + dice_roll(tree_dice, DEPTH_MAX));
        bool observing = dice_chance(dice, 30), controlled = dice_chance(dice, 30);
        g_auto(WorldPair) pair = {};

        world_pair_init(&pair, tree->tree, observing, controlled, dice);
        world_pair_live(&pair);
        world_pair_end(&pair);
        return 0;
}
