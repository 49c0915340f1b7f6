/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a run wants of the world: activities for its leaves, timers, and a line in the log for a failure. */

#include "basic/log.h"
#include "runtime/run-journal.h"
#include "runtime/run-state.h"

static void *host_leaf_start(NodeId node, uint32_t attempt, void *userdata) {
        Run *run = userdata;

        return activity_start(&run->context, node, attempt);
}

static Status host_leaf_status(void *leaf) {
        return activity_status(leaf);
}

static Status host_leaf_look(void *leaf, uint32_t look) {
        return activity_look(leaf);
}

static Cause *host_leaf_cause(void *leaf) {
        return activity_cause(leaf);
}

static bool host_leaf_halt(void *leaf) {
        return activity_halt(leaf);
}

static void host_leaf_report(void *leaf, LeafReport *ret_report) {
        activity_report(leaf, ret_report);
}

static void host_leaf_free(void *leaf) {
        activity_free(leaf);
}

static void host_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        const Run *run = userdata;

        node_timers_arm(run->timers, node, deadline);
}

static void host_timer_disarm(NodeId node, void *userdata) {
        const Run *run = userdata;

        node_timers_drop(run->timers, node);
}

/* The one who comes last into a deadlock tells of it for all. Only a halt, a timeout or the like can end it. */
bool run_take_lock(const Run *run, NodeId node) {
        const char *name = tree_node_name(definition_tree(progress_definition(run->progress)), node);
        g_autofree char *text = NULL;

        if (node_locks_take(run->locks, node))
                return true;
        if (!node_locks_is_deadlocked(run->locks, node))
                return false;

        text = node_locks_describe(run->locks, node);
        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run->id, .node = name }, "waits for %s",
                    text);
        return false;
}

static bool host_lock(NodeId node, void *userdata) {
        return run_take_lock(userdata, node);
}

static void host_unlock(NodeId node, void *userdata) {
        const Run *run = userdata;

        node_locks_drop(run->locks, node);
}

static bool is_same(const Cause *a, const Cause *b) {
        return a && b && g_str_equal(a->kind, b->kind) && g_strcmp0(a->text, b->text) == 0;
}

/* Conditions fail all the time, and who tries again fails for the same reason again. What is only handed on has
 * been logged. */
static void host_failed(NodeId node, const Cause *before, void *userdata) {
        const Run *run = userdata;
        const Tree *tree = definition_tree(progress_definition(run->progress));
        const Cause *cause = history_cause(progress_history(run->progress), node);
        bool usual = tree->nodes[node].type->class == NODE_CONDITION || is_same(before, cause);
        g_autofree char *text = cause_describe(tree, cause, node);

        log_message(
                usual ? LOG_DEBUG : LOG_INFO,
                &(LogSubject){ .tree = run->tree, .run = run->id, .node = tree_node_name(tree, node), .cause = cause },
                "%s%s", tree->nodes[node].flags & NODE_LEAF ? "failed: " : "", text);
}

static void host_journal_failed(const char *error, void *userdata) {
        Run *run = userdata;

        run_lose_journal(run, error);
        run->callbacks->state_changed(run, run->userdata);
}

const ProgressHost run_host = {
        .leaf_start = host_leaf_start,
        .leaf_status = host_leaf_status,
        .leaf_look = host_leaf_look,
        .leaf_cause = host_leaf_cause,
        .leaf_halt = host_leaf_halt,
        .leaf_report = host_leaf_report,
        .leaf_free = host_leaf_free,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .lock = host_lock,
        .unlock = host_unlock,
        .failed = host_failed,
        .journal_failed = host_journal_failed,
};
