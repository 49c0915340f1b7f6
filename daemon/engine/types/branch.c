/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* IfThenElse, WhileDoElse and Switch: controls that choose a child by a condition, or by a value that the host
 * evaluates. WhileDoElse and Switch keep evaluating it. */

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct SwitchParams {
        const char *variable;
        const Script *of;
        const char *const *cases;
} SwitchParams;

typedef struct BranchParams {
        int otherwise; /* an index of outcome_names */
} BranchParams;

enum {
        OTHERWISE_FAILURE,
        OTHERWISE_SUCCESS,
        OTHERWISE_SKIPPED,
};

static const char *const outcome_names[] = {
        [OTHERWISE_FAILURE] = "failure",
        [OTHERWISE_SUCCESS] = "success",
        [OTHERWISE_SKIPPED] = "skipped",
        NULL,
};

static const Param branch_params[] = {
        { .name = "else",
          .kind = PARAM_ENUM,
          .offset = offsetof(BranchParams, otherwise),
          .fallback = "\"failure\"",
          .values = outcome_names,
          .doc = "Its outcome if the first child fails and there is no third child" },
        {},
};

/* If there is no third child. */
static Status outcome_otherwise(const Node *definition) {
        static const Status outcomes[] = {
                [OTHERWISE_FAILURE] = STATUS_FAILURE,
                [OTHERWISE_SUCCESS] = STATUS_SUCCESS,
                [OTHERWISE_SKIPPED] = STATUS_SKIPPED,
        };
        const BranchParams *params = definition->params;

        return outcomes[params->otherwise];
}

static NodeId branch_of(const Node *nodes, NodeId node, bool holds) {
        NodeId first = nodes[node + 1].end, second = nodes[first].end;

        if (holds)
                return first;

        return second < nodes[node].end ? second : NODE_NONE;
}

/* The outcomes that neither branch can have; without a third child, a failure of the condition has its own. */
static unsigned branch_never(const Node *nodes, NodeId node) {
        NodeId first = branch_of(nodes, node, true), second = branch_of(nodes, node, false);
        unsigned never, skips = 0;

        if (second != NODE_NONE) {
                never = nodes[second].flags;
        } else {
                Status otherwise = outcome_otherwise(&nodes[node]);

                never = (nodes[node + 1].flags & NODE_NEVER_FAILS) |
                        (otherwise == STATUS_FAILURE ? 0 : NODE_NEVER_FAILS) |
                        (otherwise == STATUS_SUCCESS ? 0 : NODE_NEVER_SUCCEEDS);
                skips = otherwise == STATUS_SKIPPED ? TYPE_SKIPS : 0;
        }

        return (nodes[first].flags & never & (TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS)) | skips;
}

static void if_then_else_check(const Tree *tree, NodeId node, Findings *findings) {
        NodeId condition = node + 1, second = branch_of(tree->nodes, node, false);

        if (second != NODE_NONE && outcome_otherwise(&tree->nodes[node]) != STATUS_FAILURE)
                findings_error(findings, "else", -1, "else: not together with a third child, which runs then");
        outcomes_check_other(tree, condition, NODE_NEVER_SUCCEEDS, branch_of(tree->nodes, node, true), findings);
        if (second != NODE_NONE)
                outcomes_check_other(tree, condition, NODE_NEVER_FAILS, second, findings);
}

/* Chooses the branch by the answer of the condition. */
static Status if_then_else_chosen(Machine *machine, NodeId node, Status status) {
        if (status == STATUS_SKIPPED)
                return node_error(machine, node, "if-condition-skipped");
        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                node_state(machine, node)->position = branch_of(machine->nodes, node, status == STATUS_SUCCESS);

        return status;
}

/* Evaluates the condition again while the branch waits to start; IDLE: the branch is still the right one. */
static Status if_then_else_choose_again(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId branch = state->position;
        Status status = node_reevaluate(machine, node + 1);

        if (status == STATUS_IDLE || ((status == STATUS_SUCCESS || status == STATUS_FAILURE) &&
                                      branch == branch_of(machine->nodes, node, status == STATUS_SUCCESS)))
                return STATUS_IDLE;

        node_reset(machine, branch);
        state->position = 0;
        return if_then_else_chosen(machine, node, status);
}

/* The chosen branch is at position, 0 before it is chosen. */
static Status if_then_else_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Status status = STATUS_IDLE;

        if (state->status == STATUS_IDLE)
                state->position = 0;

        if (state->position == 0)
                status = if_then_else_chosen(machine, node, child_tick(machine, node + 1));
        else if (G_UNLIKELY(node_is_waiting(machine, state->position)))
                status = if_then_else_choose_again(machine, node);

        if (status == STATUS_RUNNING || status == STATUS_ERROR)
                return status;
        if (state->position == NODE_NONE)
                return outcome_otherwise(&machine->nodes[node]);

        status = child_tick(machine, state->position);
        if (status == STATUS_RUNNING && G_UNLIKELY(node_is_waiting(machine, state->position)))
                node_keep_reevaluating(machine, node, node + 1, state->position);
        if (status == STATUS_SKIPPED)
                node_forget_counts_below(machine, node);

        return status;
}

const NodeType if_then_else_type = {
        .name = "IfThenElse",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_AT_CHILD,
        .min_children = 2,
        .max_children = 3,
        .summary = "Runs its second child if the first succeeds, else its third",
        .doc = "The first child is executed once, and decides. The outcome is that of the chosen child. If the first "
               "child fails and there is no third child, 'else' is the outcome: \"success\" suits a step that is "
               "only sometimes needed. If the first child is skipped, the run ends with an ERROR.",
        .params = branch_params,
        .params_size = sizeof(BranchParams),
        .tick = if_then_else_tick,
        .never = branch_never,
        .check = if_then_else_check,
};

static Status while_do_else_end(Machine *machine, NodeId node, Status status) {
        node_reset_reactive(machine, node);
        return status;
}

static Status while_do_else_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId branch, other;
        Status status;

        if (state->status == STATUS_IDLE)
                state->phase = STATUS_IDLE;

        status = node_evaluate_condition(machine, node);
        if (status == STATUS_RUNNING || status == STATUS_ERROR)
                return status;
        if (status == STATUS_SKIPPED) {
                node_reset_reactive(machine, node);
                return node_error(machine, node, "while-condition-skipped");
        }

        branch = branch_of(machine->nodes, node, status == STATUS_SUCCESS);
        if (branch == NODE_NONE)
                return while_do_else_end(machine, node, outcome_otherwise(&machine->nodes[node]));

        other = branch_of(machine->nodes, node, status != STATUS_SUCCESS);
        if (other != NODE_NONE)
                node_reset(machine, other);

        if (node_is_fresh(machine, branch) && node_ending_beside(machine, node, branch))
                return STATUS_RUNNING;

        status = child_tick(machine, branch);
        return status == STATUS_RUNNING || status == STATUS_ERROR ? status : while_do_else_end(machine, node, status);
}

static void while_do_else_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;
        NodeId action = node + 1;

        if (!(nodes[action].flags & NODE_SLOW)) {
                if_then_else_check(tree, node, findings);
                return;
        }

        while (!(nodes[action].flags & NODE_LEAF))
                for (action++; !(nodes[action].flags & NODE_SLOW);)
                        action = nodes[action].end;

        findings_trap(findings, NULL,
                      "the action '%s' is part of the condition, so it would be started again and again; "
                      "use an IfThenElse",
                      tree_node_name(tree, action));
}

const NodeType while_do_else_type = {
        .name = "WhileDoElse",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_REACTIVE_FIRST | TYPE_REPEATS,
        .min_children = 2,
        .max_children = 3,
        .summary = "Runs its second child while the first succeeds, and its third while it fails",
        .doc = "The first child decides. It is evaluated as long as the second or third child runs. When its outcome "
               "changes, the running child is halted, and the other child starts when that has ended. When the "
               "second or third child ends by itself, the node ends with its outcome.\n\nIf the first child fails "
               "and there is no third child, 'else' is the outcome. If the first child is skipped, the run ends with "
               "an ERROR.",
        .params = branch_params,
        .params_size = sizeof(BranchParams),
        .tick = while_do_else_tick,
        .halt = node_reset_reactive,
        .never = branch_never,
        .check = while_do_else_check,
};

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

static void switch_check(const Tree *tree, NodeId node, Findings *findings) {
        const SwitchParams *params = tree->nodes[node].params;
        uint32_t n_cases = params->cases ? g_strv_length((char **) params->cases) : 0, n = tree->nodes[node].n_children;
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        uint32_t repeated = 0;

        if (params->cases && n != n_cases + 1)
                findings_error(findings, "cases", FINDING_COUNT,
                               "%u %s %u %s, one for each case and the default last, but there %s %u", n_cases,
                               n_cases == 1 ? "case needs" : "cases need", n_cases + 1,
                               n_cases == 0 ? "child" : "children", n == 1 ? "is" : "are", n);

        while (repeated < n_cases && g_hash_table_add(seen, (char *) params->cases[repeated]))
                repeated++;
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
          .doc = "A value for each child except the last" },
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
        .doc = "The value is compared with the cases as text or as a number. The last child is for every other "
               "value, and for a variable that is not set. When the value changes while a child runs, btd "
               "halts this child, and when it has ended, starts the child of the new value. When a child ends by "
               "itself, the node "
               "ends with its outcome.",
        .tick = switch_tick,
        .halt = switch_halt,
        .never = switch_never,
        .check = switch_check,
};
