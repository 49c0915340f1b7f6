/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Holds what the D-Bus objects of one connection use. It is the userdata of all of them.
 */

#include "runtime/manager.h"
#include "service/answers.h"
#include "service/operation.h"
#include "service/subscribers.h"

typedef struct ServiceInfo {
        const char *version, *mode;
        const char *const *tree_path;
} ServiceInfo;

/* All members are borrowed. */
typedef struct Published {
        Manager *manager;
        const ServiceInfo *info;
        Operations *operations;
        Subscribers *subscribers;
        Answers *answers;
        Workers *workers; /* for files that callers read */
        bool open;        /* see service_open() */
} Published;

Manager *published_manager(const Published *published);
const ServiceInfo *published_info(const Published *published);
/* "starting", "running" or "stopping". */
const char *published_status(const Published *published);

/* For method handlers that only read, see service/answers.h: return the result of this function. The given handler or
 * kind makes the answer when its turn has come. */
int published_answer(Published *published, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error);

/* Is the message longer than any name, and too long to keep while it waits? Then it cannot name anything. */
bool published_is_long(sd_bus_message *message);
int published_answer_long(Published *published, sd_bus_message *message, const AnswerKind *kind,
                          sd_bus_error *ret_error);

/* For method handlers that change something, see service/operation.h: return the result of this function. The userdata
 * of run is the Published. Takes the names in the request. */
int published_authorize(const Published *published, sd_bus_message *message, Request request, OperationRun run,
                        sd_bus_error *ret_error);

int published_authorize_long(const Published *published, sd_bus_message *message, Request request, OperationBegin begin,
                             sd_bus_error *ret_error);

/* The same for subscribers, see service/subscribers.h. */
int published_subscribe(const Published *published, sd_bus_message *message, sd_bus_error *ret_error);
void published_unsubscribe(const Published *published, const char *name);
/* See subscribers_hold(). */
void published_hold(const Published *published, const char *name, const char *run);
void published_release(const Published *published);
