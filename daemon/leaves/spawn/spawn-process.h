/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs one process of Spawn or Command, for an execution: as a child of the daemon, in a process group of its own
 * (spawn-child.c), or as a transient unit of systemd, with a control group and a journal of its own (spawn-unit.c).
 */

#include "bus/connection.h"
#include "leaf-types/spawn.h"
#include "run/leaf.h"

typedef struct SpawnRequest {
        const Leaf *leaf;
        const SpawnParams *params;
        unsigned repetition; /* of the leaf's program, from 1; 0: the program runs once */
        bool recovering;     /* the previous daemon may have started it already */
        bool confirmed;      /* ... and systemd has told it that it has the unit */
        int kill_signal;     /* its number */
        int fds[3];          /* for stdin, stdout and stderr; -1: empty input, and output to the journal */
} SpawnRequest;

/* How the process ended: error says why it never ran; otherwise code and status are as in siginfo_t. */
typedef struct SpawnEnd {
        const char *error;
        bool gone; /* it was started, and its unit was removed while btd was not running */
        int code, status;
        uint64_t time;                    /* when, CLOCK_MONOTONIC µs; 0: not known */
        const char *result;               /* the result of the unit ("oom-kill", "timeout", ...), or NULL */
        const char *unit, *invocation_id; /* the unit whose log may say more, or NULL */
} SpawnEnd;

/* Called once, from the main loop, when no process of the request is running any more. */
typedef void (*SpawnEnded)(const SpawnEnd *end, void *userdata);
/* Called when systemd has confirmed that it has the unit: before that, it may never have got the request; or when the
 * child was started. After a recovery, called if the process still runs. */
typedef void (*SpawnConfirmed)(void *userdata);

typedef struct SpawnChild SpawnChild;

/* A thread starts the process; if that fails, the child ends with an error. The child takes the file descriptors of the
 * request. */
SpawnChild *spawn_child_new(const SpawnRequest *request, SpawnConfirmed confirmed, SpawnEnded ended, void *userdata);
/* The child that another daemon has started, by its memo. -ESRCH: it does not run any more. */
int spawn_child_find(const SpawnRequest *request, json_object *memo, SpawnEnded ended, void *userdata,
                     SpawnChild **ret_child);
/* Kills all processes of the group. */
void spawn_child_free(SpawnChild *child);

/* Asks it to end, and kills it after its grace time. */
void spawn_child_stop(SpawnChild *child);

/* Adds what identifies it to the memo. */
void spawn_child_note(const SpawnChild *child, json_object *memo);

/* "process 1234 (/usr/bin/foo)" */
void spawn_child_describe(const SpawnChild *child, GString *text);

typedef struct SpawnUnit SpawnUnit;

/* A negative errno with an error message: a property is wrong. Errors of systemd come with ended. */
int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnConfirmed confirmed, SpawnEnded ended,
                   void *userdata, SpawnUnit **ret_unit, char **ret_error);
/* Ends all its processes within the grace time. */
void spawn_unit_free(SpawnUnit *unit);
/* Leaves the unit running for the next daemon. */
void spawn_unit_abandon(SpawnUnit *unit);

/* True: the unit had not been requested, and ended is not called. */
bool spawn_unit_stop(SpawnUnit *unit);
/* Would it return true? */
bool spawn_unit_stops_at_once(const SpawnUnit *unit);

/* "unit btd-boot.3-7-1.service" */
void spawn_unit_describe(const SpawnUnit *unit, GString *text);

/*
 * The name of a process, in the names of its unit and of its output files. It is made from the start of the leaf:
 * "boot.3-12-1". A later daemon finds both by it.
 */
typedef struct SpawnName {
        char *run;
        NodeId node;
        uint32_t attempt;
        unsigned repetition; /* of a program that the leaf runs again and again, from 1; else 0 */
} SpawnName;

/* To be freed. */
char *spawn_name_format(const Leaf *leaf, unsigned repetition);
/* Reads the name that stands between the prefix and the suffix of a text. Returns false if there is none. */
bool spawn_name_parse(const char *text, const char *prefix, const char *suffix, SpawnName *ret_name);
void spawn_name_clear(SpawnName *name);

#define SPAWN_UNIT_PREFIX "btd-"
#define SPAWN_UNIT_SUFFIX ".service"

/*
 * Cleans up after processes of Spawn that no leaf waits for any more, because the previous daemon was killed before it
 * could, or a run was lost: removes the units of processes that have ended, and their output files. Of processes
 * that still run, it ends those of Command, and leaves the others alone. main.c uses it.
 */
typedef struct SpawnSweep SpawnSweep;

/* Is there a leaf that started it and has not ended? */
typedef bool (*SpawnAwaited)(const SpawnName *name, void *userdata);

/* Cleans up what exists now, and the units again each time systemd comes back. outputs: the directory of the output
 * files, see LeafServices. */
SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata);
void spawn_sweep_free(SpawnSweep *sweep);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnChild, spawn_child_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnSweep, spawn_sweep_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnUnit, spawn_unit_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SpawnName, spawn_name_clear)
