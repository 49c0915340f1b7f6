/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements progress.h: the inputs of a run, and the life of its machine between them. */

#include <assert.h>
#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "engine/engine-version.h"
#include "engine/machine.h"
#include "run/progress-state.h"

/* Microseconds. Smaller differences only come from reading two clocks one after the other. */
#define SUSPENDED_MIN 10000u

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
        progress->refused = NODE_NONE;
        progress->status = STATUS_RUNNING;
        progress->start = progress->now = start;
        progress->ready = UINT64_MAX;
        progress->uses_boottime = definition_uses_boottime(definition, NODE_NONE);
        return progress;
}

static void clear_machine(Progress *progress) {
        g_clear_pointer(&progress->timers, g_hash_table_unref);
        g_clear_pointer(&progress->values, g_hash_table_unref);
        g_clear_pointer(&progress->broken, g_hash_table_unref);
        g_clear_pointer(&progress->last_evaluation, cause_unref);
        g_clear_pointer(&progress->machine, machine_free);
}

void progress_free(Progress *progress) {
        if (!progress)
                return;

        clear_machine(progress);
        g_clear_pointer(&progress->locks, g_array_unref);
        g_clear_pointer(&progress->breakpoints, g_array_unref);
        g_clear_pointer(&progress->stops, g_array_unref);
        journal_writer_free(progress->writer);
        history_free(progress->history);
        causes_clear(&progress->forced);
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

static void begin(Progress *progress, uint64_t now) {
        assert(!progress->busy);

        progress->busy = true;
        progress->now = now;
        progress->n_evaluations = 0;
}

/* Updates the time of suspension; true if it has increased. */
static bool update_suspended(Progress *progress) {
        uint64_t suspended = 0;

        if (progress->uses_boottime && progress->host->suspended)
                suspended = progress->host->suspended(progress->userdata);
        if (suspended < progress->suspended + SUSPENDED_MIN)
                return false;

        progress->suspended = suspended;
        return true;
}

/* Written before the input, so that times of the input begin after the suspension. */
static void note_suspended(Progress *progress) {
        if (update_suspended(progress))
                progress_note_number(progress, RECORD_SUSPENDED, NODE_NONE, "usec", progress->suspended);
}

void progress_begin(Progress *progress, uint64_t now) {
        begin(progress, now);
        note_suspended(progress);
}

uint64_t progress_suspended(const Progress *progress) {
        return progress->suspended;
}

void progress_set_suspended(Progress *progress, uint64_t suspended) {
        progress->suspended = suspended;
}

static void end_input(Progress *progress) {
        progress->busy = false;
        if (variables_have_changed(progress->variables))
                machine_variable_set(progress->machine);
}

void progress_end(Progress *progress) {
        end_input(progress);
        progress_flush(progress);
}

void progress_start(Progress *progress, uint64_t now) {
        begin(progress, now);
        if (update_suspended(progress))
                progress_note_number(progress, RECORD_START, NODE_NONE, "suspended", progress->suspended);
        else
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
                return cause_new(CAUSE_TREE, facts_new("error", fact_text(error), NULL), machine_error_text(error));

        /* A run record that btd did not write may lack it. */
        why = progress->broken ? g_hash_table_lookup(progress->broken, GUINT_TO_POINTER(node)) : NULL;
        return why ? cause_ref(why) : cause_new(CAUSE_EXPRESSION, NULL, "an expression could not be evaluated");
}

/* Records the ERROR of the node and of those above it. */
static void record_error(Progress *progress) {
        NodeId node = NODE_NONE;
        const char *error = machine_error(progress->machine, &node);

        history_fail(progress->history, node, error_cause(progress, node, error), progress->now);
        for (; node != NODE_NONE; node = definition_tree(progress->definition)->nodes[node].parent)
                progress_tell(progress, node);
        progress->cause = progress_root_cause(progress);
}

/* Halts the run in the same input as the error. Errors during the halt are not recorded. */
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
        end_input(progress);
        if (status == STATUS_RUNNING || status == STATUS_ERROR)
                progress_flush(progress);

        if (status == STATUS_ERROR) {
                halt_after_error(progress);
                return STATUS_RUNNING;
        }

        /* The effects of the last tick and the result are written together. */
        if (status != STATUS_RUNNING)
                finish(progress, status);
        /* A halting run does not pause at breakpoints. */
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
        bool over = machine_node_ending(progress->machine, node) && !machine_node_continues(progress->machine, node);

        progress_begin(progress, now);
        progress_note_status(progress, RECORD_ENDED, node, status, progress->host->leaf_cause(leaf));
        progress_tell_computed(progress, node);
        /* Other leaves are needed until the machine has seen their end. */
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

/* Variables that are set while a leaf is being started belong to the record of that start. */
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

void progress_recovered(Progress *progress, uint64_t now) {
        progress->now = now;
        progress_note_number(progress, RECORD_RECOVERED, NODE_NONE, "engine", engine_version());
        progress_flush(progress);

        /* The record may not have had the result yet. */
        if (progress->status != STATUS_RUNNING) {
                progress_note_status(progress, RECORD_FINISHED, NODE_NONE, progress->status, progress->cause);
                progress_flush(progress);
        }
}

void progress_rerun(Progress *progress, NodeId node, json_object *noted, uint64_t now) {
        progress->now = now;
        note_suspended(progress);
        progress_note_begin(progress, RECORD_RERUN, node, noted);
        progress_flush(progress);
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
        static const GArray none;

        return progress->locks ? progress->locks : &none;
}

void progress_add_lock(Progress *progress, const ProgressLock *lock) {
        if (!progress->locks)
                progress->locks = g_array_new(FALSE, FALSE, sizeof(ProgressLock));
        g_array_append_vals(progress->locks, lock, 1);
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

bool progress_was_made_ready(const Progress *progress) {
        return progress->ready != UINT64_MAX;
}

uint64_t progress_ready(const Progress *progress) {
        if (progress->ready == UINT64_MAX && progress->status == STATUS_SUCCESS)
                return progress->now;

        return progress->ready;
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
