/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the ledger knows, as its two files have it: what was noted, and whether it is right.
 */

#include "ledger.h"

#define NODES_MAX 128u

typedef struct Leaf {
        Promise promise;
        bool once_a_run;
        unsigned lock;        /* 0: none */
        bool active;          /* begun, and not ended */
        bool busy;            /* its effect takes time, and is not over */
        uint64_t span, since; /* it takes so long; it has begun then, in its run's time */
        bool through_suspends;
        unsigned begun, rerun, succeeded, effects;
} Leaf;

typedef struct Account {
        Leaf leaves[NODES_MAX];
        GPtrArray *runs; /* of Entry */
        bool expected;
        bool loose; /* it was to be written when the disk was full: nothing is promised any more */
} Account;

/* A run. */
typedef struct Entry {
        unsigned tree, number;
        bool begun, finished, archived;
        bool forced;  /* somebody has given one of its nodes an outcome */
        bool touched; /* something of it was started */
        char *result;
        GString *line;            /* what was written of the next one */
        unsigned ends[NODES_MAX]; /* how often each has begun */
} Entry;

typedef struct Ledger {
        Account *accounts;
        unsigned n_accounts;
} Ledger;

extern Ledger ledger;
