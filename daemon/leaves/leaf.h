/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The contract of a leaf kind. The runtime makes one Leaf each time a node is started, and frees
 * it when it has ended (a condition: when nothing looks at its value any more).
 *
 * A kind never blocks and never ticks. It reports its end through leaf_end() (actions) or
 * leaf_set_value() (conditions), from the main loop, never from within its own start or halt.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "basic/cause.h"
#include "engine/type.h"
#include "script/blackboard.h"

typedef struct Buses Buses;
typedef struct Connection Connection;
typedef struct JobReplies JobReplies;
typedef struct Timers Timers;
typedef struct Leaf Leaf;

/* What all leaves of a daemon share; outlives them. */
typedef struct LeafServices {
        Buses *buses;
        Timers *timers;
        bool user; /* the daemon serves a user: "session" is the default bus and user units the default units */
        Connection *lasting; /* to the default bus, where what was sent is heard also when the daemon was killed; NULL:
                              * there is none */
        JobReplies *replies; /* of systemd to daemons before this one, while it recovers; NULL: there are none */
        const char *outputs; /* a directory for what processes write that outlive the daemon; NULL: none do */
        const char *credentials; /* the directory of the secrets, see script/secrets.h; NULL: there are none */
} LeafServices;

struct LeafKind {
        size_t op_size;        /* of the kind's own record, handed out zeroed as leaf->op */
        bool has_timeout;      /* the parameters have a span at timeout_offset, kept by the runtime: at its end the */
        size_t timeout_offset; /* leaf is halted, and has failed when it has ended. SPAN_INFINITY: no limit */

        /* RUNNING, or the outcome when it is known at once (FAILURE after leaf_set_cause()). ERROR, also after
         * leaf_set_cause(): an expression or code cannot be evaluated, which ends the run. */
        Status (*start)(Leaf *leaf);

        /* Stop. True: has ended, nothing will be reported. False: ending, leaf_end() will follow.
         * NULL: nothing to stop but what release frees. Not called twice. */
        bool (*halt)(Leaf *leaf);

        /* Frees what the op holds (not the op), and what the leaf has left in the world unless it is abandoned. Called
         * last, also right after a start that completed. NULL: nothing. */
        void (*release)(Leaf *leaf);

        /* In place of start, for an action that a daemon before this one has started, and that has not ended as far as
         * the run knows: goes on with what there is of it. IDLE, or leaf_lost() later: nothing is left of it, and what
         * became of it cannot be known. NULL: the same. */
        Status (*recover)(Leaf *leaf);
        /* The parameters have an OnRecover at on_recover_offset, which is followed then: of a kind that says by
         * leaf_remember() that it is about to do something. Others are started again. */
        bool has_on_recover;
        size_t on_recover_offset;

        /* Conditions whose value is computed when it is looked at: the value. NULL: it is what leaf_set_value() has
         * said last. */
        Status (*look)(Leaf *leaf);

        /* Appends what a running leaf waits for, to go behind "waits for": "reply of org.example.Camera.Start". NULL:
         * nothing to say. */
        void (*describe)(Leaf *leaf, GString *text);
};

struct Leaf {
        const NodeType *type;
        const void *params; /* the type's struct, with references filled in; lives as long as the leaf */
        void *op;
        const LeafServices *services;
        Blackboard *blackboard;
        const char *tree, *run, *name; /* "boot", "boot.3", "LoadConfig": for messages and unit names */
        NodeId node;
        uint32_t attempt; /* how often this node has been started in this run, from 1 */
        uint64_t started; /* CLOCK_MONOTONIC µs, perhaps by a daemon before this one */
        bool checked;     /* there were no references to fill in: the type's check has seen these parameters */

        bool durable; /* it may outlive this daemon, and then what it remembers is of use */

        /* For recover: has leaf_remember() been called, and with what last (NULL: nothing). */
        bool remembers;
        json_object *memory; /* borrowed, until it says something else */
        /* For release: the daemon goes, and what the leaf has started is for the next one. */
        bool abandoned;

        /* The runtime's. */
        void *owner;
};

/* The leaf has ended: SUCCESS, FAILURE, SKIPPED or ERROR. The leaf may be freed before this returns. */
void leaf_end(Leaf *leaf, Status status);

/* A condition's value is known, or has changed: SUCCESS, FAILURE or ERROR; RUNNING: it is not known any more. It goes
 * on watching. The leaf may be freed before this returns. */
void leaf_set_value(Leaf *leaf, Status value);
/* What look would answer may have changed. Can be called at any time, also while the run is at work. */
void leaf_value_changed(Leaf *leaf);

/* Why the leaf fails, for people: "org.example.Error.Busy: the camera is in use". Call it before the
 * FAILURE is reported; for a condition, also what was seen instead ("is \"inactive\", not \"active\""). */
void leaf_set_cause(Leaf *leaf, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same with a kind of basic/cause.h and facts (taken, may be NULL), for programs and for retry_on. */
void leaf_set_cause_of(Leaf *leaf, const char *kind, json_object *facts, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* What both come down to: takes the cause. */
void leaf_give_cause(Leaf *leaf, Cause *cause);

/* Puts a result on the blackboard; takes the value. */
void leaf_set_output(Leaf *leaf, const char *key, json_object *value);

/* Before it does something that will not be seen in the world: what a daemon after this one is to know of that. Takes
 * the object, NULL: only that it does. */
void leaf_remember(Leaf *leaf, json_object *memory);
/* After recover, from the main loop; see there. The leaf may be freed, or started again, before this returns. */
void leaf_lost(Leaf *leaf);

/* All leaf types, NULL-terminated: one line each in registry.c. */
extern const NodeType *const leaf_types[];
