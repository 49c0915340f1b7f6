/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the daemon does as a whole: owns the library and the runs, starts and halts them, reloads. How the bus sees
 * it is service/manager-bus.c.
 */

#include "basic/limit.h"
#include "runtime/caller.h"
#include "runtime/journals.h"
#include "runtime/library.h"
#include "runtime/run.h"

typedef struct Manager Manager;

/* What those who look on are told; every callback may be NULL. */
typedef struct ManagerObserver {
        void (*tree_added)(const LibraryEntry *entry, void *userdata);
        void (*tree_changed)(const LibraryEntry *entry, void *userdata);
        void (*tree_removed)(const LibraryEntry *entry, void *userdata); /* about to go */
        void (*run_added)(Run *run, void *userdata);
        void (*run_changed)(Run *run, void *userdata);       /* nodes may have changed */
        void (*run_state_changed)(Run *run, void *userdata); /* paused, resumed, breakpoints: see run-control.h */
        void (*run_halting)(Run *run, void *userdata);
        void (*run_finished)(Run *run, void *userdata);
        void (*restart_changed)(Run *run, void *userdata); /* it has finished, and no other one follows after all */
        void (*run_removed)(Run *run, void *userdata);     /* about to go */
        void (*reloading)(void *userdata);
        void (*reloaded)(const GPtrArray *messages, void *userdata);
        void (*stopping)(void *userdata);
        void (*idle)(void *userdata); /* after manager_stop(), from the main loop: no run is left running */
} ManagerObserver;

/* What manager functions fail with, besides -EINVAL for bad arguments; each with a text for people. */
#define MANAGER_NO_SUCH_TREE (-ENOENT)
#define MANAGER_NO_SUCH_RUN (-ESRCH)
#define MANAGER_ALREADY_RUNNING (-EEXIST)
#define MANAGER_MISSING_INPUT (-ENXIO)
#define MANAGER_TREE_BROKEN (-EBADMSG)
#define MANAGER_STOPPING (-ESHUTDOWN)
#define MANAGER_NOT_RUNNING (-EALREADY)
#define MANAGER_LIMIT (-EDQUOT)
#define MANAGER_NOT_PAUSED (-ENOTCONN)
#define MANAGER_NOTHING_HAPPENED (-ENODATA)

typedef struct ManagerOptions {
        const char *const *directories; /* the search path, see library.h */
        bool secure;
        const NodeType *const *const *tables; /* of node types */
        const char *runtime_directory;        /* for what is to survive a restart of the daemon, or NULL */
        const char *state_directory;          /* ... and of the machine, or NULL */
        const Limits *limits;                 /* copied; NULL: as they are without option */
} ManagerOptions;

Manager *manager_new(GMainContext *context, const LeafServices *services, const ManagerOptions *options);
void manager_free(Manager *manager);

/* observer is borrowed. */
void manager_observe(Manager *manager, const ManagerObserver *observer, void *userdata);
void manager_unobserve(Manager *manager, const ManagerObserver *observer, void *userdata);

void manager_load(Manager *manager);
/* Takes up the runs that the daemon before has left; once, when it is known to be gone, and before anything is started.
 * A negative errno with a text for people: another daemon lives where this one wants to; then nothing has happened. */
int manager_recover(Manager *manager, char **ret_error);
/* Starts the trees that say "autostart"; once, not after a reload. */
void manager_autostart(Manager *manager);
/* The errors of all files, as texts; free with g_ptr_array_unref(). */
GPtrArray *manager_reload(Manager *manager);

/* variables: an object, may be NULL; borrowed. instance: "" for the plain one. starter: who wants it, for people. */
int manager_start(Manager *manager, const char *tree, const char *instance, json_object *variables, const char *starter,
                  Run **ret_run, char **ret_error);
/* The same for somebody else, who can have only so many. */
int manager_start_for(Manager *manager, const char *tree, const char *instance, json_object *variables,
                      const Caller *who, Run **ret_run, char **ret_error);
/* Of a tree that is in no file, under a name that no other tree has; it can use those that there are. */
int manager_start_text(Manager *manager, const char *name, const char *text, json_object *variables, const Caller *who,
                       Run **ret_run, char **ret_error);
/* Can it have this name? */
int manager_check_text_name(Manager *manager, const char *name, char **ret_error);
/* Of runs that have finished, a restart that is due is called off. */
int manager_halt_run(Manager *manager, const char *id, const Caller *who, char **ret_error);
int manager_halt_tree(Manager *manager, const char *tree, const Caller *who, unsigned *ret_count, char **ret_error);

/* Of a run that has finished: "restarts in 3s (attempt 2 of 5)", or why it is not restarted any more. To be freed;
 * NULL: nothing to say. */
char *manager_describe_restart(Manager *manager, const Run *run);

/* Halts everything and starts nothing any more; the observers hear of it when all is idle. */
void manager_stop(Manager *manager);
/* The same, but runs that may go on with the next daemon are left as they are, and not waited for. */
void manager_leave(Manager *manager);
/* After manager_leave(), when it is idle: nothing is done any more for those that are left. */
void manager_abandon(Manager *manager);
bool manager_is_stopping(const Manager *manager);

/* With the text that says what there is instead. MANAGER_NO_SUCH_TREE, MANAGER_NO_SUCH_RUN. */
int manager_find_tree(Manager *manager, const char *name, const LibraryEntry **ret_entry, char **ret_error);
int manager_find_run(Manager *manager, const char *id, Run **ret_run, char **ret_error);

const LibraryEntry *manager_tree(Manager *manager, const char *name); /* NULL for a masked one, too */
Run *manager_run(Manager *manager, const char *id);
GPtrArray *manager_trees(Manager *manager);      /* of LibraryEntry, by name; free the array only */
const GPtrArray *manager_runs(Manager *manager); /* of Run, in order of start */
unsigned manager_n_running(const Manager *manager);
const Limits *manager_limits(const Manager *manager);
/* Of the runs that go on and those that have finished. */
Journals *manager_journals(const Manager *manager);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Manager, manager_free)
