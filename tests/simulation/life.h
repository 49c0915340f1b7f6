/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs one daemon from its main() to its end. The daemon runs until nothing can be read from its descriptors; then the
 * world takes its turn. If there is nothing to do at the moment, time advances to the next event.
 */

#include <stdbool.h>

#include "kernel.h"

/* The maximum number of descriptors that are stored for the next daemon. */
#define LIFE_STORED_MAX 64

typedef enum Death {
        DEATH_KILLED,
        DEATH_EXITED,
        DEATH_NONE, /* no event is left, so the simulation was ended */
} Death;

typedef struct LifeOptions {
        const char *directory; /* with the trees in "trees" */
        char **limits;         /* options */
        uint64_t turn;         /* the time of one turn of the main loop */
        bool (*settle)(void);  /* called when no event is left; true: it has added one */
        uint32_t engine;       /* its version */
        uint64_t later;        /* by how much the timers of this engine expire later */
} LifeOptions;

Death life_live(const LifeOptions *options);
/* Begins a simulation: the descriptor store is empty. */
void life_begin(void);
/* The service manager closes the descriptors that are stored for the next daemon. */
void life_drop_stored(void);

/* Has the last daemon left a snapshot of each running run, so that nothing is replayed? */
bool life_has_left_snapshots(const LifeOptions *options);

/* Tells the daemon to stop. */
void life_terminate(void);
