/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * KeepRunningUntilFailure, and Loop over the elements of a list: decorators that run their child again and again.
 *
 * ForEach: a decorator that runs its child once for each element of a list, several at the same time. The loader makes
 * "concurrency" copies of the child; each takes the next element when it has completed one. The index of the next
 * element is at position.
 */

#include <inttypes.h>

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct LoopParams {
        const char *queue;
        const char *variable;
        int if_empty;
} LoopParams;

/* The outcomes that if_empty can name. */
static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED };

/* Runs one iteration, and asks for a tick for the next one. */
static Status iterate(Machine *machine, NodeId node, bool at_once) {
        NodeId child = node + 1;
        bool took_time = !node_is_fresh(machine, child);
        Status status = child_tick(machine, child);

        if (status == STATUS_SUCCESS || status == STATUS_SKIPPED)
                node_visit_again(machine, child, took_time || at_once);

        return status == STATUS_FAILURE || status == STATUS_ERROR ? status : STATUS_RUNNING;
}

/* Resets the child, so that ticks no longer visit it for a next iteration. */
static Status stop_iterating(Machine *machine, NodeId node, Status status) {
        node_reset(machine, node + 1);
        return status;
}

static Status keep_running_tick(Machine *machine, NodeId node) {
        Status status = iterate(machine, node, false);

        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

/* A list has an end, so two elements need no delay between them. But an endless loop may be around it: that one is
 * slowed down at the first element. The number of elements so far is at position. */
static Status loop_tick(Machine *machine, NodeId node) {
        const LoopParams *params = machine->nodes[node].params;
        NodeState *state = node_state(machine, node);
        Status status;

        if (state->status == STATUS_IDLE)
                state->position = 0;

        if (node_is_fresh(machine, node + 1)) {
                if (!machine->host->next_element(machine, node, params->queue, params->variable, state->position))
                        return stop_iterating(machine, node, outcomes[params->if_empty]);

                state->position++;
        }

        status = iterate(machine, node, state->position > 1 || machine->unprompted < UNPROMPTED_MAX);
        machine->unprompted++;
        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

static unsigned keep_running_never(const Node *nodes, NodeId node) {
        return outcomes_of_child(nodes, node) & TYPE_NEVER_FAILS;
}

static const char *const keep_running_aliases[] = { "UntilFail", NULL };

const NodeType keep_running_until_failure_type = {
        .name = "KeepRunningUntilFailure",
        .aliases = keep_running_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_NEVER_SUCCEEDS | TYPE_REPEATS,
        .summary = "Runs its child again and again until it fails",
        .doc = "RUNNING until the child fails, then FAILURE. If the child is skipped, the loop continues. After a "
               "round that took time, the next one starts at once. After a round that took no time, the next one "
               "starts at the next tick, after the interval of the tree at the latest.",
        .tick = keep_running_tick,
        .never = keep_running_never,
};

static const char *const outcome_names[] = { "success", "failure", "skipped", NULL };

static const Param loop_params[] = {
        { .name = "queue",
          .kind = PARAM_STRING,
          .offset = offsetof(LoopParams, queue),
          .required = true,
          .reads = true,
          .doc = "The variable with the list" },
        { .name = "variable",
          .kind = PARAM_STRING,
          .offset = offsetof(LoopParams, variable),
          .required = true,
          .writes = true,
          .doc = "The variable that receives the element" },
        { .name = "if_empty",
          .kind = PARAM_ENUM,
          .offset = offsetof(LoopParams, if_empty),
          .fallback = "\"success\"",
          .values = outcome_names,
          .doc = "The outcome when no element is left: after the last one, or if the list is empty or not a list "
                 "(named as in BehaviorTree.CPP)" },
        {},
};

static unsigned loop_never(const Node *nodes, NodeId node) {
        const LoopParams *params = nodes[node].params;
        Status if_empty = outcomes[params->if_empty];

        return (if_empty != STATUS_SUCCESS ? TYPE_NEVER_SUCCEEDS : 0) |
               (if_empty != STATUS_FAILURE ? outcomes_of_child(nodes, node) & TYPE_NEVER_FAILS : 0) |
               (if_empty == STATUS_SKIPPED ? TYPE_SKIPS : 0);
}

static const char *const loop_aliases[] = { "LoopInt", "LoopDouble", "LoopBool", "LoopString", NULL };

const NodeType loop_type = {
        .name = "Loop",
        .aliases = loop_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_REPEATS,
        .params = loop_params,
        .params_size = sizeof(LoopParams),
        .summary = "Runs its child once for each element of a list",
        .doc = "FAILURE as soon as the child fails. The list is read when the node starts, and its variable does not "
               "change. To run several elements at the same time, to allow failures, or for a variable of each "
               "element, use a ForEach.",
        .tick = loop_tick,
        .never = loop_never,
};

static bool elements_left(const NodeState *state) {
        return state->position < state->elements;
}

static bool too_many_failed(const ForEachParams *params, const NodeState *state) {
        return params->max_failures >= 0 && state->failed > params->max_failures;
}

/* The outcome or ERROR of the ForEach, or RUNNING; IDLE: no element is left for the child. If an element takes no time,
 * the next one waits for the next tick. */
static Status visit(Machine *machine, NodeId node, NodeId child, bool *yields) {
        NodeState *state = node_state(machine, node);
        const ForEachParams *params = node_params(machine, node);

        while (!node_is_fresh(machine, child) || elements_left(state)) {
                bool in_one_go = node_is_fresh(machine, child);
                Status status;

                if (in_one_go)
                        machine->host->assign_element(machine, node, child, state->position++);

                status = child_tick(machine, child);
                if (!status_is_outcome(status))
                        return status;

                /* If this outcome of an element decides that of the ForEach, the others need not run. */
                state->failed += status == STATUS_FAILURE;
                if (params->until == UNTIL_SUCCESS && status == STATUS_SUCCESS)
                        return status;
                if (params->until == UNTIL_FAILURE && status == STATUS_FAILURE && !params->run_all &&
                    too_many_failed(params, state))
                        return status;

                if (in_one_go && elements_left(state)) {
                        node_visit_always(machine, child);
                        *yields = true;
                        return STATUS_RUNNING;
                }
        }

        index_set_remove_range(&machine->marked, child, machine->nodes[child].end);
        return STATUS_IDLE;
}

static bool is_any_running(Machine *machine, NodeId node) {
        for (NodeId child = node + 1; child < machine->nodes[node].end; child = machine->nodes[child].end)
                if (!node_is_fresh(machine, child))
                        return true;

        return false;
}

static Status visit_all(Machine *machine, NodeId node, bool all) {
        NodeState *state = node_state(machine, node);
        const ForEachParams *params = node_params(machine, node);
        const Node *nodes = machine->nodes;
        NodeId end = nodes[node].end;
        bool yields = false;

        /* If a variable has set the concurrency, there may be more copies than it permits. */
        if (nodes[node].flags & NODE_LATE)
                end = (NodeId) MIN(end, node + 1 + params->concurrency * (nodes[node + 1].end - (node + 1)));

        for (NodeId child = child_next(machine, node, node + 1, all); child < end;
             child = child_next(machine, node, nodes[child].end, all)) {
                Status status = visit(machine, node, child, &yields);

                if (status != STATUS_IDLE && status != STATUS_RUNNING)
                        return status;
        }

        if (yields)
                return node_yield(machine, node, false);

        if (elements_left(state) || is_any_running(machine, node))
                return STATUS_RUNNING;

        /* The child has run for all elements. With UNTIL_SUCCESS, each was skipped or has failed. */
        if (params->until == UNTIL_SUCCESS)
                return state->failed > 0 || state->elements == 0 ? STATUS_FAILURE : STATUS_SKIPPED;

        return params->run_all && too_many_failed(params, state) ? STATUS_FAILURE : STATUS_SUCCESS;
}

static Status for_each_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const ForEachParams *params = node_params(machine, node);
        bool fresh = state->status == STATUS_IDLE;
        Status status;

        if (fresh) {
                state->position = 0;
                state->failed = 0;
                state->elements = machine->host->elements(machine, node);
                if (state->elements == UINT32_MAX)
                        return STATUS_FAILURE;
        }

        status = visit_all(machine, node, fresh || machine->full);
        if (status_is_outcome(status)) {
                node_reset_children(machine, node);
                if (status == STATUS_FAILURE && params->max_failures > 0)
                        machine->reason = REASON_THRESHOLD;
        }

        return status;
}

static char *for_each_misfit(const Node *nodes, NodeId node, const void *params) {
        int64_t concurrency = ((const ForEachParams *) params)->concurrency;

        return concurrency > nodes[node].n_children
                       ? g_strdup_printf("concurrency: %" PRIi64 " is too high; a variable can set at most %" PRIu32,
                                         concurrency, nodes[node].n_children)
                       : NULL;
}

static unsigned for_each_never(const Node *nodes, NodeId node) {
        const ForEachParams *params = nodes[node].params;

        return params->until == UNTIL_SUCCESS ? outcomes_of_child(nodes, node) & TYPE_NEVER_SUCCEEDS : 0;
}

static void for_each_check(const Tree *tree, NodeId node, Findings *findings) {
        const ForEachParams *params = tree->nodes[node].params;

        if (params->until == UNTIL_SUCCESS && tree->nodes[node].n_children == 1 &&
            outcomes_of_child(tree->nodes, node) & TYPE_NEVER_FAILS)
                findings_trap(findings, "until", "'%s' can never fail, so it runs for the first element only",
                              tree_node_name(tree, node + 1));
}

static const char *const until_names[] = { [UNTIL_FAILURE] = "failure", [UNTIL_SUCCESS] = "success", NULL };

static const Param any_item = { .name = "", .kind = PARAM_JSON };

static const Param for_each_params[] = {
        { .name = "items",
          .kind = PARAM_JSON,
          .offset = offsetof(ForEachParams, items),
          .elements = &any_item,
          .required = true,
          .late = true,
          .doc = "The list, or \"{key}\" for a variable with a list; it is copied when the node starts" },
        { .name = "as",
          .kind = PARAM_STRING,
          .offset = offsetof(ForEachParams, as),
          .required = true,
          .literal = true,
          .local = true,
          .doc = "The variable for the element; each element that runs has its own" },
        { .name = "index",
          .kind = PARAM_STRING,
          .offset = offsetof(ForEachParams, index),
          .literal = true,
          .local = true,
          .doc = "The variable for the element's number, from 0, unlike in references and Lua" },
        { .name = "label",
          .kind = PARAM_STRING,
          .offset = offsetof(ForEachParams, label),
          .late = true,
          .below = true,
          .doc = "What names an element for people, such as \"{camera.name}\"; by default the element itself" },
        { .name = "concurrency",
          .kind = PARAM_INT,
          .offset = offsetof(ForEachParams, concurrency),
          .late = true,
          .fallback = "1",
          .min = 1,
          .max = 1000,
          .doc = "The maximum number of elements at the same time; if a variable sets it, at most 64" },
        { .name = "until",
          .kind = PARAM_ENUM,
          .offset = offsetof(ForEachParams, until),
          .fallback = "\"failure\"",
          .values = until_names,
          .doc = "\"success\": it succeeds as soon as the child has succeeded for one element, and fails when it has "
                 "failed for all, as a Fallback does" },
        { .name = "max_failures",
          .kind = PARAM_INT,
          .offset = offsetof(ForEachParams, max_failures),
          .late = true,
          .fallback = "0",
          .min = -1,
          .max = UINT32_MAX,
          .doc = "How many elements may fail; -1: any number, so it succeeds after the last one (in ParallelAll, "
                 "max_failures counts the failures that make it fail)" },
        { .name = "run_all",
          .kind = PARAM_BOOL,
          .offset = offsetof(ForEachParams, run_all),
          .fallback = "false",
          .doc = "true: when too many have failed, it runs for the other elements, too, and fails after the last one" },
        {},
};

static const ParamRule for_each_rules[] = {
        { RULE_NOT_WITH,
          { "max_failures", "until" },
          .word = "success",
          .why = "it fails only when all elements have failed" },
        { RULE_NOT_WITH, { "run_all", "until" }, .word = "success", .why = "it ends when an element has succeeded" },
        {},
};

const NodeType for_each_type = {
        .name = "ForEach",
        .class = NODE_DECORATOR,
        .flags = TYPE_FOR_EACH | TYPE_REPEATS,
        .params = for_each_params,
        .params_size = sizeof(ForEachParams),
        .rules = for_each_rules,
        .summary = "Runs its child once for each element of a list, for several at the same time",
        .doc = "SUCCESS when the child has run for all elements, or if the list is empty. A skipped element counts as "
               "a success. FAILURE if items is not a list, or as soon as more than max_failures elements have failed: "
               "elements that run are halted, and no others start. With run_all, the child runs for all elements "
               "first.\n\nWith until \"success\", SUCCESS as soon as one element has succeeded: elements that run are "
               "halted, and no others start. FAILURE when all have failed, or if the list is empty. A skipped element "
               "is passed over; SKIPPED when all were skipped.",
        .tick = for_each_tick,
        .never = for_each_never,
        .check = for_each_check,
        .misfit = for_each_misfit,
};
