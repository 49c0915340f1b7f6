/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Daemons that follow one another, each a manager with the leaves of recoverable-leaves.h and the directories of the
 * one before. There is a tree "t".
 */

#include "basic/timers.h"
#include "once-reserved.h"

typedef struct RecoveryStage {
        GMainContext *context;
        Timers *timers;
        LeafServices services;
        char *top, *trees[2], *runtime, *state, *credentials;
        Manager *manager;
        GString *events;
        bool autostarted, idle;
} RecoveryStage;

/* The first daemon is up. root: what the file of the tree says, but for "btd" and "blackboard", with ' for ". */
RecoveryStage *recovery_stage_new(const char *root);
void recovery_stage_free(RecoveryStage *stage);

/* A daemon comes up. */
void recovery_stage_begin(RecoveryStage *stage);
/* It is gone, and another one comes up. What lies about is as it was when the first one was killed, since nothing is
 * written when it is freed. */
void recovery_stage_kill(RecoveryStage *stage);

void recovery_stage_put(const RecoveryStage *stage, const char *file, const char *text);
/* Until nothing is left to do at once. */
void recovery_stage_turn(const RecoveryStage *stage);
Run *recovery_stage_start(RecoveryStage *stage, const char *instance);
Run *recovery_stage_run(RecoveryStage *stage, const char *id);
void recovery_stage_assert_finished(RecoveryStage *stage, const char *id, Status status, const char *cause);

/* Of a run that goes on; to be freed. */
char *recovery_stage_journal(const RecoveryStage *stage, const char *run);
bool is_there(const char *directory, const char *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecoveryStage, recovery_stage_free)
