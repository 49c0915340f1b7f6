/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The kinds of trouble that a simulation can have besides those of trouble.c, and which of them the present one has.
 * Each kind has a name for the option --trouble. One that finds a known fault of the daemon is off unless it is wanted:
 * whoever mends the fault removes it from the table.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dice.h"

typedef enum TroubleKind {
        TROUBLE_WINDOW,
        TROUBLE_CUT,
        TROUBLE_TOKEN,
        TROUBLE_ROOM,
        TROUBLE_FILES,
        TROUBLE_LIMITS,
        TROUBLE_FAR,
        TROUBLE_DISK,
        TROUBLE_PROCESSOR,
        TROUBLE_START,
        TROUBLE_STOP,
        TROUBLE_RESET,
        TROUBLE_RELOAD,
        TROUBLE_FORGET,
        TROUBLE_ABSENCE,
        TROUBLE_SHARED,
        TROUBLE_CLOCK,
        TROUBLE_FOLLOW,
        TROUBLE_KEPT,
        TROUBLE_REPLACE,
        TROUBLE_RETRY,
        TROUBLE_N_,
} TroubleKind;

/* The simulations have this kind, or all kinds that are off otherwise. False: there is none of this name. */
bool troubles_want(const char *name);
void troubles_want_all(void);
/* The options that were wanted, to repeat a simulation, such as " --all". To be freed. */
char *troubles_wanted(void);
/* Prints the table. */
void troubles_print(void);

/* Throws which kinds the next simulation has; calm: none. */
void troubles_throw(uint64_t seed, bool calm);
bool troubles_have(TroubleKind kind);
/* For a rule that other trouble can break, too, though rarely: is it checked in this simulation? */
bool troubles_check(TroubleKind kind);
/* Dice for this kind alone, so that it changes nothing else in a simulation. */
Dice troubles_dice(TroubleKind kind, uint64_t number);
