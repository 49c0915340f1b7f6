/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SplitMix64. */

#include "dice.h"

uint64_t dice_throw(Dice *dice) {
        uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

uint64_t dice_below(Dice *dice, uint64_t n) {
        return dice_throw(dice) % n;
}

bool dice_chance(Dice *dice, unsigned percent) {
        return dice_below(dice, 100) < percent;
}

Dice dice_of(uint64_t seed, uint64_t a, uint64_t b, uint64_t c) {
        Dice dice = { .state = seed };

        dice.state = dice_throw(&dice) ^ a;
        dice.state = dice_throw(&dice) ^ b;
        dice.state = dice_throw(&dice) ^ c;
        return dice;
}
