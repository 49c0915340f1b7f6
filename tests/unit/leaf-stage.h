/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A stage for one leaf at a time, in the place of the runtime: starts it from JSON as it stands in a tree, and keeps
 * what it reports.
 */

#include "run/leaf.h"

typedef struct LeafStage LeafStage;

/* address: of the default bus, or NULL where no leaf asks for one. */
LeafStage *leaf_stage_new(const char *address);
void leaf_stage_free(LeafStage *stage);

/* A leaf on the stage. */
typedef struct Actor {
        Leaf leaf;
        Status status; /* RUNNING until it has ended, or its value is known */
        unsigned n_reports;
        bool halted; /* when it was halted, it had ended or has by now */
        Cause *reason;
        const char *cause;    /* its text */
        json_object *outputs; /* an object */
        json_object *memory;  /* what it has remembered last, or NULL */
        bool lost;            /* it has said so; then its status is IDLE */
        void *data;
} Actor;

/* Types, NULL-terminated, and a node: {"type": "Spawn", ...}. Run "test.1", node 0, attempt 1 unless set by
 * leaf_stage_set_attempt(). */
Actor *leaf_stage_start(LeafStage *stage, const NodeType *const *types, const char *node);
/* The same of one that a daemon before this one has started; memory: what it remembered then, taken. */
Actor *leaf_stage_recover(LeafStage *stage, const NodeType *const *types, const char *node, json_object *memory);
/* Leaves of the stage outlive the daemon. */
void leaf_stage_set_durable(LeafStage *stage, const char *outputs);
/* A daemon before this one holds something for them. */
void leaf_stage_set_inheritance(LeafStage *stage, Inheritance *inheritance);
void actor_free(Actor *actor);
/* The daemon goes, and what it has started stays. */
void actor_abandon(Actor *actor);
void leaf_stage_set_variable(LeafStage *stage, const char *key, const char *value);
void leaf_stage_set_number(LeafStage *stage, const char *key, int64_t value);
void leaf_stage_set_attempt(LeafStage *stage, uint32_t attempt);

/* Turns the main loop until it has ended, or its value is known. */
Status actor_wait(Actor *actor);
/* Until it has reported that often. */
Status actor_wait_reports(Actor *actor, unsigned n_reports);
/* The same, and not more often: then it has this value, for this cause (NULL: for any). */
void actor_expect(Actor *actor, unsigned n_reports, Status status, const char *cause);
/* Of a condition that is computed when it is looked at. */
Status actor_look(Actor *actor);
/* Halts it, and turns the main loop until it has ended. */
void actor_halt(Actor *actor);
char *actor_describe(Actor *actor);
const char *actor_output(const Actor *actor, const char *key);

/* Loads and checks the node: the text of the first error or warning, or NULL. To be freed. */
char *leaf_stage_check(const NodeType *const *types, const char *node);
/* Loads it: what it is about, or NULL. To be freed. */
char *leaf_stage_title(const NodeType *const *types, const char *node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeafStage, leaf_stage_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Actor, actor_free)
