/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the daemon does as a whole: owns the library and the runs, starts and halts them, reloads. How the bus sees
 * it is bus/manager-bus.c.
 */

#include "runtime/library.h"
#include "runtime/run.h"

typedef struct Manager Manager;

typedef struct ManagerCallbacks {
        void (*tree_added)(const LibraryEntry *entry, void *userdata);
        void (*tree_changed)(const LibraryEntry *entry, void *userdata);
        void (*tree_removed)(const LibraryEntry *entry, void *userdata);
        void (*run_added)(Run *run, void *userdata);
        void (*run_changed)(Run *run, void *userdata); /* nodes have changed */
        void (*run_finished)(Run *run, void *userdata);
        void (*run_removed)(Run *run, void *userdata); /* about to be freed */
        void (*idle)(void *userdata);                  /* after manager_stop(): no run is left running */
} ManagerCallbacks;

/* What manager functions fail with, besides -EINVAL for bad arguments; each with a text for people. */
#define MANAGER_NO_SUCH_TREE (-ENOENT)
#define MANAGER_NO_SUCH_RUN (-ESRCH)
#define MANAGER_ALREADY_RUNNING (-EEXIST)
#define MANAGER_TREE_BROKEN (-EBADMSG)
#define MANAGER_STOPPING (-ESHUTDOWN)
#define MANAGER_NOT_RUNNING (-EALREADY)
#define MANAGER_LIMIT (-EDQUOT)

Manager *manager_new(GMainContext *context, const LeafServices *services, const char *const *directories, bool secure);
void manager_free(Manager *manager);
void manager_set_callbacks(Manager *manager, const ManagerCallbacks *callbacks, void *userdata);

/* Loads the trees and starts those with autostart. */
int manager_load(Manager *manager);
/* The number of files with errors; messages: their texts (char *), to be freed with the array. */
int manager_reload(Manager *manager, GPtrArray *ret_messages);

/* variables: an object, may be NULL; borrowed. instance: "" for the plain one. */
int manager_start(Manager *manager, const char *tree, const char *instance, json_object *variables, Run **ret_run,
                  char **ret_error);
int manager_halt_run(Manager *manager, const char *id, const char *who, char **ret_error);
int manager_halt_tree(Manager *manager, const char *tree, const char *who, unsigned *ret_count, char **ret_error);

/* Halts everything and starts nothing any more; the idle callback follows from the main loop. */
void manager_stop(Manager *manager);

const LibraryEntry *manager_tree(Manager *manager, const char *name);
Run *manager_run(Manager *manager, const char *id);
GPtrArray *manager_trees(Manager *manager); /* of LibraryEntry, by name; free the array only */
GPtrArray *manager_runs(Manager *manager);  /* of Run, oldest first; free the array only */
unsigned manager_n_running(const Manager *manager);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Manager, manager_free)
