/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The complete state of a machine between two inputs, as numbers. Snapshots (run/snapshot.h) store it and restore
 * the same machine from it. node.h defines the numbers; a change there changes the format of snapshots.
 */

#include "engine/machine.h"

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

/* To be called when all nodes are restored. False: the node runs, but its parent neither runs nor ends. */
bool machine_node_fits(const Machine *machine, NodeId node);

/* For the host, after a restore: was the action started, and if so, has it reported its end? */
bool machine_action_is_due(const Machine *machine, NodeId action);
bool machine_action_has_ended(const Machine *machine, NodeId action);
