/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes and drives a run of a random tree (random-definition.h) with a run record, in a world in which anything can
 * happen at any time. It describes the run, and the part of the world that the run uses, as texts, to be compared with
 * those of its replay. It checks the rules of any world (world-rules.h) after every input.
 */

#include "dice.h"
#include "random-definition.h"
#include "run/events.h"
#include "run/replay.h"
#include "world.h"

#define RANDOM_RUN_START 1000000u

typedef struct RandomRun {
        Dice *dice;         /* borrowed */
        Run *actual;        /* the one that is tested */
        GPtrArray *leaves;  /* of RandomLeaf */
        GHashTable *timers; /* deadlines, by node */
        GArray *waiting;    /* of NodeId: nodes that wait for their locks */
        uint64_t now;
        Status *reported; /* the last reported status of each node */
        World rules;      /* the state of the rules; its machine is that of the run */

        /* Called after each input was recorded. */
        void (*on_input)(struct RandomRun *run, void *userdata);
        RunEventObserver on_event;
        void *userdata;
} RandomRun;

typedef struct RandomLeaf {
        RandomRun *run;
        NodeId node;
        const NodeType *type;
        Status status;
        bool ending;
        Cause *cause;
        uint64_t suspended;
        json_object *memo;
        char *what; /* its parameter at its start */
} RandomLeaf;

/* Starts it, with a record in a new file. Set on_input, on_event and the userdata of both before, and zero the rest. */
void random_run_start(RandomRun *run, Definition *definition, const char *path, Dice *dice);
/* Continues it from the end of the replayed record, which may be empty. */
void random_run_recover(RandomRun *run, Replay *replay, const RunRecord *record, const char *path, Dice *dice);
void random_run_clear(RandomRun *run);
/* Makes inputs until the run ends, the dice are used up, or there were enough. */
void random_run_live(RandomRun *run);

/* The visible state of the run. To be freed. */
char *random_run_describe(const Run *run);
/* The parameter of a leaf, with the present or the noted variables; to be freed. NULL: it has none. */
char *random_run_what(const Run *run, NodeId node, json_object *noted);
/* The leaves and locks that the run has, and those that the replay expects. To be freed. */
char *random_run_describe_world(const RandomRun *run);
char *random_run_describe_replay(const Replay *replay);

/* Fails with the first line that differs. */
void random_run_assert_same(const char *replayed, const char *original);

/* For random-run.c, random-inputs.c and random-world.c. Makes a random input; false: it was not possible. */
bool random_run_happen(RandomRun *run);
extern const RunHost random_run_host;
RandomLeaf *random_leaf_new(RandomRun *run, const RunLeaf *of);
void random_leaf_set(RandomLeaf *leaf, Status status);
void random_leaf_set_memo(RandomLeaf *leaf);
void random_leaf_free(RandomLeaf *leaf);
void random_run_set_output(RandomRun *run, NodeId node);
json_object *random_value(Dice *dice);
Status random_outcome(Dice *dice);
Status random_condition(Dice *dice);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RandomRun, random_run_clear)
