/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the leaves of a run that were started and are still needed, as the run record knows them. */

#include "engine/machine.h"
#include "run/run-state.h"

RunLeaf *run_add_leaf(Run *run, NodeId node, uint32_t attempt, json_object *noted) {
        RunLeaf *leaf = g_new(RunLeaf, 1);

        *leaf = (RunLeaf){
                .node = node,
                .attempt = attempt,
                .status = STATUS_RUNNING,
                .noted = json_object_get(noted),
                .since = run->now,
                .suspended = run->suspended,
        };
        machine_node_set_data(run->machine, node, leaf);
        return leaf;
}

void run_remove_leaf(Run *run, RunLeaf *leaf) {
        machine_node_set_data(run->machine, leaf->node, NULL);
        cause_unref(leaf->cause);
        json_object_put(leaf->memo);
        json_object_put(leaf->noted);
        g_free(leaf);
}

void run_leaf_set(RunLeaf *leaf, Status status, Cause *cause) {
        Cause *before = leaf->cause;

        leaf->status = status;
        leaf->cause = cause ? cause_ref(cause) : NULL;
        cause_unref(before);
}

/* The original may be changed later. */
void run_leaf_set_value(RunLeaf *leaf, Status status, const Cause *cause) {
        g_autoptr(Cause) copy = NULL;

        if (cause) {
                copy = cause_new(cause->kind, json_object_get(cause->facts), cause->text);
                copy->node = cause->node;
        }
        run_leaf_set(leaf, status, copy);
        leaf->known = true;
}

void run_leaf_set_memo(RunLeaf *leaf, json_object *memo) {
        leaf->has_memo = true;
        json_object_put(leaf->memo);
        leaf->memo = json_object_get(memo);
}

RunLeaf *run_leaf(const Run *run, NodeId node) {
        bool leaf = definition_tree(run->definition)->nodes[node].flags & NODE_LEAF;

        return leaf && run->machine ? machine_node_data(run->machine, node) : NULL;
}

RunLeaf *run_next_leaf(const Run *run, NodeId from) {
        NodeId n_nodes = run->machine ? machine_tree(run->machine)->n_nodes : 0;

        for (NodeId node = from; node < n_nodes; node++) {
                RunLeaf *leaf = run_leaf(run, node);

                if (leaf)
                        return leaf;
        }

        return NULL;
}

bool run_is_as_noted(const Run *run, const RunLeaf *leaf) {
        return !leaf->noted || definition_is_as_noted(run->definition, leaf->node,
                                                      variables_scope(run->variables, leaf->node), leaf->noted);
}

uint64_t run_holds_until(const Run *run, NodeId node) {
        return run_leaf(run, node) ? run_deadline(run, node) : UINT64_MAX;
}

bool run_is_false(const Run *run, NodeId node) {
        const RunLeaf *leaf = run_leaf(run, node);

        return leaf && leaf->known && leaf->status == STATUS_FAILURE;
}
