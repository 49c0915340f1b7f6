/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Publishes btd on a bus: its name, its objects and their signals, again on each new connection. The objects are in
 * manager-bus.c, tree-bus.c and run-bus.c.
 */

#include "basic/timers.h"
#include "bus/connection.h"
#include "service/published.h"

#define SERVICE_NAME "org.btd1"

typedef struct Service Service;

typedef struct ServiceCallbacks {
        void (*named)(void *userdata);                     /* btd owns the name; called after each connection */
        void (*refused)(const char *text, void *userdata); /* btd cannot get the name; text says why, and what to do */
} ServiceCallbacks;

/* Borrows all arguments. If the name belongs to a process that has ended, because a child process still holds its
 * connection, the service waits a few seconds for that connection to close. */
Service *service_new(GMainContext *context, Timers *timers, Connection *connection, Manager *manager,
                     const ServiceInfo *info, const ServiceCallbacks *callbacks, void *userdata);
void service_free(Service *service);

/* All trees and runs are known from now on. Changes and questions about runs, which waited because the runs were not
 * recovered yet, are done now. */
void service_open(Service *service);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)
