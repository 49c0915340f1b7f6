/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the execution of a run: its inputs, the life of its machine between them, and its state. A paused run gets
 * its inputs, but no tick, so it starts nothing new. A halt takes precedence: a halting run gets its ticks even if it
 * is paused.
 */

#include <assert.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "engine/engine-version.h"
#include "run/run-state.h"

/* Microseconds. Smaller differences only come from reading two clocks one after the other. */
#define SUSPENDED_MIN 10000u

static void set_variables(Blackboard *blackboard, json_object *values) {
        json_object_object_foreach(values, key, value) blackboard_set(blackboard, key, json_object_get(value));
}

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
        run->machine = machine_new(tree, &run_machine_host, run, origin->seed);
        run->history = history_new(tree, origin->start);
        run->seed = origin->seed;
        run->started = origin->started;
        run->start = run->now = origin->start;
        run->refused = NODE_NONE;
        run->status = STATUS_RUNNING;
        run->ready = UINT64_MAX;
        run->uses_boottime = definition_uses_boottime(definition, NODE_NONE);
        return run;
}

static void clear_machine(Run *run) {
        g_clear_pointer(&run->timers, g_hash_table_unref);
        g_clear_pointer(&run->values, g_hash_table_unref);
        g_clear_pointer(&run->broken, g_hash_table_unref);
        g_clear_pointer(&run->last_evaluation, cause_unref);
        g_clear_pointer(&run->machine, machine_free);
}

void run_free(Run *run) {
        if (!run)
                return;

        run_end_live(run);
        clear_machine(run);
        g_clear_pointer(&run->locks, g_array_unref);
        g_clear_pointer(&run->breakpoints, g_array_unref);
        g_clear_pointer(&run->stops, g_array_unref);
        journal_writer_free(run->writer);
        history_free(run->history);
        causes_clear(&run->forced);
        variables_free(run->variables);
        definition_unref(run->definition);
        cause_unref(run->why);
        cause_unref(run->cause);
        json_object_put(run->given);
        g_free(run->token);
        g_free(run->not_durable);
        g_free(run);
}

void run_set_host(Run *run, const RunHost *host, void *userdata) {
        run->host = host;
        run->host_userdata = userdata;
        run_arm_again(run);
}

void run_set_journal(Run *run, JournalWriter *writer) {
        journal_writer_free(run->writer);
        run->writer = writer;
        run->durable |= writer != NULL;
}

void run_give(Run *run, json_object *variables) {
        if (json_object_object_length(variables) > 0)
                run->given = json_object_get(variables);
        set_variables(variables_outermost(run->variables), variables);
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

void run_stop_at(Run *run, NodeId node) {
        add_node(&run->stops, node);
        run->paused = true;
        run->moved = true;
}

void run_leave_stop(Run *run, NodeId node) {
        run->moved |= remove_node(&run->stops, node);
}

void run_pass_breakpoints(Run *run) {
        g_autoptr(GArray) stops = g_steal_pointer(&run->stops);

        if (!stops)
                return;

        run->moved = true;
        for (unsigned i = 0; i < stops->len; i++)
                machine_pass_breakpoint(run->machine, g_array_index(stops, NodeId, i));
}

static void begin(Run *run, uint64_t now) {
        assert(!run->busy);

        run->busy = true;
        run->now = now;
        run->n_evaluations = 0;
}

/* Updates the time of suspension; true if it has increased. */
static bool update_suspended(Run *run) {
        uint64_t suspended = 0;

        if (run->uses_boottime && run->host->suspended)
                suspended = run->host->suspended(run->host_userdata);
        if (suspended < run->suspended + SUSPENDED_MIN)
                return false;

        run->suspended = suspended;
        return true;
}

/* Written before the input, so that times of the input begin after the suspension. */
static void note_suspended(Run *run) {
        if (update_suspended(run))
                run_note_number(run, RECORD_SUSPENDED, NODE_NONE, "usec", run->suspended);
}

void input_begin(Run *run, uint64_t now) {
        begin(run, now);
        note_suspended(run);
}

uint64_t run_suspended(const Run *run) {
        return run->suspended;
}

void run_set_suspended(Run *run, uint64_t suspended) {
        run->suspended = suspended;
}

static void end_input(Run *run) {
        run->busy = false;
        if (variables_have_changed(run->variables))
                machine_variable_set(run->machine);
}

void input_end(Run *run) {
        end_input(run);
        run_flush(run);
}

void input_start(Run *run, uint64_t now) {
        begin(run, now);
        if (update_suspended(run))
                run_note_number(run, RECORD_START, NODE_NONE, "suspended", run->suspended);
        else
                run_note(run, RECORD_START, NODE_NONE);
        machine_start(run->machine);
        input_end(run);
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

        history_fail(run->history, node, error_cause(run, node, error), run->now);
        for (; node != NODE_NONE; node = definition_tree(run->definition)->nodes[node].parent)
                run_tell(run, node);
        run->cause = run_root_cause(run);
}

/* Halts the run in the same input as the error. Errors during the halt are not recorded. */
static void halt_after_error(Run *run) {
        run->busy = true;
        run_pass_breakpoints(run);
        if (!run->cause)
                record_error(run);

        run->halting = true;
        machine_halt(run->machine);
        input_end(run);
}

static void finish(Run *run, Status status) {
        run->status = run->cause ? STATUS_ERROR : status;
        if (status == STATUS_HALTED && !run->cause)
                run->cause = g_steal_pointer(&run->why);
        else if (status != STATUS_SUCCESS && !run->cause)
                run->cause = run_root_cause(run);

        run_note_status(run, RECORD_FINISHED, NODE_NONE, run->status, run->cause);
        run_flush(run);
        clear_machine(run);
}

Status input_tick(Run *run, uint64_t now) {
        Status status;

        input_begin(run, now);
        run_note(run, RECORD_TICK, NODE_NONE);
        status = machine_tick(run->machine);
        end_input(run);
        if (status == STATUS_RUNNING || status == STATUS_ERROR)
                run_flush(run);

        if (status == STATUS_ERROR) {
                halt_after_error(run);
                return STATUS_RUNNING;
        }

        /* The effects of the last tick and the result are written together. */
        if (status != STATUS_RUNNING)
                finish(run, status);
        /* A halting run does not pause at breakpoints. */
        else if (run->halting)
                run_pass_breakpoints(run);

        run_note_snapshot(run);
        return run->status;
}

bool run_wants_tick(const Run *run) {
        return run->machine && machine_wants_tick(run->machine) && (!run->paused || run->halting);
}

void input_halt(Run *run, Cause *why, uint64_t now) {
        assert(!run->halting);

        input_begin(run, now);
        run_note_cause(run, RECORD_HALT, why);
        run_pass_breakpoints(run);
        run->halting = true;
        run->why = why;
        machine_halt(run->machine);
        input_end(run);
}

bool input_leaf_ended(Run *run, NodeId node, uint64_t now) {
        void *leaf = run_leaf(run, node);
        Status status = run->host->leaf_status(leaf);
        bool over = machine_node_ending(run->machine, node) && !machine_node_continues(run->machine, node);

        input_begin(run, now);
        run_note_status(run, RECORD_ENDED, node, status, run->host->leaf_cause(leaf));
        run_tell_computed(run, node);
        /* Other leaves are needed until the machine has seen their end. */
        if (over)
                machine_node_set_data(run->machine, node, NULL);
        else if (status == STATUS_ERROR)
                run_note_broken(run, node, run->host->leaf_cause(leaf));
        machine_leaf_ended(run->machine, node, status);
        input_end(run);
        if (over && run->observer && run->observer->halted)
                run->observer->halted(node, run->observer_userdata);
        return over;
}

void input_condition_changed(Run *run, NodeId node, uint64_t now) {
        input_begin(run, now);
        run_note(run, RECORD_CHANGED, node);
        machine_condition_changed(run->machine, node);
        input_end(run);
}

void input_condition_turned(Run *run, NodeId node, uint64_t now) {
        input_begin(run, now);
        run_note(run, RECORD_TURNED, node);
        machine_condition_set(run->machine, node);
        input_end(run);
}

void input_timer_expired(Run *run, NodeId node, uint64_t now) {
        input_begin(run, now);
        run_note(run, node == NODE_NONE ? RECORD_INTERVAL : RECORD_TIMER, node);
        run_mark_expired(run, node);
        machine_timer_expired(run->machine, node);
        input_end(run);
}

void input_lock_granted(Run *run, NodeId node, uint64_t now) {
        RunLock *lock = run_find_lock(run, node);

        input_begin(run, now);
        run_note(run, RECORD_LOCKED, node);
        lock->held = true;
        lock->since = now;
        machine_lock_granted(run->machine, node);
        input_end(run);
}

void input_variables(Run *run, json_object *values, uint64_t now) {
        Blackboard *blackboard = variables_outermost(run->variables);
        uint64_t version = blackboard_version(blackboard);

        input_begin(run, now);
        run_note_values(run, RECORD_SET, NODE_NONE, values);
        set_variables(blackboard, values);
        if (blackboard_version(blackboard) != version)
                machine_variable_changed(run->machine);
        input_end(run);
}

/* Variables that are set while a leaf is being started belong to the record of that start. */
static void add_output(Run *run, const char *key, json_object *value) {
        run->outputs = run->outputs ?: json_object_new_object();
        json_object_object_add(run->outputs, key, json_object_get(value));
}

void input_output(Run *run, NodeId node, const char *key, json_object *value, uint64_t now) {
        Blackboard *blackboard = variables_scope(run->variables, node);
        uint64_t version = blackboard_version(blackboard);
        g_autoptr(json_object) output = json_object_get(value), values = NULL;

        blackboard_set(blackboard, key, value);
        if (blackboard_version(blackboard) == version)
                return;

        if (run->busy) {
                add_output(run, key, output);
                return;
        }

        values = json_object_new_object();
        json_object_object_add(values, key, g_steal_pointer(&output));
        input_begin(run, now);
        run_note_values(run, RECORD_SET, node, values);
        machine_variable_changed(run->machine);
        input_end(run);
}

void input_memo(Run *run, NodeId node, json_object *memory, uint64_t now) {
        if (!run->busy)
                run->now = now;

        run_note_values(run, RECORD_NOTE, node, memory);
        run_flush(run);
}

void input_recovered(Run *run, uint64_t now) {
        run->now = now;
        run_note_number(run, RECORD_RECOVERED, NODE_NONE, "engine", engine_version());
        run_flush(run);

        /* The record may not have had the result yet. */
        if (run->status != STATUS_RUNNING) {
                run_note_status(run, RECORD_FINISHED, NODE_NONE, run->status, run->cause);
                run_flush(run);
        }
}

void input_rerun(Run *run, NodeId node, json_object *noted, uint64_t now) {
        run->now = now;
        note_suspended(run);
        run_note_begin(run, RECORD_RERUN, node, noted);
        run_flush(run);
}

void input_pause(Run *run, uint64_t now) {
        input_begin(run, now);
        run_note(run, RECORD_PAUSE, NODE_NONE);
        run->paused = run->moved = true;
        input_end(run);
}

void input_resume(Run *run, uint64_t now) {
        input_begin(run, now);
        run_note(run, RECORD_RESUME, NODE_NONE);
        run_pass_breakpoints(run);
        run->paused = false;
        run->moved = true;
        input_end(run);
}

void input_step(Run *run, uint64_t now) {
        input_begin(run, now);
        run_note(run, RECORD_STEP, NODE_NONE);
        run_pass_breakpoints(run);
        input_end(run);
}

void input_breakpoint(Run *run, NodeId node, bool set, uint64_t now) {
        if (set == has_node(run->breakpoints, node, NULL))
                return;

        input_begin(run, now);
        run_note_breakpoint(run, node, set);
        if (set)
                add_node(&run->breakpoints, node);
        else
                remove_node(&run->breakpoints, node);
        run->moved = true;
        machine_set_breakpoint(run->machine, node, set);
        input_end(run);
}

bool input_force(Run *run, NodeId node, Status status, Cause *why, uint64_t now) {
        bool runs;

        input_begin(run, now);
        run_note_status(run, RECORD_FORCE, node, status, why);
        causes_set(&run->forced, node, why);
        runs = machine_force(run->machine, node, status);
        input_end(run);
        return runs;
}

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

const History *run_history(const Run *run) {
        return run->history;
}

void run_set_watched(Run *run, bool watched) {
        history_set_watched(run->history, watched);
}

GArray *run_take_changes(Run *run) {
        return history_take_changes(run->history);
}

void run_observe(Run *run, const RunObserver *observer, void *userdata) {
        run->observer = observer;
        run->observer_userdata = userdata;
}

const Machine *run_machine(const Run *run) {
        return run->machine;
}

bool run_is_busy(const Run *run) {
        return run->busy;
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

void *run_leaf(const Run *run, NodeId node) {
        bool leaf = definition_tree(run->definition)->nodes[node].flags & NODE_LEAF;

        return leaf && run->machine ? machine_node_data(run->machine, node) : NULL;
}

void run_set_leaf(Run *run, NodeId node, void *leaf) {
        machine_node_set_data(run->machine, node, leaf);
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
