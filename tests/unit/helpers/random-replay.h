/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks replay with a random run (random-run.h): its run record, replayed, gives the same run; and a run that was
 * recovered from a record that was cut anywhere can be recovered again.
 */

#include "random-run.h"
#include "record/entry.h"

/* lives: how often the record is cut. thorough: compares the runs after each input, and makes the tree from the record;
 * otherwise after one input, which the dice choose, and at the end. */
void random_replay_check(Definition *definition, Dice *dice, unsigned lives, bool thorough);

/* Whether any of the run records had such an entry. */
bool random_replay_has_seen(EntryKind kind);
