/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the interface of the machine for node types: the state records, ticking and resetting children, timers, and
 * requests for another tick. For the engine's own files only.
 */

#include "engine/index-set.h"
#include "engine/machine.h"

typedef enum StateFlags {
        STATE_ENDED = 1 << 0,    /* a leaf that has reported its end, which no tick has processed yet */
        STATE_ENDING = 1 << 1,   /* halted, and not ended yet */
        STATE_DEFERRED = 1 << 2, /* to be started when the node that it replaces has ended */
        STATE_HELD = 1 << 3,     /* has a result, which waits until every halted node below has ended */
        STATE_TIMER = 1 << 4,    /* its timer is armed */
        STATE_EXPIRED = 1 << 5,  /* its timer has expired */
        STATE_DONE = 1 << 6,     /* set by a parent that does not tick it again: completed in this activation */
        STATE_SKIPPED = 1 << 7,  /* set by a parent that evaluates it again: was skipped the last time */
        STATE_TRIED = 1 << 7, /* set by a parent that tries it: runs, but has started no action yet, see node_try() */
} StateFlags;

/* One per node and run, so it is small. */
typedef struct NodeState {
        union {
                struct {
                        uint8_t status; /* IDLE or RUNNING */
                        uint8_t flags;
                };
                uint16_t in_use; /* both at once: 0 if a tick has nothing to check */
        };
        uint8_t result;    /* with STATE_ENDED; with STATE_HELD, the reason in the upper half */
        uint8_t phase;     /* the type's, 0 at first; less than STATUS_NODE_MAX_ */
        uint32_t position; /* the type's: the child that is running, or a count */
        union {
                struct {
                        uint32_t successes, failures;
                };
                struct {
                        uint32_t elements, failed;
                };
                struct {
                        uint32_t skipped;
                        NodeId last; /* a child, according to the type */
                };
                void *data; /* the host's */
        };
} NodeState;

G_STATIC_ASSERT(sizeof(NodeState) == 16);

/* Conditions that a tick has to handle besides ticking the nodes. While none is set, ticks take short cuts. */
typedef enum Attention {
        ATTENTION_OBSERVED = 1 << 0, /* the host is notified of every change */
        ATTENTION_ENDING = 1 << 1,   /* the set of that name has members, as with the next two */
        ATTENTION_COUNTING = 1 << 2,
        ATTENTION_STICKY = 1 << 3,
        ATTENTION_DEFERRING = 1 << 4,
        ATTENTION_WOKE = 1 << 5,
        ATTENTION_HALTING = 1 << 6,
        ATTENTION_TIMERS = 1 << 7, /* a timer was armed in this tick */
        ATTENTION_MARKED = 1 << 8,
        ATTENTION_INTERVAL = 1 << 9,    /* the machine's own timer is armed */
        ATTENTION_ROOT = 1 << 10,       /* the root is a leaf, or has guards or attributes */
        ATTENTION_CONTROLLED = 1 << 11, /* there are or were breakpoints or forced outcomes */
        ATTENTION_ERROR = 1 << 12,      /* there was an error that is not reported yet */
        ATTENTION_WAITING = 1 << 13,    /* the set of that name has members */
        ATTENTION_TRYING = 1 << 14,     /* node_try() is in use, or was in this tick */
        ATTENTION_ALL = ATTENTION_TRYING * 2 - 1,
        ATTENTION_NODES = ATTENTION_OBSERVED | ATTENTION_ENDING | ATTENTION_COUNTING | ATTENTION_DEFERRING |
                          ATTENTION_TIMERS | ATTENTION_CONTROLLED | ATTENTION_WAITING | ATTENTION_TRYING,
        ATTENTION_STANDING =
                ATTENTION_INTERVAL | ATTENTION_ROOT | ATTENTION_CONTROLLED | ATTENTION_ERROR | ATTENTION_WAITING,
} Attention;

typedef enum AttributeFlags {
        ATTRIBUTE_BEGUN = 1 << 0,         /* it was started, so its hooks must run */
        ATTRIBUTE_WAITS = 1 << 1,         /* for its lock */
        ATTRIBUTE_HOLDS = 1 << 2,         /* its lock */
        ATTRIBUTE_BREAKPOINT = 1 << 3,    /* pauses before it starts */
        ATTRIBUTE_AT_BREAKPOINT = 1 << 4, /* is paused there */
        ATTRIBUTE_PASSED = 1 << 5,        /* may continue from there */
        ATTRIBUTE_FORCED = 1 << 6,        /* has a forced outcome, which its hooks get */
        ATTRIBUTE_CONTINUES = 1 << 7,     /* was halted, but is uninterruptible */
        ATTRIBUTE_ENDED = 1 << 8,         /* ... and has an outcome now, or is a leaf that has ended */
        ATTRIBUTE_PERSISTS = 1 << 9,      /* the forced outcome holds for later evaluations, too */
        ATTRIBUTE_IN_ERROR = 1 << 10,     /* it answered ERROR, so it cannot continue */
        ATTRIBUTE_REFUSED = 1 << 11,      /* was refused its lock: the forced outcome is not for the next activation */
} AttributeFlags;

/* One per node, in machines that need them: see node-attributes.h. */
typedef struct Attributes {
        uint16_t flags;
        uint8_t forced;  /* its next outcome, or IDLE */
        uint8_t outcome; /* with ATTRIBUTE_ENDED */
} Attributes;

struct Machine {
        const Node *nodes;
        const Route *routes;
        NodeState *states;
        Status (*leaf_start)(Machine *machine, NodeId node); /* the host's; here because every tick needs it */
        const MachineHost *host;
        const Tree *tree;
        void *userdata;

        IndexSet marked;   /* to be visited by the next tick, each with all its ancestors */
        IndexSet sticky;   /* to be visited by every tick though IDLE: their parent evaluates them again */
        IndexSet ending;   /* halted and not ended yet */
        IndexSet deferred; /* to be started when another node has ended */
        IndexSet waiting;  /* nodes above deferred ones that have begun, but have started no action yet */
        IndexSet retained; /* conditions whose value the host keeps */
        IndexSet counting; /* have completed, but keep their count or timer for the next activation */

        uint64_t random;
        Reason reason;       /* of the failure that is being reported */
        unsigned attention;  /* of Attention */
        bool full;           /* this tick visits every running node */
        bool deferring;      /* the node being ticked must not start actions yet */
        bool trying;         /* the node being ticked will be tried again if it is skipped */
        bool woke;           /* a node asked for another tick at once */
        bool later;          /* a node asked for another tick after the interval */
        uint32_t unprompted; /* ticks since the last input */
        uint32_t n_begun;    /* actions started so far, for node_try() */

        const char *error;
        NodeId error_node;
        Attributes *attributes; /* NULL if no node needs them */
        uint64_t memory[];
};

/* After this many yields in a row without any input, an endless loop is slowed down to the tree's interval. */
#define UNPROMPTED_MAX 1000u

Status node_tick(Machine *machine, NodeId node);
/* The same for a child; a running child without a mark is not visited. */
Status child_tick_touched(Machine *machine, NodeId child);
/* For NodeType.tick of a decorator that only passes on what its child does. */
Status tick_only_child(Machine *machine, NodeId node);
/* For a node whose type has a course, in the tick that begins an activation, while nothing needs attention. */
Status node_walk(Machine *machine, NodeId node);
/* Completes the node, holds its result or notes that it runs, according to the answer of its type's tick. */
Status node_settle(Machine *machine, NodeId node, Status status);
/* The same for a leaf. A leaf that answers ERROR has ended. */
Status leaf_settle(Machine *machine, NodeId leaf, Status status);

/* Halts a running control or decorator with its type's function. */
void inner_halt(Machine *machine, NodeId node);
/* Halts the node if it is running. It is IDLE afterwards, but may still be ending. */
void node_reset(Machine *machine, NodeId node);
/* The node keeps its count (in position) and its timer after its outcome, until a node above completes or is reset. */
void node_keep_count(Machine *machine, NodeId node);
void node_forget_kept_counts(Machine *machine, NodeId from, NodeId end);

/* node_reset() for all children, in order. */
void node_reset_children(Machine *machine, NodeId node);

/* For a type's halt that may take time: finish() is called now and at each tick until it returns true. Its ticks of
 * children are full. */
void node_set_ending(Machine *machine, NodeId node);
void node_finish_endings(Machine *machine);
/* Is the node, or one above it up to "above", ending? Then what it keeps is still needed. */
bool node_is_below_ending(Machine *machine, NodeId node, NodeId above);

/* Ends the run with ERROR; returned by the type's tick. error: one of the names in machine_error_text(). */
Status node_error(Machine *machine, NodeId node, const char *error);
/* The same if the host could not evaluate an expression. */
Status node_expression_failed(Machine *machine, NodeId node);

/* One timer per node; disarmed when the node completes or is halted. When it expires, STATE_EXPIRED is set. */
void node_arm_timer(Machine *machine, NodeId node, uint64_t usec);
void node_disarm_timer(Machine *machine, NodeId node);

/* Hands control back in the middle of a loop and asks for another tick at once. */
Status node_yield(Machine *machine, NodeId node, bool endless);

/* Every tick visits the node, though it is IDLE, until it is reset. Also asks for such a tick: at once if the node took
 * time, else after the interval. */
void node_visit_again(Machine *machine, NodeId node, bool took_time);
/* The same without asking for a tick. */
void node_visit_always(Machine *machine, NodeId node);

void node_mark(Machine *machine, NodeId node);

/*
 * For types with TYPE_TRIES_AGAIN. A child that was skipped is tried again at every tick, and its conditions are kept,
 * so that there is a tick when one of them changes. If the child started an action before it was skipped, the next tick
 * comes after the interval. node_reset_tried() releases the conditions of all children.
 *
 * node_is_tried: the child must be ticked by node_try(), because it starts, or runs and has not started an action yet.
 */
Status node_try(Machine *machine, NodeId child);
bool node_is_tried(Machine *machine, NodeId child);
void node_reset_tried(Machine *machine, NodeId node);

/*
 * While a child waits for another node to end, the children that led to it are evaluated again.
 *
 * node_reevaluate: the present answer of a child that has completed; IDLE if nothing can have changed it.
 * node_reevaluate_before: the same for all children from the first to the waiting one. IDLE: they still lead to it.
 * Else the waiting child was reset, and the node continues from *ret_child with that answer. node_keep_reevaluating:
 * called when the child answered RUNNING, so that changes cause a tick.
 */
Status node_reevaluate(Machine *machine, NodeId child);
Status node_reevaluate_before(Machine *machine, NodeId node, NodeId first, NodeId waiting, Status continue_on,
                              NodeId *ret_child);
void node_keep_reevaluating(Machine *machine, NodeId node, NodeId first, NodeId child);
/* For nodes that count skipped children: start the count, and count one. */
void node_begin_counting(Machine *machine, NodeId node);
void node_count_skipped(Machine *machine, NodeId node, NodeId child);
/* Releases the conditions below that were kept to be evaluated again. */
void node_release_conditions(Machine *machine, NodeId node);
/* Evaluates the node's first child, a condition. The last answer is in the node's phase, IDLE at first; it is reused
 * until a live condition changes. */
Status node_evaluate_condition(Machine *machine, NodeId node);
/* Called when a child completed that is evaluated again while its parent runs: asks for a tick if one of its conditions
 * changed meanwhile. */
static inline void node_mark_if_changed(Machine *machine, NodeId child) {
        if (index_set_has_any(&machine->marked, child, machine->nodes[child].end))
                node_mark(machine, child);
}
/* For a reactive node that completes or is halted. If the node itself is evaluated again, the node above releases the
 * conditions. */
void node_reset_reactive(Machine *machine, NodeId node);

/* A random number below n, from the machine's seed. */
uint64_t machine_random(Machine *machine, uint64_t n);

static inline NodeState *node_state(Machine *machine, NodeId node) {
        return &machine->states[node];
}

/* For a node that evaluates the child again: does it count as skipped now? */
static inline void node_set_skipped(Machine *machine, NodeId node, NodeId child, bool skipped) {
        NodeState *state = node_state(machine, node), *child_state = node_state(machine, child);

        if (skipped == !!(child_state->flags & STATE_SKIPPED))
                return;

        child_state->flags ^= STATE_SKIPPED;
        state->skipped += skipped ? 1 : -1;
}

static inline bool node_is_fresh(Machine *machine, NodeId node) {
        return node_state(machine, node)->status == STATUS_IDLE;
}

static inline void node_forget_counts_below(Machine *machine, NodeId node) {
        if (G_UNLIKELY(machine->attention & ATTENTION_COUNTING))
                node_forget_kept_counts(machine, node + 1, machine->nodes[node].end);
}

/* Is the node, or one below it, halted and not ended yet? */
static inline bool node_ending_inside(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->ending, node, machine->nodes[node].end);
}

/* The same without the node itself. */
static inline bool node_ending_below(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->ending, node + 1, machine->nodes[node].end);
}

/* To be called when an action below the node has started, or none will. */
static inline void node_stop_waiting(Machine *machine, NodeId node) {
        index_set_remove(&machine->waiting, node);
        if (index_set_is_empty(&machine->waiting))
                machine->attention &= ~ATTENTION_WAITING;
}

/* Is a leaf below the node yet to be started? */
static inline bool node_deferred_inside(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->deferred, node, machine->nodes[node].end);
}

/* Does the node wait for another one to end, so that none of its actions has started? */
static inline bool node_is_waiting(Machine *machine, NodeId node) {
        return node_deferred_inside(machine, node) &&
               (node_state(machine, node)->flags & STATE_DEFERRED || index_set_has(&machine->waiting, node));
}

/* Is a node below this one ending that is not in the child? */
static inline bool node_ending_beside(Machine *machine, NodeId node, NodeId child) {
        return index_set_has_any(&machine->ending, node + 1, child) ||
               index_set_has_any(&machine->ending, machine->nodes[child].end, machine->nodes[node].end);
}

/* Tells whether the node is idle and has no flag that a tick must check. */
static inline bool node_is_untouched(const NodeState *state) {
        return state->in_use == 0;
}

/* Does a time limit of that length ever pass? */
static inline bool span_limits(uint64_t span) {
        return span > 0 && span != SPAN_INFINITY;
}

static inline bool status_is_outcome(Status status) {
        return (unsigned) status - STATUS_SUCCESS <= STATUS_SKIPPED - STATUS_SUCCESS;
}

/* The parameters of a control or decorator. If variables have given some of them, the host keeps their values from the
 * beginning of each activation on. */
static inline const void *node_params(Machine *machine, NodeId node) {
        return G_UNLIKELY(machine->nodes[node].flags & NODE_LATE) ? machine->host->params(machine, node)
                                                                  : machine->nodes[node].params;
}

/* Ticks an untouched child while nothing needs attention, so that the machine's sets need no check. */
static inline __attribute__((always_inline)) Status child_begin(Machine *machine, NodeId child) {
        const Node *node = &machine->nodes[child];
        Status status;

        if (node->flags & NODE_PLAIN_LEAF) {
                status = machine->leaf_start(machine, child);
                if (G_UNLIKELY(!status_is_outcome(status)))
                        return leaf_settle(machine, child, status);
                return status;
        }

        if (G_UNLIKELY(node->flags & (NODE_GUARDED | NODE_LEAF | NODE_ATTRIBUTED | NODE_LATE)))
                return node_tick(machine, child);

        status = node->type->tick(machine, child);
        if (G_UNLIKELY(!status_is_outcome(status) || machine->attention & ATTENTION_NODES))
                return node_settle(machine, child, status);

        return status;
}

/* May the node be walked along its routes: it is fresh, nothing needs attention, and the routes end at it. */
static inline bool node_may_walk(Machine *machine, NodeId node) {
        return node_is_fresh(machine, node) && !(machine->attention & ATTENTION_NODES) &&
               !(machine->nodes[node].flags & NODE_PASSED);
}

static inline __attribute__((always_inline)) Status child_tick(Machine *machine, NodeId child) {
        if (G_UNLIKELY(!node_is_untouched(node_state(machine, child)) || machine->attention & ATTENTION_NODES))
                return child_tick_touched(machine, child);

        return child_begin(machine, child);
}

/* Ticks a child of a node that tries skipped children again. */
static inline Status child_try(Machine *machine, NodeId child) {
        bool took_time = !node_is_fresh(machine, child);
        Status status;

        if (G_UNLIKELY(machine->nodes[child].flags & NODE_MAY_SKIP) && node_is_tried(machine, child))
                return node_try(machine, child);

        status = child_tick(machine, child);
        if (G_UNLIKELY(status == STATUS_SKIPPED))
                node_visit_again(machine, child, took_time);

        return status;
}

/* The next child at or after "from": of all children, or of the marked ones. At or past the node's end if there is
 * none. */
static inline NodeId child_next(Machine *machine, NodeId node, NodeId from, bool all) {
        NodeId child;

        if (all)
                return from;

        child = index_set_next(&machine->marked, from);
        if (child >= machine->nodes[node].end)
                return INDEX_SET_END;

        while (machine->nodes[child].parent != node)
                child = machine->nodes[child].parent;

        return child;
}
