/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A random run (random-run.h) from its start to its end, and its journal: a run that is replayed is where the run was,
 * and a run that another daemon has taken up, wherever its journal was broken off, can be taken up again.
 */

#include "random-run.h"

/* lives: how often the journal is broken off. thorough: the replay is looked at behind each input, and its tree is made
 * from what the journal says; else behind one, which the dice choose, and at the end. */
void random_story_check(Definition *definition, Dice *dice, unsigned lives, bool thorough);
