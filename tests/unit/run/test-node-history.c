/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the history of nodes and the chain of causes. The tests call NodeHistory directly, without a machine. */

#include "assert-cause.h"
#include "run/node-history.h"

/* Retry(Both(One, Two)) */
enum {
        RETRY,
        BOTH,
        ONE,
        TWO
};

typedef struct Stage {
        Tree *tree;
        NodeHistory *history;
        uint64_t now;
} Stage;

static const NodeType decorator_type = { .name = "Decorator", .class = NODE_DECORATOR },
                      control_type = { .name = "Control", .class = NODE_CONTROL },
                      leaf_type = { .name = "Leaf", .class = NODE_ACTION };

static void stage_open(Stage *stage, const void *data) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);

        tree_builder_open(builder, &decorator_type, "Retry", NULL);
        tree_builder_open(builder, &control_type, "Both", NULL);
        tree_builder_open(builder, &leaf_type, "One", NULL);
        tree_builder_close(builder);
        tree_builder_open(builder, &leaf_type, "Two", NULL);
        tree_builder_close(builder);
        tree_builder_close(builder);
        tree_builder_close(builder);

        stage->tree = tree_builder_finish(builder);
        stage->now = 1000;
        stage->history = node_history_new(stage->tree, stage->now);
}

static void stage_close(Stage *stage, const void *data) {
        node_history_free(stage->history);
        tree_free(stage->tree);
}

static void tell_reason(Stage *stage, NodeId node, Status status, Reason reason, const char *why) {
        node_history_record(stage->history, node, status, reason, why ? cause_new(CAUSE_FAILED, NULL, why) : NULL,
                            ++stage->now);
}

static void tell(Stage *stage, NodeId node, Status status, const char *why) {
        tell_reason(stage, node, status, REASON_NONE, why);
}

static void begin(Stage *stage, NodeId from, NodeId to) {
        for (NodeId node = from; node <= to; node++)
                tell(stage, node, STATUS_RUNNING, NULL);
}

static void assert_described(const Stage *stage, NodeId node, NodeId from, const char *expected) {
        g_autofree char *text = cause_describe(stage->tree, node_history_cause(stage->history, node), from);

        g_assert_cmpstr(text, ==, expected);
}

static void test_comes_up(Stage *stage, const void *data) {
        const Cause *cause;

        begin(stage, RETRY, TWO);
        tell(stage, TWO, STATUS_FAILURE, "no light");
        tell(stage, BOTH, STATUS_FAILURE, NULL);
        tell(stage, RETRY, STATUS_FAILURE, NULL);

        cause = node_history_cause(stage->history, RETRY);
        g_assert_cmpuint(cause->node, ==, RETRY);
        assert_cause(cause, "child", "null");
        g_assert_cmpuint(cause->because->node, ==, BOTH);
        g_assert_cmpuint(cause_origin(cause)->node, ==, TWO);
        assert_described(stage, RETRY, NODE_NONE, "Retry/Both/Two: no light");
        assert_described(stage, RETRY, RETRY, "Both/Two: no light");
        assert_described(stage, TWO, TWO, "no light");
        g_assert_null(node_history_cause(stage->history, ONE));
}

/* The child that has failed last decides; one that failed in an earlier activation does not. */
static void test_last_one_decides(Stage *stage, const void *data) {
        begin(stage, RETRY, TWO);
        tell(stage, TWO, STATUS_FAILURE, "second");
        tell(stage, ONE, STATUS_FAILURE, "first");
        tell(stage, BOTH, STATUS_FAILURE, NULL);
        assert_described(stage, BOTH, BOTH, "One: first");

        begin(stage, BOTH, BOTH);
        tell(stage, TWO, STATUS_FAILURE, "again");
        tell(stage, BOTH, STATUS_FAILURE, NULL);
        assert_described(stage, BOTH, BOTH, "Two: again");

        begin(stage, BOTH, BOTH);
        tell(stage, BOTH, STATUS_FAILURE, NULL);
        assert_described(stage, BOTH, BOTH, "failed");
}

static void test_attempts(Stage *stage, const void *data) {
        begin(stage, RETRY, RETRY);
        for (unsigned i = 0; i < 2; i++) {
                begin(stage, BOTH, TWO);
                tell(stage, TWO, STATUS_FAILURE, "no light");
                tell_reason(stage, BOTH, STATUS_FAILURE, REASON_THRESHOLD, NULL);
        }
        tell_reason(stage, RETRY, STATUS_FAILURE, REASON_ATTEMPTS, NULL);

        assert_cause(node_history_cause(stage->history, RETRY), "attempts", "{\"attempts\":2}");
        assert_cause(node_history_cause(stage->history, BOTH), "threshold",
                     "{\"children\":2,\"failed\":1,\"succeeded\":0}");
        g_assert_cmpstr(node_history_cause(stage->history, BOTH)->text, ==, "1 of its 2 children failed");
        assert_described(stage, RETRY, NODE_NONE, "Retry: failed 2 times; last: Two: no light");
}

static void test_few_attempts(Stage *stage, const void *data) {
        begin(stage, RETRY, RETRY);
        tell_reason(stage, RETRY, STATUS_FAILURE, REASON_ATTEMPTS, NULL);
        assert_described(stage, RETRY, NODE_NONE, "Retry: no attempts are left");

        begin(stage, RETRY, RETRY);
        begin(stage, BOTH, TWO);
        tell(stage, TWO, STATUS_FAILURE, "no light");
        tell_reason(stage, BOTH, STATUS_FAILURE, REASON_THRESHOLD, NULL);
        tell_reason(stage, RETRY, STATUS_FAILURE, REASON_ATTEMPTS, NULL);
        assert_described(stage, RETRY, NODE_NONE, "Retry: failed 1 time; last: Two: no light");
}

/* What a chain holds stays, whatever becomes of the nodes that it is about. */
static void test_chain_stays(Stage *stage, const void *data) {
        g_autoptr(Cause) kept = NULL;
        g_autofree char *text = NULL;

        begin(stage, RETRY, TWO);
        tell(stage, TWO, STATUS_FAILURE, "no light");
        tell(stage, BOTH, STATUS_FAILURE, NULL);
        kept = cause_ref(node_history_cause(stage->history, BOTH));

        begin(stage, BOTH, TWO);
        g_assert_null(node_history_cause(stage->history, BOTH));
        g_assert_true(node_history_last_cause(stage->history, BOTH) == kept);
        tell(stage, TWO, STATUS_SUCCESS, NULL);
        tell(stage, BOTH, STATUS_SUCCESS, NULL);
        g_assert_null(node_history_last_cause(stage->history, BOTH));

        text = cause_describe(stage->tree, kept, NODE_NONE);
        g_assert_cmpstr(text, ==, "Retry/Both/Two: no light");
}

static void test_skipped(Stage *stage, const void *data) {
        begin(stage, RETRY, TWO);
        tell(stage, ONE, STATUS_SKIPPED, "its skip_if is true");
        tell(stage, TWO, STATUS_SKIPPED, NULL);
        tell(stage, BOTH, STATUS_SKIPPED, NULL);
        assert_described(stage, ONE, ONE, "its skip_if is true");
        assert_described(stage, BOTH, BOTH, "Two: skipped");
}

static void test_error(Stage *stage, const void *data) {
        begin(stage, RETRY, TWO);
        node_history_fail(stage->history, BOTH, cause_new(CAUSE_TREE, NULL, "it waits for too many"), ++stage->now);
        for (NodeId node = TWO; node != NODE_NONE; node--)
                tell(stage, node, STATUS_HALTED, NULL);

        g_assert_cmpint(node_history_status(stage->history, RETRY), ==, STATUS_ERROR);
        g_assert_cmpint(node_history_status(stage->history, BOTH), ==, STATUS_ERROR);
        g_assert_cmpint(node_history_status(stage->history, ONE), ==, STATUS_HALTED);
        assert_described(stage, RETRY, NODE_NONE, "Retry/Both: it waits for too many");
        g_assert_cmpuint(node_history_halted_by(stage->history, ONE), ==, BOTH);
}

static void test_halted_by(Stage *stage, const void *data) {
        begin(stage, RETRY, TWO);
        tell(stage, TWO, STATUS_HALTED, NULL);
        tell(stage, BOTH, STATUS_HALTED, NULL);
        g_assert_cmpuint(node_history_halted_by(stage->history, TWO), ==, RETRY);
        tell(stage, RETRY, STATUS_HALTED, NULL);
        g_assert_cmpuint(node_history_halted_by(stage->history, TWO), ==, NODE_NONE);
}

static void assert_restored(const Stage *stage, NodeId node) {
        g_autoptr(NodeHistory) again = node_history_new(stage->tree, 1000);
        NodeHistoryImage image, restored;

        g_assert_true(node_history_image(stage->history, node, &image));
        g_assert_true(node_history_restore(again, node, &image));
        g_assert_true(node_history_image(again, node, &restored));
        g_assert_cmpmem(&image, sizeof(image), &restored, sizeof(restored));
}

static void assert_state(const Stage *stage, NodeId node, const char *state, uint64_t since, uint64_t duration) {
        g_assert_cmpstr(node_history_state(stage->history, node), ==, state);
        g_assert_cmpuint(node_history_since(stage->history, node), ==, since);
        g_assert_cmpuint(node_history_duration(stage->history, node, stage->now), ==, duration);
        assert_restored(stage, node);
}

/* The time that a node waited is no part of its execution, the time that it took to stop is. */
static void test_phases(Stage *stage, const void *data) {
        begin(stage, RETRY, BOTH);
        g_assert_true(node_history_record_waiting(stage->history, ONE, 2000));
        g_assert_false(node_history_record_waiting(stage->history, ONE, 2100));
        g_assert_false(node_history_record_halting(stage->history, ONE, 2100));
        stage->now = 2500;
        assert_state(stage, ONE, "waiting", 2000, 500);
        g_assert_cmpint(node_history_status(stage->history, ONE), ==, STATUS_RUNNING);

        stage->now = 2999;
        tell(stage, ONE, STATUS_RUNNING, NULL);
        stage->now = 3300;
        assert_state(stage, ONE, "running", 3000, 300);
        g_assert_true(node_history_record_halting(stage->history, ONE, 3400));
        g_assert_false(node_history_record_halting(stage->history, ONE, 3500));
        g_assert_false(node_history_record_waiting(stage->history, ONE, 3500));
        tell(stage, ONE, STATUS_RUNNING, NULL);
        stage->now = 4000;
        assert_state(stage, ONE, "halting", 3400, 600);
        g_assert_cmpuint(node_history_halted_by(stage->history, ONE), ==, BOTH);
        g_assert_true(node_history_record_halting(stage->history, BOTH, 3400));
        g_assert_cmpuint(node_history_halted_by(stage->history, ONE), ==, RETRY);

        stage->now = 4999;
        tell(stage, ONE, STATUS_HALTED, NULL);
        assert_state(stage, ONE, "halted", 3000, 2000);
}

/* What never began took no time. */
static void test_halted_before_it_began(Stage *stage, const void *data) {
        node_history_record_waiting(stage->history, ONE, 2000);
        stage->now = 2999;
        tell(stage, ONE, STATUS_HALTED, NULL);
        assert_state(stage, ONE, "halted", 3000, 0);
}

/* To the microsecond where that matters to anybody, and never longer than it was. */
static void test_durations(Stage *stage, const void *data) {
        for (uint64_t span = 1; span < UINT64_C(1) << 46; span = 3 * span + 7) {
                uint64_t duration;

                tell(stage, ONE, STATUS_RUNNING, NULL);
                stage->now += span - 1;
                tell(stage, ONE, STATUS_SUCCESS, NULL);
                duration = node_history_duration(stage->history, ONE, stage->now);

                g_assert_cmpuint(duration, <=, span);
                g_assert_cmpuint(span - duration, <=, span < 4000000 ? 0 : span / 2000000);
                assert_restored(stage, ONE);
        }
}

static void test_counts(Stage *stage, const void *data) {
        g_assert_cmpuint(node_history_count_start(stage->history, ONE), ==, 1);
        assert_restored(stage, ONE);
        for (uint32_t i = 2; i <= UINT16_MAX; i++)
                g_assert_cmpuint(node_history_count_start(stage->history, ONE), ==, i);
        assert_restored(stage, ONE);
        g_assert_cmpuint(node_history_count_start(stage->history, ONE), ==, 1);
        g_assert_cmpuint(node_history_count_start(stage->history, TWO), ==, 1);

        tell(stage, RETRY, STATUS_RUNNING, NULL);
        for (uint32_t i = 1; i <= UINT16_MAX + 2; i++) {
                tell(stage, BOTH, STATUS_RUNNING, NULL);
                tell(stage, BOTH, STATUS_SUCCESS, NULL);
                g_assert_cmpuint(node_history_rounds(stage->history, RETRY), ==, MIN(i, UINT16_MAX));
        }
        tell(stage, RETRY, STATUS_SUCCESS, NULL);
        tell(stage, RETRY, STATUS_RUNNING, NULL);
        g_assert_cmpuint(node_history_rounds(stage->history, RETRY), ==, 0);
}

#define ADD(name, test) g_test_add("/node-history/" name, Stage, NULL, stage_open, test, stage_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        ADD("comes-up", test_comes_up);
        ADD("last-one-decides", test_last_one_decides);
        ADD("attempts", test_attempts);
        ADD("few-attempts", test_few_attempts);
        ADD("chain-stays", test_chain_stays);
        ADD("skipped", test_skipped);
        ADD("error", test_error);
        ADD("halted-by", test_halted_by);
        ADD("phases", test_phases);
        ADD("halted-before-it-began", test_halted_before_it_began);
        ADD("durations", test_durations);
        ADD("counts", test_counts);
        return g_test_run();
}
