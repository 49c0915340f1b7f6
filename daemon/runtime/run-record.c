/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is kept of what the machine of a run tells: the history, the causes, and a line in the log for a failure. */

#include <inttypes.h>

#include "basic/log.h"
#include "basic/span.h"
#include "runtime/run-state.h"

/* What is not to be found in the children; NULL: nothing. */
static char *own_reason(Run *run, NodeId node, Reason reason, const Cause *leaf_cause) {
        g_autofree char *text = NULL;

        switch (reason) {
        case REASON_NONE:
                return leaf_cause ? g_strdup(leaf_cause->text) : NULL;
        case REASON_TIMEOUT:
                text = span_format(node_timers_span(run->timers, node));
                return g_strdup_printf("timed out after %s", text);
        case REASON_ATTEMPTS:
                text = history_cause(run->history, node + 1);
                return text ? g_strdup_printf("failed %" PRIu32 " times; last: %s", history_rounds(run->history, node),
                                              text)
                            : NULL;
        default:
                return NULL;
        }
}

/* Conditions fail all the time, and who tries again fails for the same reason again. */
static void log_failure(Run *run, NodeId node, const char *reason) {
        const Tree *tree = definition_tree(run->definition);
        const char *before = history_own_reason(run->history, node);
        bool usual = tree->nodes[node].type->class == NODE_CONDITION || g_strcmp0(before, reason) == 0;

        log_message(usual ? LOG_DEBUG : LOG_INFO,
                    &(LogSubject){ .tree = run->tree, .run = run->id, .node = tree_node_name(tree, node) }, "%s%s",
                    tree->nodes[node].flags & NODE_LEAF ? "failed: " : "", reason);
}

static void record(Run *run, NodeId node, Status status, Reason reason, const Cause *leaf_cause) {
        g_autofree char *text = NULL;

        if (status == STATUS_FAILURE || status == STATUS_SKIPPED)
                text = own_reason(run, node, reason, leaf_cause);
        if (status == STATUS_FAILURE && text)
                log_failure(run, node, text);

        history_record(run->history, node, status, reason, text, run->now);
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
