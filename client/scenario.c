/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The roles of a scenario, and who plays which. */

#include "scenario-reader.h"

#define ARENA_SIZE 1024u

Scenario *scenario_new(void) {
        Scenario *scenario = g_new(Scenario, 1);

        *scenario = (Scenario){
                .arena = arena_new(ARENA_SIZE),
                .by_path = g_hash_table_new(NULL, NULL),
                .by_name = g_hash_table_new(NULL, NULL),
                .halt = SPAN_INFINITY,
        };
        return scenario;
}

void scenario_free(Scenario *scenario) {
        if (!scenario)
                return;

        g_hash_table_unref(scenario->by_path);
        g_hash_table_unref(scenario->by_name);
        arena_free(scenario->arena);
        g_free(scenario);
}

/* The outcome of a leaf that can only have one is not for all leaves to say. */
static const Outcome *fallback_for(const Scenario *scenario, const NodeType *type) {
        static const Outcome of_type = {};

        return type->flags & (TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS | TYPE_IMMEDIATE) ? &of_type : &scenario->fallback;
}

const Outcome *scenario_outcome(const Scenario *scenario, const Tree *tree, NodeId leaf, uint32_t n) {
        const Role *role = g_hash_table_lookup(scenario->by_path, GUINT_TO_POINTER(leaf));

        if (!role)
                role = g_hash_table_lookup(scenario->by_name, GUINT_TO_POINTER(leaf));
        if (!role)
                return fallback_for(scenario, tree->nodes[leaf].type);

        return &role->outcomes[MIN(n, role->n_outcomes - 1)];
}

uint64_t scenario_halt(const Scenario *scenario) {
        return scenario->halt;
}
