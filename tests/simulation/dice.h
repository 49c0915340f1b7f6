/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The random numbers of a simulation: the same seed gives the same numbers.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct Dice {
        uint64_t state;
} Dice;

uint64_t dice_throw(Dice *dice);
/* Below n, which is not 0. */
uint64_t dice_below(Dice *dice, uint64_t n);
bool dice_chance(Dice *dice, unsigned percent);

/* Dice for these numbers, independent of what was thrown before: for results that must not depend on their order. */
Dice dice_of(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);
