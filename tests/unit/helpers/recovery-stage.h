/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs one daemon after the other, each a manager with the leaves of recoverable-leaves.h and the directories of the
 * previous one. There is a tree "t".
 */

#include "basic/timers.h"
#include "once-reserved.h"

typedef struct RecoveryStage {
        GMainContext *context;
        Timers *timers;
        LeafServices services;
        const Limits *limits;            /* of the next daemon; NULL: the defaults */
        const InhibitorKind *inhibitors; /* the same; NULL: it has none */
        char *top, *trees[2], *runtime, *state, *credentials;
        Manager *manager;
        GString *events;
        bool autostarted, idle;
} RecoveryStage;

/* Starts the first daemon. root: the tree file without "btd" and "blackboard", with ' for ". */
RecoveryStage *recovery_stage_new(const char *root);
void recovery_stage_free(RecoveryStage *stage);

/* Starts a daemon. */
void recovery_stage_begin(RecoveryStage *stage);
/* Kills the daemon, and starts another one. It finds the files as they were at the kill, because freeing a daemon
 * writes nothing. */
void recovery_stage_kill(RecoveryStage *stage);

void recovery_stage_put(const RecoveryStage *stage, const char *file, const char *text);
/* Runs the main loop until there is nothing to do at once. */
void recovery_stage_turn(const RecoveryStage *stage);
/* recoverable_end(), and what follows from it. */
void recovery_stage_end(const RecoveryStage *stage, const char *name, Status status);
Run *recovery_stage_start(RecoveryStage *stage, const char *instance);
Run *recovery_stage_run(RecoveryStage *stage, const char *id);
void recovery_stage_assert_finished(RecoveryStage *stage, const char *id, Status status, const char *cause);

/* The record of a running run; to be freed. */
char *recovery_stage_record(const RecoveryStage *stage, const char *run);
bool is_there(const char *directory, const char *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecoveryStage, recovery_stage_free)
