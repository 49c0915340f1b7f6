/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs the same tree twice, with the same inputs: one machine visits only marked nodes, the other one all nodes. Their
 * effects and results must be the same, and the rules (world-rules.h) must hold for both after every step.
 */

#include "dice.h"
#include "world.h"

typedef struct WorldPair {
        World *event, *full;
        Dice *dice;      /* borrowed */
        bool controlled; /* a user forces outcomes and sets breakpoints */
} WorldPair;

void world_pair_init(WorldPair *pair, const Tree *tree, bool observing, bool controlled, Dice *dice);
void world_pair_clear(WorldPair *pair);

/* Makes inputs until the trees end, the dice are used up, or there were enough. */
void world_pair_live(WorldPair *pair);
/* Halts both, and ends everything that a node waits for. True: both have ended. */
bool world_pair_end(WorldPair *pair);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WorldPair, world_pair_clear)
