/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records changes that the machine reports: the history and the causes of nodes, and whether the run is ready. */

#include "run/progress-state.h"
#include "run/reasons.h"

/* The cause of a SubTree or ForEach that failed because of its variables. */
static Cause *refusal_of(Progress *progress, NodeId node) {
        if (progress->refused != node)
                return NULL;

        progress->refused = NODE_NONE;
        return cause_ref(variables_error(progress->variables));
}

/* NULL: the failure does not come from the child of a ForEach. */
static Cause *element_cause(Progress *progress, NodeId node, Status status) {
        bool for_each = definition_tree(progress->definition)->nodes[node].type->flags & TYPE_FOR_EACH;
        NodeId child = for_each && status == STATUS_FAILURE ? history_last_failed(progress->history, node) : NODE_NONE;
        Cause *cause;

        if (child == NODE_NONE)
                return NULL;

        cause = reason_of_element(progress->definition, progress->variables, node, child);
        cause->because = cause_ref(history_last_cause(progress->history, child));
        return cause;
}

/* The cause of the node itself, if it does not come from a child; or NULL. */
static Cause *own_cause(Progress *progress, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        switch (reason) {
        case REASON_NONE:
                return leaf_cause ? cause_ref(leaf_cause)
                                  : refusal_of(progress, node) ?: element_cause(progress, node, status);
        case REASON_THRESHOLD:
                return element_cause(progress, node, status);
        case REASON_TIMEOUT:
                return reason_of_timer(definition_tree(progress->definition), node,
                                       progress_timer_span(progress, node));
        case REASON_FORCED:
                return cause_ref(causes_get(&progress->forced, node));
        default:
                return reason_is_answer(reason)
                               ? reason_of_answer(progress->definition, progress->variables, node, reason)
                               : NULL;
        }
}

/* True for outcomes that need a cause. A success needs one only if a guard or a user decided it. */
static bool is_explained(Status status, Reason reason) {
        return status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               (status == STATUS_SUCCESS && (reason_is_answer(reason) || reason == REASON_FORCED));
}

void progress_tell(const Progress *progress, NodeId node) {
        if (progress->observer && progress->observer->changed)
                progress->observer->changed(node, progress->observer_userdata);
}

void progress_tell_computed(const Progress *progress, NodeId node) {
        if (progress->observer && progress->observer->computed)
                progress->observer->computed(node, progress->observer_userdata);
}

/* A node in ERROR stays so. */
static void record(Progress *progress, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        Cause *last = history_last_cause(progress->history, node), *cause = NULL;
        g_autoptr(Cause) before = NULL;
        bool telling;

        if (history_status(progress->history, node) == STATUS_ERROR)
                return;

        if (is_explained(status, reason))
                cause = own_cause(progress, node, status, reason, leaf_cause);
        telling = progress->host->failed && status == STATUS_FAILURE && (cause || reason == REASON_ATTEMPTS);
        before = telling && last ? cause_ref(last) : NULL;

        history_record(progress->history, node, status, reason, cause, progress->now);
        progress_tell(progress, node);
        if (telling)
                progress->host->failed(node, before, progress->userdata);
}

/* An action that was halted and is still RUNNING is ending; its leaf is needed until then. */
static void action_changed(Progress *progress, NodeId node, Status status, Reason reason) {
        void *leaf = machine_node_data(progress->machine, node);

        record(progress, node, status, reason, leaf ? progress->host->leaf_cause(leaf) : NULL);
        if (leaf && status != STATUS_RUNNING && progress->host->leaf_status(leaf) != STATUS_RUNNING)
                progress_drop_leaf(progress, node);
}

static void condition_changed(Progress *progress, NodeId node, Status status, Reason reason) {
        if (!progress->first_evaluation && status == history_status(progress->history, node))
                history_repeat(progress->history, node, reason == REASON_NONE ? progress->last_evaluation : NULL);
        else
                record(progress, node, status, reason, progress->last_evaluation);
}

static void inner_changed(Progress *progress, NodeId node, Status status, Reason reason) {
        record(progress, node, status, reason, NULL);
        if (status != STATUS_RUNNING)
                progress_forget_timer(progress, node);
}

/* A success while the run is halting does not make it ready. */
static void consider_ready(Progress *progress, NodeId node, Status status) {
        if (status != STATUS_SUCCESS || progress->ready != UINT64_MAX || progress->halting ||
            !definition_makes_ready(progress->definition, node))
                return;

        progress->ready = progress->now;
        if (progress->observer && progress->observer->ready)
                progress->observer->ready(progress->observer_userdata);
}

void progress_record(Progress *progress, NodeId node, Status status, Reason reason) {
        if (status != STATUS_RUNNING)
                progress_leave_stop(progress, node);

        switch (definition_tree(progress->definition)->nodes[node].type->class) {
        case NODE_ACTION:
                action_changed(progress, node, status, reason);
                break;
        case NODE_CONDITION:
                condition_changed(progress, node, status, reason);
                break;
        default:
                inner_changed(progress, node, status, reason);
        }

        consider_ready(progress, node, status);
}

Cause *progress_root_cause(const Progress *progress) {
        Cause *below = history_cause(progress->history, 0), *cause;
        g_autofree char *text = NULL;

        if (!below)
                return NULL;

        text = cause_describe(definition_tree(progress->definition), below, NODE_NONE);
        cause = cause_new(CAUSE_CHILD, NULL, text);
        cause->because = cause_ref(below);
        return cause;
}

bool progress_is_ending(const Progress *progress, NodeId node) {
        return progress->machine && history_status(progress->history, node) == STATUS_RUNNING &&
               machine_node_status(progress->machine, node) == STATUS_IDLE;
}

/* Skips nodes that are still ending, because they are not yet recorded as halted. */
static NodeId halted_by(const Progress *progress, NodeId node) {
        do
                node = history_halted_by(progress->history, node);
        while (node != NODE_NONE && progress_is_ending(progress, node));

        return node;
}

static Cause *halted_cause(const Progress *progress, NodeId node) {
        NodeId above = halted_by(progress, node);
        const Cause *of_run = progress_cause(progress);
        g_autofree char *text = NULL, *path = NULL;
        Cause *cause;

        if (above == NODE_NONE) {
                cause = cause_new(CAUSE_HALTED, of_run ? json_object_get(of_run->facts) : NULL,
                                  of_run ? of_run->text : "the run was halted");
        } else {
                path = tree_node_path(definition_tree(progress->definition), above);
                text = g_strdup_printf("stopped by %s", path);
                cause = cause_new(CAUSE_HALTED, facts_new("by", fact_text(path), NULL), text);
                cause->because = history_cause(progress->history, above);
                if (cause->because)
                        cause_ref(cause->because);
        }

        cause->node = node;
        return cause;
}

Cause *progress_node_cause(const Progress *progress, NodeId node) {
        Cause *cause = history_cause(progress->history, node);

        if (history_status(progress->history, node) == STATUS_HALTED)
                return halted_cause(progress, node);

        return cause ? cause_ref(cause) : NULL;
}
