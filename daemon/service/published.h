/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Holds what the D-Bus objects of one connection use. It is the userdata of all of them.
 */

#include "runtime/manager.h"
#include "service/answers.h"
#include "service/finished-runs.h"
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
        FinishedRuns *finished;
        Workers *workers;   /* for files that callers read */
        Workers *replayers; /* for run records that are replayed for callers */
        bool open;          /* see service_open() */
} Published;

/* Handlers get a Published as void pointer; these functions give it its type. */

static inline Manager *published_manager(const Published *published) {
        return published->manager;
}

/* For method handlers that only read, see service/answers.h: return the result of this function. The kind makes the
 * answer when its turn has come. */
static inline int published_answer(const Published *published, sd_bus_message *message, const AnswerKind *kind,
                                   sd_bus_error *ret_error) {
        return answers_add(published->answers, message, kind, ret_error);
}

/* Defines method_NAME(), a handler that only reads. The rest: the members of its AnswerKind. */
#define ANSWER_METHOD(name, ...)                                                                                       \
        static int method_##name(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {                   \
                static const AnswerKind kind = { __VA_ARGS__ };                                                        \
                                                                                                                       \
                return published_answer(userdata, message, &kind, ret_error);                                          \
        }

/* A method that changes something: the permission that its caller needs, and what carries it out. */
typedef struct Change {
        const char *member;
        Permission permission;
        OperationRun run;
} Change;

/* The row of the method that was called. changes: ends with {}. */
static inline const Change *change_of(const Change *changes, sd_bus_message *message) {
        const char *member = sd_bus_message_get_member(message);

        while (changes->member && !g_str_equal(changes->member, member))
                changes++;

        g_assert(changes->member);
        return changes;
}

/* For method handlers that change something, see service/operation.h: return the result of this function. The userdata
 * of run is the Published. Takes the names in the request. */
static inline int published_authorize(const Published *published, sd_bus_message *message, Request request,
                                      OperationRun run, sd_bus_error *ret_error) {
        return operation_start(published->operations, message, request, run, ret_error);
}
