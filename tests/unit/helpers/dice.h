/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the random choices of a test: from a seed, which always gives the same ones, or from the bytes of a fuzzer.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Dice Dice;

Dice *dice_new(uint32_t seed);
/* Borrows the bytes. */
Dice *dice_new_of_bytes(const uint8_t *bytes, size_t n);
void dice_free(Dice *dice);

/* From 0 up to one less than there are sides; where the bytes are used up, 0. */
uint32_t dice_roll(Dice *dice, uint32_t sides);
bool dice_chance(Dice *dice, unsigned percent);
/* Never, with a seed. */
bool dice_is_used_up(const Dice *dice);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Dice, dice_free)
