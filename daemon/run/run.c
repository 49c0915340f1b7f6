/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the execution of a run: what its machine reports and requests, its inputs, and its state. A paused run
 * gets its inputs, but no tick, so it starts nothing new. A halt takes precedence: a halting run gets its ticks even if
 * it is paused.
 */

#include <assert.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "engine/machine.h"
#include "run/causes.h"
#include "run/replay.h"
#include "run/run-state.h"

/* Microseconds. Smaller differences only come from reading two clocks one after the other. */
#define SUSPENDED_MIN 10000u

static void set_variables(Blackboard *blackboard, json_object *values) {
        json_object_object_foreach(values, key, value) blackboard_set(blackboard, key, json_object_get(value));
}

static int compare_nodes(const void *a, const void *b) {
        NodeId x = *(const NodeId *) a, y = *(const NodeId *) b;

        return (x > y) - (x < y);
}

static bool has_node(GArray *nodes, NodeId node, unsigned *ret_index) {
        return nodes && g_array_binary_search(nodes, &node, compare_nodes, ret_index);
}

static void add_node(GArray **nodes, NodeId node) {
        *nodes = *nodes ?: g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_array_append_val(*nodes, node);
        g_array_sort(*nodes, compare_nodes);
}

static bool remove_node(GArray **nodes, NodeId node) {
        unsigned i;

        if (!has_node(*nodes, node, &i))
                return false;

        g_array_remove_index(*nodes, i);
        if ((*nodes)->len == 0)
                g_clear_pointer(nodes, g_array_unref);
        return true;
}

/* Told at the end of the input: what the node waits for may be halted after this. */
static void note_held_back(Run *run, NodeId node) {
        RunInput *input = run_get_input(run);

        input->held_back = input->held_back ?: g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_array_append_val(input->held_back, node);
}

/* The node waits at its breakpoint. */
static void stop_at(Run *run, NodeId node) {
        add_node(&run->stops, node);
        note_held_back(run, node);
        run->paused = true;
        run->moved = true;
}

static void leave_stop(Run *run, NodeId node) {
        run->moved |= remove_node(&run->stops, node);
}

/* Continues all nodes that wait at a breakpoint. */
static void pass_breakpoints(Run *run) {
        g_autoptr(GArray) stops = g_steal_pointer(&run->stops);

        if (!stops)
                return;

        run->moved = true;
        for (unsigned i = 0; i < stops->len; i++)
                machine_pass_breakpoint(run->machine, g_array_index(stops, NodeId, i));
}

/* Adds one to this member of the counts. A replayed run is not live, so the totals do not count its inputs again. */
#define COUNT(run, member)                                                                                             \
        do {                                                                                                           \
                (run)->counts.member++;                                                                                \
                if ((run)->services && (run)->services->totals)                                                        \
                        (run)->services->totals->member++;                                                             \
        } while (false)

static void on_cause_dropped(void *cause) {
        cause_unref(cause);
}

void run_note_broken(Run *run, NodeId node, Cause *why) {
        if (!run->broken)
                run->broken = g_hash_table_new_full(NULL, NULL, NULL, on_cause_dropped);
        if (!g_hash_table_contains(run->broken, GUINT_TO_POINTER(node)))
                g_hash_table_insert(run->broken, GUINT_TO_POINTER(node), cause_ref(why));
}

/* The timers of nodes. */

static const NodeTimer *get_timer(const Run *run, NodeId node) {
        return run->timers ? g_hash_table_lookup(run->timers, GUINT_TO_POINTER(node)) : NULL;
}

void run_put_timer(Run *run, NodeId node, NodeTimer *timer) {
        if (!run->timers)
                run->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        g_hash_table_replace(run->timers, GUINT_TO_POINTER(node), timer);
}

static void arm_timer(Run *run, NodeId node, uint64_t usec) {
        NodeTimer *timer = g_new(NodeTimer, 1);

        *timer = (NodeTimer){
                .span = usec,
                .deadline = usec < UINT64_MAX - run->now ? run->now + usec : UINT64_MAX,
                .suspended = run->suspended,
                .armed = true,
        };
        run_put_timer(run, node, timer);
        run_note_number(run, ENTRY_ARM, node, "after", usec);
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_ARM, .node = node, .deadline = timer->deadline });
}

static void arm_again(Run *run) {
        GHashTableIter iter;
        void *node, *timer;

        if (!run->timers)
                return;

        g_hash_table_iter_init(&iter, run->timers);
        while (g_hash_table_iter_next(&iter, &node, &timer))
                if (((const NodeTimer *) timer)->armed)
                        run->host->act(&(Effect){ .kind = EFFECT_ARM,
                                                  .node = GPOINTER_TO_UINT(node),
                                                  .deadline = ((const NodeTimer *) timer)->deadline },
                                       run->host_userdata);
}

static void drop_timer(Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        if (!timer)
                return;

        if (timer->armed) {
                run_note(run, ENTRY_DISARM, node);
                if (run->host)
                        run_add_effect(run, &(Effect){ .kind = EFFECT_DISARM, .node = node });
        }
        g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

/* Does nothing if the timer is armed: that of a RateController continues after its child has ended, until the child may
 * start again. */
static void forget_timer(Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        if (timer && !timer->armed)
                g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

/* The time for which it was armed, in microseconds; 0: never. */
static uint64_t timer_span(const Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        return timer ? timer->span : 0;
}

static void mark_expired(Run *run, NodeId node) {
        NodeTimer *timer = run->timers ? g_hash_table_lookup(run->timers, GUINT_TO_POINTER(node)) : NULL;

        if (timer)
                timer->armed = false;
}

uint64_t run_boottime_deadline(const Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        if (!timer || !timer->armed || timer->deadline > UINT64_MAX - timer->suspended)
                return UINT64_MAX;

        return timer->deadline + timer->suspended;
}

uint64_t run_deadline(const Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        return timer && timer->armed ? timer->deadline : UINT64_MAX;
}

/* Reports of the machine: the history and the causes of nodes, and whether the run is ready. */

/* The cause of a SubTree or ForEach that failed because of its variables. */
static Cause *refusal_of(Run *run, NodeId node) {
        if (run->refused != node)
                return NULL;

        run->refused = NODE_NONE;
        return cause_ref(variables_error(run->variables));
}

/* NULL: the failure does not come from the child of a ForEach. */
static Cause *element_cause(Run *run, NodeId node, Status status) {
        bool for_each = definition_tree(run->definition)->nodes[node].type->flags & TYPE_FOR_EACH;
        NodeId child = for_each && status == STATUS_FAILURE ? node_history_last_failed(run->history, node) : NODE_NONE;
        Cause *cause;

        if (child == NODE_NONE)
                return NULL;

        cause = reason_of_element(run->definition, run->variables, node, child);
        cause->because = cause_ref(node_history_last_cause(run->history, child));
        return cause;
}

/* How many elements of a ForEach that has just completed have failed. */
static uint32_t failed_elements(const Run *run, NodeId node) {
        uint32_t elements, failed = 0;

        if (definition_tree(run->definition)->nodes[node].type->flags & TYPE_FOR_EACH)
                machine_elements(run->machine, node, &elements, &failed);
        return failed;
}

/* The cause of the node itself, if it does not come from a child; or NULL. */
static Cause *own_cause(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        switch (reason) {
        case REASON_NONE:
                if (status == STATUS_SUCCESS)
                        return reason_of_failed_elements(run->machine, node);
                return leaf_cause ? cause_ref(leaf_cause) : refusal_of(run, node) ?: element_cause(run, node, status);
        case REASON_THRESHOLD:
                return element_cause(run, node, status);
        case REASON_TIMEOUT:
                return reason_of_timer(definition_tree(run->definition), node, timer_span(run, node));
        case REASON_FORCED:
                return cause_ref(causes_get(&run->forced, node));
        default:
                return reason_is_answer(reason) ? reason_of_answer(run->definition, run->variables, node, reason)
                                                : NULL;
        }
}

/* True for outcomes that need a cause. A success needs one if a guard or a user decided it, or if it is that of a
 * ForEach of which elements failed. */
static bool is_explained(const Run *run, NodeId node, Status status, Reason reason) {
        return status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               (status == STATUS_SUCCESS && (reason_is_answer(reason) || reason == REASON_FORCED ||
                                             (reason == REASON_NONE && failed_elements(run, node) > 0)));
}

/* waited: how long the node waited before this change. */
static void tell(Run *run, NodeId node, Status before, uint64_t waited) {
        run_tell_change(run, node, before, waited);
        if (run->observer && run->observer->changed)
                run->observer->changed(node, run->observer_userdata);
}

/* Do not log conditions, which fail often, nor retries that fail again for the same reason, nor causes that are only
 * passed on from a child. before: the cause of its previous failure, or NULL. */
static void log_failure(Run *run, NodeId node, const Cause *before) {
        const Tree *tree = definition_tree(run->definition);
        Cause *cause = node_history_cause(run->history, node);
        bool same =
                before && cause && g_str_equal(before->kind, cause->kind) && g_strcmp0(before->text, cause->text) == 0;
        g_autofree char *text = cause_describe(tree, cause, node);

        run_add_effect(run,
                       &(Effect){
                               .kind = EFFECT_LOG,
                               .node = node,
                               .level = same || tree->nodes[node].type->class == NODE_CONDITION ? LOG_DEBUG : LOG_INFO,
                               .text = tree->nodes[node].flags & NODE_LEAF ? g_strconcat("failed: ", text, NULL)
                                                                           : g_strdup(text),
                               .cause = cause ? cause_ref(cause) : NULL,
                               .label = run_node_label(run, node),
                       });
}

/* A node in ERROR stays so. */
static void record(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        Cause *last = node_history_last_cause(run->history, node), *cause = NULL;
        g_autoptr(Cause) before = NULL;
        Status status_before = node_history_status(run->history, node);
        uint64_t waited = 0;
        bool logging;

        if (status_before == STATUS_ERROR)
                return;

        if (is_explained(run, node, status, reason))
                cause = own_cause(run, node, status, reason, leaf_cause);
        if (node_history_phase(run->history, node) == PHASE_WAITING)
                waited = run->now - node_history_since(run->history, node);
        logging = run->host && status == STATUS_FAILURE && (cause || reason == REASON_ATTEMPTS);
        before = logging && last ? cause_ref(last) : NULL;

        node_history_record(run->history, node, status, reason, cause, run->now);
        tell(run, node, status_before, waited);
        if (logging)
                log_failure(run, node, before);
}

/* For a node that was started, unless its last execution has not ended yet. */
static void consider_waiting(Run *run, NodeId node) {
        if (machine_node_waits(run->machine, node) && node_history_record_waiting(run->history, node, run->now))
                note_held_back(run, node);
}

/* Call this when an execution really begins: a node that waited is not reported again by the machine. */
static void stop_waiting(Run *run, NodeId node) {
        if (node_history_phase(run->history, node) == PHASE_WAITING)
                record(run, node, STATUS_RUNNING, REASON_NONE, NULL);
}

/* The machine reports that a leaf in ERROR has failed, before it reports the error, which is recorded instead: but only
 * the first error of a run. */
static bool is_error(const Run *run, Status status, Reason reason, Status of_leaf) {
        return status == STATUS_FAILURE && reason == REASON_NONE && of_leaf == STATUS_ERROR && !run->cause;
}

/* An action that was halted and is still RUNNING is ending; its leaf is needed until then. */
static void action_changed(Run *run, NodeId node, Status status, Reason reason) {
        RunLeaf *leaf = machine_node_data(run->machine, node);

        if (!leaf || !is_error(run, status, reason, leaf->status))
                record(run, node, status, reason, leaf ? leaf->cause : NULL);
        if (leaf && status != STATUS_RUNNING && leaf->status != STATUS_RUNNING)
                run_remove_leaf(run, leaf);
}

static void condition_changed(Run *run, NodeId node, Status status, Reason reason) {
        if (is_error(run, status, reason, run->evaluated))
                return;
        if (!run->first_evaluation && status == node_history_status(run->history, node))
                node_history_repeat(run->history, node, reason == REASON_NONE ? run->last_evaluation : NULL, run->now);
        else
                record(run, node, status, reason, run->last_evaluation);
}

static void inner_changed(Run *run, NodeId node, Status status, Reason reason) {
        record(run, node, status, reason, NULL);
        if (status != STATUS_RUNNING)
                forget_timer(run, node);
}

/* A success while the run is halting does not make it ready. */
static void consider_ready(Run *run, NodeId node, Status status) {
        if (status != STATUS_SUCCESS || run->ready != UINT64_MAX || run->halting ||
            !definition_makes_ready(run->definition, node))
                return;

        run->ready = run->now;
        run_tell(run, NODE_NONE, "ready");
        if (run->observer && run->observer->ready)
                run->observer->ready(run->observer_userdata);
}

/* A leaf that was halted and has not ended is halting, not halted. It can be halted again while its next execution
 * waits. */
static bool is_not_halted_yet(const Run *run, NodeId node, Status status) {
        return status == STATUS_HALTED && machine_node_ending(run->machine, node) &&
               node_history_phase(run->history, node) != PHASE_WAITING;
}

/* Records a change that the machine reports; see MachineHost. */
static void record_change(Run *run, NodeId node, Status status, Reason reason) {
        bool was_halting = node_history_phase(run->history, node) == PHASE_HALTING;

        if (status != STATUS_RUNNING)
                leave_stop(run, node);
        if (definition_tree(run->definition)->nodes[node].flags & NODE_LEAF &&
            (is_not_halted_yet(run, node, status) ||
             (status == STATUS_RUNNING && machine_node_waits(run->machine, node))))
                return;

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

        consider_ready(run, node, status);
        if (was_halting && status != STATUS_RUNNING)
                consider_waiting(run, node);
}

/* The cause of the run, passed on from the root; NULL: the root has succeeded. */
static Cause *root_cause(const Run *run) {
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

static Cause *own_halt_cause(const Run *run, NodeId node) {
        Reason reason = machine_held_reason(run->machine, node);
        Cause *cause = reason == REASON_FORCED ? cause_ref(causes_get(&run->forced, node))
                                               : reason_of_answer(run->definition, run->variables, node, reason);

        cause->node = node;
        return cause;
}

/* The nearest node above it that is neither halted nor halting, or has stopped itself. */
static NodeId halted_by(const Run *run, NodeId node) {
        const Node *nodes = definition_tree(run->definition)->nodes;
        NodeId above = node_history_halted_by(run->history, node);

        for (NodeId id = nodes[node].parent; id != above; id = nodes[id].parent)
                if (has_stopped_itself(run, id))
                        return id;

        return above;
}

Cause *run_halted_cause(const Run *run, NodeId node) {
        NodeId above = halted_by(run, node);
        const Cause *of_run = run_cause_chain(run);
        g_autofree char *text = NULL, *path = NULL;
        Cause *cause;

        if (above == NODE_NONE) {
                cause = cause_new(CAUSE_HALTED, of_run ? json_object_get(of_run->facts) : NULL,
                                  of_run ? of_run->text : "the run was halted");
        } else {
                path = tree_node_path(definition_tree(run->definition), above);
                text = g_strdup_printf("stopped by %s", path);
                cause = cause_new(CAUSE_HALTED, facts_new("by", fact_text(path), NULL), text);
                cause->because = run_node_cause(run, above);
        }

        cause->node = node;
        return cause;
}

Cause *run_node_cause(const Run *run, NodeId node) {
        Cause *cause = node_history_cause(run->history, node);

        if (has_stopped_itself(run, node))
                return own_halt_cause(run, node);
        if (is_halted(run, node))
                return run_halted_cause(run, node);

        return cause ? cause_ref(cause) : NULL;
}

const char *run_node_element(const Run *run, NodeId node) {
        return variables_element_text(run->variables, node);
}

void node_report_clear(NodeReport *report) {
        g_free(report->element);
        g_free(report->detail);
}

char *run_node_label(const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        g_autoptr(GString) label = NULL;
        bool found = false;

        for (NodeId id = node; id != NODE_NONE && !found; id = tree->nodes[id].parent)
                found = run_node_element(run, id);
        if (!found)
                return NULL;

        label = g_string_new(NULL);
        for (NodeId id = node; id != NODE_NONE; id = tree->nodes[id].parent) {
                const char *element = run_node_element(run, id), *name = tree_node_name(tree, id);
                g_autofree char *full = element ? tree_element_label(name, element) : NULL;

                if (id != node)
                        g_string_prepend_c(label, '/');
                g_string_prepend(label, full ?: name);
        }

        return g_string_free(g_steal_pointer(&label), false);
}

char *run_describe_waiting(const Run *run, NodeId node) {
        NodeId other = run->machine ? machine_node_waits_for(run->machine, node) : NODE_NONE;

        if (run_is_at_breakpoint(run, node))
                return g_strdup("at a breakpoint");
        if (run_waits_for_lock(run, node))
                return g_strdup_printf("for the lock '%s'", definition_lock(run->definition, node));
        if (other == NODE_NONE || other == node)
                return NULL;

        return g_strdup_printf("for %s to stop", tree_node_name(definition_tree(run->definition), other));
}

/* Requests of the machine: answers and effects, which are recorded. */

/* A condition without references needs no entry. */
static RunLeaf *begin_leaf(Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        uint32_t attempt = node_history_count_start(run->history, node);
        g_autoptr(json_object) noted =
                definition_note_variables(run->definition, node, variables_scope(run->variables, node));

        stop_waiting(run, node);
        if (tree->nodes[node].type->class == NODE_ACTION) {
                COUNT(run, action_starts);
                if (attempt > 1)
                        COUNT(run, action_restarts);
        }
        if (noted || tree->nodes[node].type->class == NODE_ACTION)
                run_note_noted(run, ENTRY_BEGIN, node, noted);
        if (run->broken && !machine_error(run->machine, NULL))
                g_hash_table_remove(run->broken, GUINT_TO_POINTER(node));
        return run_add_leaf(run, node, attempt, noted);
}

/* Runs an action that takes no time. */
static void compute(Run *run, RunLeaf *leaf) {
        RunInput *input;

        if (run->replay)
                leaf->status = replay_outcome(run->replay, leaf, &leaf->cause);
        else
                leaf->status = run->host->compute(leaf, &leaf->cause, run->host_userdata);
        if (leaf->status == STATUS_RUNNING)
                return;

        input = run->input;
        if (leaf->status == STATUS_ERROR)
                run_note_broken(run, leaf->node, leaf->cause);

        run_note_outcome(run, leaf);
        if (input && input->outputs)
                run_tell_set(run, leaf->node, input->outputs, NULL);
        run_tell_computed(run, leaf->node);
        if (!input)
                return;

        g_clear_pointer(&input->outputs, json_object_put);
        if (input->message)
                run_tell_message(run, leaf->node, input->message_level, input->message);
        if (input->message && run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_LOG,
                                               .node = leaf->node,
                                               .level = input->message_level,
                                               .text = g_steal_pointer(&input->message),
                                               .label = run_node_label(run, leaf->node) });
        g_clear_pointer(&input->message, g_free);
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = begin_leaf(run, node);

        compute(run, leaf);
        if (leaf->status == STATUS_RUNNING && run->host && !leaf->activity)
                run_add_effect(run, &(Effect){ .kind = EFFECT_START, .node = node });
        return leaf->status;
}

/* An action that this input would have started is not started. */
static bool host_leaf_halt(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);
        bool started = !leaf->starting, over;

        run_note(run, ENTRY_STOP, node);
        if (run->replay)
                over = replay_takes_no_time(run->replay, node);
        else
                over = !started || run->host->halts_at_once(leaf, run->host_userdata);
        if (over)
                run_note(run, ENTRY_STOPPED, node);

        if (run->host && started)
                run_add_effect(
                        run, &(Effect){ .kind = EFFECT_HALT, .node = node, .over = over, .activity = leaf->activity });
        leaf->halted = true;
        if (over)
                run_remove_leaf(run, leaf);
        return over;
}

/* Before the first evaluation, the value is RUNNING. */
static bool is_as_before(const Run *run, const RunLeaf *leaf, Status status, const Cause *cause) {
        if (!leaf->known)
                return run->first_evaluation && status == STATUS_RUNNING;

        return leaf->status == status && cause_is_same(leaf->cause, cause);
}

/* Copies the cause without the chain below it, which does not matter here. The original may be changed later. */
static void set_value(RunLeaf *leaf, Status status, const Cause *cause) {
        g_autoptr(Cause) copy = NULL;

        if (cause) {
                copy = cause_new(cause->kind, json_object_get(cause->facts), cause->text);
                copy->node = cause->node;
        }
        run_leaf_set(leaf, status, copy);
        leaf->known = true;
}

static Status host_condition_evaluate(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);
        g_autoptr(Cause) cause = NULL;
        Status status;

        run->first_evaluation = !leaf;
        leaf = leaf ?: begin_leaf(run, node);
        run->n_evaluations++;
        if (run->replay)
                status = replay_value(run->replay, leaf, run->n_evaluations, &cause);
        else
                status = run->host->look(leaf, &cause, run->host_userdata);
        if (!is_as_before(run, leaf, status, cause)) {
                set_value(leaf, status, cause);
                run_note_evaluation(run, leaf);
        }

        run->evaluated = status;
        if (status == STATUS_ERROR)
                run_note_broken(run, node, cause);
        cause_unref(run->last_evaluation);
        run->last_evaluation = g_steal_pointer(&cause);
        return status;
}

static void host_condition_release(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);

        if (!leaf)
                return;

        if (leaf->activity)
                run_add_effect(run, &(Effect){ .kind = EFFECT_DROP, .node = node, .activity = leaf->activity });
        run_remove_leaf(run, leaf);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        arm_timer(machine_userdata(machine), node, usec);
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        drop_timer(machine_userdata(machine), node);
}

RunLock *run_find_lock(const Run *run, NodeId node) {
        const GArray *locks = run_locks(run);

        for (unsigned i = 0; i < locks->len; i++) {
                RunLock *lock = &g_array_index(locks, RunLock, i);

                if (lock->node == node)
                        return lock;
        }

        return NULL;
}

static bool host_lock(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLock lock = { .node = node, .since = run->now };

        if (run->replay)
                lock.held = replay_has_lock(run->replay, node);
        else
                lock.held = !run_has_lock_effect(run, node) && run->host->lock_is_free(node, run->host_userdata);
        run_add_lock(run, &lock);
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_LOCK, .node = node, .over = lock.held });
        run_note(run, lock.held ? ENTRY_AT_ONCE_LOCKED : ENTRY_WAITS, node);
        /* It waits for something else now. */
        if (!lock.held && node_history_phase(run->history, node) == PHASE_WAITING)
                note_held_back(run, node);
        return lock.held;
}

static void host_unlock(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        run_note(run, ENTRY_UNLOCK, node);
        g_array_remove_index(run->locks, (unsigned) (run_find_lock(run, node) - (RunLock *) (void *) run->locks->data));
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_UNLOCK, .node = node });
}

static void host_breakpoint(Machine *machine, NodeId node) {
        stop_at(machine_userdata(machine), node);
}

static Variables *variables_of(Machine *machine) {
        return run_variables(machine_userdata(machine));
}

static Verdict judge(Machine *machine, NodeId node, Verdict verdict) {
        if (verdict == VERDICT_ERROR)
                run_note_broken(machine_userdata(machine), node, variables_error(variables_of(machine)));

        return verdict;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        return judge(machine, node, variables_guard(variables_of(machine), node, guard));
}

static Verdict host_hook(Machine *machine, NodeId node, Hook hook) {
        Verdict verdict = judge(machine, node, variables_hook(variables_of(machine), node, hook));

        run_tell_computed(machine_userdata(machine), node);
        return verdict;
}

static Verdict host_has_changed(Machine *machine, NodeId node, const Script *of) {
        return judge(machine, node, variables_has_changed(variables_of(machine), node, of));
}

static bool host_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        const Run *run = machine_userdata(machine);

        return cause_matches_any(node_history_cause(run->history, child), patterns);
}

static Verdict host_test(Machine *machine, NodeId node, const Script *condition) {
        return judge(machine, node, variables_test(variables_of(machine), node, condition));
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                           const char *const *cases) {
        uint32_t n = variables_match(variables_of(machine), node, variable, of, cases);

        judge(machine, node, n == UINT32_MAX ? VERDICT_ERROR : VERDICT_YES);
        return n;
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        bool any = variables_next_element(variables_of(machine), node, list, variable, index);

        run_tell_computed(machine_userdata(machine), node);
        return any;
}

/* The problem is reported when the node fails because of it. */
static bool note_refusal(Machine *machine, NodeId node, bool fine) {
        Run *run = machine_userdata(machine);

        if (!fine)
                run->refused = node;
        run_tell_computed(run, node);

        return fine;
}

static uint32_t host_elements(Machine *machine, NodeId node) {
        uint32_t n = variables_elements(variables_of(machine), node);

        note_refusal(machine, node, n != UINT32_MAX);
        return n;
}

static void host_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        Run *run = machine_userdata(machine);

        variables_hand_out(variables_of(machine), for_each, child, index);
        if (run_node_element(run, child))
                node_history_note_change(run->history, child);
        run_tell_computed(run, child);
}

static bool host_enter(Machine *machine, NodeId node) {
        return note_refusal(machine, node, variables_enter(variables_of(machine), node));
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        return note_refusal(machine, node, variables_leave(variables_of(machine), node, status));
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        record_change(machine_userdata(machine), node, status, reason);
}

static void host_halting(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        if (node_history_record_halting(run->history, node, run->now))
                tell(run, node, STATUS_RUNNING, 0);
}

static void host_waiting(Machine *machine, NodeId node) {
        consider_waiting(machine_userdata(machine), node);
}

static const MachineHost machine_host = {
        .leaf_start = host_leaf_start,
        .leaf_halt = host_leaf_halt,
        .condition_evaluate = host_condition_evaluate,
        .condition_release = host_condition_release,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .guard = host_guard,
        .lock = host_lock,
        .unlock = host_unlock,
        .breakpoint = host_breakpoint,
        .hook = host_hook,
        .has_changed = host_has_changed,
        .cause_matches = host_cause_matches,
        .test = host_test,
        .match = host_match,
        .next_element = host_next_element,
        .elements = host_elements,
        .assign_element = host_assign_element,
        .enter = host_enter,
        .leave = host_leave,
        .changed = host_changed,
        .halting = host_halting,
        .waiting = host_waiting,
};

/* The life of the run. */

Run *run_make(const RunOrigin *origin, Definition *definition, const RunHost *host, void *userdata) {
        size_t n_id = strlen(origin->id) + 1, n_tree = strlen(origin->tree) + 1,
               n_instance = strlen(origin->instance) + 1;
        const Tree *tree = definition_tree(definition);
        Run *run = g_malloc0(sizeof(Run) + n_id + n_tree + n_instance);

        run->id = memcpy(run->names, origin->id, n_id);
        run->tree = memcpy(run->names + n_id, origin->tree, n_tree);
        run->instance = memcpy(run->names + n_id + n_tree, origin->instance, n_instance);
        run->definition = definition_ref(definition);
        run->host = host;
        run->host_userdata = userdata;
        run->variables = variables_new(definition);
        run->machine = machine_new(tree, &machine_host, run, origin->seed);
        run->history = node_history_new(tree, origin->start);
        run->seed = origin->seed;
        run->started = origin->started;
        run->start = run->now = origin->start;
        run->refused = NODE_NONE;
        run->status = STATUS_RUNNING;
        run->ready = UINT64_MAX;
        run->starter = g_strdup(origin->starter);
        return run;
}

static void clear_machine(Run *run) {
        RunLeaf *leaf;

        for (NodeId node = 0; (leaf = run_next_leaf(run, node)); node++) {
                node = leaf->node;
                assert(!leaf->activity);
                run_remove_leaf(run, leaf);
        }
        g_clear_pointer(&run->timers, g_hash_table_unref);
        g_clear_pointer(&run->skips, g_hash_table_unref);
        g_clear_pointer(&run->broken, g_hash_table_unref);
        g_clear_pointer(&run->last_evaluation, cause_unref);
        g_clear_pointer(&run->machine, machine_free);
}

void run_free(Run *run) {
        if (!run)
                return;

        run_end_live(run);
        run_end_observing(run);
        clear_machine(run);
        g_clear_pointer(&run->locks, g_array_unref);
        g_clear_pointer(&run->breakpoints, g_array_unref);
        g_clear_pointer(&run->stops, g_array_unref);
        record_writer_free(run->writer);
        node_history_free(run->history);
        causes_clear(&run->forced);
        variables_free(run->variables);
        definition_unref(run->definition);
        cause_unref(run->why);
        cause_unref(run->cause);
        json_object_put(run->given);
        g_free(run->starter);
        g_free(run->token);
        g_free(run->not_durable);
        g_free(run);
}

void run_set_host(Run *run, const RunHost *host, void *userdata) {
        run->replay = NULL;
        run->host = host;
        run->host_userdata = userdata;
        arm_again(run);
}

void run_set_replay(Run *run, Replay *replay) {
        run->replay = replay;
        if (!replay)
                results_end_replay(variables_results(run->variables));
}

void run_set_writer(Run *run, RecordWriter *writer) {
        record_writer_free(run->writer);
        run->writer = writer;
        run->durable |= writer != NULL;
}

void run_give(Run *run, json_object *variables) {
        if (json_object_object_length(variables) > 0)
                run->given = json_object_get(variables);
        set_variables(variables_outermost(run->variables), variables);
}

static void begin(Run *run, uint64_t now) {
        assert(!run->computing);

        run->computing = true;
        run->now = now;
        run->n_evaluations = 0;
}

/* Updates the time of suspension; true if it has increased. */
static bool update_suspended(Run *run) {
        uint64_t suspended = 0;

        if (run->host && definition_uses_boottime(run->definition, NODE_NONE))
                suspended = run->host->suspended(run->host_userdata);
        if (suspended < run->suspended + SUSPENDED_MIN)
                return false;

        run->suspended = suspended;
        return true;
}

/* Written before the input, so that times of the input begin after the suspension. */
static void note_suspended(Run *run) {
        uint64_t before = run->suspended;

        if (!update_suspended(run))
                return;

        run_note_number(run, ENTRY_SUSPENDED, NODE_NONE, "usec", run->suspended);
        run_tell_suspended(run, run->suspended - before);
}

/* Call these before and after each call of the machine. */
static void begin_input(Run *run, uint64_t now) {
        begin(run, now);
        note_suspended(run);
        COUNT(run, inputs);
}

uint64_t run_suspended(const Run *run) {
        return run->suspended;
}

void input_suspended(Run *run, uint64_t suspended, uint64_t now) {
        run->now = now;
        run_tell_suspended(run, suspended - MIN(run->suspended, suspended));
        run->suspended = suspended;
        run_end_events(run);
}

void run_set_suspended(Run *run, uint64_t suspended) {
        run->suspended = suspended;
}

/* A halting run does not pause. */
static void tell_held_back(Run *run) {
        g_autoptr(GArray) nodes = run->input ? g_steal_pointer(&run->input->held_back) : NULL;
        NodeId last = NODE_NONE;

        if (!nodes)
                return;

        g_array_sort(nodes, compare_nodes);
        for (unsigned i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);

                if (node == last)
                        continue;
                if (!run->halting && run_is_at_breakpoint(run, node))
                        run_tell(run, node, "at-breakpoint");
                if (node_history_phase(run->history, node) == PHASE_WAITING)
                        tell(run, node, STATUS_RUNNING, 0);
                last = node;
        }
}

static void end_input(Run *run) {
        tell_held_back(run);
        if (variables_have_changed(run->variables))
                machine_variable_set(run->machine);
        run->computing = false;
}

/* Carries out the effects of the input, which were written. Nothing is left of the input then. */
static void act(Run *run) {
        g_autofree RunInput *input = g_steal_pointer(&run->input);
        g_autoptr(GArray) effects = NULL;

        if (!input)
                return;

        assert(!input->held_back && !input->outputs && !input->message);
        if (!input->effects)
                return;

        assert(!run->computing && !run->acting);
        effects = input->effects;
        run->acting = true;
        for (unsigned i = 0; i < effects->len; i++) {
                const Effect *effect = &g_array_index(effects, Effect, i);
                RunLeaf *leaf = effect->kind == EFFECT_START ? run_leaf(run, effect->node) : NULL;

                if (effect->kind == EFFECT_START && !(leaf && leaf->starting))
                        continue;
                if (leaf)
                        leaf->starting = false;
                run->host->act(effect, run->host_userdata);
        }
        run->acting = false;
}

static void finish_input(Run *run) {
        end_input(run);
        run_note_results(run);
        run_flush(run);
        run_end_events(run);
        act(run);
}

/* The inputs. */

void input_start(Run *run, uint64_t now) {
        begin(run, now);
        COUNT(run, inputs);
        if (update_suspended(run))
                run_note_number(run, ENTRY_START, NODE_NONE, "suspended", run->suspended);
        else
                run_note(run, ENTRY_START, NODE_NONE);
        run_tell_start(run);
        machine_start(run->machine);
        finish_input(run);
}

static Cause *error_cause(const Run *run, NodeId node, const char *error) {
        Cause *why;

        if (!g_str_equal(error, MACHINE_EXPRESSION_FAILED))
                return cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), machine_error_text(error));

        /* A run record that btd did not write may lack it. */
        why = run->broken ? g_hash_table_lookup(run->broken, GUINT_TO_POINTER(node)) : NULL;
        return why ? cause_ref(why) : cause_new(CAUSE_EXPRESSION, NULL, "an expression could not be evaluated");
}

/* Records the ERROR of the node and of those above it. */
static void record_error(Run *run) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(run->machine, &node);

        node_history_fail(run->history, node, error_cause(run, node, error), run->now);
        for (; node != NODE_NONE; node = definition_tree(run->definition)->nodes[node].parent)
                tell(run, node, STATUS_IDLE, 0);
        run->cause = root_cause(run);
}

/* Halts the run in the same input as the error. Further errors during the halt are recorded as failures. */
static void halt_after_error(Run *run) {
        run->computing = true;
        pass_breakpoints(run);
        if (!run->cause)
                record_error(run);

        run->halting = true;
        machine_halt(run->machine);
        end_input(run);
}

static void finish(Run *run, Status status) {
        run->status = run->cause ? STATUS_ERROR : status;
        if (status == STATUS_HALTED && !run->cause)
                run->cause = g_steal_pointer(&run->why);
        else if (status != STATUS_SUCCESS && !run->cause)
                run->cause = root_cause(run);

        run_note_status(run, ENTRY_FINISHED, NODE_NONE, run->status, run->cause);
        run_tell_result(run);
        clear_machine(run);
}

Status input_tick(Run *run, uint64_t now) {
        Status status;

        begin(run, now);
        note_suspended(run);
        COUNT(run, ticks);
        run_note(run, ENTRY_TICK, NODE_NONE);
        status = machine_tick(run->machine);
        end_input(run);

        if (status == STATUS_ERROR)
                halt_after_error(run);
        run_note_results(run);
        if (status != STATUS_ERROR && status != STATUS_RUNNING)
                finish(run, status);
        /* A halting run does not pause at breakpoints. */
        else if (run->halting)
                pass_breakpoints(run);

        run_flush(run);
        run_end_events(run);
        act(run);
        run_note_snapshot(run);
        return run->status;
}

bool run_wants_tick(const Run *run) {
        return run->machine && machine_wants_tick(run->machine) && (!run->paused || run->halting);
}

void input_halt(Run *run, Cause *why, uint64_t now) {
        assert(!run->halting);

        begin_input(run, now);
        run_note_cause(run, ENTRY_HALT, why);
        run_tell_because(run, "halting", why);
        pass_breakpoints(run);
        run->halting = true;
        run->why = why;
        machine_halt(run->machine);
        finish_input(run);
}

void input_leaf_ended(Run *run, NodeId node, Status status, Cause *cause, uint64_t now) {
        RunLeaf *leaf = run_leaf(run, node);
        bool over = machine_node_ending(run->machine, node) && !machine_node_continues(run->machine, node);

        begin_input(run, now);
        leaf->activity = NULL;
        run_leaf_set(leaf, status, cause);
        run_note_status(run, ENTRY_ENDED, node, status, leaf->cause);
        run_tell_computed(run, node);
        if (status == STATUS_ERROR && !over)
                run_note_broken(run, node, leaf->cause);
        machine_leaf_ended(run->machine, node, status);
        if (over) {
                g_autoptr(Cause) why = leaf->cause ? cause_ref(leaf->cause) : NULL;

                run_remove_leaf(run, leaf);
                record(run, node, STATUS_HALTED, REASON_NONE, NULL);
                if (why && cause_is_halt_timeout(why))
                        run_tell_given_up(run, node, why);
                consider_waiting(run, node);
        }
        finish_input(run);
}

void input_condition_changed(Run *run, NodeId node, uint64_t now) {
        begin_input(run, now);
        run_note(run, ENTRY_CHANGED, node);
        machine_condition_changed(run->machine, node);
        finish_input(run);
}

void input_condition_turned(Run *run, NodeId node, uint64_t now) {
        begin_input(run, now);
        run_note(run, ENTRY_TURNED, node);
        machine_condition_set(run->machine, node);
        finish_input(run);
}

/* The nodes above this one refer to its cause, so the cause changes in place. */
void input_reason(Run *run, NodeId node, const Cause *cause, uint64_t now) {
        Cause *shown = node_history_cause(run->history, node);

        assert(run_is_false(run, node));

        begin_input(run, now);
        run_note_status(run, ENTRY_REASON, node, STATUS_FAILURE, cause);
        set_value(run_leaf(run, node), STATUS_FAILURE, cause);
        if (shown && node_history_status(run->history, node) == STATUS_FAILURE &&
            !g_str_equal(shown->kind, CAUSE_FORCED))
                cause_renew(shown, cause);
        finish_input(run);
}

void input_timer_expired(Run *run, NodeId node, uint64_t now) {
        begin_input(run, now);
        run_note(run, node == NODE_NONE ? ENTRY_INTERVAL : ENTRY_TIMER, node);
        if (node != NODE_NONE)
                run_tell(run, node, "timer");
        mark_expired(run, node);
        machine_timer_expired(run->machine, node);
        finish_input(run);
}

void input_lock_granted(Run *run, NodeId node, uint64_t now) {
        RunLock *lock = run_find_lock(run, node);

        assert(lock);
        begin_input(run, now);
        run_note(run, ENTRY_LOCKED, node);
        run_tell_lock(run, node);
        lock->held = true;
        lock->since = now;
        machine_lock_granted(run->machine, node);
        finish_input(run);
}

void input_variables(Run *run, json_object *values, const char *by, uint64_t now) {
        Blackboard *blackboard = variables_outermost(run->variables);
        uint64_t version = blackboard_version(blackboard);

        begin_input(run, now);
        run_note_variables(run, values, by);
        set_variables(blackboard, values);
        run_tell_set(run, NODE_NONE, values, by);
        if (blackboard_version(blackboard) != version)
                machine_variable_changed(run->machine);
        finish_input(run);
}

/* Variables that an action sets while it computes belong to its outcome. */
static void add_output(Run *run, const char *key, json_object *value) {
        RunInput *input = run_get_input(run);

        input->outputs = input->outputs ?: json_object_new_object();
        json_object_object_add(input->outputs, key, json_object_get(value));
}

void input_output(Run *run, NodeId node, const char *key, json_object *value, uint64_t now) {
        Blackboard *blackboard = variables_scope(run->variables, node);
        uint64_t version = blackboard_version(blackboard);
        g_autoptr(json_object) output = json_object_get(value), values = NULL;

        blackboard_set(blackboard, key, value);
        if (blackboard_version(blackboard) == version)
                return;

        if (run->computing) {
                add_output(run, key, output);
                return;
        }

        values = json_object_new_object();
        json_object_object_add(values, key, g_steal_pointer(&output));
        begin_input(run, now);
        run_note_values(run, ENTRY_SET, node, values);
        run_tell_set(run, node, values, NULL);
        machine_variable_changed(run->machine);
        finish_input(run);
}

void run_set_message(Run *run, int level, char *text) {
        RunInput *input = run_get_input(run);

        assert(run->computing);

        g_free(input->message);
        input->message = text;
        input->message_level = level;
}

void input_memo(Run *run, NodeId node, json_object *memo, uint64_t now) {
        assert(!run->computing && run_leaf(run, node));

        run->now = now;
        run_leaf_set_memo(run_leaf(run, node), memo);
        run_note_values(run, ENTRY_MEMO, node, memo);
        run_flush(run);
}

void input_recovered(Run *run, uint64_t now) {
        run->now = now;
        run_note_number(run, ENTRY_RECOVERED, NODE_NONE, "engine", engine_version());
        if (run->status == STATUS_RUNNING)
                run_tell(run, NODE_NONE, "recovered");
        run_flush(run);
        run_end_events(run);

        /* The run record may not have had the result yet. */
        if (run->status != STATUS_RUNNING) {
                run_note_status(run, ENTRY_FINISHED, NODE_NONE, run->status, run->cause);
                run_flush(run);
        }
}

void input_rerun(Run *run, NodeId node, uint64_t now) {
        RunLeaf *leaf = run_leaf(run, node);

        assert(!run->computing);

        run->now = now;
        note_suspended(run);
        run_note_noted(run, ENTRY_RERUN, node, leaf->noted);
        run_tell(run, node, "rerun");
        leaf->since = now;
        leaf->suspended = run->suspended;
        leaf->has_memo = false;
        g_clear_pointer(&leaf->memo, json_object_put);
        run_flush(run);
        run_end_events(run);
}

void input_pause(Run *run, const char *by, uint64_t now) {
        begin_input(run, now);
        run_note_request(run, ENTRY_PAUSE, by);
        run_tell_request(run, NODE_NONE, "paused", by);
        run->paused = run->moved = true;
        finish_input(run);
}

void input_resume(Run *run, const char *by, uint64_t now) {
        begin_input(run, now);
        run_note_request(run, ENTRY_RESUME, by);
        run_tell_request(run, NODE_NONE, "resumed", by);
        pass_breakpoints(run);
        run->paused = false;
        run->moved = true;
        finish_input(run);
}

void input_step(Run *run, const char *by, uint64_t now) {
        begin_input(run, now);
        run_note_request(run, ENTRY_STEP, by);
        run_tell_request(run, NODE_NONE, "stepped", by);
        pass_breakpoints(run);
        finish_input(run);
}

void input_breakpoint(Run *run, NodeId node, bool set, const char *by, uint64_t now) {
        if (set == has_node(run->breakpoints, node, NULL))
                return;

        begin_input(run, now);
        run_note_breakpoint(run, node, set, by);
        run_tell_request(run, node, set ? "breakpoint" : "cleared", by);
        if (set)
                add_node(&run->breakpoints, node);
        else
                remove_node(&run->breakpoints, node);
        run->moved = true;
        machine_set_breakpoint(run->machine, node, set);
        finish_input(run);
}

bool input_force(Run *run, NodeId node, Status status, Cause *why, uint64_t now) {
        bool runs;

        begin_input(run, now);
        run_note_status(run, ENTRY_FORCE, node, status, why);
        run_tell_force(run, node, status, why);
        causes_set(&run->forced, node, why);
        node_history_note_change(run->history, node);
        runs = machine_force(run->machine, node, status);
        finish_input(run);
        return runs;
}

/* The state. */

const char *run_id(const Run *run) {
        return run->id;
}

const char *run_tree(const Run *run) {
        return run->tree;
}

const char *run_instance(const Run *run) {
        return run->instance;
}

Blackboard *run_blackboard(const Run *run) {
        return variables_outermost(run->variables);
}

json_object *run_given(const Run *run) {
        return run->given;
}

uint64_t run_started(const Run *run) {
        return run->started;
}

uint64_t run_ready(const Run *run) {
        uint64_t ready = run_ready_at(run);

        return ready != UINT64_MAX ? run->started + (ready - run->start) : 0;
}

Definition *run_definition(const Run *run) {
        return run->definition;
}

Variables *run_variables(const Run *run) {
        return run->variables;
}

const NodeHistory *run_node_history(const Run *run) {
        return run->history;
}

void run_set_watched(Run *run, bool watched) {
        node_history_set_watched(run->history, watched);
}

GArray *run_take_changes(Run *run) {
        return node_history_take_changes(run->history);
}

void run_observe(Run *run, const RunObserver *observer, void *userdata) {
        run->observer = observer;
        run->observer_userdata = userdata;
}

const RunCounts *run_counts(const Run *run) {
        return &run->counts;
}

const Machine *run_machine(const Run *run) {
        return run->machine;
}

bool run_is_busy(const Run *run) {
        return run->computing || run->acting;
}

const GArray *run_locks(const Run *run) {
        static const GArray none;

        return run->locks ? run->locks : &none;
}

void run_add_lock(Run *run, const RunLock *lock) {
        if (!run->locks)
                run->locks = g_array_new(FALSE, FALSE, sizeof(RunLock));
        g_array_append_vals(run->locks, lock, 1);
}

bool run_waits_for_lock(const Run *run, NodeId node) {
        const RunLock *lock = run_find_lock(run, node);

        return lock && !lock->held;
}

unsigned run_n_lock_waiters(const Run *run) {
        const GArray *locks = run_locks(run);
        unsigned n = 0;

        for (unsigned i = 0; i < locks->len; i++)
                n += !g_array_index(locks, RunLock, i).held;

        return n;
}

uint64_t run_now(const Run *run) {
        return run->now;
}

Status run_status(const Run *run) {
        return run->status;
}

const char *run_status_text(const Run *run) {
        if (run->status != STATUS_RUNNING)
                return status_to_string(run->status);
        if (run->halting)
                return "halting";

        return run->paused ? "paused" : "running";
}

bool run_was_made_ready(const Run *run) {
        return run->ready != UINT64_MAX;
}

uint64_t run_ready_at(const Run *run) {
        if (run->ready == UINT64_MAX && run->status == STATUS_SUCCESS)
                return run->now;

        return run->ready;
}

const char *run_cause(const Run *run) {
        const Cause *cause = run_cause_chain(run);

        return cause ? cause->text : NULL;
}

const Cause *run_cause_chain(const Run *run) {
        return run->cause ?: run->why;
}

bool run_halting(const Run *run) {
        return run->halting && run->status == STATUS_RUNNING;
}

bool run_paused(const Run *run) {
        return run->paused && !run->halting && run->status == STATUS_RUNNING;
}

const GArray *run_breakpoints(const Run *run) {
        return run->breakpoints;
}

const GArray *run_stops(const Run *run) {
        return run->stops;
}

bool run_is_at_breakpoint(const Run *run, NodeId node) {
        return has_node(run->stops, node, NULL);
}

Status run_forced(const Run *run, NodeId node, const Cause **ret_why) {
        Status status = run->machine ? machine_node_forced(run->machine, node) : STATUS_IDLE;

        if (status != STATUS_IDLE)
                *ret_why = causes_get(&run->forced, node);
        return status;
}
