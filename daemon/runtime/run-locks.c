/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The locks that the nodes of a run hold or wait for. Few nodes have one, so they are in a table. */

#include "runtime/run-state.h"

typedef struct RunClaim {
        Run *run;
        NodeId node;
        LockClaim *claim;
} RunClaim;

static void run_claim_free(RunClaim *claim) {
        lock_claim_free(claim->claim);
        g_free(claim);
}

static const RunClaim *get(const Run *run, NodeId node) {
        return run->claims ? g_hash_table_lookup(run->claims, GUINT_TO_POINTER(node)) : NULL;
}

/* Nothing is of interest to a run that is over. */
static void on_granted(void *userdata) {
        const RunClaim *claim = userdata;

        if (claim->run->machine)
                run_input(claim->run, RUN_INPUT_LOCK, claim->node);
}

bool run_lock(Run *run, NodeId node) {
        const char *name = definition_lock(run->definition, node);
        g_autofree char *owner =
                g_strdup_printf("%s (%s)", run->id, tree_node_name(definition_tree(run->definition), node));
        RunClaim *claim = g_new(RunClaim, 1);

        if (!run->claims)
                run->claims = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) run_claim_free);

        *claim = (RunClaim){
                .run = run,
                .node = node,
                .claim = lock_claim_new(run->services->locks, name, owner, on_granted, claim),
        };
        g_hash_table_insert(run->claims, GUINT_TO_POINTER(node), claim);
        return lock_claim_is_held(claim->claim);
}

void run_unlock(Run *run, NodeId node) {
        g_hash_table_remove(run->claims, GUINT_TO_POINTER(node));
}

bool run_has_lock(const Run *run, NodeId node) {
        const RunClaim *claim = get(run, node);

        return claim && lock_claim_is_held(claim->claim);
}

char *run_describe_lock(const Run *run, NodeId node) {
        const RunClaim *claim = get(run, node);
        g_autofree char *text = claim ? lock_claim_describe(claim->claim) : NULL;

        return text ? g_strconcat("waits for ", text, NULL) : NULL;
}
