/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the manager is made of. For its own files only: trees, observers and the end are in manager.c, the life of runs
 * in manager-runs.c, those without a file in manager-text.c, those of a daemon before this one in manager-recover.c,
 * and what people do to runs in manager-control.c.
 */

#include "runtime/autostarts.h"
#include "runtime/journals.h"
#include "runtime/manager.h"
#include "runtime/restarts.h"
#include "runtime/run-counter.h"
#include "runtime/runs.h"

typedef struct Observer {
        const ManagerObserver *callbacks;
        void *userdata;
} Observer;

struct Manager {
        GMainContext *context;
        const NodeType *const *const *tables;
        const LeafServices *services;
        Ticker *ticker;
        Locks *locks;
        RunServices run_services; /* these three */
        Library *library;
        RunCounter *counter;
        Journals *journals;
        Autostarts *autostarts;
        Runs *runs;
        Restarts *restarts;
        Limits limits;
        bool secure;
        GArray *observers; /* of Observer */
        GSource *idle;     /* while it is due */
        bool stopping;
        bool abandoned; /* the runs that are left are another daemon's now */
        bool leaving;   /* some go on with the next daemon */
};

#define TELL(manager, callback, ...)                                                                                   \
        for (unsigned i_ = 0; i_ < (manager)->observers->len; i_++) {                                                  \
                const Observer *observer_ = &g_array_index((manager)->observers, Observer, i_);                        \
                if (observer_->callbacks->callback)                                                                    \
                        observer_->callbacks->callback(__VA_ARGS__ __VA_OPT__(, ) observer_->userdata);                \
        }

/* What somebody wants to be started. */
typedef struct Order {
        const char *instance;
        json_object *variables; /* an object, or NULL */
        const char *starter;    /* for people; NULL: it is started again */
        uint32_t uid;           /* whose run it is; when it is started again, that of the one before */
} Order;

/* What can be said before the tree is known: a negative errno with a text for people. */
int manager_check_order(const Manager *manager, const Order *order, char **ret_error);
/* After that. */
int manager_carry_out(Manager *manager, const char *tree, Definition *definition, const Order *order, Run **ret_run,
                      char **ret_error);

/* If the daemon is stopping and nothing runs any more, the observers are to hear of it. */
void manager_check_idle(Manager *manager);

extern const RunCallbacks manager_run_callbacks;

/* MANAGER_STOPPING: after manager_abandon(), nothing can be done with runs any more. */
int manager_check_there(const Manager *manager, char **ret_error);
void manager_halt(Manager *manager, Run *run, Cause *why);
/* Halts all of them. */
void manager_halt_all(Manager *manager, Cause *why);
/* It is time to start another run; see restarts.h. */
char *manager_on_restart_due(const char *tree, const char *instance, json_object *variables, void *userdata);
