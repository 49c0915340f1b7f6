/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the machine's interface for its host: inputs, which mark nodes; the tick, which visits the marked ones;
 * and images of its state. node.c ticks and halts a single node. */

#include <assert.h>
#include <string.h>

#include "engine/node-attributes.h"

/* The generator must not start at 0, and 0 is a likely seed. */
#define SEED_MIX UINT64_C(0x9e3779b97f4a7c15)

/* Tests replace this function, so no other function of this file calls it. */
uint32_t engine_version(void) {
        return ENGINE_VERSION;
}

#define N_SETS 7u

/* The order is part of a NodeImage. */
static IndexSet *set_of(Machine *machine, unsigned i) {
        IndexSet *const sets[N_SETS] = {
                &machine->marked,   &machine->sticky,   &machine->ending,  &machine->deferred,
                &machine->retained, &machine->counting, &machine->waiting,
        };

        return sets[i];
}

Machine *machine_new(const Tree *tree, const MachineHost *host, void *userdata, uint64_t seed) {
        uint32_t n = tree->n_nodes, words = index_set_words(n);
        Machine *machine = g_malloc0(sizeof(Machine) + n * sizeof(NodeState) + N_SETS * words * sizeof(uint64_t));
        uint64_t *memory;

        machine->nodes = tree->nodes;
        machine->routes = tree->routes;
        machine->leaf_start = host->leaf_start;
        machine->host = host;
        machine->tree = tree;
        machine->userdata = userdata;
        machine->random = seed ^ SEED_MIX ?: SEED_MIX;
        machine->error_node = NODE_NONE;
        machine->states = (NodeState *) (void *) machine->memory;

        if (tree->nodes[0].flags & (NODE_LEAF | NODE_GUARDED | NODE_ATTRIBUTED | NODE_LATE))
                machine->attention = ATTENTION_ROOT;
        if (tree->attributed)
                attributes_make(machine);

        memory = (uint64_t *) (void *) (machine->states + n);
        for (unsigned i = 0; i < N_SETS; i++)
                index_set_init(set_of(machine, i), n, memory + i * words);

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

/* Marks the node because of an input. That resets the count of unprompted ticks: the tick that follows is not part of
 * an endless loop. */
static void note_input(Machine *machine, NodeId node) {
        machine->unprompted = 0;
        node_mark(machine, node);
}

void machine_start(Machine *machine) {
        machine->error = NULL;
        machine->error_node = NODE_NONE;
        note_input(machine, 0);
}

void machine_halt(Machine *machine) {
        machine->woke = false;
        machine->attention |= ATTENTION_HALTING;
        node_reset(machine, 0);
        note_input(machine, 0);
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

        note_input(machine, leaf);
}

void machine_condition_changed(Machine *machine, NodeId leaf) {
        assert(machine->nodes[leaf].type->class == NODE_CONDITION);

        note_input(machine, leaf);
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
        note_input(machine, node);
}

void machine_lock_granted(Machine *machine, NodeId node) {
        Attributes *attributes = &machine->attributes[node];

        assert(attributes->flags & ATTRIBUTE_WAITS);

        attributes->flags &= ~ATTRIBUTE_WAITS;
        attributes->flags |= ATTRIBUTE_HOLDS;
        note_input(machine, node);
}

static Attributes *control(Machine *machine, NodeId node) {
        attributes_make(machine);
        machine->attention |= ATTENTION_CONTROLLED;
        return &machine->attributes[node];
}

bool machine_force(Machine *machine, NodeId node, Status status) {
        assert(status_is_outcome(status));

        control(machine, node)->forced = status;
        note_input(machine, node);
        return node_state(machine, node)->status == STATUS_RUNNING;
}

void machine_lock_refused(Machine *machine, NodeId node) {
        const NodeState *state = node_state(machine, node);

        /* The activation that holds the lock ends already. */
        if (machine->attributes[node].flags & ATTRIBUTE_HOLDS &&
            (state->status != STATUS_RUNNING || state->flags & STATE_DEFERRED))
                return;

        (void) machine_force(machine, node, STATUS_FAILURE);
        machine->attributes[node].flags |= ATTRIBUTE_REFUSED;
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
        note_input(machine, node);
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
        note_input(machine, 0);
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
        if (G_UNLIKELY(!index_set_is_empty(&machine->sticky)))
                for (NodeId node = index_set_next(&machine->sticky, 0); node != INDEX_SET_END;
                     node = index_set_next(&machine->sticky, node + 1))
                        node_mark(machine, node);
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

void machine_elements(const Machine *machine, NodeId for_each, uint32_t *ret_elements, uint32_t *ret_failed) {
        *ret_elements = machine->states[for_each].elements;
        *ret_failed = machine->states[for_each].failed;
}

bool machine_node_ending(const Machine *machine, NodeId node) {
        return machine->states[node].flags & STATE_ENDING;
}

bool machine_node_continues(const Machine *machine, NodeId node) {
        return machine->attributes && machine->attributes[node].flags & ATTRIBUTE_CONTINUES;
}

bool machine_node_waits(const Machine *machine, NodeId node) {
        const NodeState *state = &machine->states[node];

        return state->status == STATUS_RUNNING && state->flags & STATE_DEFERRED;
}

bool machine_node_held(const Machine *machine, NodeId node) {
        return machine->states[node].flags & STATE_HELD;
}

Reason machine_held_reason(const Machine *machine, NodeId node) {
        return machine->states[node].result >> 4;
}

Status machine_node_forced(const Machine *machine, NodeId node) {
        const Attributes *attributes = machine->attributes ? &machine->attributes[node] : NULL;

        return attributes && !(attributes->flags & ATTRIBUTE_PERSISTS) ? attributes->forced : STATUS_IDLE;
}

/* The first node from there on that is halting, or the last one below it: what is above it ends only after it. */
static NodeId last_halting(const Machine *machine, NodeId from, NodeId end) {
        NodeId node = index_set_next(&machine->ending, from), below;

        if (node >= end)
                return NODE_NONE;

        while ((below = index_set_next(&machine->ending, node + 1)) < machine->nodes[node].end)
                node = below;
        return node;
}

NodeId machine_last_halting(const Machine *machine, NodeId node) {
        return last_halting(machine, node, machine->nodes[node].end);
}

/* Either its own last execution is ending, or a node beside it or beside a node above it. */
NodeId machine_node_waits_for(const Machine *machine, NodeId node) {
        NodeId found = machine_last_halting(machine, node);

        for (NodeId above; found == NODE_NONE && (above = machine->nodes[node].parent) != NODE_NONE; node = above) {
                found = last_halting(machine, above + 1, node);
                if (found == NODE_NONE)
                        found = last_halting(machine, machine->nodes[node].end, machine->nodes[above].end);
        }

        return found;
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

/* Images: a stored image is untrusted, so every number is checked, and none leads out of the tree. */

MachineImage machine_image(const Machine *machine) {
        return (MachineImage){
                .random = machine->random,
                .attention = machine->attention,
                .unprompted = machine->unprompted,
                .error = machine->error,
                .error_node = machine->error_node,
        };
}

bool machine_node_image(const Machine *machine, NodeId node, NodeImage *ret_image) {
        static const NodeImage nothing;
        const NodeState *state = &machine->states[node];
        NodeImage image = {
                .status = state->status,
                .flags = state->flags,
                .result = state->result,
                .phase = state->phase,
                .position = state->position,
        };

        if (!(machine->nodes[node].flags & NODE_LEAF)) {
                image.counts[0] = state->successes;
                image.counts[1] = state->failures;
        }
        for (unsigned i = 0; i < N_SETS; i++)
                if (index_set_has(set_of((Machine *) machine, i), node))
                        image.sets |= 1u << i;
        if (machine->attributes) {
                image.attributes = machine->attributes[node].flags;
                image.forced = machine->attributes[node].forced;
                image.outcome = machine->attributes[node].outcome;
        }

        *ret_image = image;
        return memcmp(&image, &nothing, sizeof(nothing)) != 0;
}

bool machine_restore(Machine *machine, const MachineImage *image) {
        if (image->random == 0 || image->attention > ATTENTION_ALL ||
            (image->error && image->error_node >= machine->tree->n_nodes))
                return false;

        machine->random = image->random;
        machine->attention = image->attention;
        machine->unprompted = image->unprompted;
        machine->error = image->error;
        machine->error_node = image->error ? image->error_node : NODE_NONE;
        if (image->attention & ATTENTION_CONTROLLED)
                attributes_make(machine);
        return true;
}

static bool is_child(const Machine *machine, NodeId node, NodeId child) {
        return child < machine->tree->n_nodes && machine->nodes[child].parent == node;
}

static bool position_fits(const Machine *machine, NodeId node, const NodeImage *image) {
        unsigned flags = machine->nodes[node].type->flags;
        bool at_child = is_child(machine, node, image->position), at_work;

        /* Will the node use its position? */
        if (image->flags & STATE_ENDING)
                at_work = !(image->attributes & ATTRIBUTE_ENDED);
        else
                at_work = image->status == STATUS_RUNNING && !(image->flags & (STATE_DEFERRED | STATE_HELD));

        if (flags & TYPE_AT_CHILD && at_work && image->position != 0 && !at_child)
                return false;
        if (flags & TYPE_AT_CHILD_ALWAYS && !at_child && (at_work || image->position != 0))
                return false;
        if (flags & TYPE_AT_STATUS && image->position >= STATUS_NODE_MAX_)
                return false;

        return !(flags & TYPE_AT_LAST_CHILD && at_work) || is_child(machine, node, image->counts[1]);
}

/* Without one of these flags the result is not used, and may have any value. */
static bool result_fits(const NodeImage *image) {
        if (image->flags & STATE_HELD)
                return image->result <= UINT8_MAX && status_is_outcome(image->result & 0xf) &&
                       image->result >> 4 < REASON_MAX_;
        if (image->flags & STATE_ENDED && image->status != STATUS_RUNNING)
                return false;
        if (image->flags & STATE_ENDED)
                return status_is_outcome(image->result) || image->result == STATUS_ERROR;

        return image->result <= UINT8_MAX;
}

bool machine_restore_node(Machine *machine, NodeId node, const NodeImage *image) {
        NodeState *state = node_state(machine, node);
        bool attributed = image->attributes != 0 || image->forced != 0 || image->outcome != 0;

        if (image->status > STATUS_RUNNING || image->flags > UINT8_MAX || image->phase >= STATUS_NODE_MAX_ ||
            image->sets >= 1u << N_SETS || image->attributes > UINT16_MAX || image->forced >= STATUS_NODE_MAX_ ||
            image->outcome >= STATUS_NODE_MAX_ || (attributed && !machine->attributes) || !result_fits(image) ||
            !position_fits(machine, node, image))
                return false;

        state->status = (uint8_t) image->status;
        state->flags = (uint8_t) image->flags;
        state->result = (uint8_t) image->result;
        state->phase = (uint8_t) image->phase;
        state->position = image->position;
        if (!(machine->nodes[node].flags & NODE_LEAF)) {
                state->successes = image->counts[0];
                state->failures = image->counts[1];
        }
        for (unsigned i = 0; i < N_SETS; i++)
                if (image->sets & 1u << i)
                        index_set_add(set_of(machine, i), node);
        if (index_set_has(&machine->retained, node) && machine->nodes[node].type->class != NODE_CONDITION)
                return false;
        if (attributed)
                machine->attributes[node] = (Attributes){
                        .flags = (uint16_t) image->attributes,
                        .forced = (uint8_t) image->forced,
                        .outcome = (uint8_t) image->outcome,
                };

        return true;
}

bool machine_node_fits(const Machine *machine, NodeId node, const NodeHostImage *host) {
        const NodeState *state = &machine->states[node], *above;
        const Attributes *attributes = machine->attributes ? &machine->attributes[node] : NULL;
        bool continues = attributes && attributes->flags & ATTRIBUTE_CONTINUES;
        bool has_lock = attributes && attributes->flags & (ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS);
        bool ended = state->flags & STATE_ENDED || (attributes && attributes->flags & ATTRIBUTE_ENDED);
        /* Was the action started? One that was halted is gone with its end. */
        bool due = (state->flags & STATE_ENDING && (!ended || continues)) ||
                   (state->status == STATUS_RUNNING && !(state->flags & (STATE_DEFERRED | STATE_HELD)));

        if (node != 0 && state->status != STATUS_IDLE) {
                above = &machine->states[machine->nodes[node].parent];
                if (above->status != STATUS_RUNNING && !(above->flags & STATE_ENDING))
                        return false;
        }

        /* The machine will ask for the release of the lock, and of the condition's value. */
        if (has_lock != host->lock || (attributes && attributes->forced != STATUS_IDLE && !host->forced))
                return false;
        if (machine->nodes[node].type->class != NODE_ACTION)
                return host->leaf || !index_set_has(&machine->retained, node);

        return due ? host->leaf && host->ended == ended : !host->leaf;
}
