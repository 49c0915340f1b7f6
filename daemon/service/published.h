/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the objects on one connection show, and what they answer with: the userdata of all of them.
 */

#include "runtime/manager.h"
#include "service/operation.h"
#include "service/questions.h"
#include "service/subscribers.h"

typedef struct ServiceInfo {
        const char *version, *mode;
        const char *const *tree_path;
} ServiceInfo;

/* All of it is borrowed. */
typedef struct Published {
        Manager *manager;
        const ServiceInfo *info;
        Operations *operations;
        Subscribers *subscribers;
        Questions *questions;
        bool open; /* see service_open() */
} Published;

Manager *published_manager(const Published *published);
const ServiceInfo *published_info(const Published *published);
/* "starting", "running" or "stopping" */
const char *published_status(const Published *published);

/* To be returned by the handlers of methods that ask for runs, see service/questions.h: the other handler answers when
 * the turn has come. */
int published_answer(Published *published, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error);

/* To be returned by the handlers of methods that change something, see service/operation.h; their userdata is the
 * Published. Takes the names in the deed. */
int published_authorize(const Published *published, sd_bus_message *message, Deed deed, OperationRun run,
                        sd_bus_error *ret_error);

/* The same for who wants to be told of nodes, or no longer, see service/subscribers.h. */
int published_subscribe(const Published *published, sd_bus_message *message, sd_bus_error *ret_error);
void published_unsubscribe(const Published *published, const char *name);
