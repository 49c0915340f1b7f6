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
typedef struct Timers Timers;
typedef struct Leaf Leaf;

/* What all leaves of a daemon share; outlives them. */
typedef struct LeafServices {
        Buses *buses;
        Timers *timers;
        bool user; /* the daemon serves a user: "session" is the default bus and user units the default units */
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

        /* Frees what the op holds (not the op). Called last, also right after a start that completed. NULL: nothing. */
        void (*release)(Leaf *leaf);

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
        bool checked;     /* there were no references to fill in: the type's check has seen these parameters */

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

/* All leaf types, NULL-terminated: one line each in registry.c. */
extern const NodeType *const leaf_types[];
