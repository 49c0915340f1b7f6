/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who wants to be told of every change of a node: callers by their unique names, until they say otherwise or leave
 * the bus. There can be only so many, and so many of one user.
 */

#include <stdbool.h>

#include "basic/limit.h"
#include "bus/connection.h"

typedef struct Subscribers Subscribers;

/* limits: borrowed. changed: there is somebody now, or nobody any more. */
Subscribers *subscribers_new(Connection *connection, const Limits *limits, void (*changed)(bool any, void *userdata),
                             void *userdata);
void subscribers_free(Subscribers *subscribers);

/* To be returned by the handler of the method: it is answered when it is known whose call it is. */
int subscribers_add(Subscribers *subscribers, sd_bus_message *message, sd_bus_error *ret_error);
void subscribers_remove(Subscribers *subscribers, const char *name);
bool subscribers_any(const Subscribers *subscribers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscribers, subscribers_free)
