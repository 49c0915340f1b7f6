/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs trees on a main loop of the test, with the leaves of fake-leaves.h and those that only compute.
 */

#include "basic/timers.h"
#include "fake-leaves.h"
#include "run/run.h"

typedef struct RunStage {
        GMainContext *context;
        Timers *timers;
        Ticker *ticker;
        LeafServices leaves;
        Locks *locks;
        RunServices services;
        Definition *definition;
        Run *run;
        unsigned finished, state_changes;
} RunStage;

/* With a run "test.1" that has not been started. root: the JSON of the root node, with ' for ". */
RunStage *run_stage_new(const char *root);
/* The same from the text of a whole file. */
RunStage *run_stage_new_file(const char *text);
void run_stage_free(RunStage *stage);

/* Another run of the same tree. */
Run *run_stage_add(RunStage *stage, const char *id);

/* Runs the main loop until there is nothing to do at once. */
void run_stage_turn(const RunStage *stage);
void run_stage_start(const RunStage *stage);
void run_stage_halt(const RunStage *stage, const char *why);
/* fake_end(), and what follows from it. */
void run_stage_end(const RunStage *stage, const char *name, Status status, const char *cause);
/* Runs the main loop until a run has finished. */
void run_stage_await_finish(const RunStage *stage);

void run_stage_assert_finished(const RunStage *stage, Status status, const char *cause);
/* The same for its state in words, such as "halting". */
void run_stage_assert_state(const RunStage *stage, NodeId node, const char *state, const char *detail);
void run_stage_assert_node(const RunStage *stage, NodeId node, Status status, const char *detail);

#define ACTION(name) "{ 'type': 'FakeAction', 'name': '" name "' }"
#define STUBBORN(name) "{ 'type': 'FakeAction', 'name': '" name "', 'stubborn': true }"
#define FAILS(name) "{ 'type': 'FakeNow', 'name': '" name "', 'fails': true }"
#define CONDITION(name) "{ 'type': 'FakeCondition', 'name': '" name "' }"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunStage, run_stage_free)
