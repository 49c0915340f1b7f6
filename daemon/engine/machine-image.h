/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All that a machine is between two inputs, as numbers, for who wants to write it down and make the same machine again.
 * What the numbers mean is said in node.h; where that changes, so does what was written.
 */

#include "engine/machine.h"

typedef struct MachineImage {
        uint64_t random;
        uint32_t attention, unprompted;
        const char *error; /* or NULL; borrowed, and to be there as long as the machine */
        NodeId error_node; /* with error */
} MachineImage;

typedef struct NodeImage {
        uint32_t status, flags, result, phase, position;
        uint32_t counts[2]; /* of an inner node */
        uint32_t sets;      /* that it is a member of */
        uint32_t attributes, forced, outcome;
} NodeImage;

#define NODE_IMAGE_NUMBERS (sizeof(NodeImage) / sizeof(uint32_t))

MachineImage machine_image(const Machine *machine);
/* False: there is nothing to tell, it is as in a new machine. */
bool machine_node_image(const Machine *machine, NodeId node, NodeImage *ret_image);

/* Of a new machine: nobody is asked for anything. False: no machine can be like that. */
bool machine_restore(Machine *machine, const MachineImage *image);
bool machine_restore_node(Machine *machine, NodeId node, const NodeImage *image);

/* When all have been: is what it is below a node that is at work, if it is itself? */
bool machine_node_fits(const Machine *machine, NodeId node);

/* What the host has to know of an action then: that it has been started, and if so, that it has reported its end. */
bool machine_action_is_due(const Machine *machine, NodeId action);
bool machine_action_has_ended(const Machine *machine, NodeId action);
