/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dice.h"

struct Dice {
        GRand *random; /* or NULL, with bytes */
        const uint8_t *next, *end;
};

Dice *dice_new(uint32_t seed) {
        Dice *dice = g_new0(Dice, 1);

        dice->random = g_rand_new_with_seed(seed);
        return dice;
}

Dice *dice_new_of_bytes(const uint8_t *bytes, size_t n) {
        Dice *dice = g_new0(Dice, 1);

        dice->next = bytes;
        dice->end = bytes + n;
        return dice;
}

void dice_free(Dice *dice) {
        if (!dice)
                return;

        if (dice->random)
                g_rand_free(dice->random);
        g_free(dice);
}

static uint32_t next_byte(Dice *dice) {
        return dice->next < dice->end ? *dice->next++ : 0;
}

/* A byte for what a byte can say: so a fuzzer that changes one changes one thing. */
uint32_t dice_roll(Dice *dice, uint32_t sides) {
        uint32_t number;

        if (dice->random)
                return (uint32_t) g_rand_int_range(dice->random, 0, (gint32) sides);

        number = next_byte(dice);
        for (uint64_t range = 256; range < sides; range <<= 8)
                number = number << 8 | next_byte(dice);

        return number % sides;
}

bool dice_chance(Dice *dice, unsigned percent) {
        return dice_roll(dice, 100) < percent;
}

bool dice_is_used_up(const Dice *dice) {
        return !dice->random && dice->next == dice->end;
}
