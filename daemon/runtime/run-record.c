/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is kept of what the machine of a run tells: the history, the causes, and a line in the log for a failure. */

#include "basic/log.h"
#include "definition/reasons.h"
#include "runtime/run-state.h"

/* Of a SubTree or ForEach for which its variables were wrong. */
static Cause *refusal_of(Run *run, NodeId node) {
        if (run->refused != node)
                return NULL;

        run->refused = NODE_NONE;
        return cause_ref(variables_error(run->variables));
}

/* What is not to be found in the children; NULL: nothing. */
static Cause *own_cause(Run *run, NodeId node, Reason reason, Cause *leaf_cause) {
        switch (reason) {
        case REASON_NONE:
                return leaf_cause ? cause_ref(leaf_cause) : refusal_of(run, node);
        case REASON_TIMEOUT:
                return reason_of_timer(definition_tree(run->definition), node, node_timers_span(run->timers, node));
        case REASON_GUARD:
                return reason_of_answer(run->definition, run->variables, node, run->asked);
        case REASON_FORCED:
                return cause_new(CAUSE_FORCED, NULL, "somebody has said so");
        default:
                return NULL;
        }
}

static bool is_same(const Cause *a, const Cause *b) {
        return a && b && g_str_equal(a->kind, b->kind) && g_strcmp0(a->text, b->text) == 0;
}

/* Conditions fail all the time, and who tries again fails for the same reason again. What is only handed on has
 * been logged. */
static void log_failure(Run *run, NodeId node, const Cause *before) {
        const Tree *tree = definition_tree(run->definition);
        const Cause *cause = history_cause(run->history, node);
        bool usual = tree->nodes[node].type->class == NODE_CONDITION || is_same(before, cause);
        g_autofree char *text = cause_describe(tree, cause, node);

        log_message(
                usual ? LOG_DEBUG : LOG_INFO,
                &(LogSubject){ .tree = run->tree, .run = run->id, .node = tree_node_name(tree, node), .cause = cause },
                "%s%s", tree->nodes[node].flags & NODE_LEAF ? "failed: " : "", text);
}

static void record(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        bool failed = (status == STATUS_FAILURE || status == STATUS_SKIPPED) &&
                      history_status(run->history, node) != STATUS_ERROR;
        Cause *cause = failed ? own_cause(run, node, reason, leaf_cause) : NULL,
              *last = history_last_cause(run->history, node);
        bool telling = failed && status == STATUS_FAILURE && (cause || reason == REASON_ATTEMPTS);
        g_autoptr(Cause) before = telling && last ? cause_ref(last) : NULL;

        history_record(run->history, node, status, reason, cause, run->now);
        if (telling)
                log_failure(run, node, before);
}

static void action_changed(Run *run, NodeId node, Status status, Reason reason) {
        Activity *activity = machine_node_data(run->machine, node);

        record(run, node, status, reason, activity ? activity_cause(activity) : NULL);
        if (activity && status != STATUS_RUNNING && !activity_is_ending(activity))
                run_drop_activity(run, activity);
}

static void condition_changed(Run *run, NodeId node, Status status, Reason reason) {
        if (!run->first_look && status == history_status(run->history, node))
                history_repeat(run->history, node);
        else
                record(run, node, status, reason, run->last_look);
}

static void inner_changed(Run *run, NodeId node, Status status, Reason reason) {
        record(run, node, status, reason, NULL);
        if (status != STATUS_RUNNING)
                node_timers_drop(run->timers, node);
}

void run_record(Run *run, NodeId node, Status status, Reason reason) {
        if (status != STATUS_RUNNING)
                run_leave_stop(run, node);

        switch (definition_tree(run->definition)->nodes[node].type->class) {
        case NODE_ACTION:
                action_changed(run, node, status, reason);
                break;
        case NODE_CONDITION:
                condition_changed(run, node, status, reason);
                break;
        default:
                inner_changed(run, node, status, reason);
        }
}
