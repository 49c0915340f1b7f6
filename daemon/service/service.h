/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The daemon as a service on a bus: its name, its objects and their signals, published anew on each new connection.
 * What the objects look like is in manager-bus.c, tree-bus.c and run-bus.c.
 */

#include "bus/connection.h"
#include "service/published.h"

#define SERVICE_NAME "org.btd1"

typedef struct Service Service;

typedef struct ServiceCallbacks {
        void (*named)(void *userdata);                     /* the name is owned: after each connection */
        void (*refused)(const char *text, void *userdata); /* it cannot be: text says why, and what to do */
} ServiceCallbacks;

/* Everything is borrowed. */
Service *service_new(GMainContext *context, Connection *connection, Manager *manager, const ServiceInfo *info,
                     const ServiceCallbacks *callbacks, void *userdata);
void service_free(Service *service);

/* What there was before this daemon is known: what changes anything is done from now on, and who asks for runs is
 * answered; both were kept waiting before, since it may be about a run that is still to be taken up. */
void service_open(Service *service);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)
