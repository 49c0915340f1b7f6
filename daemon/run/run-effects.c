/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the MachineHost of a run: it passes requests of the machine to the RunHost and to the variables, and
 * records them. It also records what the machine reports: the history and the causes of nodes, and whether the run is
 * ready.
 */

#include "basic/cleanup.h"
#include "run/reasons.h"
#include "run/run-state.h"

static void drop_leaf(Run *run, NodeId node) {
        void *leaf = machine_node_data(run->machine, node);

        machine_node_set_data(run->machine, node, NULL);
        run->host->leaf_free(leaf);
}

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
        NodeId child = for_each && status == STATUS_FAILURE ? history_last_failed(run->history, node) : NODE_NONE;
        Cause *cause;

        if (child == NODE_NONE)
                return NULL;

        cause = reason_of_element(run->definition, run->variables, node, child);
        cause->because = cause_ref(history_last_cause(run->history, child));
        return cause;
}

/* The cause of the node itself, if it does not come from a child; or NULL. */
static Cause *own_cause(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        switch (reason) {
        case REASON_NONE:
                return leaf_cause ? cause_ref(leaf_cause) : refusal_of(run, node) ?: element_cause(run, node, status);
        case REASON_THRESHOLD:
                return element_cause(run, node, status);
        case REASON_TIMEOUT:
                return reason_of_timer(definition_tree(run->definition), node, run_timer_span(run, node));
        case REASON_FORCED:
                return cause_ref(causes_get(&run->forced, node));
        default:
                return reason_is_answer(reason) ? reason_of_answer(run->definition, run->variables, node, reason)
                                                : NULL;
        }
}

/* True for outcomes that need a cause. A success needs one only if a guard or a user decided it. */
static bool is_explained(Status status, Reason reason) {
        return status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               (status == STATUS_SUCCESS && (reason_is_answer(reason) || reason == REASON_FORCED));
}

void run_tell(const Run *run, NodeId node) {
        if (run->observer && run->observer->changed)
                run->observer->changed(node, run->observer_userdata);
}

void run_tell_computed(const Run *run, NodeId node) {
        if (run->observer && run->observer->computed)
                run->observer->computed(node, run->observer_userdata);
}

/* A node in ERROR stays so. */
static void record(Run *run, NodeId node, Status status, Reason reason, Cause *leaf_cause) {
        Cause *last = history_last_cause(run->history, node), *cause = NULL;
        g_autoptr(Cause) before = NULL;
        bool telling;

        if (history_status(run->history, node) == STATUS_ERROR)
                return;

        if (is_explained(status, reason))
                cause = own_cause(run, node, status, reason, leaf_cause);
        telling = run->host->failed && status == STATUS_FAILURE && (cause || reason == REASON_ATTEMPTS);
        before = telling && last ? cause_ref(last) : NULL;

        history_record(run->history, node, status, reason, cause, run->now);
        run_tell(run, node);
        if (telling)
                run->host->failed(node, before, run->host_userdata);
}

/* An action that was halted and is still RUNNING is ending; its leaf is needed until then. */
static void action_changed(Run *run, NodeId node, Status status, Reason reason) {
        void *leaf = machine_node_data(run->machine, node);

        record(run, node, status, reason, leaf ? run->host->leaf_cause(leaf) : NULL);
        if (leaf && status != STATUS_RUNNING && run->host->leaf_status(leaf) != STATUS_RUNNING)
                drop_leaf(run, node);
}

static void condition_changed(Run *run, NodeId node, Status status, Reason reason) {
        if (!run->first_evaluation && status == history_status(run->history, node))
                history_repeat(run->history, node, reason == REASON_NONE ? run->last_evaluation : NULL);
        else
                record(run, node, status, reason, run->last_evaluation);
}

static void inner_changed(Run *run, NodeId node, Status status, Reason reason) {
        record(run, node, status, reason, NULL);
        if (status != STATUS_RUNNING)
                run_forget_timer(run, node);
}

/* A success while the run is halting does not make it ready. */
static void consider_ready(Run *run, NodeId node, Status status) {
        if (status != STATUS_SUCCESS || run->ready != UINT64_MAX || run->halting ||
            !definition_makes_ready(run->definition, node))
                return;

        run->ready = run->now;
        if (run->observer && run->observer->ready)
                run->observer->ready(run->observer_userdata);
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

        consider_ready(run, node, status);
}

Cause *run_root_cause(const Run *run) {
        Cause *below = history_cause(run->history, 0), *cause;
        g_autofree char *text = NULL;

        if (!below)
                return NULL;

        text = cause_describe(definition_tree(run->definition), below, NODE_NONE);
        cause = cause_new(CAUSE_CHILD, NULL, text);
        cause->because = cause_ref(below);
        return cause;
}

bool run_node_is_ending(const Run *run, NodeId node) {
        return run->machine && history_status(run->history, node) == STATUS_RUNNING &&
               machine_node_status(run->machine, node) == STATUS_IDLE;
}

/* Skips nodes that are still ending, because they are not yet recorded as halted. */
static NodeId halted_by(const Run *run, NodeId node) {
        do
                node = history_halted_by(run->history, node);
        while (node != NODE_NONE && run_node_is_ending(run, node));

        return node;
}

static Cause *halted_cause(const Run *run, NodeId node) {
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
                cause->because = history_cause(run->history, above);
                if (cause->because)
                        cause_ref(cause->because);
        }

        cause->node = node;
        return cause;
}

Cause *run_node_cause(const Run *run, NodeId node) {
        Cause *cause = history_cause(run->history, node);

        if (history_status(run->history, node) == STATUS_HALTED)
                return halted_cause(run, node);

        return cause ? cause_ref(cause) : NULL;
}

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
        run_note_number(run, RECORD_ARM, node, "after", usec);
        run->host->timer_arm(node, timer->deadline, run->host_userdata);
}

void run_arm_again(Run *run) {
        GHashTableIter iter;
        void *node, *timer;

        if (!run->timers)
                return;

        g_hash_table_iter_init(&iter, run->timers);
        while (g_hash_table_iter_next(&iter, &node, &timer))
                if (((const NodeTimer *) timer)->armed)
                        run->host->timer_arm(GPOINTER_TO_UINT(node), ((const NodeTimer *) timer)->deadline,
                                             run->host_userdata);
}

static void drop_timer(Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        if (!timer)
                return;

        if (timer->armed) {
                run_note(run, RECORD_DISARM, node);
                run->host->timer_disarm(node, run->host_userdata);
        }
        g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

void run_forget_timer(Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        if (timer && !timer->armed)
                g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

uint64_t run_timer_span(const Run *run, NodeId node) {
        const NodeTimer *timer = get_timer(run, node);

        return timer ? timer->span : 0;
}

void run_mark_expired(Run *run, NodeId node) {
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

/* The record is flushed before the leaf can have effects outside of the run. A condition without references needs no
 * record. */
static void *start_leaf(Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        uint32_t attempt = history_count_start(run->history, node);
        g_autoptr(json_object) noted =
                definition_note_variables(run->definition, node, variables_scope(run->variables, node));
        void *leaf;

        if (noted || tree->nodes[node].type->class == NODE_ACTION)
                run_note_begin(run, RECORD_BEGIN, node, noted);
        if (run->broken && !machine_error(run->machine, NULL))
                g_hash_table_remove(run->broken, GUINT_TO_POINTER(node));
        if (!(tree->nodes[node].type->flags & TYPE_INWARD))
                run_flush(run);
        leaf = run->host->leaf_start(node, attempt, noted, run->host_userdata);
        machine_node_set_data(run->machine, node, leaf);
        return leaf;
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        Status status;
        void *leaf;

        leaf = start_leaf(run, node);
        status = run->host->leaf_status(leaf);
        run_tell_computed(run, node);
        if (status == STATUS_ERROR)
                run_note_broken(run, node, run->host->leaf_cause(leaf));
        run_note_start(run, node, status, run->host->leaf_cause(leaf));
        return status;
}

static bool host_leaf_halt(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        run_note(run, RECORD_STOP, node);
        run_flush(run);
        if (!run->host->leaf_halt(machine_node_data(machine, node)))
                return false;

        run_note(run, RECORD_STOPPED, node);
        drop_leaf(run, node);
        return true;
}

static Status host_condition_evaluate(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        void *leaf = machine_node_data(machine, node);
        Status status;
        Cause *cause;

        run->first_evaluation = !leaf;
        if (!leaf)
                leaf = start_leaf(run, node);

        status = run->host->leaf_evaluate(leaf, ++run->n_evaluations);
        cause = run->host->leaf_cause(leaf);
        run_note_evaluation(run, node, status, cause);
        if (status == STATUS_ERROR)
                run_note_broken(run, node, cause);

        cause_unref(run->last_evaluation);
        run->last_evaluation = cause ? cause_ref(cause) : NULL;
        return status;
}

static void host_condition_release(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        if (!machine_node_data(machine, node))
                return;

        run_forget_value(run, node);
        drop_leaf(run, node);
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

        lock.held = run->host->lock(node, run->host_userdata);
        run_add_lock(run, &lock);
        run_note(run, lock.held ? RECORD_AT_ONCE_LOCKED : RECORD_WAITS, node);
        if (!lock.held && run->observer && run->observer->waits)
                run->observer->waits(node, run->observer_userdata);
        return lock.held;
}

/* Flush first, because the next holder of the lock may start at once. */
static void host_unlock(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        run_note(run, RECORD_UNLOCK, node);
        run_flush(run);
        g_array_remove_index(run->locks, (unsigned) (run_find_lock(run, node) - (RunLock *) (void *) run->locks->data));
        run->host->unlock(node, run->host_userdata);
}

static void host_breakpoint(Machine *machine, NodeId node) {
        run_stop_at(machine_userdata(machine), node);
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

        return cause_matches_any(history_cause(run->history, child), patterns);
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
        variables_hand_out(variables_of(machine), for_each, child, index);
        run_tell_computed(machine_userdata(machine), child);
}

static bool host_enter(Machine *machine, NodeId node) {
        return note_refusal(machine, node, variables_enter(variables_of(machine), node));
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        return note_refusal(machine, node, variables_leave(variables_of(machine), node, status));
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        run_record(machine_userdata(machine), node, status, reason);
}

const MachineHost run_machine_host = {
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
};
