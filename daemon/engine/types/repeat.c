/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Repeat and RetryUntilSuccessful: decorators that run their child again, as long as it succeeds or as long as it
 * fails. RetryUntilSuccessful can delay the next attempt. position counts the completed rounds.
 */

#include "engine/backoff.h"
#include "engine/node.h"
#include "engine/types/types.h"

enum {
        PHASE_CHILD,
        PHASE_PAUSE,
};

typedef struct RepeatParams {
        int64_t num_cycles;
} RepeatParams;

typedef struct RetryParams {
        int64_t num_attempts;
        const Backoff *backoff;
        const char *const *retry_on;
} RetryParams;

static bool rounds_left(const NodeState *state, int64_t rounds) {
        return rounds < 0 || state->position < rounds;
}

/* The count starts again after each outcome and each halt, but not after a skipped child. */
static Status finish_rounds(Machine *machine, NodeId node, Status status) {
        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                node_state(machine, node)->position = 0;
        else if (status == STATUS_SKIPPED) {
                node_forget_counts_below(machine, node);
                node_keep_count(machine, node);
        }

        return status;
}

static void rounds_halt(Machine *machine, NodeId node) {
        node_reset(machine, node + 1);
        node_state(machine, node)->position = 0;
}

static Status repeat_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RepeatParams *params = node_params(machine, node);

        while (rounds_left(state, params->num_cycles)) {
                bool in_one_go = node_is_fresh(machine, node + 1);
                Status status = child_tick(machine, node + 1);

                if (status != STATUS_SUCCESS)
                        return finish_rounds(machine, node, status);

                state->position += params->num_cycles >= 0;
                if (in_one_go && rounds_left(state, params->num_cycles))
                        return node_yield(machine, node, params->num_cycles < 0);
        }

        return finish_rounds(machine, node, STATUS_SUCCESS);
}

static Status retry_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RetryParams *params = node_params(machine, node);

        if (state->status == STATUS_IDLE)
                state->phase = PHASE_CHILD;

        if (state->phase == PHASE_PAUSE) {
                if (!(state->flags & STATE_EXPIRED))
                        return STATUS_RUNNING;

                node_disarm_timer(machine, node);
                state->phase = PHASE_CHILD;
        }

        while (rounds_left(state, params->num_attempts)) {
                bool in_one_go = node_is_fresh(machine, node + 1);
                Status status = child_tick(machine, node + 1);

                if (status != STATUS_FAILURE)
                        return finish_rounds(machine, node, status);

                if (params->retry_on && !machine->host->cause_matches(machine, node + 1, params->retry_on))
                        return finish_rounds(machine, node, STATUS_FAILURE);

                state->position += state->position < UINT32_MAX;
                if (!rounds_left(state, params->num_attempts))
                        break;
                if (params->backoff) {
                        double chance = (double) machine_random(machine, 1 << 20) / (1 << 20);

                        state->phase = PHASE_PAUSE;
                        node_arm_timer(machine, node, backoff_delay(params->backoff, state->position, chance));
                        return STATUS_RUNNING;
                }
                if (in_one_go)
                        return node_yield(machine, node, params->num_attempts < 0);
        }

        machine->reason = REASON_ATTEMPTS;
        return finish_rounds(machine, node, STATUS_FAILURE);
}

/* continue_on: the outcome (as its TYPE_NEVER_*) that starts the next round. stop_on: the other one. */
static unsigned rounds_never(const Node *nodes, NodeId node, int64_t rounds, unsigned continue_on, unsigned stop_on) {
        if (rounds == 0)
                return stop_on;

        return outcomes_of_child(nodes, node) | (rounds < 0 ? continue_on : 0);
}

static unsigned repeat_never(const Node *nodes, NodeId node) {
        const RepeatParams *params = nodes[node].params;

        return rounds_never(nodes, node, params->num_cycles, TYPE_NEVER_SUCCEEDS, TYPE_NEVER_FAILS);
}

static unsigned retry_never(const Node *nodes, NodeId node) {
        const RetryParams *params = nodes[node].params;

        return rounds_never(nodes, node, params->num_attempts, TYPE_NEVER_FAILS, TYPE_NEVER_SUCCEEDS);
}

static void repeat_check(const Tree *tree, NodeId node, Findings *findings) {
        const RepeatParams *params = tree->nodes[node].params;

        if (params->num_cycles == 0)
                findings_trap(findings, "num_cycles", "num_cycles is 0, so its child can never run");
}

static void retry_check(const Tree *tree, NodeId node, Findings *findings) {
        const RetryParams *params = tree->nodes[node].params;

        if (params->num_attempts == 0)
                findings_trap(findings, "num_attempts", "num_attempts is 0, so its child can never run");
        if (params->backoff && backoff_is_at_max(params->backoff))
                findings_trap(findings, "backoff",
                              "backoff: 'initial' is longer than 'max', so each delay is as long as 'max'");
}

static const Param repeat_params[] = {
        { .name = "num_cycles",
          .kind = PARAM_INT,
          .offset = offsetof(RepeatParams, num_cycles),
          .required = true,
          .late = true,
          .min = -1,
          .max = UINT32_MAX,
          .doc = "How often the child must succeed; -1: forever" },
        {},
};

static const char *const repeat_aliases[] = { "Repeater", NULL };

const NodeType repeat_type = {
        .name = "Repeat",
        .aliases = repeat_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_REPEATS,
        .params = repeat_params,
        .params_size = sizeof(RepeatParams),
        .summary = "Runs its child again and again while it succeeds",
        .doc = "SUCCESS when the child has succeeded num_cycles times. FAILURE as soon as it fails. SKIPPED if it is "
               "skipped. An endless loop whose rounds take no time is slowed down after 1000 rounds, to one round in "
               "each interval of the tree.",
        .tick = repeat_tick,
        .halt = rounds_halt,
        .never = repeat_never,
        .check = repeat_check,
};

static const Param retry_params[] = {
        { .name = "num_attempts",
          .kind = PARAM_INT,
          .offset = offsetof(RetryParams, num_attempts),
          .required = true,
          .late = true,
          .min = -1,
          .max = UINT32_MAX,
          .doc = "How often to try the child; -1: forever" },
        { .name = "backoff",
          .kind = PARAM_OBJECT,
          .offset = offsetof(RetryParams, backoff),
          .members = backoff_members,
          .members_size = sizeof(Backoff),
          .late = true,
          .doc = "Delays between the attempts; default: the next attempt follows at once" },
        { .name = "retry_on",
          .kind = PARAM_STRINGS,
          .offset = offsetof(RetryParams, retry_on),
          .single = true,
          .causes = true,
          .doc = "The causes after which to try again, such as \"timeout\" or \"exit-status:75\"; default: all" },
        {},
};

static const char *const retry_aliases[] = { "Retry", NULL };

const NodeType retry_until_successful_type = {
        .name = "RetryUntilSuccessful",
        .aliases = retry_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_REPEATS,
        .params = retry_params,
        .params_size = sizeof(RetryParams),
        .summary = "Runs its child again and again until it succeeds",
        .doc = "SUCCESS as soon as the child succeeds. FAILURE when it has failed num_attempts times, or with a cause "
               "that does not match retry_on. SKIPPED if it is skipped. An endless loop without backoff is slowed down "
               "as that of Repeat.",
        .tick = retry_tick,
        .halt = rounds_halt,
        .never = retry_never,
        .check = retry_check,
};
