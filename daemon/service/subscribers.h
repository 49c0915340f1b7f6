/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who wants to be told of every change of a node: callers by their unique names, until they say otherwise or leave
 * the bus. There can be only so many, and so many of one user. Who does not read what he is told is not told any more
 * for the time being, and what he has missed is told when he reads again; who does not read for long is no subscriber
 * any more.
 */

#include <stdbool.h>

#include "basic/limit.h"
#include "bus/connection.h"

typedef struct Subscribers Subscribers;

typedef struct SubscribersCallbacks {
        void (*changed)(bool any, void *userdata); /* there is somebody now, or nobody any more */
        /* Now the one of this name can be told what he has missed of a run: as subscribers_listening() says. */
        void (*missed)(const char *name, const char *run, void *userdata);
} SubscribersCallbacks;

/* Everything is borrowed. */
Subscribers *subscribers_new(GMainContext *context, Connection *connection, const Limits *limits,
                             const SubscribersCallbacks *callbacks, void *userdata);
void subscribers_free(Subscribers *subscribers);

/* To be returned by the handler of the method: it is answered when it is known whose call it is. */
int subscribers_add(Subscribers *subscribers, sd_bus_message *message, sd_bus_error *ret_error);
void subscribers_remove(Subscribers *subscribers, const char *name);
bool subscribers_any(const Subscribers *subscribers);

/* May this one be told now of so many nodes of a run? If not, that he has missed it is kept in mind. */
bool subscribers_listening(Subscribers *subscribers, const char *name, const char *run, unsigned n_nodes);
/* The names of all: borrowed, the list is to be freed. */
GList *subscribers_names(const Subscribers *subscribers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscribers, subscribers_free)
