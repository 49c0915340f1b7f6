/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The life of a daemon, all of it from its main() on. It is at work until nothing can be read from its descriptors;
 * then it is the world's turn, and when nothing happens at the moment, time goes on to when something does.
 */

#include <stdbool.h>

#include "kernel.h"

/* So many descriptors are stored for the next daemon at most. */
#define LIFE_STORED_MAX 64

typedef enum Death {
        DEATH_KILLED,
        DEATH_EXITED,
        DEATH_NONE, /* nothing will ever happen again, so the simulation of it was ended */
} Death;

typedef struct LifeOptions {
        const char *directory; /* with the trees in "trees" */
        uint64_t turn;         /* how long a turn of the main loop takes */
        bool (*settle)(void);  /* nothing happens any more; true: but something will */
        uint32_t engine;       /* its version */
        uint64_t later;        /* how much later the timers of this engine expire */
} LifeOptions;

Death life_live(const LifeOptions *options);
/* Another simulation: nothing is in the descriptor store. */
void life_begin(void);

/* Has the daemon that has ended last left a snapshot of each run that goes on, so that nothing is replayed? */
bool life_has_left_snapshots(const LifeOptions *options);

/* The daemon is told to stop. */
void life_terminate(void);
