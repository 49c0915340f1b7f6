/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who wants to be told of every change of a node: callers by their unique names, until they say otherwise or leave
 * the bus.
 */

#include <stdbool.h>

#include "bus/connection.h"

typedef struct Subscribers Subscribers;

/* changed: there is somebody now, or nobody any more. */
Subscribers *subscribers_new(Connection *connection, void (*changed)(bool any, void *userdata), void *userdata);
void subscribers_free(Subscribers *subscribers);

void subscribers_add(Subscribers *subscribers, const char *name);
void subscribers_remove(Subscribers *subscribers, const char *name);
bool subscribers_any(const Subscribers *subscribers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscribers, subscribers_free)
