/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The deterministic machine that executes one tree: inputs in, effects out. The same tree and
 * the same inputs give the same states and the same effects in the same order.
 *
 * Inputs say what happened; they only mark the path from their node to the root. machine_tick()
 * then walks the marked paths and asks the host for effects. Nothing here reads a clock, does
 * I/O, or allocates after machine_new().
 *
 * Halting is awaited: a leaf may answer its halt with "ending", and what comes after it waits
 * for the machine_leaf_ended() that follows.
 */

#include "engine/tree.h"

/* Why a node failed or was skipped, as far as the engine itself knows. */
typedef enum Reason {
        REASON_NONE,       /* follows from its leaf or its children */
        REASON_TIMEOUT,    /* a Timeout's limit has passed */
        REASON_ATTEMPTS,   /* no attempts are left */
        REASON_THRESHOLD,  /* a Parallel can no longer succeed */
        REASON_FAIL_IF,    /* a guard said so: in the order of Guard */
        REASON_SUCCESS_IF, /* ... */
        REASON_SKIP_IF,    /* ... */
        REASON_WHILE,      /* ... that it does not hold */
        REASON_TEST,       /* its own condition does not hold */
        REASON_UNCHANGED,  /* its value has not changed */
        REASON_FORCED,     /* somebody has said so, see machine_force() */
        REASON_MAX_,
} Reason;

/* What an expression says; ERROR where it cannot be evaluated: then the machine ends in ERROR at that node, with
 * MACHINE_EXPRESSION_FAILED, and the host keeps the text. */
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

/* When the code of a node is run: behind its success, failure or halt, and behind any of them. */
typedef enum Hook {
        HOOK_SUCCESS,
        HOOK_FAILURE,
        HOOK_HALTED,
        HOOK_ALWAYS,
        HOOK_MAX_,
} Hook;

/*
 * What a machine wants done. None of these may call back into the machine. Those behind changed may be NULL where no
 * tree has anything of the kind.
 *
 * Actions: leaf_start answers RUNNING, or the outcome when the leaf completes at once. leaf_halt answers true when the
 * leaf has ended; false when it is ending: then machine_leaf_ended() must follow (whatever status it gives is ignored).
 *
 * Conditions: condition_look answers what the value is now, RUNNING while that is not known. From the first look until
 * condition_release, machine_condition_changed() must follow each time that the answer would be another.
 *
 * Both may answer ERROR, as VERDICT_ERROR: the leaf has ended then.
 */
typedef struct MachineHost {
        Status (*leaf_start)(Machine *machine, NodeId node);
        bool (*leaf_halt)(Machine *machine, NodeId node);
        Status (*condition_look)(Machine *machine, NodeId node);
        void (*condition_release)(Machine *machine, NodeId node);
        /* For hosts whose running leaves have to be asked at every tick (scripted ones); else NULL. */
        Status (*leaf_poll)(Machine *machine, NodeId node);
        /* One timer a node, and one for the machine itself (NODE_NONE). */
        void (*timer_arm)(Machine *machine, NodeId node, uint64_t usec);
        void (*timer_disarm)(Machine *machine, NodeId node);
        /* Told of every change: a node started running, or completed, or was halted. May be NULL. Of what goes on for
         * a while after it was halted, only when that is over: a clean-up, an uninterruptible node. */
        void (*changed)(Machine *machine, NodeId node, Status status, Reason reason);

        /* Does the guard hold? Where the node has none of the kind, only a GUARD_WHILE does. */
        Verdict (*guard)(Machine *machine, NodeId node, Guard guard);
        /* Runs the node's code of the kind, if it has any: only an ERROR means something. Behind the outcome or the
         * halt of an activation, when everything below the node has really ended, and behind that HOOK_ALWAYS. */
        Verdict (*hook)(Machine *machine, NodeId node, Hook hook);
        /* True: the node has got its lock. False: machine_lock_granted() will follow, unless unlock comes first. */
        bool (*lock)(Machine *machine, NodeId node);
        /* Lets go of the lock, or waits for it no longer. */
        void (*unlock)(Machine *machine, NodeId node);
        /* The node would start now, and does when machine_pass_breakpoint() is called. */
        void (*breakpoint)(Machine *machine, NodeId node);

        /* For Precondition: does it hold? */
        Verdict (*test)(Machine *machine, NodeId node, const Script *condition);
        /* For Switch: which of the cases the value is, or their number when it is none; UINT32_MAX: an ERROR. Either
         * the variable or the expression is given. */
        uint32_t (*match)(Machine *machine, NodeId node, const char *variable, const Script *of,
                          const char *const *cases);
        /* For OnChange: has its expression another value than the last time that the answer was YES? At first it
         * has. */
        Verdict (*has_changed)(Machine *machine, NodeId node, const Script *of);
        /* For RetryUntilSuccessful and TryCatch: has the child failed for one of these causes? */
        bool (*cause_matches)(Machine *machine, NodeId child, const char *const *patterns);
        /* For Loop: puts an element of the list into the variable; 0 takes a fresh copy of the list. False: there is
         * no such element. */
        bool (*next_element)(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index);
        /* For ForEach: takes a fresh copy of the list and says how many elements it has; UINT32_MAX: it is no list. */
        uint32_t (*elements)(Machine *machine, NodeId node);
        /* The child is about to be started for the element. */
        void (*hand_out)(Machine *machine, NodeId for_each, NodeId child, uint32_t index);
        /* For SubTree: it starts, with its own variables as they are to be at first. False: it cannot, which is a
         * FAILURE. */
        bool (*enter)(Machine *machine, NodeId node);
        /* It completes, with what its child has given. False: its outputs are wrong, which is a FAILURE. */
        bool (*leave)(Machine *machine, NodeId node, Status status);
} MachineHost;

/* Borrows all three. seed: for jitter; the same seed gives the same delays. */
Machine *machine_new(const Tree *tree, const MachineHost *host, void *userdata, uint64_t seed);
void machine_free(Machine *machine);

const Tree *machine_tree(const Machine *machine);
void *machine_userdata(const Machine *machine);

/* Inputs. */
void machine_start(Machine *machine);
void machine_halt(Machine *machine);
void machine_leaf_ended(Machine *machine, NodeId leaf, Status status);
void machine_condition_changed(Machine *machine, NodeId leaf);
/* The same, but the tree has done that itself during the last tick, see machine_variable_set(). */
void machine_condition_set(Machine *machine, NodeId leaf);
void machine_timer_expired(Machine *machine, NodeId node);
/* Something outside has set a variable: what looks at variables while it runs (while, Switch, OnChange, Precondition)
 * is to look again. */
void machine_variable_changed(Machine *machine);
/* The tree has set one itself, during the last tick. As above, but a tree that always gives itself something new to
 * look at is slowed down, like any loop. */
void machine_variable_set(Machine *machine);

/* The node that waits for its lock has got it. */
void machine_lock_granted(Machine *machine, NodeId node);

/*
 * From outside, by a person.
 *
 * Gives the node this outcome (SUCCESS, FAILURE or SKIPPED): where it is running, it is halted and then has it, which
 * is answered by true; else it has it, once, when it would next start. Of conditions that are looked at again it is
 * the outcome until the node that looks at them is through.
 */
bool machine_force(Machine *machine, NodeId node, Status status);
/* Before the node starts, MachineHost.breakpoint is called, and it waits; RUNNING, but not started. */
void machine_set_breakpoint(Machine *machine, NodeId node, bool set);
/* If the node waits at its breakpoint, it may start now; false: it does not. */
bool machine_pass_breakpoint(Machine *machine, NodeId node);

/* Has something happened that a tick should look at? */
bool machine_wants_tick(const Machine *machine);

/* One propagation; where nothing runs yet, the first of an activation. RUNNING, or how it ended: SUCCESS, FAILURE,
 * SKIPPED, HALTED (after machine_halt(), when the last leaf has really ended) or ERROR (then machine_error() says why,
 * and machine_halt() and further ticks are still needed to stop what runs). */
Status machine_tick(Machine *machine);

/* The same with every running node looked at: what machine_tick() must be indistinguishable from. */
Status machine_tick_full(Machine *machine);

/* What is wrong with the tree, and where; NULL when nothing is. */
const char *machine_error(const Machine *machine, NodeId *ret_node);

Status machine_node_status(const Machine *machine, NodeId node);
/* Halted, and not yet ended. */
bool machine_node_ending(const Machine *machine, NodeId node);
/* The same of an uninterruptible one, which goes on as if it had not been: its outcome will be told. */
bool machine_node_goes_on(const Machine *machine, NodeId node);
/* A slot of the host for each node; NULL at first. */
void *machine_node_data(const Machine *machine, NodeId node);
void machine_node_set_data(Machine *machine, NodeId node, void *data);

/* Did a node ask, during the last tick or halt, to be ticked again at once? */
bool machine_woke(const Machine *machine);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)
