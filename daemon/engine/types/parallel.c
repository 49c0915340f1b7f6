/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Parallel and ParallelAll: controls that run all children at the same time. In a Parallel, the numbers of successes
 * and failures decide the outcome: a child that has completed is not ticked again in the same activation; a skipped one
 * is. A ParallelAll waits for all of them.
 */

#include <inttypes.h>

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct ParallelParams {
        int64_t success_count, failure_count;
} ParallelParams;

/* The parameters with negative counts resolved: they count from the number of children, -1 is all of them. */
typedef struct Thresholds {
        int64_t success, failure;
        bool skipped_succeed; /* a skipped child counts as a success */
        uint32_t n;
} Thresholds;

static int64_t threshold(int64_t count, uint32_t n_children) {
        return count < 0 ? MAX(0, n_children + count + 1) : count;
}

static inline Thresholds thresholds_of(const Node *definition, const ParallelParams *params) {
        return (Thresholds){
                .success = threshold(params->success_count, definition->n_children),
                .failure = threshold(params->failure_count, definition->n_children),
                .skipped_succeed = params->success_count < 0,
                .n = definition->n_children,
        };
}

static bool thresholds_fit(const Thresholds *thresholds) {
        return thresholds->success <= thresholds->n && thresholds->failure <= thresholds->n;
}

/* The outcomes of the children in this activation. Skipped children are counted anew in each tick. */
typedef struct Tally {
        uint32_t successes, failures, skipped;
} Tally;

/* RUNNING: not decided yet. */
static inline Status decide(Machine *machine, const Thresholds *thresholds, const Tally *tally) {
        int64_t successes = tally->successes + (thresholds->skipped_succeed ? tally->skipped : 0);

        if (successes >= thresholds->success)
                return STATUS_SUCCESS;

        if (thresholds->n - tally->failures < thresholds->success || tally->failures >= thresholds->failure) {
                machine->reason = REASON_THRESHOLD;
                return STATUS_FAILURE;
        }

        return STATUS_RUNNING;
}

static inline void count(Tally *tally, Status status) {
        tally->successes += status == STATUS_SUCCESS;
        tally->failures += status == STATUS_FAILURE;
        tally->skipped += status == STATUS_SKIPPED;
}

/* Marks a child that has completed, so that it is not ticked again. */
static void record_result(Machine *machine, NodeId child, Status status) {
        if (status == STATUS_SUCCESS || status == STATUS_FAILURE) {
                node_state(machine, child)->flags |= STATE_DONE;
                index_set_remove(&machine->sticky, child);
        }
}

/* Ends a tick that has visited all children and decided nothing. */
static Status wait_for_more(Machine *machine, NodeId node, const Tally *tally) {
        NodeState *state = node_state(machine, node);

        if (tally->skipped == machine->nodes[node].n_children) {
                node_reset_tried(machine, node);
                return STATUS_SKIPPED;
        }

        state->successes = tally->successes;
        state->failures = tally->failures;
        return STATUS_RUNNING;
}

/* The rest of the first tick, from the first child that did not complete at once; records the ones that did. */
static __attribute__((noinline)) Status begin_recording(Machine *machine, NodeId node, const Thresholds *thresholds,
                                                        NodeId child, Status status, Tally tally) {
        for (NodeId done = node + 1; done < child; done = machine->nodes[done].end)
                record_result(machine, done, STATUS_SUCCESS);

        while (status != STATUS_ERROR) {
                Status decision;

                record_result(machine, child, status);
                count(&tally, status);
                decision = decide(machine, thresholds, &tally);
                if (decision != STATUS_RUNNING) {
                        node_reset_tried(machine, node);
                        return decision;
                }

                child = machine->nodes[child].end;
                if (child >= machine->nodes[node].end)
                        return wait_for_more(machine, node, &tally);

                status = child_try(machine, child);
        }

        return status;
}

/* The first tick. As long as every child completes at once, their results need not be recorded: the last child decides
 * at the latest. */
static Status parallel_begin(Machine *machine, NodeId node, const Thresholds *thresholds) {
        bool calm = !(machine->attention & ATTENTION_NODES);
        Status decision = STATUS_RUNNING;
        Tally tally = {};

        if (machine->nodes[node].flags & NODE_MAY_SKIP)
                return begin_recording(machine, node, thresholds, node + 1, child_try(machine, node + 1), tally);

        for (NodeId child = node + 1; decision == STATUS_RUNNING; child = machine->nodes[child].end) {
                Status status = calm ? child_begin(machine, child) : child_tick_touched(machine, child);

                if (G_UNLIKELY(status != STATUS_SUCCESS && status != STATUS_FAILURE)) {
                        if (status == STATUS_SKIPPED)
                                node_visit_again(machine, child, false);
                        return begin_recording(machine, node, thresholds, child, status, tally);
                }

                count(&tally, status);
                decision = decide(machine, thresholds, &tally);
        }

        return decision;
}

/* Visits a child in any tick; IDLE: it has completed before. */
static Status revisit(Machine *machine, NodeId child) {
        Status status;

        /* A condition that changed in a completed child matters only to a reactive node above this one. */
        if (node_state(machine, child)->flags & STATE_DONE)
                return STATUS_IDLE;
        if (node_is_fresh(machine, child))
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);

        status = child_try(machine, child);
        if (status != STATUS_ERROR)
                record_result(machine, child, status);

        return status;
}

static __attribute__((noinline)) Status parallel_continue(Machine *machine, NodeId node, const Thresholds *thresholds) {
        const NodeState *state = node_state(machine, node);
        Tally tally = { .successes = state->successes, .failures = state->failures };
        NodeId end = machine->nodes[node].end;
        bool all = machine->full;

        for (NodeId child = child_next(machine, node, node + 1, all); child < end;
             child = child_next(machine, node, machine->nodes[child].end, all)) {
                Status status = revisit(machine, child), decision;

                if (status == STATUS_ERROR)
                        return status;

                count(&tally, status);
                decision = decide(machine, thresholds, &tally);
                if (decision != STATUS_RUNNING) {
                        node_reset_tried(machine, node);
                        return decision;
                }
        }

        return wait_for_more(machine, node, &tally);
}

static Status parallel_tick(Machine *machine, NodeId node) {
        Thresholds thresholds = thresholds_of(&machine->nodes[node], node_params(machine, node));

        if (node_state(machine, node)->status == STATUS_RUNNING)
                return parallel_continue(machine, node, &thresholds);

        if (!thresholds_fit(&thresholds))
                return node_error(machine, node, "threshold-exceeds-children");

        return parallel_begin(machine, node, &thresholds);
}

/* The possible outcomes follow from the number of children that can succeed or fail. A threshold of 0 is always met. */
static unsigned parallel_never(const Node *nodes, NodeId node) {
        Thresholds thresholds = thresholds_of(&nodes[node], nodes[node].params);
        bool may_skip = thresholds.skipped_succeed && nodes[node].flags & NODE_MAY_SKIP;
        int64_t failures = MIN(thresholds.failure, thresholds.n - thresholds.success + 1);
        unsigned never = 0;

        if (!may_skip && outcomes_count(nodes, node, NODE_NEVER_SUCCEEDS) < thresholds.success)
                never |= TYPE_NEVER_SUCCEEDS;
        if (outcomes_count(nodes, node, NODE_NEVER_FAILS) < failures)
                never |= TYPE_NEVER_FAILS;

        return never;
}

/* NULL: it can be reached. */
static char *excess(const char *param, int64_t count, uint32_t n) {
        return count > n ? g_strdup_printf("%s: %" PRId64 " is higher than the number of children, %u", param, count, n)
                         : NULL;
}

static char *parallel_misfit(const Node *nodes, NodeId node, const void *params) {
        Thresholds thresholds = thresholds_of(&nodes[node], params);

        return excess("success_count", thresholds.success, thresholds.n)
                       ?: excess("failure_count", thresholds.failure, thresholds.n);
}

/* outcome: the consequence of reaching the threshold, for the message. */
static void check_threshold(Findings *findings, const char *param, int64_t count, uint32_t n, const char *outcome) {
        g_autofree char *error = excess(param, count, n);

        if (error)
                findings_error(findings, param, -1, "%s", error);
        else if (count == 0)
                findings_trap(findings, param, "%s amounts to 0, so it %s as soon as its first child has started",
                              param, outcome);
}

static void parallel_check(const Tree *tree, NodeId node, Findings *findings) {
        Thresholds thresholds = thresholds_of(&tree->nodes[node], tree->nodes[node].params);

        check_threshold(findings, "success_count", thresholds.success, thresholds.n, "succeeds");
        check_threshold(findings, "failure_count", thresholds.failure, thresholds.n, "fails");
        if (thresholds_fit(&thresholds) && node_runs_forever(&tree->nodes[node]))
                findings_trap(findings, NULL,
                              "it can never be decided: too few of its children can ever succeed or fail");
}

static const Param parallel_params[] = {
        { .name = "success_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, success_count),
          .late = true,
          .fallback = "-1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many children must succeed; -1: all, -2: all but one, and so on" },
        { .name = "failure_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, failure_count),
          .late = true,
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many failures make it fail; -1: failures of all children, -2: of all but one, and so on" },
        {},
};

const NodeType parallel_type = {
        .name = "Parallel",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_TRIES_AGAIN,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_params,
        .params_size = sizeof(ParallelParams),
        .summary = "Runs its children at the same time",
        .doc = "SUCCESS when success_count children have succeeded. FAILURE when failure_count children have failed, "
               "or when success_count cannot be reached any more. Then the children that still run are halted.\n\nIf "
               "success_count is negative, as by default, a skipped child counts as a success; so the node succeeds if "
               "all children are skipped.\n\nIf success_count is positive, a skipped child does not count, and each "
               "tick tries it again. If all children are skipped, the node is SKIPPED. If only some are, it stays "
               "RUNNING until success_count or failure_count is reached, also while no child runs.\n\nA count must "
               "not be higher than the number of children.",
        .tick = parallel_tick,
        .halt = node_reset_tried,
        .never = parallel_never,
        .check = parallel_check,
        .misfit = parallel_misfit,
};

typedef struct ParallelAllParams {
        int64_t max_failures;
} ParallelAllParams;

static uint32_t max_failures(const Node *definition, const void *values) {
        const ParallelAllParams *params = values;

        return (uint32_t) threshold(params->max_failures, definition->n_children);
}

static Status parallel_all_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const Node *definition = &machine->nodes[node];
        bool all = machine->full || state->status == STATUS_IDLE;
        uint32_t skipped = 0;
        Status status;

        if (state->status == STATUS_IDLE) {
                if (max_failures(definition, node_params(machine, node)) > definition->n_children)
                        return node_error(machine, node, "threshold-exceeds-children");

                state->successes = state->failures = 0;
        }

        for (NodeId child = child_next(machine, node, node + 1, all); child < definition->end;
             child = child_next(machine, node, machine->nodes[child].end, all)) {
                status = revisit(machine, child);
                if (status == STATUS_ERROR)
                        return status;

                state->successes += status == STATUS_SUCCESS;
                state->failures += status == STATUS_FAILURE;
                skipped += status == STATUS_SKIPPED;
        }

        if (skipped + state->successes + state->failures < definition->n_children)
                return STATUS_RUNNING;

        /* All children have completed. */
        if (skipped == definition->n_children) {
                status = STATUS_SKIPPED;
        } else if (state->failures < max_failures(definition, node_params(machine, node))) {
                status = STATUS_SUCCESS;
        } else {
                machine->reason = REASON_THRESHOLD;
                status = STATUS_FAILURE;
        }
        node_reset_tried(machine, node);
        return status;
}

static unsigned parallel_all_never(const Node *nodes, NodeId node) {
        uint32_t n_sure_failures = 0, max = max_failures(&nodes[node], nodes[node].params);

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                if (node_runs_forever(&nodes[child]))
                        return TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS;

                n_sure_failures += outcome_is_impossible(&nodes[child], NODE_NEVER_SUCCEEDS);
        }

        if (n_sure_failures >= max)
                return TYPE_NEVER_SUCCEEDS;

        return outcomes_count(nodes, node, NODE_NEVER_FAILS) < max ? TYPE_NEVER_FAILS : 0;
}

static char *parallel_all_misfit(const Node *nodes, NodeId node, const void *params) {
        return excess("max_failures", max_failures(&nodes[node], params), nodes[node].n_children);
}

static void parallel_all_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;
        g_autofree char *error = parallel_all_misfit(nodes, node, nodes[node].params);

        if (error)
                findings_error(findings, "max_failures", -1, "%s", error);
        else if (max_failures(&nodes[node], nodes[node].params) == 0)
                findings_trap(findings, "max_failures", "max_failures amounts to 0, so it always fails");

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                if (node_runs_forever(&nodes[child])) {
                        findings_trap(findings, NULL, "it can never complete: '%s' never ends",
                                      tree_node_name(tree, child));
                        return;
                }
}

static const Param parallel_all_params[] = {
        { .name = "max_failures",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelAllParams, max_failures),
          .late = true,
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many failures make it fail; -1: failures of all children, -2: of all but one, and so on" },
        {},
};

const NodeType parallel_all_type = {
        .name = "ParallelAll",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_TRIES_AGAIN,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_all_params,
        .params_size = sizeof(ParallelAllParams),
        .summary = "Runs its children at the same time and waits for all of them",
        .doc = "Ends when all children have ended; a failure halts no other child. FAILURE if max_failures or more "
               "children have failed. SKIPPED if all were skipped. Otherwise SUCCESS.\n\nWhile others run, each tick "
               "tries a skipped child again. max_failures must not be higher than the number of children. (A ForEach "
               "is different: it fails if more than its max_failures elements fail.)",
        .tick = parallel_all_tick,
        .halt = node_reset_tried,
        .never = parallel_all_never,
        .check = parallel_all_check,
        .misfit = parallel_all_misfit,
};
