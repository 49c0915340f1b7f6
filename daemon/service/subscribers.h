/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the subscribers: callers, by unique name, that get signals about changes of nodes, or about events, until they
 * unsubscribe or leave the bus. Their number is limited, in total and per user. A subscriber that stops reading gets no
 * more signals. When it reads again, it gets the current state of the nodes that have changed meanwhile, and the number
 * of the last event of each run whose events it has missed. If it does not read for long, its subscription ends.
 */

#include <stdbool.h>

#include "basic/limit.h"
#include "bus/connection.h"

typedef struct Subscribers Subscribers;

typedef enum SubscribedTo {
        SUBSCRIBED_NODES = 1,  /* the state of nodes that have changed */
        SUBSCRIBED_EVENTS = 2, /* events of runs */
} SubscribedTo;

/* What a subscriber wants, of one run, of all runs of a tree, or, if both are NULL, of all runs. */
typedef struct Subscription {
        unsigned what; /* SubscribedTo */
        const char *tree, *run;
} Subscription;

typedef struct SubscribersCallbacks {
        void (*changed)(void *userdata); /* what subscribers_any() returns */
        /* Sends the state of these nodes to the subscriber, see subscribers_may_tell(). False: the run no longer
         * exists. */
        bool (*tell)(const char *name, const char *run, const GArray *nodes, void *userdata);
        /* Tells a subscriber that it has missed events of the run. */
        void (*tell_missed)(const char *name, const char *run, void *userdata);
} SubscribersCallbacks;

/* Borrows all arguments. */
Subscribers *subscribers_new(GMainContext *context, Connection *connection, const Limits *limits,
                             const SubscribersCallbacks *callbacks, void *userdata);
void subscribers_free(Subscribers *subscribers);

/* For the method handlers: return the result of this function. The call is answered when its user is known. */
int subscribers_add(Subscribers *subscribers, const Subscription *wanted, sd_bus_message *message,
                    sd_bus_error *ret_error);
void subscribers_remove(Subscribers *subscribers, const char *name);
/* Ends what has the same run or tree; what else the subscriber wants stays. */
void subscribers_end(Subscribers *subscribers, const char *name, const Subscription *unwanted);
/* The run does not exist any more. */
void subscribers_forget_run(Subscribers *subscribers, const char *run);
bool subscribers_any(const Subscribers *subscribers, SubscribedTo what);

/* May btd send these nodes of a run to the subscriber now? If not, tell() is called later, with some of the nodes at a
 * time: there may be many, or the subscriber does not read, or an answer for it is being made. n_nodes: the number of
 * nodes of the tree. */
bool subscribers_may_tell(Subscribers *subscribers, const char *name, const char *run, uint32_t n_nodes,
                          const GArray *nodes);
/* Holds back signals about a run for a caller while its answer to GetNodes is made: otherwise it could take the older
 * state in the answer for the newer one. Only one such answer is made at a time. */
void subscribers_hold(Subscribers *subscribers, const char *name, const char *run);
void subscribers_release(Subscribers *subscribers);
/* May btd send this number of events of the run to the subscriber now? If not, it misses them: tell_missed() is called
 * when it reads again. */
bool subscribers_may_tell_events(Subscribers *subscribers, const char *name, const char *run, unsigned n);
/* The names of all subscribers to this of a run. The caller frees the list, not the names. */
GList *subscribers_names(const Subscribers *subscribers, SubscribedTo what, const char *tree, const char *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscribers, subscribers_free)
