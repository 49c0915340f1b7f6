/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the functions of a node type are written with: the state records of a machine, ticking and resetting
 * children, timers, and asking to be ticked again. For the engine's own files only.
 */

#include "engine/index-set.h"
#include "engine/machine.h"

typedef enum StateFlags {
        STATE_ENDED = 1 << 0,    /* a leaf that has reported its end, which no tick has seen yet */
        STATE_ENDING = 1 << 1,   /* halted, and not over yet */
        STATE_DEFERRED = 1 << 2, /* a leaf to be started once what it replaces has ended */
        STATE_HELD = 1 << 3,     /* has a result, which waits until everything halted below has ended */
        STATE_TIMER = 1 << 4,    /* its timer is armed */
        STATE_EXPIRED = 1 << 5,  /* its timer has expired */
        STATE_DONE = 1 << 6,     /* set by a parent that does not tick it again: completed in this activation */
        STATE_SKIPPED = 1 << 7,  /* set by a reactive parent: was skipped when last looked at */
} StateFlags;

/* One a node and run, so small on purpose. A node with a leaf or timer leaves counts to the host's data. */
typedef struct NodeState {
        union {
                struct {
                        uint8_t status; /* IDLE or RUNNING */
                        uint8_t flags;
                };
                uint16_t in_use; /* both at once: 0 while there is nothing that a tick would have to mind */
        };
        uint8_t result;    /* with STATE_ENDED; with STATE_HELD, the reason in the upper half */
        uint8_t phase;     /* the type's, 0 at first */
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
                        NodeId last; /* the last child, where that is looked for once */
                };
                void *data; /* the host's */
        };
} NodeState;

G_STATIC_ASSERT(sizeof(NodeState) == 16);

/* While none of these is set, a tick is nothing but the ticks of its nodes. */
typedef enum Attention {
        ATTENTION_OBSERVED = 1 << 0, /* the host is told of every change */
        ATTENTION_ENDING = 1 << 1,   /* the set of that name has members, as with the next two */
        ATTENTION_COUNTING = 1 << 2,
        ATTENTION_STICKY = 1 << 3,
        ATTENTION_DEFERRING = 1 << 4,
        ATTENTION_WOKE = 1 << 5,
        ATTENTION_HALTING = 1 << 6,
        ATTENTION_TIMERS = 1 << 7, /* one was armed in this tick */
        ATTENTION_MARKED = 1 << 8,
        ATTENTION_INTERVAL = 1 << 9,    /* the machine's own timer is armed */
        ATTENTION_ROOT = 1 << 10,       /* the root is a leaf, or has guards or attributes */
        ATTENTION_CONTROLLED = 1 << 11, /* there are or were breakpoints or forced outcomes */
        ATTENTION_ERROR = 1 << 12,      /* there was an error, which is to be told */
        ATTENTION_NODES = ATTENTION_OBSERVED | ATTENTION_ENDING | ATTENTION_COUNTING | ATTENTION_DEFERRING |
                          ATTENTION_TIMERS | ATTENTION_CONTROLLED,
        ATTENTION_STANDING = ATTENTION_INTERVAL | ATTENTION_ROOT | ATTENTION_CONTROLLED | ATTENTION_ERROR,
} Attention;

typedef enum AttributeFlags {
        ATTRIBUTE_BEGUN = 1 << 0,         /* it was started, so that its hooks are to be run */
        ATTRIBUTE_WAITS = 1 << 1,         /* for its lock */
        ATTRIBUTE_HOLDS = 1 << 2,         /* its lock */
        ATTRIBUTE_BREAKPOINT = 1 << 3,    /* stops before it starts */
        ATTRIBUTE_AT_BREAKPOINT = 1 << 4, /* has stopped there */
        ATTRIBUTE_PASSED = 1 << 5,        /* may go on from there */
        ATTRIBUTE_FORCED = 1 << 6,        /* has a forced outcome, which its hooks will be about */
        ATTRIBUTE_GOES_ON = 1 << 7,       /* was halted, but is uninterruptible */
        ATTRIBUTE_OVER = 1 << 8,          /* ... and has come to an outcome, or the leaf has ended */
        ATTRIBUTE_STANDS = 1 << 9,        /* the forced outcome is looked at again */
        ATTRIBUTE_BROKEN = 1 << 10,       /* an error has come from it, so that there is no going on */
} AttributeFlags;

/* One a node, in machines that have use for any: see node-attributes.h. */
typedef struct Attributes {
        uint16_t flags;
        uint8_t forced;  /* the outcome that it will have, or IDLE */
        uint8_t outcome; /* with ATTRIBUTE_OVER */
} Attributes;

struct Machine {
        const Node *nodes;
        const Route *routes;
        NodeState *states;
        Status (*leaf_start)(Machine *machine, NodeId node); /* the host's, where every tick finds it */
        const MachineHost *host;
        const Tree *tree;
        void *userdata;

        IndexSet marked;   /* to be visited by the next tick, each with all its ancestors */
        IndexSet sticky;   /* to be visited by every tick though they are IDLE: their parent looks at them again */
        IndexSet ending;   /* halted and not over yet */
        IndexSet deferred; /* leaves that are to be started when something has ended */
        IndexSet retained; /* conditions whose value the host keeps */
        IndexSet counting; /* have completed, but go on counting (or their timer goes on) if they are ticked again */

        uint64_t random;
        Reason reason;       /* of the failure that is being reported */
        unsigned attention;  /* of Attention: what a tick has to mind besides the nodes themselves */
        bool full;           /* this tick visits every running node */
        bool deferring;      /* what is being ticked must not start actions yet */
        bool woke;           /* a node asked to be ticked again at once */
        bool later;          /* a node asked to be ticked again after the interval */
        uint32_t unprompted; /* ticks since the last input */

        const char *error;
        NodeId error_node;
        Attributes *attributes; /* NULL where no node has any */
        uint64_t memory[];
};

/* After this many yields in a row without any input, an endless loop is slowed down to the tree's interval. */
#define UNPROMPTED_MAX 1000u

Status node_tick(Machine *machine, NodeId node);
/* The same for a child, which is still running when it was and nothing has happened to it. */
Status child_tick_touched(Machine *machine, NodeId child);
/* For a node whose type has a course, in the tick that begins an activation, while nothing needs attention. */
Status node_walk(Machine *machine, NodeId node);
/* What follows from the answer of a node's own tick. */
Status node_settle(Machine *machine, NodeId node, Status status);
/* The same for a leaf, which has ended where it answers ERROR. */
Status leaf_settle(Machine *machine, NodeId leaf, Status status);

/* Of a control or decorator that is running, as its type does it. */
void inner_halt(Machine *machine, NodeId node);
/* If it is running, halt it; it is IDLE afterwards, though perhaps still ending. */
void node_reset(Machine *machine, NodeId node);
/* The node's count (in position) and its timer outlast its outcome, until something above it has one or is reset. */
void node_keep_count(Machine *machine, NodeId node);
void node_forget_kept_counts(Machine *machine, NodeId from, NodeId end);

/* node_reset() for all children, in order. */
void node_reset_children(Machine *machine, NodeId node);

/* For a type's halt that may take time: finish() is called then, and at each tick from then on until it says that it
 * is over. What it ticks goes on being ticked in full. */
void node_set_ending(Machine *machine, NodeId node);
void node_finish_endings(Machine *machine);
/* The node has just been halted, which may be over now. */
void node_begin_ending(Machine *machine, NodeId node);
/* Is the node, or one above it up to that, ending, so that what it keeps is still of use? */
bool node_is_spared(Machine *machine, NodeId node, NodeId above);

/* Ends the run with ERROR; returned by the type's tick. error is one of the texts that the documentation lists. */
Status node_error(Machine *machine, NodeId node, const char *error);
/* The same where the host could not evaluate an expression. */
Status node_expression_failed(Machine *machine, NodeId node);

/* One timer a node; disarmed when the node completes or is halted. At its end STATE_EXPIRED is set. */
void node_arm_timer(Machine *machine, NodeId node, uint64_t usec);
void node_disarm_timer(Machine *machine, NodeId node);

/* Hands control back in the middle of a loop and asks for another tick at once. */
Status node_yield(Machine *machine, NodeId node, bool endless);

/* The node, though IDLE, is to be visited by every tick until it is reset; and there is to be such a tick: at once if
 * it took time, else after the interval. */
void node_visit_again(Machine *machine, NodeId node, bool took_time);
/* Only to be visited by every tick that happens anyway. */
void node_visit_always(Machine *machine, NodeId node);

void node_notify(Machine *machine, NodeId node, Status status);
void node_mark(Machine *machine, NodeId node);
/* Something has happened there. */
void machine_input(Machine *machine, NodeId node);

/* Marks the paths from the node to its deferred leaves, so that its next tick finds them. */
void node_mark_deferred(Machine *machine, NodeId node);
/* Lets go of the conditions below that were kept to be looked at again. */
void node_release_conditions(Machine *machine, NodeId node);
/* What the first child of such a node says now. Its last answer is in the node's phase, IDLE at first, and stands while
 * a live condition has not changed. */
Status node_look(Machine *machine, NodeId node);
/* The child, which is looked at again while its parent runs, has come to an outcome. A value that it had looked at may
 * have changed meanwhile. */
static inline void node_look_again(Machine *machine, NodeId child) {
        if (index_set_has_any(&machine->marked, child, machine->nodes[child].end))
                node_mark(machine, child);
}
/* For a reactive node that completes or is halted; one that is itself looked at again leaves the conditions to the one
 * above it. */
void node_reset_reactive(Machine *machine, NodeId node);

/* A number below n, from the machine's seed. */
uint64_t machine_random(Machine *machine, uint64_t n);

static inline NodeState *node_state(Machine *machine, NodeId node) {
        return &machine->states[node];
}

static inline bool node_is_fresh(Machine *machine, NodeId node) {
        return node_state(machine, node)->status == STATUS_IDLE;
}

static inline void node_forget_counts_below(Machine *machine, NodeId node) {
        if (G_UNLIKELY(machine->attention & ATTENTION_COUNTING))
                node_forget_kept_counts(machine, node + 1, machine->nodes[node].end);
}

/* Is the node, or anything below it, halted and not over yet? */
static inline bool node_ending_inside(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->ending, node, machine->nodes[node].end);
}

/* The same without the node itself. */
static inline bool node_ending_below(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->ending, node + 1, machine->nodes[node].end);
}

/* Is a leaf below the node yet to be started? */
static inline bool node_deferred_inside(Machine *machine, NodeId node) {
        return index_set_has_any(&machine->deferred, node, machine->nodes[node].end);
}

/* Is anything below the node but one of its children ending? */
static inline bool node_ending_beside(Machine *machine, NodeId node, NodeId child) {
        return index_set_has_any(&machine->ending, node + 1, child) ||
               index_set_has_any(&machine->ending, machine->nodes[child].end, machine->nodes[node].end);
}

/* Not running, and nothing else that a tick would have to mind. */
static inline bool node_is_untouched(const NodeState *state) {
        return state->in_use == 0;
}

static inline bool status_is_outcome(Status status) {
        return (unsigned) status - STATUS_SUCCESS <= STATUS_SKIPPED - STATUS_SUCCESS;
}

/* What an untouched child of a node that needs no attention answers, as far as it can be said without a look at the
 * machine's sets. */
static inline __attribute__((always_inline)) Status child_begin(Machine *machine, NodeId child) {
        const Node *node = &machine->nodes[child];
        Status status;

        if (node->flags & NODE_PLAIN_LEAF) {
                status = machine->leaf_start(machine, child);
                if (G_UNLIKELY(!status_is_outcome(status)))
                        return leaf_settle(machine, child, status);
                return status;
        }

        if (G_UNLIKELY(node->flags & (NODE_GUARDED | NODE_LEAF | NODE_ATTRIBUTED)))
                return node_tick(machine, child);

        status = node->type->tick(machine, child);
        if (G_UNLIKELY(!status_is_outcome(status) || machine->attention & ATTENTION_NODES))
                return node_settle(machine, child, status);

        return status;
}

/* Nothing is written down for the node nor for anything below it, nothing else is to be minded, and the routes end at
 * it. */
static inline bool node_may_walk(Machine *machine, NodeId node) {
        return node_is_fresh(machine, node) && !(machine->attention & ATTENTION_NODES) &&
               !(machine->nodes[node].flags & NODE_PASSED);
}

static inline __attribute__((always_inline)) Status child_tick(Machine *machine, NodeId child) {
        if (G_UNLIKELY(!node_is_untouched(node_state(machine, child)) || machine->attention & ATTENTION_NODES))
                return child_tick_touched(machine, child);

        return child_begin(machine, child);
}

/* The child of the node that is next at or behind the given one, of all or of those that are marked; at or past the
 * node's end when there is none. */
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
