/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the MachineHost of a run: it passes requests of the machine to the ProgressHost and to the variables, and
 * records them. */

#include "basic/cleanup.h"
#include "run/progress-state.h"

static const NodeTimer *get_timer(const Progress *progress, NodeId node) {
        return progress->timers ? g_hash_table_lookup(progress->timers, GUINT_TO_POINTER(node)) : NULL;
}

void progress_put_timer(Progress *progress, NodeId node, NodeTimer *timer) {
        if (!progress->timers)
                progress->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        g_hash_table_replace(progress->timers, GUINT_TO_POINTER(node), timer);
}

void progress_arm_timer(Progress *progress, NodeId node, uint64_t usec) {
        NodeTimer *timer = g_new(NodeTimer, 1);

        *timer = (NodeTimer){
                .span = usec,
                .deadline = usec < UINT64_MAX - progress->now ? progress->now + usec : UINT64_MAX,
                .suspended = progress->suspended,
                .armed = true,
        };
        progress_put_timer(progress, node, timer);
        progress_note_number(progress, RECORD_ARM, node, "after", usec);
        progress->host->timer_arm(node, timer->deadline, progress->userdata);
}

void progress_arm_again(Progress *progress) {
        GHashTableIter iter;
        void *node, *timer;

        if (!progress->timers)
                return;

        g_hash_table_iter_init(&iter, progress->timers);
        while (g_hash_table_iter_next(&iter, &node, &timer))
                if (((const NodeTimer *) timer)->armed)
                        progress->host->timer_arm(GPOINTER_TO_UINT(node), ((const NodeTimer *) timer)->deadline,
                                                  progress->userdata);
}

void progress_drop_timer(Progress *progress, NodeId node) {
        const NodeTimer *timer = get_timer(progress, node);

        if (!timer)
                return;

        if (timer->armed) {
                progress_note(progress, RECORD_DISARM, node);
                progress->host->timer_disarm(node, progress->userdata);
        }
        g_hash_table_remove(progress->timers, GUINT_TO_POINTER(node));
}

void progress_forget_timer(Progress *progress, NodeId node) {
        const NodeTimer *timer = get_timer(progress, node);

        if (timer && !timer->armed)
                g_hash_table_remove(progress->timers, GUINT_TO_POINTER(node));
}

uint64_t progress_timer_span(const Progress *progress, NodeId node) {
        const NodeTimer *timer = get_timer(progress, node);

        return timer ? timer->span : 0;
}

void progress_mark_expired(Progress *progress, NodeId node) {
        NodeTimer *timer = progress->timers ? g_hash_table_lookup(progress->timers, GUINT_TO_POINTER(node)) : NULL;

        if (timer)
                timer->armed = false;
}

uint64_t progress_boottime_deadline(const Progress *progress, NodeId node) {
        const NodeTimer *timer = get_timer(progress, node);

        if (!timer || !timer->armed || timer->deadline > UINT64_MAX - timer->suspended)
                return UINT64_MAX;

        return timer->deadline + timer->suspended;
}

uint64_t progress_deadline(const Progress *progress, NodeId node) {
        const NodeTimer *timer = get_timer(progress, node);

        return timer && timer->armed ? timer->deadline : UINT64_MAX;
}

void progress_drop_leaf(Progress *progress, NodeId node) {
        void *leaf = machine_node_data(progress->machine, node);

        machine_node_set_data(progress->machine, node, NULL);
        progress->host->leaf_free(leaf);
}

/* The record is flushed before the leaf can have effects outside of the run. A condition without references needs no
 * record. */
static void *start_leaf(Progress *progress, NodeId node) {
        const Tree *tree = definition_tree(progress->definition);
        uint32_t attempt = history_count_start(progress->history, node);
        g_autoptr(json_object) noted =
                definition_note_variables(progress->definition, node, variables_scope(progress->variables, node));
        void *leaf;

        if (noted || tree->nodes[node].type->class == NODE_ACTION)
                progress_note_begin(progress, RECORD_BEGIN, node, noted);
        if (progress->broken && !machine_error(progress->machine, NULL))
                g_hash_table_remove(progress->broken, GUINT_TO_POINTER(node));
        if (!(tree->nodes[node].type->flags & TYPE_INWARD))
                progress_flush(progress);
        leaf = progress->host->leaf_start(node, attempt, noted, progress->userdata);
        machine_node_set_data(progress->machine, node, leaf);
        return leaf;
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);
        Status status;
        void *leaf;

        leaf = start_leaf(progress, node);
        status = progress->host->leaf_status(leaf);
        progress_tell_computed(progress, node);
        if (status == STATUS_ERROR)
                progress_note_broken(progress, node, progress->host->leaf_cause(leaf));
        progress_note_start(progress, node, status, progress->host->leaf_cause(leaf));
        return status;
}

static bool host_leaf_halt(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);

        progress_note(progress, RECORD_STOP, node);
        progress_flush(progress);
        if (!progress->host->leaf_halt(machine_node_data(machine, node)))
                return false;

        progress_note(progress, RECORD_STOPPED, node);
        progress_drop_leaf(progress, node);
        return true;
}

static Status host_condition_evaluate(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);
        void *leaf = machine_node_data(machine, node);
        Status status;
        Cause *cause;

        progress->first_evaluation = !leaf;
        if (!leaf)
                leaf = start_leaf(progress, node);

        status = progress->host->leaf_evaluate(leaf, ++progress->n_evaluations);
        cause = progress->host->leaf_cause(leaf);
        progress_note_evaluation(progress, node, status, cause);
        if (status == STATUS_ERROR)
                progress_note_broken(progress, node, cause);

        cause_unref(progress->last_evaluation);
        progress->last_evaluation = cause ? cause_ref(cause) : NULL;
        return status;
}

static void host_condition_release(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);

        if (!machine_node_data(machine, node))
                return;

        progress_forget_value(progress, node);
        progress_drop_leaf(progress, node);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        progress_arm_timer(machine_userdata(machine), node, usec);
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        progress_drop_timer(machine_userdata(machine), node);
}

ProgressLock *progress_find_lock(const Progress *progress, NodeId node) {
        const GArray *locks = progress_locks(progress);

        for (unsigned i = 0; i < locks->len; i++) {
                ProgressLock *lock = &g_array_index(locks, ProgressLock, i);

                if (lock->node == node)
                        return lock;
        }

        return NULL;
}

static bool host_lock(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);
        ProgressLock lock = { .node = node, .since = progress->now };

        lock.held = progress->host->lock(node, progress->userdata);
        progress_add_lock(progress, &lock);
        progress_note(progress, lock.held ? RECORD_AT_ONCE_LOCKED : RECORD_WAITS, node);
        return lock.held;
}

/* Flush first, because the next holder of the lock may start at once. */
static void host_unlock(Machine *machine, NodeId node) {
        Progress *progress = machine_userdata(machine);

        progress_note(progress, RECORD_UNLOCK, node);
        progress_flush(progress);
        g_array_remove_index(progress->locks, (unsigned) (progress_find_lock(progress, node) -
                                                          (ProgressLock *) (void *) progress->locks->data));
        progress->host->unlock(node, progress->userdata);
}

static void host_breakpoint(Machine *machine, NodeId node) {
        progress_stop_at(machine_userdata(machine), node);
}

static Variables *variables_of(Machine *machine) {
        return progress_variables(machine_userdata(machine));
}

static Verdict judge(Machine *machine, NodeId node, Verdict verdict) {
        if (verdict == VERDICT_ERROR)
                progress_note_broken(machine_userdata(machine), node, variables_error(variables_of(machine)));

        return verdict;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        return judge(machine, node, variables_guard(variables_of(machine), node, guard));
}

static Verdict host_hook(Machine *machine, NodeId node, Hook hook) {
        Verdict verdict = judge(machine, node, variables_hook(variables_of(machine), node, hook));

        progress_tell_computed(machine_userdata(machine), node);
        return verdict;
}

static Verdict host_has_changed(Machine *machine, NodeId node, const Script *of) {
        return judge(machine, node, variables_has_changed(variables_of(machine), node, of));
}

static bool host_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        const Progress *progress = machine_userdata(machine);

        return cause_matches_any(history_cause(progress->history, child), patterns);
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

        progress_tell_computed(machine_userdata(machine), node);
        return any;
}

/* The problem is reported when the node fails because of it. */
static bool note_refusal(Machine *machine, NodeId node, bool fine) {
        Progress *progress = machine_userdata(machine);

        if (!fine)
                progress->refused = node;
        progress_tell_computed(progress, node);

        return fine;
}

static uint32_t host_elements(Machine *machine, NodeId node) {
        uint32_t n = variables_elements(variables_of(machine), node);

        note_refusal(machine, node, n != UINT32_MAX);
        return n;
}

static void host_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        variables_hand_out(variables_of(machine), for_each, child, index);
        progress_tell_computed(machine_userdata(machine), child);
}

static bool host_enter(Machine *machine, NodeId node) {
        return note_refusal(machine, node, variables_enter(variables_of(machine), node));
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        return note_refusal(machine, node, variables_leave(variables_of(machine), node, status));
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        progress_record(machine_userdata(machine), node, status, reason);
}

const MachineHost progress_machine_host = {
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
