/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the keys at the top of a tree file: who may do what with the tree, when a run is restarted after it has
 * finished by itself, and whether a running one is kept when the daemon stops. The runtime and the service use it.
 */

#include <json-c/json_object.h>

#include "engine/backoff.h"
#include "engine/type.h"

/* Which users besides root may do which actions on the tree and its runs. It can only narrow what polkit permits. */
typedef enum AccessVerb {
        ACCESS_START,
        ACCESS_HALT,
        ACCESS_CONTROL,
        ACCESS_SET,
        ACCESS_FORCE,
        ACCESS_MAX_,
} AccessVerb;

/* For each verb, NULL-terminated: names of users, and names of groups with a leading '@'; NULL: no restriction is
 * declared. */
typedef struct Access {
        const char *const *who[ACCESS_MAX_];
} Access;

/* The key "on_stop": decides what a stop of the daemon does to a run. */
typedef enum OnStop {
        ON_STOP_KEEP, /* the next daemon continues it */
        ON_STOP_HALT,
} OnStop;

typedef enum RestartWhen {
        RESTART_NO,
        RESTART_ON_FAILURE, /* after FAILURE and ERROR */
        RESTART_ALWAYS,     /* unless it was halted */
} RestartWhen;

#define RESTART_BURST_MAX 1000

/* The maximum number of restarts within the interval, in microseconds. */
typedef struct RestartLimit {
        int64_t burst;
        uint64_t interval;
} RestartLimit;

typedef struct RestartPolicy {
        int when; /* RestartWhen */
        const Backoff *backoff;
        const RestartLimit *limit;
} RestartPolicy;

extern const char *const restart_names[]; /* of RestartWhen */

/* True if a run with this result is to be restarted, subject to the limit. */
static inline bool restart_is_wanted(const RestartPolicy *policy, Status status) {
        switch (status) {
        case STATUS_FAILURE:
        case STATUS_ERROR:
                return policy->when != RESTART_NO;
        case STATUS_SUCCESS:
        case STATUS_SKIPPED:
                return policy->when == RESTART_ALWAYS;
        default:
                return false;
        }
}

typedef struct Header {
        int64_t btd;
        const char *description;
        bool autostart;
        uint64_t interval;
        RestartPolicy restart;
        int on_stop;              /* OnStop */
        const Access *access;     /* NULL: not given */
        json_object *on_finished; /* a list of rules, see on-finished.h; NULL: not given */
        const char *schema;
} Header;

#define HEADER_VERSION 1

extern const Param header_params[];
/* Keys of a tree in "trees", except its variables and its root. */
extern const Param tree_params[];
/* Keys of an input, and of an output. */
extern const Param input_params[], output_params[];
