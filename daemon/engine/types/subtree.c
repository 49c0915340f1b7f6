/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SubTree: a decorator that runs another tree, with variables of its own, which the host keeps. */

#include "engine/node.h"
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

/* Wrong inputs and outputs are failures, too. */
static unsigned subtree_never(const Node *nodes, NodeId node) {
        const SubTreeParams *params = nodes[node].params;
        unsigned never = outcomes_of_child(nodes, node);

        return params->inputs || params->outputs ? never & TYPE_NEVER_SUCCEEDS : never;
}

static const Param subtree_params[] = {
        { .name = "tree",
          .kind = PARAM_STRING,
          .offset = offsetof(SubTreeParams, tree),
          .required = true,
          .literal = true,
          .doc = "The tree to run, from this file or the search path" },
        { .name = "inputs",
          .kind = PARAM_JSON,
          .offset = offsetof(SubTreeParams, inputs),
          .late = true,
          .doc = "An object: the values of its inputs, read when it starts" },
        { .name = "outputs",
          .kind = PARAM_STRING_MAP,
          .offset = offsetof(SubTreeParams, outputs),
          .writes = true,
          .doc = "An object: the names of its outputs, and of the variables that receive them when it completes" },
        {},
};

const NodeType subtree_type = {
        .name = "SubTree",
        .class = NODE_DECORATOR,
        .flags = TYPE_SUBTREE,
        .params = subtree_params,
        .params_size = sizeof(SubTreeParams),
        .summary = "Runs another tree, with variables of its own",
        .doc = "Its outcome is that of the tree. Each time, the tree begins with the initial values of its own "
               "variables. Of other variables it sees only its inputs and, as '@key', the outermost ones of the run. "
               "Outputs are set after SUCCESS and FAILURE. An input or output of the wrong type is a FAILURE.",
        .tick = subtree_tick,
        .never = subtree_never,
};
