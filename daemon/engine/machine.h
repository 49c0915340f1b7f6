/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Executes one tree as a deterministic machine: inputs in, effects out. The same tree and
 * the same inputs give the same states and the same effects in the same order. Its host is the
 * run (run/run.h).
 *
 * An input says what happened; it only marks the path from its node to the root. machine_tick()
 * then walks the marked paths and asks the host for effects. Nothing here reads a clock, does
 * I/O, or allocates after machine_new().
 *
 * Halting is awaited: a leaf may answer its halt with "ending"; nodes that come after it then
 * wait for its machine_leaf_ended().
 */

#include "engine/tree.h"

/*
 * The version of the order in which this engine does things. The order is part of the format of run records: a daemon
 * recovers a run by giving the recorded inputs to its own engine again.
 *
 * Increment it with each change after which the same inputs give other effects, or the same effects in another order: a
 * leaf is started or halted, a timer armed or disarmed, a lock acquired or released, a condition evaluated, a
 * breakpoint reached. Also if the meaning of a number in a NodeImage changes. Nothing else depends on it: a daemon
 * compares the replayed effects with the recorded ones, whatever the versions are. The version tells users why a run
 * could not be recovered, and testers which golden records to add (tests/records/README.md).
 */
#define ENGINE_VERSION 1u

/* The version of this daemon's engine. */
uint32_t engine_version(void);

/* Why a node failed or was skipped, as far as the engine itself knows. */
typedef enum Reason {
        REASON_NONE,       /* follows from its leaf or its children */
        REASON_TIMEOUT,    /* a Timeout's limit has passed */
        REASON_ATTEMPTS,   /* no attempts are left */
        REASON_THRESHOLD,  /* a Parallel can no longer succeed */
        REASON_FAIL_IF,    /* decided by a guard; in the order of Guard */
        REASON_SUCCESS_IF, /* ... */
        REASON_SKIP_IF,    /* ... */
        REASON_WHILE,      /* ... which is false */
        REASON_TEST,       /* its own condition does not hold */
        REASON_UNCHANGED,  /* its value has not changed */
        REASON_FORCED,     /* see machine_force() */
        REASON_MAX_,
} Reason;

/* The value of an expression. VERDICT_ERROR: it cannot be evaluated; then the machine ends in ERROR at that node, with
 * MACHINE_EXPRESSION_FAILED, and the host keeps the message. */
typedef enum Verdict {
        VERDICT_NO,
        VERDICT_YES,
        VERDICT_ERROR,
} Verdict;

#define MACHINE_EXPRESSION_FAILED "expression-failed"

typedef enum Guard {
        GUARD_FAIL_IF,
        GUARD_SUCCESS_IF,
        GUARD_SKIP_IF,
        GUARD_WHILE,
} Guard;

static inline bool reason_is_answer(Reason reason) {
        return reason >= REASON_FAIL_IF && reason <= REASON_UNCHANGED;
}

/* When the code of a node runs: after its success, failure or halt, and after any of them. */
typedef enum Hook {
        HOOK_SUCCESS,
        HOOK_FAILURE,
        HOOK_HALTED,
        HOOK_ALWAYS,
        HOOK_MAX_,
} Hook;

/*
 * The effects that a machine asks for. None of these may call back into the machine. The members after changed may be
 * NULL if no tree uses them.
 *
 * Actions: leaf_start answers RUNNING, or the outcome if the leaf completes at once. leaf_halt answers true if the leaf
 * has ended, and false if it is ending: then machine_leaf_ended() must follow (its status is ignored).
 *
 * Conditions: condition_evaluate answers the current value, RUNNING while it is unknown. From the first evaluation
 * until condition_release, machine_condition_changed() must follow whenever the answer would change.
 *
 * Both may answer ERROR, with the meaning of VERDICT_ERROR; the leaf has ended then.
 */
typedef struct MachineHost {
        Status (*leaf_start)(Machine *machine, NodeId node);
        bool (*leaf_halt)(Machine *machine, NodeId node);
        Status (*condition_evaluate)(Machine *machine, NodeId node);
        void (*condition_release)(Machine *machine, NodeId node);
        /* For hosts with leaves that must be polled at every tick (the scripted ones of the conformance tests); else
         * NULL. */
        Status (*leaf_poll)(Machine *machine, NodeId node);
        /* One timer per node, and one for the machine itself (NODE_NONE). */
        void (*timer_arm)(Machine *machine, NodeId node, uint64_t usec);
        void (*timer_disarm)(Machine *machine, NodeId node);
        /* Called for every change: a node started, completed or was halted. A node that continues for a while after its
         * halt (a cleanup, an uninterruptible node) is reported when it has ended. May be NULL. */
        void (*changed)(Machine *machine, NodeId node, Status status, Reason reason);
        /* The node was halted, but it, or a node below it, has not ended yet. changed() follows when it has, except for
         * a leaf that does not continue: changed() was called before, and machine_leaf_ended() is its end. May be
         * NULL. */
        void (*halting)(Machine *machine, NodeId node);
        /* The node was started, but waits before it begins: for another node to end, at its breakpoint, or for its
         * lock. For a control or decorator, changed() follows when it begins; for a leaf, it was or will be called now.
         * May be NULL. */
        void (*waiting)(Machine *machine, NodeId node);

        /* Is the guard true? If the node has no such guard: true for GUARD_WHILE, else false. */
        Verdict (*guard)(Machine *machine, NodeId node, Guard guard);
        /* Runs the node's code for the hook, if it has any; only VERDICT_ERROR matters. Called after the outcome or the
         * halt of an activation, when everything below the node has ended; HOOK_ALWAYS comes last. */
        Verdict (*hook)(Machine *machine, NodeId node, Hook hook);
        /* True: the node has acquired its lock. False: machine_lock_granted() will follow, unless unlock comes first.
         */
        bool (*lock)(Machine *machine, NodeId node);
        /* Releases the lock, or stops waiting for it. */
        void (*unlock)(Machine *machine, NodeId node);
        /* The node is paused at its breakpoint; it starts when machine_pass_breakpoint() is called. */
        void (*breakpoint)(Machine *machine, NodeId node);

        /* For Precondition: is it true? */
        Verdict (*test)(Machine *machine, NodeId node, const Script *condition);
        /* For Switch: the index of the case that equals the value, or the number of cases if none does; UINT32_MAX: an
         * ERROR. Either the variable or the expression is given. */
        uint32_t (*match)(Machine *machine, NodeId node, const char *variable, const Script *of,
                          const char *const *cases);
        /* For OnChange: does the value of its expression differ from the one at the last VERDICT_YES? The first answer
         * is VERDICT_YES. */
        Verdict (*has_changed)(Machine *machine, NodeId node, const Script *of);
        /* For RetryUntilSuccessful and TryCatch: did the child fail with one of these causes? */
        bool (*cause_matches)(Machine *machine, NodeId child, const char *const *patterns);
        /* For Loop: sets the variable to an element of the list; index 0 takes a new copy of the list. False: there is
         * no such element. */
        bool (*next_element)(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index);
        /* For ForEach: takes a new copy of the list and answers its length; UINT32_MAX: it is not a list. */
        uint32_t (*elements)(Machine *machine, NodeId node);
        /* For ForEach: the child is about to start with this element. */
        void (*assign_element)(Machine *machine, NodeId for_each, NodeId child, uint32_t index);
        /* For NODE_LATE: begins, so variables give it parameters. False: one of them is wrong, a FAILURE. */
        bool (*fill_in)(Machine *machine, NodeId node);
        /* The parameters that it got. */
        const void *(*params)(Machine *machine, NodeId node);
        /* For SubTree: starts, with the initial values of its own variables. False: its inputs are wrong, a FAILURE. */
        bool (*enter)(Machine *machine, NodeId node);
        /* For SubTree: completes with the status of its child. False: its outputs are wrong, a FAILURE. */
        bool (*leave)(Machine *machine, NodeId node, Status status);
} MachineHost;

/* Borrows its first three arguments. seed: for jitter; the same seed gives the same delays. */
Machine *machine_new(const Tree *tree, const MachineHost *host, void *userdata, uint64_t seed);
void machine_free(Machine *machine);

const Tree *machine_tree(const Machine *machine);
void *machine_userdata(const Machine *machine);

/* Inputs. */
void machine_start(Machine *machine);
void machine_halt(Machine *machine);
void machine_leaf_ended(Machine *machine, NodeId leaf, Status status);
void machine_condition_changed(Machine *machine, NodeId leaf);
/* The same for a change that the tree made itself during the last tick, see machine_variable_set(). */
void machine_condition_set(Machine *machine, NodeId leaf);
void machine_timer_expired(Machine *machine, NodeId node);
/* A variable was set from outside the tree: nodes that evaluate variables while they run (while, Switch, OnChange,
 * Precondition) evaluate them again. */
void machine_variable_changed(Machine *machine);
/* The tree itself set a variable during the last tick. As above, but a tree that keeps changing its own variables is
 * slowed down, like any endless loop. */
void machine_variable_set(Machine *machine);

/* The node has acquired the lock that it waited for. */
void machine_lock_granted(Machine *machine, NodeId node);
/* It does not get the lock, or loses it, so it fails. */
void machine_lock_refused(Machine *machine, NodeId node);

/*
 * Requests of the user.
 *
 * machine_force() gives the node this outcome (SUCCESS, FAILURE or SKIPPED). True: the node is running; it is halted
 * and completes with the outcome. False: the outcome replaces the node's next start, once. A condition that is
 * evaluated again keeps the outcome until the node that evaluates it completes.
 */
bool machine_force(Machine *machine, NodeId node, Status status);
/* With a breakpoint, MachineHost.breakpoint is called before the node starts, and the node waits: RUNNING, but not
 * started. */
void machine_set_breakpoint(Machine *machine, NodeId node, bool set);
/* Lets a node start that is paused at its breakpoint. False: it is not. */
bool machine_pass_breakpoint(Machine *machine, NodeId node);

/* Has there been an input since the last tick? */
bool machine_wants_tick(const Machine *machine);

/* One propagation; if nothing runs yet, the first of an activation. Returns RUNNING or how the tree ended: SUCCESS,
 * FAILURE, SKIPPED, HALTED (after machine_halt(), when the last leaf has ended) or ERROR (then machine_error() has the
 * reason, and machine_halt() and further ticks are still needed to stop running leaves). */
Status machine_tick(Machine *machine);

/* The same, but visits every running node. machine_tick() must be indistinguishable from it. */
Status machine_tick_full(Machine *machine);

/* The name of the tree's error, and the node that has it; NULL if there is none. */
const char *machine_error(const Machine *machine, NodeId *ret_node);
/* The error as a message for people; the name itself if it has no message. */
const char *machine_error_text(const char *error);

Status machine_node_status(const Machine *machine, NodeId node);
/* Returns how many elements the list of a ForEach that is running or has just completed has, and how many of them have
 * failed. */
void machine_elements(const Machine *machine, NodeId for_each, uint32_t *ret_elements, uint32_t *ret_failed);
/* Halted, and not yet ended. */
bool machine_node_ending(const Machine *machine, NodeId node);
/* Halted, not yet ended, and uninterruptible: the node continues, and its outcome will be reported. */
bool machine_node_continues(const Machine *machine, NodeId node);
/* Was started, but has not begun? See MachineHost.waiting. */
bool machine_node_waits(const Machine *machine, NodeId node);
/* Does its outcome wait until nodes below it that were halted have ended? */
bool machine_node_held(const Machine *machine, NodeId node);
/* Why a held node has that outcome. */
Reason machine_held_reason(const Machine *machine, NodeId node);
/* The forced outcome that the node gets when it is started next; IDLE: none. */
Status machine_node_forced(const Machine *machine, NodeId node);
/* A node that the waiting one waits for, if that is neither its breakpoint nor its lock: one that is halting while no
 * node below it is. NODE_NONE: none is left. */
NodeId machine_node_waits_for(const Machine *machine, NodeId node);
/* The same for a node that is halting, or whose outcome waits: one below it, or itself. */
NodeId machine_last_halting(const Machine *machine, NodeId node);
/* The host's own data for each node; NULL at first. */
void *machine_node_data(const Machine *machine, NodeId node);
void machine_node_set_data(Machine *machine, NodeId node, void *data);

/* Did a node ask for another tick at once, during the last tick or halt? */
bool machine_woke(const Machine *machine);

/*
 * The complete state of a machine between two inputs, as numbers. Snapshots (run/snapshot.h) store it and restore the
 * same machine from it. node.h defines the numbers; a change there changes the format of snapshots.
 */
typedef struct MachineImage {
        uint64_t random;
        uint32_t attention, unprompted;
        const char *error; /* or NULL; borrowed, must outlive the machine */
        NodeId error_node; /* if there is an error */
} MachineImage;

typedef struct NodeImage {
        uint32_t status, flags, result, phase, position;
        uint32_t counts[2]; /* of controls and decorators */
        uint32_t sets;      /* the sets that have it as a member, a bit for each */
        uint32_t attributes, forced, outcome;
} NodeImage;

#define NODE_IMAGE_NUMBERS (sizeof(NodeImage) / sizeof(uint32_t))

MachineImage machine_image(const Machine *machine);
/* False: the node is as in a new machine. */
bool machine_node_image(const Machine *machine, NodeId node, NodeImage *ret_image);

/* For a new machine; asks the host for nothing. False: no machine can have this state. */
bool machine_restore(Machine *machine, const MachineImage *image);
bool machine_restore_node(Machine *machine, NodeId node, const NodeImage *image);

/* What the host keeps for one node beside the machine, to be compared with the state of the node. */
typedef struct NodeHostImage {
        bool leaf;   /* a leaf that was started */
        bool ended;  /* ... and, if it is an action, has an outcome */
        bool lock;   /* that it holds or waits for */
        bool forced; /* the cause of a forced outcome */
} NodeHostImage;

/* To be called when all nodes are restored. False: the node runs, but its parent neither runs nor ends; or the host has
 * not what the node needs, or has more. */
bool machine_node_fits(const Machine *machine, NodeId node, const NodeHostImage *host);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)
