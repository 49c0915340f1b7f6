/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The inputs of a run, and the life of its machine between them. */

#include <assert.h>
#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "engine/error-text.h"
#include "journal/progress-state.h"

static void set_variables(Blackboard *blackboard, json_object *values) {
        json_object_object_foreach(values, key, value) blackboard_set(blackboard, key, json_object_get(value));
}

Progress *progress_new(Definition *definition, uint64_t seed, uint64_t start, const ProgressHost *host,
                       void *userdata) {
        const Tree *tree = definition_tree(definition);
        Progress *progress = g_new0(Progress, 1);

        progress->definition = definition_ref(definition);
        progress->host = host;
        progress->userdata = userdata;
        progress->variables = variables_new(definition);
        progress->machine = machine_new(tree, &progress_machine_host, progress, seed);
        progress->history = history_new(tree, start);
        progress->forced = causes_new(tree);
        progress->locks = g_array_new(FALSE, FALSE, sizeof(ProgressLock));
        progress->refused = NODE_NONE;
        progress->status = STATUS_RUNNING;
        progress->start = progress->now = start;
        return progress;
}

static void clear_machine(Progress *progress) {
        g_clear_pointer(&progress->timers, g_hash_table_unref);
        g_clear_pointer(&progress->values, g_hash_table_unref);
        g_clear_pointer(&progress->broken, g_hash_table_unref);
        g_clear_pointer(&progress->last_look, cause_unref);
        g_clear_pointer(&progress->machine, machine_free);
}

void progress_free(Progress *progress) {
        if (!progress)
                return;

        clear_machine(progress);
        g_array_unref(progress->locks);
        g_clear_pointer(&progress->breakpoints, g_array_unref);
        g_clear_pointer(&progress->stops, g_array_unref);
        journal_writer_free(progress->writer);
        history_free(progress->history);
        causes_free(progress->forced);
        variables_free(progress->variables);
        definition_unref(progress->definition);
        cause_unref(progress->why);
        cause_unref(progress->cause);
        g_free(progress);
}

void progress_set_host(Progress *progress, const ProgressHost *host, void *userdata) {
        progress->host = host;
        progress->userdata = userdata;
        progress_arm_again(progress);
}

void progress_set_journal(Progress *progress, JournalWriter *writer) {
        journal_writer_free(progress->writer);
        progress->writer = writer;
}

JournalWriter *progress_journal(const Progress *progress) {
        return progress->writer;
}

void progress_give(Progress *progress, json_object *variables) {
        set_variables(variables_outermost(progress->variables), variables);
}

void progress_begin(Progress *progress, uint64_t now) {
        assert(!progress->busy);

        progress->busy = true;
        progress->now = now;
        progress->n_looks = 0;
}

void progress_end(Progress *progress) {
        progress->busy = false;
        if (variables_have_changed(progress->variables))
                machine_variable_set(progress->machine);
        progress_flush(progress);
}

void progress_start(Progress *progress, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_START, NODE_NONE);
        machine_start(progress->machine);
        progress_end(progress);
}

static void on_cause_dropped(void *cause) {
        cause_unref(cause);
}

void progress_note_broken(Progress *progress, NodeId node, Cause *why) {
        if (!progress->broken)
                progress->broken = g_hash_table_new_full(NULL, NULL, NULL, on_cause_dropped);
        if (!g_hash_table_contains(progress->broken, GUINT_TO_POINTER(node)))
                g_hash_table_insert(progress->broken, GUINT_TO_POINTER(node), cause_ref(why));
}

static Cause *error_cause(const Progress *progress, NodeId node, const char *error) {
        Cause *why;

        if (!g_str_equal(error, MACHINE_EXPRESSION_FAILED))
                return cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), error_text(error));

        /* A journal that was made up may have none. */
        why = progress->broken ? g_hash_table_lookup(progress->broken, GUINT_TO_POINTER(node)) : NULL;
        return why ? cause_ref(why) : cause_new(CAUSE_EXPRESSION, NULL, "an expression could not be evaluated");
}

/* Of the node and those above it. */
static void record_error(Progress *progress) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(progress->machine, &node);

        history_fail(progress->history, node, error_cause(progress, node, error), progress->now);
        for (; node != NODE_NONE; node = definition_tree(progress->definition)->nodes[node].parent)
                progress_tell(progress, node);
        progress->cause = progress_root_cause(progress);
}

/* Still at work on the same input. What goes wrong while it is halted is no news. */
static void halt_after_error(Progress *progress) {
        progress->busy = true;
        progress_pass_breakpoints(progress);
        if (!progress->cause)
                record_error(progress);

        progress->halting = true;
        machine_halt(progress->machine);
        progress_end(progress);
}

static void finish(Progress *progress, Status status) {
        progress->status = progress->cause ? STATUS_ERROR : status;
        if (status == STATUS_HALTED && !progress->cause)
                progress->cause = g_steal_pointer(&progress->why);
        else if (status != STATUS_SUCCESS && !progress->cause)
                progress->cause = progress_root_cause(progress);

        progress_note_status(progress, RECORD_FINISHED, NODE_NONE, progress->status, progress->cause);
        progress_flush(progress);
        clear_machine(progress);
}

Status progress_tick(Progress *progress, uint64_t now) {
        Status status;

        progress_begin(progress, now);
        progress_note(progress, RECORD_TICK, NODE_NONE);
        status = machine_tick(progress->machine);
        progress_end(progress);

        if (status == STATUS_ERROR) {
                halt_after_error(progress);
                return STATUS_RUNNING;
        }

        if (status != STATUS_RUNNING)
                finish(progress, status);
        /* What is left to do for a run that is being halted does not stop any more. */
        else if (progress->halting)
                progress_pass_breakpoints(progress);

        progress_note_snapshot(progress);
        return progress->status;
}

bool progress_wants_tick(const Progress *progress) {
        return progress->machine && machine_wants_tick(progress->machine) && (!progress->paused || progress->halting);
}

void progress_halt(Progress *progress, Cause *why, uint64_t now) {
        assert(!progress->halting);

        progress_begin(progress, now);
        progress_note_cause(progress, RECORD_HALT, why);
        progress_pass_breakpoints(progress);
        progress->halting = true;
        progress->why = why;
        machine_halt(progress->machine);
        progress_end(progress);
}

bool progress_leaf_ended(Progress *progress, NodeId node, uint64_t now) {
        void *leaf = progress_leaf(progress, node);
        Status status = progress->host->leaf_status(leaf);
        bool over = machine_node_ending(progress->machine, node) && !machine_node_goes_on(progress->machine, node);

        progress_begin(progress, now);
        progress_note_status(progress, RECORD_ENDED, node, status, progress->host->leaf_cause(leaf));
        progress_tell_computed(progress, node);
        /* Any other is of interest until the machine has seen its end. */
        if (over)
                machine_node_set_data(progress->machine, node, NULL);
        else if (status == STATUS_ERROR)
                progress_note_broken(progress, node, progress->host->leaf_cause(leaf));
        machine_leaf_ended(progress->machine, node, status);
        progress_end(progress);
        return over;
}

void progress_condition_changed(Progress *progress, NodeId node, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_CHANGED, node);
        machine_condition_changed(progress->machine, node);
        progress_end(progress);
}

void progress_condition_turned(Progress *progress, NodeId node, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_TURNED, node);
        machine_condition_set(progress->machine, node);
        progress_end(progress);
}

void progress_timer_expired(Progress *progress, NodeId node, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, node == NODE_NONE ? RECORD_INTERVAL : RECORD_TIMER, node);
        progress_mark_expired(progress, node);
        machine_timer_expired(progress->machine, node);
        progress_end(progress);
}

void progress_lock_granted(Progress *progress, NodeId node, uint64_t now) {
        ProgressLock *lock = progress_find_lock(progress, node);

        progress_begin(progress, now);
        progress_note(progress, RECORD_LOCKED, node);
        lock->held = true;
        lock->since = now;
        machine_lock_granted(progress->machine, node);
        progress_end(progress);
}

void progress_set_variables(Progress *progress, json_object *values, uint64_t now) {
        Blackboard *blackboard = variables_outermost(progress->variables);
        uint64_t version = blackboard_version(blackboard);

        progress_begin(progress, now);
        progress_note_values(progress, RECORD_SET, NODE_NONE, values);
        set_variables(blackboard, values);
        if (blackboard_version(blackboard) != version)
                machine_variable_changed(progress->machine);
        progress_end(progress);
}

/* What is set while a leaf is being started belongs to that. */
static void add_output(Progress *progress, const char *key, json_object *value) {
        progress->outputs = progress->outputs ?: json_object_new_object();
        json_object_object_add(progress->outputs, key, json_object_get(value));
}

void progress_set_output(Progress *progress, NodeId node, const char *key, json_object *value, uint64_t now) {
        Blackboard *blackboard = variables_scope(progress->variables, node);
        uint64_t version = blackboard_version(blackboard);
        g_autoptr(json_object) output = json_object_get(value), values = NULL;

        blackboard_set(blackboard, key, value);
        if (blackboard_version(blackboard) == version)
                return;

        if (progress->busy) {
                add_output(progress, key, output);
                return;
        }

        values = json_object_new_object();
        json_object_object_add(values, key, g_steal_pointer(&output));
        progress_begin(progress, now);
        progress_note_values(progress, RECORD_SET, node, values);
        machine_variable_changed(progress->machine);
        progress_end(progress);
}

void progress_remember(Progress *progress, NodeId node, json_object *memory, uint64_t now) {
        if (!progress->busy)
                progress->now = now;

        progress_note_values(progress, RECORD_NOTE, node, memory);
        progress_flush(progress);
}

/* Nothing happens to the machine. */
static void note_only(Progress *progress, RecordKind kind, NodeId node, uint64_t now) {
        progress->now = now;
        progress_note(progress, kind, node);
        progress_flush(progress);
}

void progress_recovered(Progress *progress, uint64_t now) {
        note_only(progress, RECORD_RECOVERED, NODE_NONE, now);

        /* Perhaps that was not known yet. */
        if (progress->status != STATUS_RUNNING) {
                progress_note_status(progress, RECORD_FINISHED, NODE_NONE, progress->status, progress->cause);
                progress_flush(progress);
        }
}

void progress_rerun(Progress *progress, NodeId node, uint64_t now) {
        note_only(progress, RECORD_RERUN, node, now);
}

Definition *progress_definition(const Progress *progress) {
        return progress->definition;
}

Variables *progress_variables(const Progress *progress) {
        return progress->variables;
}

const History *progress_history(const Progress *progress) {
        return progress->history;
}

void progress_set_watched(Progress *progress, bool watched) {
        history_set_watched(progress->history, watched);
}

GArray *progress_take_changes(Progress *progress) {
        return history_take_changes(progress->history);
}

void progress_observe(Progress *progress, const ProgressObserver *observer, void *userdata) {
        progress->observer = observer;
        progress->observer_userdata = userdata;
}

const Machine *progress_machine(const Progress *progress) {
        return progress->machine;
}

bool progress_is_busy(const Progress *progress) {
        return progress->busy;
}

const GArray *progress_locks(const Progress *progress) {
        return progress->locks;
}

bool progress_waits_for_lock(const Progress *progress, NodeId node) {
        const ProgressLock *lock = progress_find_lock(progress, node);

        return lock && !lock->held;
}

uint64_t progress_now(const Progress *progress) {
        return progress->now;
}

Status progress_status(const Progress *progress) {
        return progress->status;
}

const char *progress_status_text(const Progress *progress) {
        if (progress->status != STATUS_RUNNING)
                return status_to_string(progress->status);
        if (progress->halting)
                return "halting";

        return progress->paused ? "paused" : "running";
}

const Cause *progress_cause(const Progress *progress) {
        return progress->cause ?: progress->why;
}

bool progress_is_halting(const Progress *progress) {
        return progress->halting;
}

void *progress_leaf(const Progress *progress, NodeId node) {
        bool leaf = definition_tree(progress->definition)->nodes[node].flags & NODE_LEAF;

        return leaf && progress->machine ? machine_node_data(progress->machine, node) : NULL;
}

void progress_set_leaf(Progress *progress, NodeId node, void *leaf) {
        machine_node_set_data(progress->machine, node, leaf);
}
