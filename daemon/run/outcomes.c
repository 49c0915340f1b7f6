/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements what becomes of the nodes of a run: which outcomes go to the node history, when the run is ready, and the
 * causes of outcomes and halts.
 */

#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "engine/machine.h"
#include "engine/types/types.h"
#include "run/causes.h"
#include "run/run-state.h"

void run_note_held_back(Run *run, NodeId node) {
        node_set_add(&run_get_input(run)->held_back, node);
}

static void on_cause_dropped(void *cause) {
        cause_unref(cause);
}

void run_note_broken(Run *run, NodeId node, Cause *why) {
        if (!run->broken)
                run->broken = g_hash_table_new_full(NULL, NULL, NULL, on_cause_dropped);
        if (!g_hash_table_contains(run->broken, GUINT_TO_POINTER(node)))
                g_hash_table_insert(run->broken, GUINT_TO_POINTER(node), cause_ref(why));
}

/* Reports of the machine: the history and the causes of nodes, and whether the run is ready. */

/* How many elements of a ForEach that has just completed have failed. */
static uint32_t failed_elements(const Run *run, NodeId node) {
        uint32_t elements, failed = 0;

        if (definition_tree(run->definition)->nodes[node].type->flags & TYPE_FOR_EACH)
                machine_elements(run->machine, node, &elements, &failed);
        return failed;
}

/* Does the node run for other elements, whichever fail, so that its cause names all that failed? */
static bool names_all(const Run *run, NodeId node) {
        const Node *n = &definition_tree(run->definition)->nodes[node];
        const ForEachParams *params = n->params;

        return n->type->flags & TYPE_FOR_EACH && (params->run_all || params->until == UNTIL_SUCCESS);
}

/* A ForEach has failed, because the child has for its last element. */
static Cause *last_element_cause(const Run *run, NodeId for_each, NodeId child) {
        const ForEachParams *params = definition_tree(run->definition)->nodes[for_each].params;
        g_autofree char *shown = NULL, *text = NULL;
        json_object *element, *facts;
        uint32_t index, n;
        const char *json;
        Cause *cause;

        element = variables_element(run->variables, for_each, child, &index, &n);
        json = params->label ? run_node_element(run, child)
                             : json_object_to_json_string_ext(element,
                                                              JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        shown = excerpt(json, strlen(json));
        /* A long element is cut, because causes are reported often; the index identifies it. */
        facts = facts_new("index", json_object_new_int64(index), "element",
                          g_str_has_suffix(shown, "...") ? json_object_new_string(shown) : json_object_get(element),
                          NULL);
        if (params->max_failures == 0) {
                text = g_strdup_printf("failed for %s", shown);
        } else {
                json_object_object_add(facts, "elements", json_object_new_int64(n));
                json_object_object_add(facts, "failed", json_object_new_int64(params->max_failures + 1));
                text = g_strdup_printf("failed for %" PRIi64 " of %" PRIu32 " elements, last for %s",
                                       params->max_failures + 1, n, shown);
        }
        cause = cause_new(params->max_failures == 0 ? CAUSE_ELEMENT : CAUSE_THRESHOLD, facts, text);
        cause->because = cause_ref(node_history_last_cause(run->history, child));
        return cause;
}

/* NULL: the failure does not come from the child of a ForEach, or from its empty list. */
static Cause *element_cause(Run *run, NodeId node, Status status) {
        bool for_each = definition_tree(run->definition)->nodes[node].type->flags & TYPE_FOR_EACH;
        const Cause *failures = names_all(run, node) ? causes_get(&run->forced, node) : NULL;
        g_autofree char *text = NULL;
        uint32_t n, failed;
        NodeId child;
        Cause *cause;

        if (!for_each || status != STATUS_FAILURE)
                return NULL;

        machine_elements(run->machine, node, &n, &failed);
        /* Only one with UNTIL_SUCCESS fails then. */
        if (n == 0)
                return cause_new(CAUSE_ALL_FAILED, NULL, "the list has no elements");
        /* The child may have succeeded with other elements since. A run record that btd did not write may lack it. */
        if (failures && failed > 0) {
                text = n == 1        ? g_strdup_printf("failed for %s", failures->text)
                       : failed == n ? g_strdup_printf("all %" PRIu32 " elements failed: %s", n, failures->text)
                                     : g_strdup_printf("%" PRIu32 " of %" PRIu32 " elements failed: %s", failed, n,
                                                       failures->text);
                cause = cause_new(CAUSE_ALL_FAILED,
                                  facts_new("elements", json_object_new_int64(n), "children",
                                            json_object_new_int64(failed), NULL),
                                  text);
                cause->because = cause_ref(failures->because);
                return cause;
        }

        child = node_history_deciding_child(run->history, node, STATUS_FAILURE);
        return child != NODE_NONE ? last_element_cause(run, node, child) : NULL;
}

/* A ForEach has succeeded, although elements have failed. */
static Cause *failed_elements_cause(const Run *run, NodeId node) {
        const Cause *failures = names_all(run, node) ? causes_get(&run->forced, node) : NULL;
        g_autofree char *text = NULL;
        uint32_t n, failed;

        machine_elements(run->machine, node, &n, &failed);
        text = g_strdup_printf("%" PRIu32 " of %" PRIu32 " elements failed%s%s", failed, n, failures ? ": " : "",
                               failures ? failures->text : "");
        return cause_new(CAUSE_THRESHOLD,
                         facts_new("elements", json_object_new_int64(n), "failed", json_object_new_int64(failed), NULL),
                         text);
}

/* The cause of the node itself, if it does not come from a child; or NULL. */
static Cause *own_cause(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        const NodeTimer *timer = run_timer(run, node);

        switch (reason) {
        case REASON_NONE:
                if (status == STATUS_SUCCESS && !leaf_cause)
                        return failed_elements_cause(run, node);
                if (leaf_cause)
                        return cause_ref(leaf_cause);
                if (run->refused != node)
                        return element_cause(run, node, status);
                /* A SubTree or ForEach that failed because of its variables. */
                run->refused = NODE_NONE;
                return cause_ref(variables_error(run->variables));
        case REASON_THRESHOLD:
                return element_cause(run, node, status);
        case REASON_TIMEOUT:
                return reason_of_timeout(definition_tree(run->definition), node, timer ? timer->span : 0,
                                         timer ? timer->waited : NULL);
        case REASON_FORCED:
                return cause_ref(causes_get(&run->forced, node));
        default:
                return reason_is_answer(reason) ? reason_of_answer(run->definition, run->variables, node, reason)
                                                : NULL;
        }
}

/* True for outcomes that need a cause. A success needs one if a guard or a user decided it, if it is that of a ForEach
 * of which elements failed, or if the action gave it a note. */
static bool is_explained(const Run *run, NodeId node, Status status, Reason reason, const Cause *leaf_cause) {
        const NodeType *type = definition_tree(run->definition)->nodes[node].type;

        if (status != STATUS_SUCCESS)
                return status == STATUS_FAILURE || status == STATUS_SKIPPED;
        if (reason != REASON_NONE)
                return reason_is_answer(reason) || reason == REASON_FORCED;

        return failed_elements(run, node) > 0 || (leaf_cause && type->class == NODE_ACTION);
}

void run_tell_node(Run *run, NodeId node, Status before, uint64_t waited) {
        run_tell_change(run, node, before, waited);
        if (run->observer && run->observer->changed)
                run->observer->changed(node, run->observer_userdata);
}

/* A halted Finally has no outcome, so this is the only place that tells of its clean-up. NULL: it has not failed. */
static char *describe_failed_clean_up(const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        NodeId clean_up = tree->nodes[node].type == &finally_type ? tree->nodes[node + 1].end : NODE_NONE;
        g_autofree char *text = NULL;

        if (clean_up == NODE_NONE || node_history_status(run->history, node) != STATUS_HALTED)
                return NULL;
        if (node_history_has_reached(run->history, node, clean_up, STATUS_HALTED))
                return g_strdup("its clean-up timed out");
        if (!node_history_has_reached(run->history, node, clean_up, STATUS_FAILURE))
                return NULL;

        text = cause_describe(tree, node_history_cause(run->history, clean_up), node);
        return g_strconcat("its clean-up failed: ", text, NULL);
}

/* The next child of its parent may handle the failure. */
static void tell_parent(Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        NodeId parent = tree->nodes[node].parent;
        const NodeType *type = parent != NODE_NONE ? tree->nodes[parent].type : NULL;
        const char *variable;

        if (!type || !type->tells_cause || tree->nodes[node].flags & NODE_MAY_FAIL)
                return;

        variable =
                *(const char *const *) (const void *) ((const char *) tree->nodes[parent].params + type->cause_offset);
        if (!variable)
                return;

        variables_tell_cause(run->variables, parent, variable, node_history_cause(run->history, node));
        run_tell_computed(run, parent);
}

void run_record_outcome(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        Cause *last = node_history_last_cause(run->history, node), *cause = NULL;
        g_autoptr(Cause) before = NULL;
        Status status_before = node_history_status(run->history, node);
        g_autofree char *clean_up = NULL;
        uint64_t waited = 0;
        bool logging;

        /* A node in ERROR stays so. */
        if (status_before == STATUS_ERROR)
                return;

        if (is_explained(run, node, status, reason, leaf_cause))
                cause = own_cause(run, node, status, reason, leaf_cause);
        if (node_history_phase(run->history, node) == PHASE_WAITING)
                waited = run->now - node_history_since(run->history, node);
        logging = run->host && status == STATUS_FAILURE && (cause || reason == REASON_ATTEMPTS);
        before = logging ? cause_ref(last) : NULL;

        node_history_record(run->history, node, status, reason, cause, run->now);
        run_tell_node(run, node, status_before, waited);
        if (logging) {
                /* Do not log conditions, which fail often, nor retries that fail again for the same reason, nor causes
                 * that are only passed on from a child. */
                const Tree *tree = definition_tree(run->definition);
                Cause *why = node_history_cause(run->history, node);
                bool same = before && why && g_str_equal(before->kind, why->kind) &&
                            g_strcmp0(before->text, why->text) == 0;
                g_autofree char *text = cause_describe(tree, why, node);

                run_add_effect(
                        run,
                        &(Effect){
                                .kind = EFFECT_LOG,
                                .node = node,
                                .level = same || tree->nodes[node].type->class == NODE_CONDITION ? LOG_DEBUG : LOG_INFO,
                                .text = tree->nodes[node].flags & NODE_LEAF ? g_strconcat("failed: ", text, NULL)
                                                                            : g_strdup(text),
                                .cause = cause_ref(why),
                                .label = run_node_label(run, node),
                        });
        }
        clean_up = run->host && status == STATUS_HALTED ? describe_failed_clean_up(run, node) : NULL;
        if (clean_up)
                run_add_effect(run, &(Effect){ .kind = EFFECT_LOG,
                                               .node = node,
                                               .level = LOG_WARNING,
                                               .text = g_steal_pointer(&clean_up),
                                               .label = run_node_label(run, node) });
        if (status == STATUS_FAILURE)
                tell_parent(run, node);
}

void run_consider_waiting(Run *run, NodeId node) {
        if (machine_node_waits(run->machine, node) && node_history_record_waiting(run->history, node, run->now))
                run_note_held_back(run, node);
}

/* The machine reports that a leaf in ERROR has failed, before it reports the error, which is recorded instead: but only
 * the first error of a run. */
static bool is_error(const Run *run, Status status, Reason reason, Status of_leaf) {
        return status == STATUS_FAILURE && reason == REASON_NONE && of_leaf == STATUS_ERROR && !run->cause;
}

/* The failure of an element is a part of the cause of its ForEach, but the child is about to run for others. */
static void gather_failure(Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        NodeId parent = tree->nodes[node].parent;
        Cause *failure = node_history_cause(run->history, node), *cause;
        g_autofree char *told = NULL, *text = NULL;
        const Cause *before; /* those that have failed until now */

        if (parent == NODE_NONE || !names_all(run, parent) || machine_node_held(run->machine, parent) ||
            tree->nodes[node].flags & NODE_MAY_FAIL || node_history_status(run->history, node) != STATUS_FAILURE)
                return;

        before = failed_elements(run, parent) > 0 ? causes_get(&run->forced, parent) : NULL;
        told = cause_describe(tree, failure, node);
        text = g_strdup_printf("%s%s%s: %s", before ? before->text : "", before ? "; " : "",
                               run_node_element(run, node), told);
        cause = cause_new(CAUSE_ALL_FAILED, NULL, text);
        cause->because = cause_ref(failure);
        causes_set(&run->forced, parent, cause);
}

void run_node_changed(Run *run, NodeId node, Status status, Reason reason) {
        const Node *changed = &definition_tree(run->definition)->nodes[node];
        Phase phase = node_history_phase(run->history, node);
        const NodeTimer *timer;
        RunLeaf *leaf;

        if (status != STATUS_RUNNING)
                run->moved |= node_set_remove(&run->stops, node);
        /* A leaf that was halted and has not ended is halting, not halted. It can be halted again while its next
         * execution waits. */
        if (changed->flags & NODE_LEAF &&
            ((status == STATUS_HALTED && machine_node_ending(run->machine, node) && phase != PHASE_WAITING) ||
             (status == STATUS_RUNNING && machine_node_waits(run->machine, node))))
                return;

        switch (changed->type->class) {
        case NODE_ACTION:
                leaf = machine_node_data(run->machine, node);
                if (!leaf || !is_error(run, status, reason, leaf->status))
                        run_record_outcome(run, node, status, reason, leaf ? leaf->cause : NULL);
                /* An action that was halted and is still RUNNING is ending; its leaf is needed until then. */
                if (leaf && status != STATUS_RUNNING && leaf->status != STATUS_RUNNING)
                        run_remove_leaf(run, leaf);
                break;
        case NODE_CONDITION:
                if (is_error(run, status, reason, run->evaluated))
                        break;
                if (!run->first_evaluation && status == node_history_status(run->history, node))
                        node_history_repeat(run->history, node, reason == REASON_NONE ? run->last_evaluation : NULL,
                                            run->now);
                else
                        run_record_outcome(run, node, status, reason, run->last_evaluation);
                break;
        default:
                run_record_outcome(run, node, status, reason, NULL);
                /* The timer of a RateController continues after its child has ended, until the child may start again.
                 */
                timer = status != STATUS_RUNNING ? run_timer(run, node) : NULL;
                if (timer && !timer->armed)
                        g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
        }

        /* A success while the run is halting does not make it ready. */
        if (status == STATUS_SUCCESS && run->ready == UINT64_MAX && !run->halting &&
            definition_makes_ready(run->definition, node)) {
                run->ready = run->now;
                run_tell(run, NODE_NONE, "ready");
                if (run->observer && run->observer->ready)
                        run->observer->ready(run->observer_userdata);
        }
        if (status == STATUS_FAILURE)
                gather_failure(run, node);
        if (phase == PHASE_HALTING && status != STATUS_RUNNING)
                run_consider_waiting(run, node);
}

Cause *run_root_cause(const Run *run) {
        Cause *below = node_history_cause(run->history, 0), *cause;
        g_autofree char *text = NULL;

        if (!below)
                return NULL;

        text = cause_describe(definition_tree(run->definition), below, NODE_NONE);
        cause = cause_new(CAUSE_CHILD, NULL, text);
        cause->because = cause_ref(below);
        return cause;
}

static bool is_halted(const Run *run, NodeId node) {
        return node_history_status(run->history, node) == STATUS_HALTED ||
               node_history_phase(run->history, node) == PHASE_HALTING;
}

/* Was the node halted because its own while turned false, or because a user has set its outcome? It gets the outcome
 * next. */
static bool has_stopped_itself(const Run *run, NodeId node) {
        return run->machine && machine_node_held(run->machine, node) && is_halted(run, node);
}

Cause *run_halted_cause(const Run *run, NodeId node) {
        const Node *nodes = definition_tree(run->definition)->nodes;
        NodeId last = node_history_halted_by(run->history, node), above = nodes[node].parent;
        const Cause *of_run = run_cause_chain(run);
        g_autofree char *text = NULL, *path = NULL, *failed = describe_failed_clean_up(run, node);
        Cause *cause;

        /* The nearest node above it that is neither halted nor halting, or has stopped itself. */
        while (above != last && !has_stopped_itself(run, above))
                above = nodes[above].parent;

        path = above == NODE_NONE ? NULL : tree_node_path(definition_tree(run->definition), above);
        text = g_strconcat(path ? "stopped by " : "",
                           path
                                   ?: of_run ? of_run->text
                                             : "the run was halted",
                           failed ? "; " : NULL, failed, NULL);
        cause = cause_new(CAUSE_HALTED,
                          path     ? facts_new("by", fact_text(path), NULL)
                          : of_run ? json_object_get(of_run->facts)
                                   : NULL,
                          text);
        if (path)
                cause->because = run_node_cause(run, above);

        cause->node = node;
        return cause;
}

Cause *run_node_cause(const Run *run, NodeId node) {
        Cause *cause = node_history_cause(run->history, node);

        if (has_stopped_itself(run, node)) {
                Reason reason = machine_held_reason(run->machine, node);

                cause = reason == REASON_FORCED ? cause_ref(causes_get(&run->forced, node))
                                                : reason_of_answer(run->definition, run->variables, node, reason);
                cause->node = node;
                return cause;
        }
        if (is_halted(run, node))
                return run_halted_cause(run, node);

        return cause_ref(cause);
}

void run_record_error(Run *run) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(run->machine, &node);
        Cause *why = run->broken ? g_hash_table_lookup(run->broken, GUINT_TO_POINTER(node)) : NULL;

        /* A run record that btd did not write may lack the cause. */
        if (!g_str_equal(error, MACHINE_EXPRESSION_FAILED))
                why = cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), machine_error_text(error));
        else
                why = why ? cause_ref(why) : cause_new(CAUSE_EXPRESSION, NULL, "an expression could not be evaluated");
        node_history_fail(run->history, node, why, run->now);
        for (; node != NODE_NONE; node = definition_tree(run->definition)->nodes[node].parent)
                run_tell_node(run, node, STATUS_IDLE, 0);
        run->cause = run_root_cause(run);
}
