/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Switch: a control with a child for each case of a value. The host evaluates the value, at every tick. */

#include "engine/node.h"
#include "engine/types/outcome-analysis.h"
#include "engine/types/types.h"

typedef struct SwitchParams {
        const char *variable;
        const Script *of;
        const char *const *cases;
} SwitchParams;

/* The running child is at position, 0 if none runs. */
static Status switch_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const SwitchParams *params = machine->nodes[node].params;
        uint32_t n = machine->host->match(machine, node, params->variable, params->of, params->cases);
        NodeId child;
        Status status;

        if (state->status == STATUS_IDLE)
                state->position = 0;
        if (n == UINT32_MAX)
                return node_expression_failed(machine, node);

        child = tree_nth_child(machine->tree, node, n);
        if (state->position != 0 && state->position != child)
                node_reset(machine, state->position);

        state->position = child;
        status = node_is_fresh(machine, child) && node_ending_beside(machine, node, child) ? STATUS_RUNNING
                                                                                           : child_tick(machine, child);

        /* Any input can change the variable. */
        if (status == STATUS_RUNNING)
                node_visit_always(machine, node);
        else if (status != STATUS_ERROR)
                state->position = 0;

        return status;
}

static void switch_halt(Machine *machine, NodeId node) {
        if (node_state(machine, node)->position != 0)
                node_reset(machine, node_state(machine, node)->position);
}

static unsigned switch_never(const Node *nodes, NodeId node) {
        unsigned never = TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                never &= nodes[child].flags;

        return never;
}

/* The index of the first case that repeats an earlier one; the number of cases if none does. */
static uint32_t find_repeated(const char *const *cases) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        uint32_t i = 0;

        while (cases[i] && g_hash_table_add(seen, (char *) cases[i]))
                i++;

        return i;
}

static void switch_check(const Tree *tree, NodeId node, Findings *findings) {
        const SwitchParams *params = tree->nodes[node].params;
        uint32_t n_cases = params->cases ? g_strv_length((char **) params->cases) : 0, n = tree->nodes[node].n_children;
        uint32_t repeated;

        if (n != n_cases + 1)
                findings_error(findings, "cases", -1,
                               "%u %s %u %s, one for each case and the default last, but there %s %u", n_cases,
                               n_cases == 1 ? "case needs" : "cases need", n_cases + 1,
                               n_cases == 0 ? "child" : "children", n == 1 ? "is" : "are", n);

        repeated = params->cases ? find_repeated(params->cases) : n_cases;
        if (repeated < n_cases && n == n_cases + 1)
                findings->add(findings, "cases", (int) repeated, false,
                              g_strdup_printf("the case '%s' is given twice, so '%s' can never run",
                                              params->cases[repeated],
                                              tree_node_name(tree, tree_nth_child(tree, node, repeated))));
}

static const ParamRule switch_rules[] = { { RULE_EXACTLY_ONE, { "variable", "of" } }, {} };

static const Param switch_params[] = {
        { .name = "variable",
          .kind = PARAM_STRING,
          .offset = offsetof(SwitchParams, variable),
          .reads = true,
          .doc = "The variable whose value is compared" },
        { .name = "of",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(SwitchParams, of),
          .doc = "Instead of variable: an expression whose value is compared" },
        { .name = "cases",
          .kind = PARAM_STRINGS,
          .offset = offsetof(SwitchParams, cases),
          .required = true,
          .doc = "A value for each child but the last, which is the default" },
        {},
};

static const char *const switch_aliases[] = { "Switch2", "Switch3", "Switch4", "Switch5", "Switch6", NULL };

const NodeType switch_type = {
        .name = "Switch",
        .aliases = switch_aliases,
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD | TYPE_PASSIVE,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = switch_params,
        .params_size = sizeof(SwitchParams),
        .rules = switch_rules,
        .summary = "Runs the child whose case equals a value",
        .doc = "The value is compared with the cases as text or as a number. The last child is the default, for every "
               "other value and for a variable that is not set. When the value changes while a child runs, that child "
               "is halted, and the right one starts when it has ended.",
        .tick = switch_tick,
        .halt = switch_halt,
        .never = switch_never,
        .check = switch_check,
};
