/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SubTree: another tree, with variables of its own, which the host keeps. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

static Status subtree_tick(Machine *machine, NodeId node) {
        Status status;

        if (node_is_fresh(machine, node) && !machine->host->enter(machine, node))
                return STATUS_FAILURE;

        status = child_tick(machine, node + 1);
        if (status_is_outcome(status) && !machine->host->leave(machine, node, status))
                return STATUS_FAILURE;

        return status;
}

/* It can also fail to take its inputs over, or to give its outputs back. */
static unsigned subtree_never(const Node *nodes, NodeId node) {
        const SubTreeParams *params = nodes[node].params;
        unsigned never = outlook_of_child(nodes, node);

        return params->inputs || params->outputs ? never & TYPE_NEVER_SUCCEEDS : never;
}

static const Param subtree_params[] = {
        { .name = "tree",
          .kind = PARAM_STRING,
          .offset = offsetof(SubTreeParams, tree),
          .required = true,
          .literal = true,
          .doc = "The tree to run: one of this file, or one on the search path" },
        { .name = "inputs",
          .kind = PARAM_JSON,
          .offset = offsetof(SubTreeParams, inputs),
          .late = true,
          .doc = "An object: the values of its inputs, taken over when it starts" },
        { .name = "outputs",
          .kind = PARAM_STRING_MAP,
          .offset = offsetof(SubTreeParams, outputs),
          .writes = true,
          .doc = "An object: the names of its outputs, and of the variables that receive them when it has ended" },
        {},
};

const NodeType subtree_type = {
        .name = "SubTree",
        .class = NODE_DECORATOR,
        .flags = TYPE_SUBTREE,
        .params = subtree_params,
        .params_size = sizeof(SubTreeParams),
        .summary = "Runs another tree, with variables of its own",
        .doc = "Its outcome is that of the tree. That begins each time with its own variables and sees nothing of "
               "those "
               "around it but its inputs and, as '@key', the outermost variables of the run. Outputs are given back "
               "after "
               "SUCCESS and FAILURE. An input or output of the wrong type is a FAILURE.",
        .tick = subtree_tick,
        .never = subtree_never,
};
