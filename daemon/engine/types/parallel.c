/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Parallel: all children at once, decided by how many succeed or fail. A child that has completed is not ticked
 * again in the same activation; a skipped one is.
 */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct ParallelParams {
        int64_t success_count, failure_count;
} ParallelParams;

/* What decides: negative counts count from the number of children, -1 being all of them. */
typedef struct Thresholds {
        int64_t success, failure;
        bool skipped_succeed; /* a skipped child does not stand in the way of success */
        uint32_t n;
} Thresholds;

static int64_t threshold(int64_t count, uint32_t n_children) {
        return count < 0 ? MAX(0, n_children + count + 1) : count;
}

static inline Thresholds thresholds_of(const Node *definition) {
        const ParallelParams *params = definition->params;

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

/* What has come of the children in this activation, but for those skipped, which are counted in each tick anew. */
typedef struct Tally {
        uint32_t successes, failures, skipped;
} Tally;

/* RUNNING while it is not decided. */
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

/* A child that has completed is not ticked again; one that was skipped is. */
static void remember(Machine *machine, NodeId child, Status status, bool took_time) {
        if (status == STATUS_SKIPPED)
                node_visit_again(machine, child, took_time);
        else if (status != STATUS_RUNNING) {
                node_state(machine, child)->flags |= STATE_DONE;
                index_set_remove(&machine->sticky, child);
        }
}

/* All children have had their turn. */
static Status wait_for_more(Machine *machine, NodeId node, const Tally *tally) {
        NodeState *state = node_state(machine, node);

        if (tally->skipped == machine->nodes[node].n_children) {
                node_reset_children(machine, node);
                return STATUS_SKIPPED;
        }

        state->successes = tally->successes;
        state->failures = tally->failures;
        return STATUS_RUNNING;
}

/* The rest of the first tick, from a child on that did not complete at once: those that have are to be remembered. */
static __attribute__((noinline)) Status begin_remembering(Machine *machine, NodeId node, const Thresholds *thresholds,
                                                          NodeId child, Status status, Tally tally) {
        for (NodeId done = node + 1; done < child; done = machine->nodes[done].end)
                remember(machine, done, STATUS_SUCCESS, false);

        while (status != STATUS_ERROR) {
                Status decision;

                remember(machine, child, status, false);
                count(&tally, status);
                decision = decide(machine, thresholds, &tally);
                if (decision != STATUS_RUNNING) {
                        node_reset_children(machine, node);
                        return decision;
                }

                child = machine->nodes[child].end;
                if (child >= machine->nodes[node].end)
                        return wait_for_more(machine, node, &tally);

                status = child_tick(machine, child);
        }

        return status;
}

/* The first tick: as long as every child completes at once there is nothing to remember of them. It is decided with the
 * last of them at the latest. */
static Status parallel_begin(Machine *machine, NodeId node, const Thresholds *thresholds) {
        bool calm = !(machine->attention & ATTENTION_NODES);
        Status decision = STATUS_RUNNING;
        Tally tally = {};

        for (NodeId child = node + 1; decision == STATUS_RUNNING; child = machine->nodes[child].end) {
                Status status = calm ? child_begin(machine, child) : child_tick_touched(machine, child);

                if (G_UNLIKELY(status != STATUS_SUCCESS && status != STATUS_FAILURE))
                        return begin_remembering(machine, node, thresholds, child, status, tally);

                count(&tally, status);
                decision = decide(machine, thresholds, &tally);
        }

        return decision;
}

/* A child that something has happened to; IDLE when it has completed before. */
static Status revisit(Machine *machine, NodeId child) {
        bool took_time = !node_is_fresh(machine, child);
        Status status;

        /* A condition in there that has changed is for whoever looks at the outcome of all this again. */
        if (node_state(machine, child)->flags & STATE_DONE)
                return STATUS_IDLE;
        if (!took_time)
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);

        status = child_tick(machine, child);
        if (status != STATUS_ERROR)
                remember(machine, child, status, took_time);

        return status;
}

static __attribute__((noinline)) Status parallel_go_on(Machine *machine, NodeId node, const Thresholds *thresholds) {
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
                        node_reset_children(machine, node);
                        return decision;
                }
        }

        return wait_for_more(machine, node, &tally);
}

static Status parallel_tick(Machine *machine, NodeId node) {
        Thresholds thresholds = thresholds_of(&machine->nodes[node]);

        if (node_state(machine, node)->status == STATUS_RUNNING)
                return parallel_go_on(machine, node, &thresholds);

        if (!thresholds_fit(&thresholds))
                return node_error(machine, node, "threshold-exceeds-children");

        return parallel_begin(machine, node, &thresholds);
}

/* The children that may yet succeed or fail decide what may become of it. A threshold of 0 is met by any. */
static unsigned parallel_never(const Node *nodes, NodeId node) {
        Thresholds thresholds = thresholds_of(&nodes[node]);
        bool may_skip = thresholds.skipped_succeed && nodes[node].flags & NODE_MAY_SKIP;
        int64_t failures = MIN(thresholds.failure, thresholds.n - thresholds.success + 1);
        unsigned never = 0;

        if (!may_skip && outlook_count(nodes, node, NODE_NEVER_SUCCEEDS) < thresholds.success)
                never |= TYPE_NEVER_SUCCEEDS;
        if (outlook_count(nodes, node, NODE_NEVER_FAILS) < failures)
                never |= TYPE_NEVER_FAILS;

        return never;
}

static char *check_thresholds(const Thresholds *thresholds) {
        const char *zero = thresholds->success == 0   ? "success_count comes to 0, so it succeeds"
                           : thresholds->failure == 0 ? "failure_count comes to 0, so it fails"
                                                      : NULL;

        if (!thresholds_fit(thresholds))
                return g_strdup_printf(
                        "a threshold is higher than the number of children (%u): the run will end in ERROR here",
                        thresholds->n);

        return zero ? g_strdup_printf("%s as soon as its first child was started", zero) : NULL;
}

static char *parallel_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        Thresholds thresholds = thresholds_of(&tree->nodes[node]);

        *ret_is_error = false;
        if (outlook_is_endless(&tree->nodes[node]))
                return g_strdup("it can never be decided: too few of its children can ever succeed or fail");

        return check_thresholds(&thresholds);
}

static const Param parallel_params[] = {
        { .name = "success_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, success_count),
          .fallback = "-1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many children must succeed; negative: counted from their number, -1 being all" },
        { .name = "failure_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, failure_count),
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many failures make it fail; negative: counted from the number of children" },
        {},
};

const NodeType parallel_type = {
        .name = "Parallel",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_params,
        .params_size = sizeof(ParallelParams),
        .summary = "Runs its children at the same time",
        .doc = "SUCCESS when success_count children have succeeded, FAILURE when failure_count have failed or when "
               "success_count cannot be reached any more. Children that still run are halted then. A skipped child is "
               "tried again at every tick, and after the tree's interval; it does not stand in the way of a negative "
               "success_count. SKIPPED when all children were skipped and success_count is positive. A count that is "
               "higher than the number of children is an ERROR.",
        .tick = parallel_tick,
        .never = parallel_never,
        .check = parallel_check,
};
