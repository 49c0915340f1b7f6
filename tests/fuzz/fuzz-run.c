/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any tree, and anything that happens to a run of it, also that its daemon ends and another one takes it up: what holds
 * of every run holds behind each input, and the replay of its run record comes to the same. The first byte says how
 * many of those that follow make up the tree.
 */

#include "fuzz.h"
#include "random-replay.h"

#define DEPTH_MAX 5
#define LIVES_MAX 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        size_t n = size > 0 ? MIN(data[0], size - 1) : 0;
        g_autoptr(Dice) tree = dice_new_of_bytes(data + (size > 0), n);
        g_autoptr(Dice) dice = dice_new_of_bytes(data + (size > 0) + n, size - n - (size > 0));
        g_autoptr(Definition) definition = random_definition_new(tree, 1 + dice_roll(tree, DEPTH_MAX));

        if (definition)
                random_replay_check(definition, dice, dice_roll(dice, LIVES_MAX), false);

        return 0;
}
