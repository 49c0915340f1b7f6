/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The daemon as a service on a bus: its name, its objects and their signals, published anew on each new connection.
 * What the objects look like is in manager-bus.c, tree-bus.c and run-bus.c.
 */

#include "bus/connection.h"
#include "bus/operation.h"
#include "runtime/manager.h"

#define SERVICE_NAME "org.btd1"
#define SERVICE_PATH "/org/btd1"

typedef struct Service Service;

typedef struct ServiceInfo {
        const char *version, *mode;
        const char *const *tree_path;
} ServiceInfo;

typedef struct ServiceCallbacks {
        void (*named)(void *userdata);                     /* the name is owned: after each connection */
        void (*refused)(const char *text, void *userdata); /* it cannot be: text says why, and what to do */
} ServiceCallbacks;

/* Everything is borrowed. */
Service *service_new(GMainContext *context, Connection *connection, Manager *manager, const ServiceInfo *info,
                     const ServiceCallbacks *callbacks, void *userdata);
void service_free(Service *service);

/* For the published objects, whose userdata is the Service. */
Manager *service_manager(Service *service);
const ServiceInfo *service_info(Service *service);
/* To be returned by the handlers of methods that change something, see bus/operation.h; the userdata is the Service.
 * Takes the names in the deed. */
int service_authorize(Service *service, sd_bus_message *message, Deed deed, OperationRun run, sd_bus_error *ret_error);

/* To be returned by the method handler. */
int service_subscribe(Service *service, sd_bus_message *message, sd_bus_error *ret_error);
void service_unsubscribe(Service *service, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)
