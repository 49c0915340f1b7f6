/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run of a random tree (random-definition.h) with a journal, in a world in which anything can happen at any time. All
 * that can be seen of the run is a text, and so is what it holds of the world, so that they can be compared with those
 * of its replay. What must hold in any world (world-rules.h) does behind every input.
 */

#include "dice.h"
#include "random-definition.h"
#include "run/replay.h"
#include "world.h"

#define RANDOM_RUN_START 1000000u

typedef struct RandomRun {
        Dice *dice;         /* borrowed */
        Run *actual;        /* which is tested */
        GPtrArray *leaves;  /* of RandomLeaf */
        GHashTable *timers; /* deadlines, by node */
        GArray *waiting;    /* for their locks: of NodeId */
        uint64_t now;
        Status *told; /* of each node: what it has changed to */
        World rules;  /* what is known of the nodes; its machine is that of the run */

        /* Behind each record of an input: it can be looked at. */
        void (*seen)(struct RandomRun *run, void *userdata);
        void *userdata;
} RandomRun;

typedef struct RandomLeaf {
        RandomRun *run;
        NodeId node;
        const NodeType *type;
        Status status;
        bool ending;
        Cause *cause;
        uint32_t attempt;
        uint64_t since, suspended;
        json_object *memo;
        json_object *noted;
        char *what; /* its parameter at its start */
} RandomLeaf;

/* With a journal in a new file. Only seen and its userdata are set before, in a struct that is zero otherwise. */
void random_run_start(RandomRun *run, Definition *definition, const char *path, Dice *dice);
/* The same from where the replay of the journal in the file has come to, be that no record at all. */
void random_run_recover(RandomRun *run, Replay *replay, const Journal *journal, const char *path, Dice *dice);
void random_run_clear(RandomRun *run);
/* Until it is over, or the dice are used up, or for long enough. */
void random_run_live(RandomRun *run);

/* All that can be seen. To be freed. */
char *random_run_describe(const Run *run);
/* The parameter of a leaf, by the variables as they are now or were noted; to be freed. NULL: it has none. */
char *random_run_what(const Run *run, NodeId node, json_object *noted);
/* The leaves and locks that it has, and those that the replay thinks it has. To be freed. */
char *random_run_describe_world(const RandomRun *run);
char *random_run_describe_replay(const Replay *replay);

/* Fails with the first line that differs. */
void random_run_assert_same(const char *replayed, const char *seen);

/* Between random-run.c, random-inputs.c and random-world.c. Something happens; false: it could not. */
bool random_run_happen(RandomRun *run);
extern const RunHost random_run_host;
RandomLeaf *random_leaf_new(RandomRun *run, NodeId node);
/* Its code. */
void random_leaf_run(RandomLeaf *leaf);
void random_leaf_set(RandomLeaf *leaf, Status status);
void random_leaf_remember(RandomLeaf *leaf);
void random_leaf_free(RandomLeaf *leaf);
void random_run_set_output(RandomRun *run, NodeId node);
json_object *random_value(Dice *dice);
Status random_outcome(Dice *dice);
Status random_condition(Dice *dice);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RandomRun, random_run_clear)
