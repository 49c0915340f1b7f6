/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Carries out the effects of a run: activities for its leaves, timers, locks, and log messages for failures. */

#include "basic/log.h"
#include "run/run-journal.h"
#include "run/run-state.h"

static void *host_leaf_start(NodeId node, uint32_t attempt, json_object *noted, void *userdata) {
        Run *run = userdata;

        return activity_start(&run->context, node, attempt, noted);
}

static Status host_leaf_status(void *leaf) {
        return activity_status(leaf);
}

static Status host_leaf_evaluate(void *leaf, uint32_t look) {
        return activity_evaluate(leaf);
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
        Run *run = userdata;

        if (!run->timers)
                run->timers = node_timers_new(run->services->leaves->timers, run_on_timer, run);
        if (node != NODE_NONE && definition_uses_boottime(progress_definition(run->progress), node))
                node_timers_arm(run->timers, node, TIMER_BOOTTIME, progress_boottime_deadline(run->progress, node));
        else
                node_timers_arm(run->timers, node, TIMER_MONOTONIC, deadline);
}

static uint64_t host_suspended(void *userdata) {
        return timers_suspended();
}

static void host_timer_disarm(NodeId node, void *userdata) {
        const Run *run = userdata;

        node_timers_drop(run->timers, node);
}

/* The claim that completes a deadlock logs it, once for all claims. Only something other than a lock, such as a halt or
 * timeout, can end it. */
bool run_take_lock(Run *run, NodeId node) {
        const Definition *definition = progress_definition(run->progress);
        const char *name = tree_node_name(definition_tree(definition), node);
        g_autofree char *text = NULL;

        if (!run->locks)
                run->locks = node_locks_new(run->services->locks, definition, run->id, run_on_lock_granted, run);
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

/* Do not log conditions, which fail often, nor retries that fail again for the same reason, nor causes that are only
 * passed on from a child. */
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
        .leaf_evaluate = host_leaf_evaluate,
        .leaf_cause = host_leaf_cause,
        .leaf_halt = host_leaf_halt,
        .leaf_report = host_leaf_report,
        .leaf_free = host_leaf_free,
        .suspended = host_suspended,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .lock = host_lock,
        .unlock = host_unlock,
        .failed = host_failed,
        .journal_failed = host_journal_failed,
};
