/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the contract of a leaf kind: the functions that it implements, and those that it may call. An Activity makes
 * one Leaf each time a node is started, and frees it when it has ended (a condition: when no node evaluates it any
 * more).
 *
 * A kind never blocks and never ticks. It reports its end through leaf_end() (actions) or leaf_set_value()
 * (conditions), from the main loop, never from within its own start or halt.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "basic/cause.h"
#include "basic/log.h"
#include "basic/timers.h"
#include "basic/users.h"
#include "basic/workers.h"
#include "engine/type.h"
#include "run/held.h"
#include "script/blackboard.h"

typedef struct Buses Buses;
typedef struct FdWatches FdWatches;
typedef struct Leaf Leaf;
typedef struct LeafKind LeafKind;
typedef struct PathWatches PathWatches;

/* References that the previous btd holds in systemd for recovered leaves: each leaf uses it until it has a reference of
 * its own. When it is not used any more, the owner releases it. */
typedef struct Inheritance {
        unsigned n_users;
        void (*unused)(void *userdata);
        void *userdata;
} Inheritance;

/* The services that all leaves of a daemon share; they outlive the leaves. */
typedef struct LeafServices {
        /* Finds what runs the leaves of a type. Must know each leaf type that the trees use. */
        const LeafKind *(*kind_of)(const NodeType *type);
        Buses *buses;
        Timers *timers;
        Workers *workers;         /* start processes, each on a thread of its own */
        Workers *journal_readers; /* NULL: nothing is read from the journal */
        Users *users;             /* NULL: nobody has a share */
        FdWatches *fd_watches;    /* of processes and their pipes */
        PathWatches *path_watches;
        bool goes_down; /* the machine, and btd stops: systemd starts nothing any more */
        bool user;      /* the daemon serves a user: "session" is the default bus and user units the default units */
        /* The stored connection: to the default bus, and still open after this btd was killed or restarted, until the
         * next one closes it. It never has match rules, since nobody reads from it then. NULL: there is none. */
        Connection *stored;
        Inheritance *inheritance;                 /* while the daemon recovers; NULL: there is none */
        const InhibitorKind *inhibitors;          /* NULL: nodes get inhibitor locks at once, since nothing is done */
        const OwnConnectionKind *own_connections; /* NULL: likewise for connections of their own */
        const char *outputs;     /* directory for the output of processes that outlive the daemon; NULL: none do */
        const char *credentials; /* directory of the secrets, see script/secrets.h; NULL: there are none */
} LeafServices;

struct LeafKind {
        size_t op_size; /* size of the kind's own struct, which the Activity provides zeroed as leaf->op */

        /* RUNNING, or the outcome if it is known at once (FAILURE after leaf_set_cause()). ERROR, also after
         * leaf_set_cause(): an expression or code cannot be evaluated, which ends the run. Actions of TYPE_IMMEDIATE,
         * which cannot be RUNNING, and conditions are started while the run computes: they must do nothing that could
         * be observed outside of btd before they return to the main loop. */
        Status (*start)(Leaf *leaf);
        /* A condition whose start does so all the same: it is called when the run record has all that led to it, and
         * the value is not known until then. */
        bool acts;
        /* Actions that are only simulated are started while the run computes, whatever their type. */
        bool computes;

        /* Stops the leaf. True: it has ended, and reports nothing. False: it is ending, leaf_end() will follow.
         * NULL: release stops everything. Not called twice. */
        bool (*halt)(Leaf *leaf);
        /* Would halt() return true? Changes nothing. Only for kinds with halt; NULL: perhaps not, so what comes after
         * the leaf waits for one more tick. */
        bool (*halts_at_once)(const Leaf *leaf);

        /* Frees the contents of the op (not the op), and cleans up outside of the daemon unless the leaf is abandoned.
         * Called last, also right after a start that completed. NULL: nothing to free. */
        void (*release)(Leaf *leaf);

        /* Called instead of start for an action that the previous daemon started, and whose end is not recorded:
         * continues it. IDLE, or leaf_lost() later: it cannot be continued, and its result cannot be known. Then the
         * parameter "on_recover" decides if the type has one and the leaf has called leaf_set_memo(); other leaves are
         * started again. NULL: like IDLE.
         * A condition is started again; if it has called leaf_set_memo(), and its kind has this, this is called
         * instead, and returns what start would. */
        Status (*recover)(Leaf *leaf);
        /* recover() reads what became of the leaf, and leaf_read(), leaf_end() or leaf_lost() follow. Until then, no
         * time limit counts. After the end, the leaf can live on until all leaves of the run have been read; what it
         * says then is ignored. */
        bool reads;

        /* For conditions that compute their value on demand: the value. NULL: the value is the last one of
         * leaf_set_value(). */
        Status (*evaluate)(Leaf *leaf);

        /* Only for leaves that are simulated, which need no secrets: a parameter cannot be resolved, and the leaf
         * starts with the parameters as they are in the tree file. NULL: it fails instead. */
        void (*unresolved)(Leaf *leaf, const char *error);

        /* A unit has begun to wait for the run of the leaf, see leaf_is_awaited_by(). The leaf has started, and was not
         * halted. Must not end the leaf before it returns to the main loop. May be NULL. */
        void (*awaited)(Leaf *leaf);

        /* Actions that end at a signal, whose type hears. Instead of one that is executed, makes a listener, which
         * calls leaf_hear() for each signal until it is released; another Leaf, with listens set, is executed
         * meanwhile. False: it cannot. */
        bool (*listen)(Leaf *leaf);
        /* The running leaf gets this signal; NULL: that of leaf_take_signal(). From the main loop. */
        void (*heard)(Leaf *leaf, json_object *signal);

        /* Names what a running leaf needs before it can do anything: "connection to the bus 'system'"; to be freed.
         * It is told instead of describe(), and if the leaf times out. NULL: nothing. May be NULL. */
        char *(*obstacle)(const Leaf *leaf);
        /* Says what may still come of a running leaf when a time limit has ended it: "the call may still be delivered";
         * a constant. NULL: nothing. May be NULL. */
        const char *(*aftermath)(const Leaf *leaf);
        /* For the status of a condition that is true: what its value cannot tell; to be freed. NULL: nothing. May be
         * NULL. */
        char *(*remark)(const Leaf *leaf);
        /* Appends what a running leaf waits for, to follow "waits for": "reply of org.example.Camera.Start". May be
         * NULL.
         */
        void (*describe)(Leaf *leaf, GString *text);
};

struct Leaf {
        const NodeType *type;
        const LeafKind *kind;
        const void *params; /* the type's struct, with references expanded; lives as long as the leaf */
        void *op;
        const LeafServices *services;
        Blackboard *blackboard;
        const char *tree, *run, *name; /* "boot", "boot.3", "LoadConfig": for messages and unit names */
        const char *label;             /* see run_node_label(); NULL: the name is enough */
        NodeId node;
        uint32_t attempt;   /* the number of this start of the node in this run, from 1 */
        uint64_t started;   /* CLOCK_MONOTONIC µs, perhaps by the previous daemon */
        TimerClock clock;   /* of its times, see leaf_timer_new() */
        uint64_t suspended; /* by how much CLOCK_BOOTTIME was ahead when it was started */
        bool listens;       /* signals come through a listener, also between the executions */
        bool durable;       /* its run is recorded, so the leaf may be recovered with its memo */
        /* For release: the daemon stops, and leaves everything that the leaf has started to the next one. */
        bool abandoned;

        /* For recover: was leaf_set_memo() called, and the last memo (or NULL). */
        bool has_memo;
        json_object *memo; /* borrowed until the next leaf_set_memo() */
};

/* The user who has started its run; NULL: nobody counts what users use. */
User *leaf_user(const Leaf *leaf);

/* Does the leaf have a connection of its own to this bus (NULL: the default), because of a node above it? It is
 * borrowed until the leaf is released. NULL: it is lost. */
bool leaf_own_connection(const Leaf *leaf, const char *bus, Connection **ret_connection);

/* For messages about the leaf in the log; borrowed. */
LogSubject leaf_log_subject(const Leaf *leaf);

/* Expires so many microseconds after the leaf was started, by the clock of the node. NULL: never. */
Timer *leaf_timer_new(const Leaf *leaf, uint64_t usec, TimerCallback callback, void *userdata);

/* The leaf has ended: SUCCESS, FAILURE, SKIPPED or ERROR. The leaf may be freed before this returns. */
void leaf_end(Leaf *leaf, Status status);

/* A condition's value is known, or has changed: SUCCESS, FAILURE or ERROR; RUNNING: it is not known any more. The leaf
 * continues to watch. It may be freed before this returns. */
void leaf_set_value(Leaf *leaf, Status value);
/* The result of evaluate may have changed. Can be called at any time, also during a tick. */
void leaf_value_changed(Leaf *leaf);

/* The reason why the leaf fails, as a message: "org.example.Error.Busy: the camera is in use". Call it before the
 * FAILURE is reported. An action that succeeds can give its SUCCESS a note in the same way. For a condition, it has the
 * actual value, too ("is \"inactive\", not \"active\""). */
void leaf_set_cause(Leaf *leaf, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same with a kind of basic/cause.h and facts (taken, may be NULL), for programs and for retry_on. */
void leaf_set_cause_of(Leaf *leaf, const char *kind, json_object *facts, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The same with a complete cause, which it takes. NULL: there is none any more. */
void leaf_give_cause(Leaf *leaf, Cause *cause);

/* Sets a variable of the blackboard; takes the value. */
void leaf_set_output(Leaf *leaf, const char *key, json_object *value);

/* Only for actions of TYPE_IMMEDIATE: runs the code. SUCCESS, or ERROR with its cause. */
Status leaf_run(Leaf *leaf, const Script *code);
/* Only for actions of TYPE_IMMEDIATE: the message is logged, and an event of the run. level: as of syslog(3). */
void leaf_say(Leaf *leaf, int level, const char *text);

/* The text without the secrets of the leaf, for messages that do not use the functions above; to be freed. NULL: it has
 * no secrets. */
char *leaf_hide_secrets(Leaf *leaf, const char *text);
/* The same for a value: a new reference. What the leaf gets from others must be hidden before a part of it is taken: a
 * part of a secret is not found any more. */
json_object *leaf_hide_value(Leaf *leaf, json_object *value);
/* How many bytes its longest secret has; 0: it has none. */
size_t leaf_secret_length(Leaf *leaf);

/* Call this before the leaf does something that a later btd cannot see: records a memo for the recovery of this
 * leaf. Takes the object; NULL: only records that the leaf has acted. */
void leaf_set_memo(Leaf *leaf, json_object *memo);
/* For LeafKind.listen: a signal has come. value: its values, or whatever else heard() takes. */
void leaf_hear(Leaf *leaf, json_object *signal);
/* For a running leaf with listens, also in its start: the signal that it has taken, or else takes now from those that
 * came before. A new reference. NULL: there is none. */
json_object *leaf_take_signal(Leaf *leaf);
/* The number of signals that are kept for the node. */
unsigned leaf_queue_length(const Leaf *leaf);
/* To be called after recover, from the main loop; see there. The leaf may be freed, or started again, before this
 * returns.
 */
void leaf_lost(Leaf *leaf);

/* After recover, see LeafKind.reads: the leaf still runs (ended 0), or ended at that time (CLOCK_MONOTONIC µs), and
 * leaf_end() follows. Only time limits that had passed by then count. */
void leaf_read(Leaf *leaf, uint64_t ended);

/* Does the start of this unit wait for the run of the leaf; stop: does its stop wait for the end of the run? NULL: of
 * any unit? */
bool leaf_is_awaited_by(const Leaf *leaf, const char *unit, bool stop);

void inheritance_use(Inheritance *inheritance);
void inheritance_leave(Inheritance *inheritance);
