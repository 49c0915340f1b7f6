/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs single leaves without a tree: starts a leaf from the JSON of its node, and stores what it reports.
 */

#include "run/leaf.h"

typedef struct LeafStage LeafStage;

/* address: of the default bus; NULL if no leaf needs one. */
LeafStage *leaf_stage_new(const char *address);
void leaf_stage_free(LeafStage *stage);

/* A leaf that the stage runs. */
typedef struct TestLeaf {
        Leaf leaf;     /* must be the first member */
        Status status; /* RUNNING until it has ended, or its value is known */
        unsigned n_reports;
        bool halted; /* it was halted, and has ended */
        Cause *reason;
        const char *cause;    /* its text */
        json_object *outputs; /* an object */
        json_object *memo;    /* its last memo, or NULL */
        bool lost;            /* it has reported that it is lost; then its status is IDLE */
        void *data;
} TestLeaf;

/* Types, NULL-terminated, and a node: {"type": "Spawn", ...}. Run "test.1", node 0, attempt 1 unless set by
 * leaf_stage_set_attempt(). */
TestLeaf *leaf_stage_start(LeafStage *stage, const NodeType *const *types, const char *node);
/* Recovers a leaf that a previous daemon has started. memo: its memo, taken. */
TestLeaf *leaf_stage_recover(LeafStage *stage, const NodeType *const *types, const char *node, json_object *memo);
/* Leaves of the stage outlive the daemon. */
void leaf_stage_set_durable(LeafStage *stage, const char *outputs);
/* The stored connections and descriptors of a previous daemon. */
void leaf_stage_set_inheritance(LeafStage *stage, Inheritance *inheritance);
void test_leaf_free(TestLeaf *leaf);
/* The daemon exits, and leaves running what the leaf has started. */
void test_leaf_abandon(TestLeaf *leaf);
void leaf_stage_set_variable(LeafStage *stage, const char *key, const char *value);
void leaf_stage_set_number(LeafStage *stage, const char *key, int64_t value);
void leaf_stage_set_attempt(LeafStage *stage, uint32_t attempt);

/* Runs the main loop until the leaf has ended, or its value is known. */
Status test_leaf_wait(TestLeaf *leaf);
/* The same until it has reported this many times. */
Status test_leaf_wait_reports(TestLeaf *leaf, unsigned n_reports);
/* The same, and checks that it has not reported more often, and has this value and cause (NULL: any). */
void test_leaf_expect(TestLeaf *leaf, unsigned n_reports, Status status, const char *cause);
/* The value of a condition that is computed when it is evaluated. */
Status test_leaf_evaluate(TestLeaf *leaf);
/* Halts it, and runs the main loop until it has ended. */
void test_leaf_halt(TestLeaf *leaf);
char *test_leaf_describe(TestLeaf *leaf);
char *test_leaf_remark(const TestLeaf *leaf);
const char *test_leaf_output(const TestLeaf *leaf, const char *key);

/* Loads and checks the node: the text of the first error or warning, or NULL. To be freed. */
char *leaf_stage_check(const NodeType *const *types, const char *node);
/* Loads it: its title, or NULL. To be freed. */
char *leaf_stage_title(const NodeType *const *types, const char *node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeafStage, leaf_stage_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestLeaf, test_leaf_free)
