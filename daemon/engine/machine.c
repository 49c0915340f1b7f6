/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine's interface for its host: inputs, which mark nodes, and the tick, which visits the marked ones. node.c
 * ticks and halts a single node. */

#include <assert.h>

#include "engine/node-attributes.h"

/* The generator must not start at 0, and 0 is a likely seed. */
#define SEED_MIX UINT64_C(0x9e3779b97f4a7c15)

Machine *machine_new(const Tree *tree, const MachineHost *host, void *userdata, uint64_t seed) {
        uint32_t n = tree->n_nodes, words = index_set_words(n);
        IndexSet *sets[7];
        uint64_t *memory;
        Machine *machine =
                g_malloc0(sizeof(Machine) + n * sizeof(NodeState) + G_N_ELEMENTS(sets) * words * sizeof(uint64_t));

        machine->nodes = tree->nodes;
        machine->routes = tree->routes;
        machine->leaf_start = host->leaf_start;
        machine->host = host;
        machine->tree = tree;
        machine->userdata = userdata;
        machine->random = seed ^ SEED_MIX ?: SEED_MIX;
        machine->error_node = NODE_NONE;
        machine->states = (NodeState *) (void *) machine->memory;

        if (tree->nodes[0].flags & (NODE_LEAF | NODE_GUARDED | NODE_ATTRIBUTED))
                machine->attention = ATTENTION_ROOT;
        if (tree->attributed)
                attributes_make(machine);

        memory = (uint64_t *) (void *) (machine->states + n);
        sets[0] = &machine->marked;
        sets[1] = &machine->sticky;
        sets[2] = &machine->ending;
        sets[3] = &machine->deferred;
        sets[4] = &machine->retained;
        sets[5] = &machine->counting;
        sets[6] = &machine->waiting;
        for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
                index_set_init(sets[i], n, memory + i * words);

        return machine;
}

void machine_free(Machine *machine) {
        if (!machine)
                return;

        g_free(machine->attributes);
        g_free(machine);
}

const Tree *machine_tree(const Machine *machine) {
        return machine->tree;
}

void *machine_userdata(const Machine *machine) {
        return machine->userdata;
}

/* An input resets the count of unprompted ticks: the tick that follows is not part of an endless loop. */
void machine_input(Machine *machine, NodeId node) {
        machine->unprompted = 0;
        node_mark(machine, node);
}

void machine_start(Machine *machine) {
        machine->error = NULL;
        machine->error_node = NODE_NONE;
        machine_input(machine, 0);
}

void machine_halt(Machine *machine) {
        machine->woke = false;
        machine->attention |= ATTENTION_HALTING;
        node_reset(machine, 0);
        machine_input(machine, 0);
}

void machine_leaf_ended(Machine *machine, NodeId leaf, Status status) {
        NodeState *state = node_state(machine, leaf);

        assert(machine->nodes[leaf].flags & NODE_LEAF);
        assert(status_is_outcome(status) || status == STATUS_ERROR);

        if (state->flags & STATE_ENDING && machine->nodes[leaf].flags & NODE_ATTRIBUTED) {
                attributes_leaf_ended(machine, leaf, status);
        } else if (state->flags & STATE_ENDING) {
                state->flags &= ~STATE_ENDING;
                index_set_remove(&machine->ending, leaf);
        } else {
                assert(state->status == STATUS_RUNNING && !(state->flags & (STATE_ENDED | STATE_DEFERRED)));
                state->flags |= STATE_ENDED;
                state->result = status;
        }

        machine_input(machine, leaf);
}

void machine_condition_changed(Machine *machine, NodeId leaf) {
        assert(machine->nodes[leaf].type->class == NODE_CONDITION);

        machine_input(machine, leaf);
}

void machine_condition_set(Machine *machine, NodeId leaf) {
        assert(machine->nodes[leaf].type->class == NODE_CONDITION);

        node_mark(machine, leaf);
}

void machine_timer_expired(Machine *machine, NodeId node) {
        if (node == NODE_NONE) {
                machine->attention &= ~ATTENTION_INTERVAL;
                node_mark(machine, 0);
                return;
        }

        assert(node_state(machine, node)->flags & STATE_TIMER);
        node_state(machine, node)->flags &= ~STATE_TIMER;
        node_state(machine, node)->flags |= STATE_EXPIRED;
        machine_input(machine, node);
}

void machine_lock_granted(Machine *machine, NodeId node) {
        Attributes *attributes = &machine->attributes[node];

        assert(attributes->flags & ATTRIBUTE_WAITS);

        attributes->flags &= ~ATTRIBUTE_WAITS;
        attributes->flags |= ATTRIBUTE_HOLDS;
        machine_input(machine, node);
}

static Attributes *control(Machine *machine, NodeId node) {
        attributes_make(machine);
        machine->attention |= ATTENTION_CONTROLLED;
        return &machine->attributes[node];
}

bool machine_force(Machine *machine, NodeId node, Status status) {
        assert(status_is_outcome(status));

        control(machine, node)->forced = status;
        machine_input(machine, node);
        return node_state(machine, node)->status == STATUS_RUNNING;
}

void machine_set_breakpoint(Machine *machine, NodeId node, bool set) {
        Attributes *attributes = control(machine, node);

        attributes->flags &= ~ATTRIBUTE_BREAKPOINT;
        attributes->flags |= set ? ATTRIBUTE_BREAKPOINT : 0;
}

bool machine_pass_breakpoint(Machine *machine, NodeId node) {
        if (!machine->attributes || !(machine->attributes[node].flags & ATTRIBUTE_AT_BREAKPOINT))
                return false;

        machine->attributes[node].flags |= ATTRIBUTE_PASSED;
        machine_input(machine, node);
        return true;
}

/* The timer for the tree's interval is armed while a node asked for a later tick. */
static void settle_interval(Machine *machine, bool wanted) {
        bool armed = machine->attention & ATTENTION_INTERVAL;

        if (wanted && !armed)
                machine->host->timer_arm(machine, NODE_NONE, machine->tree->interval);
        else if (!wanted && armed)
                machine->host->timer_disarm(machine, NODE_NONE);

        machine->attention &= ~ATTENTION_INTERVAL;
        machine->attention |= wanted ? ATTENTION_INTERVAL : 0;
}

void machine_variable_changed(Machine *machine) {
        machine_input(machine, 0);
}

bool machine_wants_tick(const Machine *machine) {
        return index_set_has(&machine->marked, 0);
}

/* Nodes that evaluate variables are sticky, so a tick that is due anyway visits them, too. */
void machine_variable_set(Machine *machine) {
        if (index_set_is_empty(&machine->sticky) || machine_wants_tick(machine))
                return;

        if (machine->unprompted++ < UNPROMPTED_MAX)
                node_mark(machine, 0);
        else
                settle_interval(machine, true);
}

static void mark_sticky(Machine *machine) {
        if (G_LIKELY(index_set_is_empty(&machine->sticky)))
                return;

        for (NodeId node = index_set_next(&machine->sticky, 0); node != INDEX_SET_END;
             node = index_set_next(&machine->sticky, node + 1))
                node_mark(machine, node);
}

/* Clears what an activation leaves; only the counts of a root that was skipped are kept for the next one. */
static void forget_marks(Machine *machine) {
        if (index_set_is_empty(&machine->ending))
                for (NodeId node = index_set_next(&machine->counting, 0); node != INDEX_SET_END;
                     node = index_set_next(&machine->counting, node + 1))
                        node_disarm_timer(machine, node);

        if (G_UNLIKELY(!index_set_is_empty(&machine->marked)))
                index_set_remove_range(&machine->marked, 0, machine->tree->n_nodes);
        if (G_UNLIKELY(!index_set_is_empty(&machine->sticky)))
                index_set_remove_range(&machine->sticky, 0, machine->tree->n_nodes);

        settle_interval(machine, false);
}

/* Clears the flags that hold for one tick only; the others follow from the sets. */
static void settle_attention(Machine *machine) {
        machine->woke = machine->later = false;
        machine->attention = (machine->attention & ATTENTION_STANDING) |
                             (machine->host->changed ? ATTENTION_OBSERVED : 0) |
                             (index_set_is_empty(&machine->ending) ? 0 : ATTENTION_ENDING) |
                             (index_set_is_empty(&machine->counting) ? 0 : ATTENTION_COUNTING) |
                             (index_set_is_empty(&machine->sticky) ? 0 : ATTENTION_STICKY);
}

/* Reports an error once. The root's status does not show an error in a node that is ending. */
static Status settle_error(Machine *machine, Status status) {
        if (G_LIKELY(!(machine->attention & ATTENTION_ERROR)))
                return status;

        machine->attention &= ~ATTENTION_ERROR;
        return STATUS_ERROR;
}

/* Nodes that still run are ticked in full, since the marks belong to the tick from the root. */
static Status tick_halting(Machine *machine) {
        settle_attention(machine);
        machine->attention |= ATTENTION_HALTING;
        index_set_remove_range(&machine->marked, 0, machine->tree->n_nodes);
        node_finish_endings(machine);

        if (!index_set_is_empty(&machine->ending)) {
                settle_interval(machine, machine->later);
                return settle_error(machine, STATUS_RUNNING);
        }

        forget_marks(machine);
        machine->attention &= ~ATTENTION_HALTING;
        return settle_error(machine, STATUS_HALTED);
}

static Status settle(Machine *machine, Status status) {
        if (status == STATUS_RUNNING)
                settle_interval(machine, machine->later);
        else
                forget_marks(machine);

        return settle_error(machine, status);
}

static __attribute__((noinline)) Status tick_attentively(Machine *machine) {
        bool again;

        if (machine->attention & ATTENTION_HALTING)
                return tick_halting(machine);

        settle_attention(machine);
        index_set_remove(&machine->marked, 0);
        if (machine->attention & ATTENTION_ENDING)
                node_finish_endings(machine);

        again = index_set_has(&machine->marked, 0);
        mark_sticky(machine);
        if (!again)
                index_set_remove(&machine->marked, 0);

        return settle(machine, node_tick(machine, 0));
}

/* The end of an activation's first tick, if something came up that needs attention. */
static __attribute__((noinline)) Status begin_settle(Machine *machine, Status status) {
        return settle(machine, node_settle(machine, 0, status));
}

/* Most ticks that begin an activation need no attention, so they are checked for first. */
Status machine_tick(Machine *machine) {
        const NodeType *type;
        Status status;

        if (machine->attention != 0 || !node_is_untouched(node_state(machine, 0)))
                return tick_attentively(machine);

        type = machine->nodes[0].type;
        status = type->course ? node_walk(machine, 0) : type->tick(machine, 0);
        if (status_is_outcome(status) && machine->attention == 0)
                return status;

        return begin_settle(machine, status);
}

Status machine_tick_full(Machine *machine) {
        Status status;

        machine->full = true;
        status = machine_tick(machine);
        machine->full = false;
        return status;
}

const char *machine_error(const Machine *machine, NodeId *ret_node) {
        if (machine->error && ret_node)
                *ret_node = machine->error_node;

        return machine->error;
}

Status machine_node_status(const Machine *machine, NodeId node) {
        return machine->states[node].status;
}

bool machine_node_ending(const Machine *machine, NodeId node) {
        return machine->states[node].flags & STATE_ENDING;
}

bool machine_node_continues(const Machine *machine, NodeId node) {
        return machine->attributes && machine->attributes[node].flags & ATTRIBUTE_CONTINUES;
}

void *machine_node_data(const Machine *machine, NodeId node) {
        return machine->states[node].data;
}

void machine_node_set_data(Machine *machine, NodeId node, void *data) {
        machine->states[node].data = data;
}

bool machine_woke(const Machine *machine) {
        return machine->woke;
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016). */
uint64_t machine_random(Machine *machine, uint64_t n) {
        uint64_t x = machine->random;

        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        machine->random = x;
        return (x * UINT64_C(0x2545f4914f6cdd1d) >> 32) % n; /* the upper bits are the better ones */
}

const char *machine_error_text(const char *error) {
        static const struct {
                const char *error, *text;
        } texts[] = {
                { "threshold-exceeds-children", "it waits for more children than it has" },
                { "if-condition-skipped", "its condition was skipped, which is neither true nor false" },
                { MACHINE_EXPRESSION_FAILED, "an expression could not be evaluated" },
                { "while-condition-skipped", "its condition was skipped, which is neither true nor false" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (g_str_equal(texts[i].error, error))
                        return texts[i].text;

        return error;
}
