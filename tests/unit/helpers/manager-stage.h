/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a manager on a main loop of the test, with the leaves of fake-leaves.h and a directory of tree files.
 */

#include "basic/timers.h"
#include "fake-leaves.h"
#include "runtime/manager.h"

typedef struct ManagerStage {
        GMainContext *context;
        Timers *timers;
        LeafServices services;
        char *directories[2];     /* the one */
        char *state, *runtime;    /* directories, or NULL */
        json_object *on_finished; /* the option of btd; or NULL */
        Manager *manager;         /* NULL before manager_stage_open() */
        GString *events;          /* for observers */
} ManagerStage;

/* Without a tree file; the directories are removed with all that is in them. */
ManagerStage *manager_stage_new(void);
void manager_stage_free(ManagerStage *stage);

/* The manager has a directory for its state, which lasts as long as the stage. */
void manager_stage_keep_state(ManagerStage *stage);
/* The same for its records of runs. */
void manager_stage_keep_runs(ManagerStage *stage);
/* Another manager than before, which has not loaded anything. limits: NULL is the usual ones; observer: is told with
 * the stage; or NULL. */
void manager_stage_open(ManagerStage *stage, const Limits *limits, const ManagerObserver *observer);

void manager_stage_put(const ManagerStage *stage, const char *file, const char *text);
void manager_stage_remove(const ManagerStage *stage, const char *file);
/* Until nothing is left to do at once. */
void manager_stage_turn(const ManagerStage *stage);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ManagerStage, manager_stage_free)
