/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the library and all runs: starts, halts and recovers runs, and reloads trees. The D-Bus interface
 * service/manager-bus.c and main.c use it.
 */

#include "basic/limit.h"
#include "record/record-store.h"
#include "run/run.h"
#include "runtime/autostarts.h"
#include "runtime/caller.h"
#include "runtime/followers.h"
#include "runtime/library.h"
#include "runtime/restarts.h"
#include "runtime/run-counter.h"
#include "runtime/runs.h"
#include "runtime/statistics.h"

typedef struct Manager Manager;

/* Callbacks about changes; each may be NULL. */
typedef struct ManagerObserver {
        void (*tree_added)(const LibraryEntry *entry, void *userdata);
        void (*tree_changed)(const LibraryEntry *entry, void *userdata);
        void (*tree_removed)(const LibraryEntry *entry, void *userdata); /* before it is freed */
        void (*run_starting)(Run *run, void *userdata);                  /* before its first input; run_added follows */
        void (*run_added)(Run *run, void *userdata);
        void (*run_new)(Run *run, void *userdata);           /* after run_added, but not if it was recovered */
        void (*run_changed)(Run *run, void *userdata);       /* nodes may have changed */
        void (*run_state_changed)(Run *run, void *userdata); /* paused, resumed, breakpoints */
        void (*run_ready)(Run *run, void *userdata);         /* a node has set the run to ready */
        void (*run_halting)(Run *run, void *userdata);
        void (*run_finished)(Run *run, void *userdata);
        /* Its run record cannot be recovered, so nobody knows how it ends. */
        void (*run_lost)(const char *id, const char *cause, void *userdata);
        void (*restart_changed)(Run *run, void *userdata); /* manager_describe_restart() gives another text now */
        /* A pending restart was cancelled, and no run follows the given one, which may not be listed any more. */
        void (*restart_dropped)(const char *run, const char *tree, const char *instance, void *userdata);
        void (*run_removed)(Run *run, void *userdata); /* before it is freed */
        /* manager_describe_waiting() gives another text now. It can also change with run_removed(). */
        void (*waiting_changed)(const char *tree, void *userdata);
        void (*retry_starts)(void *userdata); /* retry starts that got MANAGER_NOT_YET */
        void (*autostarted)(void *userdata);  /* after manager_autostart(): all autostart trees are started */
        void (*disk_changed)(void *userdata); /* see manager_disk() */
        void (*recovering)(unsigned n_done, unsigned n, void *userdata); /* that many runs are replayed */
        void (*reloading)(void *userdata);
        void (*reloaded)(const GPtrArray *messages, void *userdata);
        void (*in_doubt)(void *userdata); /* inputs of a run may be a part of the shutdown, see ticker_ask() */
        void (*stopping)(void *userdata);
        void (*idle)(void *userdata); /* after manager_stop(), from the main loop: no run is left running */
} ManagerObserver;

/* Errors of the manager, besides -EINVAL for invalid arguments. Each comes with an error message. */
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
/* No run number is reserved yet, or the run record is being prepared. Observers are told when to retry. */
#define MANAGER_NOT_YET (-EAGAIN)

/* What is being loaded on threads, see manager-load.c. */
typedef struct Loading Loading;
/* The values of kept variables, see kept.c. */
typedef struct Kept Kept;

typedef struct Observer {
        const ManagerObserver *callbacks;
        void *userdata;
} Observer;

/* Others read the members, but change nothing in them. */
struct Manager {
        GMainContext *context;
        const NodeType *const *const *tables;
        const LeafServices *services;
        Ticker *ticker;
        Locks *locks;
        Waiters *waiters;
        RunServices run_services; /* made of the members above */
        Library *library;
        DiskQueue *disk;
        RunCounter *counter;
        RecordStore *records;
        Kept *kept;
        Autostarts *autostarts;
        Runs *runs;
        Restarts *restarts;
        Followers *followers;
        Definition *unit_starter; /* of FOLLOWER_TREE; NULL: not needed yet */
        Statistics *statistics;
        char *runtime_directory; /* may be NULL */
        Limits limits;
        bool secure;
        GArray *observers;  /* Observer */
        GSource *idle;      /* NULL: not due */
        GSource *retry;     /* of starts that wait; NULL: not due */
        GHashTable *unread; /* names of trees that could not be read at manager_autostart(): they may have autostart */
        bool autostarting;  /* autostarted() of the observers is due */
        Loading *loading;
        bool stopping;
        bool abandoned; /* the remaining runs belong to the next btd */
        bool leaving;   /* some runs continue with the next btd */
};

typedef struct ManagerOptions {
        const char *const *directories; /* the search path, see library.h */
        bool secure;
        const NodeType *const *const *tables; /* node types */
        const char *runtime_directory;        /* for state that survives a restart of btd, or NULL */
        const char *state_directory;          /* for state that survives a restart of the machine, or NULL */
        const Limits *limits;                 /* copied; NULL: the defaults */
        json_object *on_finished;             /* rules for all trees, see on-finished.h; NULL: none */
} ManagerOptions;

Manager *manager_new(GMainContext *context, const LeafServices *services, const ManagerOptions *options);
void manager_free(Manager *manager);

/* Borrows the observer. */
void manager_observe(Manager *manager, const ManagerObserver *observer, void *userdata);
void manager_unobserve(Manager *manager, const ManagerObserver *observer, void *userdata);

void manager_load(Manager *manager);
/* Recovers the runs that the previous btd left. Call it once, when that btd is known to have ended, and before anything
 * is started. Returns a negative errno with an error message if another btd uses the runtime directory; then nothing is
 * changed. */
int manager_recover(Manager *manager, char **ret_error);
/* Starts the autostart trees. Call it once; not after a reload. Observers are told when all are started that can be
 * started, perhaps during the call; the others are started when they can be. */
void manager_autostart(Manager *manager);

/* Reloads the library on a thread; until that is done, the old one is used. Requests that come during a reload are done
 * together in the next one. */
typedef struct ManagerReload ManagerReload;
/* messages: the errors of all files, as strings; NULL: btd is stopping, and nothing was loaded. */
typedef void (*ManagerReloaded)(const GPtrArray *messages, void *userdata);

/* done: called later, on the main loop; NULL: no callback. */
ManagerReload *manager_reload(Manager *manager, ManagerReloaded done, void *userdata);
/* Drops the callback; the reload itself continues. Not after done(). */
void manager_reload_drop(ManagerReload *reload);

/* variables: JSON object or NULL; borrowed. instance: "" for none. starter: who starts it, for messages. */
int manager_start(Manager *manager, const char *tree, const char *instance, json_object *variables, const char *starter,
                  Run **ret_run, char **ret_error);

/* A start for a caller, to which the limits per caller apply. With a token, clients can repeat it safely if they got no
 * reply. */
typedef struct TreeStart {
        const char *tree, *instance;
        json_object *variables; /* JSON object, or NULL */
        const char *token;      /* a token starts a tree only once; NULL: the run gets its own */
        bool attach;            /* if a run is running, return that one; it keeps its token */
        bool replace;           /* if a run is running, halt it; MANAGER_NOT_YET until it has ended */
        bool wait;              /* the caller waits for the run, see waiters.h */
        const RunTaken *taken;  /* from another run, or NULL */
} TreeStart;

/* ret_begun: a new run was started. ret_outcome: the state now of the last run among a run and its restarts. */
int manager_start_tree(Manager *manager, const TreeStart *start, const Caller *who, bool *ret_begun,
                       RunSummary *ret_outcome, char **ret_error);

/* Starts a tree that is given as text, under a name that no other tree has. It can use the trees of the library. The
 * text is loaded on a thread. */
typedef struct TextStart TextStart;
/* begun: a new run was started. outcome NULL: it was not started; r and error say why. */
typedef void (*ManagerStarted)(const RunSummary *outcome, bool begun, int r, const char *error, void *userdata);

/* tree, variables and token of the start are used. Returns a negative errno with an error message if the text is not
 * even loaded. Otherwise started() is called later, on the main loop. */
int manager_start_text(Manager *manager, const TreeStart *start, const char *text, const Caller *who,
                       ManagerStarted started, void *userdata, TextStart **ret_start, char **ret_error);
/* Cancels the start. Not after started(). */
void text_start_drop(TextStart *start);
/* Checks whether a tree from a text can have this name. */
int manager_check_text_name(Manager *manager, const char *name, char **ret_error);
/* For a finished run, cancels a pending restart. */
int manager_halt_run(Manager *manager, const char *id, const Caller *who, char **ret_error);

typedef struct TreeHalt {
        const char *tree;
        const char *instance; /* NULL: all */
        const char *token;    /* NULL: all */
        bool wait;            /* the caller waits until the runs have ended, see waiters.h */
} TreeHalt;

/* Halts runs of a tree, and cancels their pending restarts. ret_halted: the ids of the runs. ret_cancelled: the number
 * of restarts. An unknown tree is an error only without a token. */
int manager_halt_tree(Manager *manager, const TreeHalt *halt, const Caller *who, GPtrArray **ret_halted,
                      unsigned *ret_cancelled, char **ret_error);
/* Does the same for the requests that are stored in the runtime directory, see halt-request.h. meanwhile: "running":
 * since when they were stored, btd was not. */
void manager_halt_requested(Manager *manager, const char *meanwhile);

/* Have the summaries in the history been read that manager_find_outcome() needs for this tree? If not, reading starts
 * now, and observers are told when to retry. tree NULL: all summaries. */
bool manager_history_is_read(Manager *manager, const char *tree);
/* MANAGER_NO_SUCH_RUN: no run has this token, or it is no longer in the history. MANAGER_NOT_YET: the history must be
 * read first. */
int manager_find_outcome(Manager *manager, const char *tree, const char *instance, const char *token,
                         RunSummary *ret_outcome, char **ret_error);
/* Why there is neither a run nor a run record of this name; to be freed. */
char *manager_describe_missing(const Manager *manager, const char *id);
/* The same for a run that is listed or in the history. MANAGER_NO_SUCH_RUN: it is neither. */
int manager_find_outcome_of_run(Manager *manager, const char *id, RunSummary *ret_outcome, char **ret_error);

/* Control by hand, see run/run.h. Each function fails with an error message and with MANAGER_NO_SUCH_RUN, with
 * MANAGER_NOT_RUNNING (also while the run is halting), or with its own errors. */
int manager_pause(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* Error: MANAGER_NOT_PAUSED. */
int manager_resume(Manager *manager, const char *id, const Caller *who, char **ret_error);
/* Errors: MANAGER_NOT_PAUSED; MANAGER_NOTHING_HAPPENED: there are no inputs to process. */
int manager_step(Manager *manager, const char *id, const Caller *who, char **ret_error);

/* Error: -EINVAL: there is no such node. */
int manager_set_breakpoint(Manager *manager, const char *id, NodeId node, bool set, const Caller *who,
                           char **ret_error);
/* status: SUCCESS, FAILURE or SKIPPED. Error: -EINVAL: another status, or no such node. */
int manager_force(Manager *manager, const char *id, NodeId node, Status status, const Caller *who, char **ret_error);
/* values: a JSON object. Error: -EINVAL: a name or a value is not allowed in this tree. */
int manager_set_variables(Manager *manager, const char *id, json_object *values, const Caller *who, char **ret_error);

/* The kept variables of the tree and instance, which the next run gets: a new object, empty if there are none. Error:
 * MANAGER_NO_SUCH_TREE. */
int manager_get_kept(Manager *manager, const char *tree, const char *instance, json_object **ret_values,
                     char **ret_error);
/* Forgets those with these names (NULL-terminated), or all if there are no names. ret_forgotten: their names. Errors:
 * MANAGER_ALREADY_RUNNING; -ENOKEY: nothing is stored under one of the names. */
int manager_forget_kept(Manager *manager, const char *tree, const char *instance, const char *const *names,
                        const Caller *who, GPtrArray **ret_forgotten, char **ret_error);
/* Does any instance of the tree have kept variables? */
bool manager_keeps(const Manager *manager, const char *tree);

/* For a finished run: "restarts in 3s (attempt 2 of 5)", or why it is not restarted. The caller frees it. NULL: no
 * description. */
char *manager_describe_restart(Manager *manager, const Run *run);

/* Why an autostart tree has not been started yet: "autostart waits: ...". The caller frees it. NULL: nothing waits. */
char *manager_describe_autostart(const Manager *manager, const char *tree);
/* The same, or the description of a pending restart without instance if no run is listed that has it, or of a start
 * that on_finished has ordered and that waits. */
char *manager_describe_waiting(const Manager *manager, const char *tree);
/* Does an autostart of the tree or a start of on_finished wait, or is a restart without instance pending? */
bool manager_tree_waits(const Manager *manager, const char *tree);
/* The names of the trees that wait so, but that manager_tree() does not know; sorted. The caller frees the array. */
GPtrArray *manager_missing_trees(Manager *manager);

/* When the machine goes down, systemd stops what runs watch and use, perhaps before it stops btd. No tree may take that
 * for a failure. So a run whose inputs are in doubt does not react until somebody has asked, and the machine does not
 * go down: see ticker_ask(). Without this call, nothing is in doubt. */
void manager_expect_doubts(Manager *manager);
/* Held: no run reacts to anything, and nothing is started. */
void manager_hold(Manager *manager, bool held);

/* Halts all runs and starts nothing more. Observers are told when all runs have ended. */
void manager_stop(Manager *manager);
/* The same, but does not halt or await runs that can continue with the next btd. */
void manager_leave(Manager *manager);
/* Call it after manager_leave(), when all others have ended or the time is over. It writes a snapshot to the run record
 * of each remaining run, and stops working for it. Without this call, everything remains as if btd had been killed. */
void manager_abandon(Manager *manager);
/* Call it after that if nobody may recover these runs before the machine goes down: copies their records for the
 * history. manager_free() waits for it. */
void manager_copy_records(Manager *manager);
/* Call it before manager_abandon() if the machine goes down: the runs that have not ended end as UNFINISHED, because
 * there is no next btd. */
void manager_give_up(Manager *manager);

/* Errors: MANAGER_NO_SUCH_TREE, MANAGER_NO_SUCH_RUN, with a message that suggests similar names. */
int manager_find_tree(Manager *manager, const char *name, const LibraryEntry **ret_entry, char **ret_error);
int manager_find_run(Manager *manager, const char *id, Run **ret_run, char **ret_error);
/* True if only the history has the run. */
bool manager_is_past(const Manager *manager, const char *id);

const LibraryEntry *manager_tree(Manager *manager, const char *name); /* NULL for a masked tree, too */
/* All users that are known, with what they use now. The caller unreferences the array. */
GPtrArray *manager_list_users(const Manager *manager);
/* What the disk has not completed for long, for messages, see basic/disk-queue.h. The caller frees it. NULL: nothing is
 * late. */
char *manager_disk(const Manager *manager);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Manager, manager_free)
