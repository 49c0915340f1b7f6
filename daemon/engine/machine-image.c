/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and restores the state of a machine. A stored image is untrusted: every number is checked, so that none leads
 * out of the tree. */

#include <string.h>

#include "engine/machine-image.h"
#include "engine/node-attributes.h"

#define N_SETS 7u

static IndexSet *set_of(Machine *machine, unsigned i) {
        IndexSet *const sets[N_SETS] = {
                &machine->marked,   &machine->sticky,   &machine->ending,  &machine->deferred,
                &machine->retained, &machine->counting, &machine->waiting,
        };

        return sets[i];
}

MachineImage machine_image(const Machine *machine) {
        return (MachineImage){
                .random = machine->random,
                .attention = machine->attention,
                .unprompted = machine->unprompted,
                .error = machine->error,
                .error_node = machine->error_node,
        };
}

static bool is_nothing(const NodeImage *image) {
        static const NodeImage nothing;

        return memcmp(image, &nothing, sizeof(nothing)) == 0;
}

bool machine_node_image(const Machine *machine, NodeId node, NodeImage *ret_image) {
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
        return !is_nothing(&image);
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

/* Will the node use its position? */
static bool is_at_work(const NodeImage *image) {
        if (image->flags & STATE_ENDING)
                return !(image->attributes & ATTRIBUTE_ENDED);

        return image->status == STATUS_RUNNING && !(image->flags & (STATE_DEFERRED | STATE_HELD));
}

static bool position_fits(const Machine *machine, NodeId node, const NodeImage *image) {
        unsigned flags = machine->nodes[node].type->flags;
        bool at_work = is_at_work(image), at_child = is_child(machine, node, image->position);

        if (flags & TYPE_AT_CHILD && at_work && image->position != 0 && !at_child)
                return false;
        if (flags & TYPE_AT_CHILD_ALWAYS && !at_child && (at_work || image->position != 0))
                return false;
        if (flags & TYPE_AT_STATUS && image->position >= STATUS_MAX_)
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

        if (image->status > STATUS_RUNNING || image->flags > UINT8_MAX || image->phase >= STATUS_MAX_ ||
            image->sets >= 1u << N_SETS || image->attributes > UINT16_MAX || image->forced >= STATUS_MAX_ ||
            image->outcome >= STATUS_MAX_ || (attributed && !machine->attributes) || !result_fits(image) ||
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
        if (attributed)
                machine->attributes[node] = (Attributes){
                        .flags = (uint16_t) image->attributes,
                        .forced = (uint8_t) image->forced,
                        .outcome = (uint8_t) image->outcome,
                };

        return true;
}

bool machine_node_fits(const Machine *machine, NodeId node) {
        const NodeState *state = &machine->states[node], *above;

        if (node == 0 || state->status == STATUS_IDLE)
                return true;

        above = &machine->states[machine->nodes[node].parent];
        return above->status == STATUS_RUNNING || above->flags & STATE_ENDING;
}

bool machine_action_is_due(const Machine *machine, NodeId action) {
        const NodeState *state = &machine->states[action];

        return state->flags & STATE_ENDING ||
               (state->status == STATUS_RUNNING && !(state->flags & (STATE_DEFERRED | STATE_HELD)));
}

bool machine_action_has_ended(const Machine *machine, NodeId action) {
        return machine->states[action].flags & STATE_ENDED ||
               (machine->attributes && machine->attributes[action].flags & ATTRIBUTE_ENDED);
}
