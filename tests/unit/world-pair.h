/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The same tree twice, with the same inputs: one machine visits only what has been marked, the other one everything.
 * What they do and come to is the same, and what must hold after every step (world-rules.h) holds for both.
 */

#include "dice.h"
#include "world.h"

typedef struct WorldPair {
        World *event, *full;
        Dice *dice;      /* borrowed */
        bool controlled; /* somebody takes a hand now and then */
} WorldPair;

void world_pair_init(WorldPair *pair, const Tree *tree, bool observing, bool controlled, Dice *dice);
void world_pair_clear(WorldPair *pair);

/* Anything happens, until the tree or the dice have come to an end, or for long enough. */
void world_pair_live(WorldPair *pair);
/* They are halted, and everything that something waits for happens: what does not end then cannot. True: has ended. */
bool world_pair_end(WorldPair *pair);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WorldPair, world_pair_clear)
