/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the life of a run and what can be read of it: its state, its causes, and what a node waits for. Its inputs
 * are in run-inputs.c.
 */

#include <assert.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "engine/machine.h"
#include "run/causes.h"
#include "run/events.h"
#include "run/run-state.h"

static int compare_nodes(const void *a, const void *b) {
        NodeId x = *(const NodeId *) a, y = *(const NodeId *) b;

        return (x > y) - (x < y);
}

bool node_set_has(GArray *set, NodeId node) {
        return set && g_array_binary_search(set, &node, compare_nodes, NULL);
}

void node_set_add(GArray **set, NodeId node) {
        unsigned i;

        *set = *set ?: g_array_new(FALSE, FALSE, sizeof(NodeId));
        i = (*set)->len;
        while (i > 0 && g_array_index(*set, NodeId, i - 1) > node)
                i--;
        if (i == 0 || g_array_index(*set, NodeId, i - 1) != node)
                g_array_insert_val(*set, i, node);
}

bool node_set_remove(GArray **set, NodeId node) {
        unsigned i;

        if (!*set || !g_array_binary_search(*set, &node, compare_nodes, &i))
                return false;

        g_array_remove_index(*set, i);
        if ((*set)->len == 0)
                g_clear_pointer(set, g_array_unref);
        return true;
}

/* The timers of nodes. */

NodeTimer *run_timer(const Run *run, NodeId node) {
        return run->timers ? g_hash_table_lookup(run->timers, GUINT_TO_POINTER(node)) : NULL;
}

static void node_timer_free(void *data) {
        NodeTimer *timer = data;

        timer_free(timer->timer);
        g_free(timer->waited);
        g_free(timer);
}

void run_put_timer(Run *run, NodeId node, NodeTimer *timer) {
        if (!run->timers)
                run->timers = g_hash_table_new_full(NULL, NULL, NULL, node_timer_free);

        timer->run = run;
        timer->node = node;
        g_hash_table_replace(run->timers, GUINT_TO_POINTER(node), timer);
}

uint64_t run_boottime_deadline(const Run *run, NodeId node) {
        const NodeTimer *timer = run_timer(run, node);

        if (!timer || !timer->armed || timer->deadline > UINT64_MAX - timer->suspended)
                return UINT64_MAX;

        return timer->deadline + timer->suspended;
}

uint64_t run_deadline(const Run *run, NodeId node) {
        const NodeTimer *timer = run_timer(run, node);

        return timer && timer->armed ? timer->deadline : UINT64_MAX;
}

const char *run_node_element(const Run *run, NodeId node) {
        return variables_element_text(run->variables, node);
}

const char *run_cause_element(const Run *run, const Cause *cause) {
        return node_history_cause(run->history, cause->node) == cause ? run_node_element(run, cause->node) : NULL;
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

bool run_is_inhibitor(const Run *run, NodeId node) {
        return definition_tree(run->definition)->nodes[node].type->flags & TYPE_INHIBITS;
}

bool run_is_connection(const Run *run, NodeId node) {
        return definition_tree(run->definition)->nodes[node].type->flags & TYPE_CONNECTS;
}

char *run_lock_name(const Run *run, NodeId node) {
        const void *params = definition_tree(run->definition)->nodes[node].params;
        const char *bus = run_is_connection(run, node) ? ((const OwnConnectionParams *) params)->bus : NULL;

        if (run_is_connection(run, node))
                return bus ? g_strdup_printf("the bus '%s'", bus) : g_strdup("the default bus");
        return g_strdup_printf("'%s'", run_is_inhibitor(run, node) ? ((const InhibitParams *) params)->what
                                                                   : definition_lock(run->definition, node));
}

char *run_describe_waiting(const Run *run, NodeId node) {
        NodeId other = run->machine ? machine_node_waits_for(run->machine, node) : NODE_NONE;
        g_autofree char *name = run_waits_for_lock(run, node) ? run_lock_name(run, node) : NULL;

        if (run_is_at_breakpoint(run, node))
                return g_strdup("at a breakpoint");
        if (name)
                return g_strdup_printf("for %s %s",
                                       run_is_connection(run, node)  ? "a connection of its own to"
                                       : run_is_inhibitor(run, node) ? "the inhibitor lock"
                                                                     : "the lock",
                                       name);
        if (other == NODE_NONE || other == node)
                return NULL;

        return g_strdup_printf("for %s to stop", tree_node_name(definition_tree(run->definition), other));
}

/* The leaves that were started and are still needed, as the run record knows them. */

RunLeaf *run_add_leaf(Run *run, NodeId node, uint32_t attempt, json_object *noted) {
        RunLeaf *leaf = g_new(RunLeaf, 1);

        *leaf = (RunLeaf){
                .node = node,
                .attempt = attempt,
                .status = STATUS_RUNNING,
                .noted = json_object_get(noted),
                .since = run->now,
                .suspended = run->suspended,
        };
        machine_node_set_data(run->machine, node, leaf);
        return leaf;
}

void run_remove_leaf(Run *run, RunLeaf *leaf) {
        machine_node_set_data(run->machine, leaf->node, NULL);
        cause_unref(leaf->cause);
        json_object_put(leaf->memo);
        json_object_put(leaf->noted);
        g_free(leaf);
}

void run_leaf_set(RunLeaf *leaf, Status status, Cause *cause) {
        Cause *before = leaf->cause;

        leaf->status = status;
        leaf->cause = cause_ref(cause);
        cause_unref(before);
}

/* The original may be changed later. */
void run_leaf_set_value(RunLeaf *leaf, Status status, const Cause *cause) {
        g_autoptr(Cause) copy = NULL;

        if (cause) {
                copy = cause_new(cause->kind, json_object_get(cause->facts), cause->text);
                copy->node = cause->node;
        }
        run_leaf_set(leaf, status, copy);
        leaf->known = true;
}

void run_leaf_set_memo(RunLeaf *leaf, json_object *memo) {
        leaf->has_memo = true;
        json_object_put(leaf->memo);
        leaf->memo = json_object_get(memo);
}

RunLeaf *run_leaf(const Run *run, NodeId node) {
        bool leaf = definition_tree(run->definition)->nodes[node].flags & NODE_LEAF;

        return leaf && run->machine ? machine_node_data(run->machine, node) : NULL;
}

RunLeaf *run_next_leaf(const Run *run, NodeId from) {
        NodeId n_nodes = run->machine ? machine_tree(run->machine)->n_nodes : 0;

        for (NodeId node = from; node < n_nodes; node++) {
                RunLeaf *leaf = run_leaf(run, node);

                if (leaf)
                        return leaf;
        }

        return NULL;
}

bool run_is_as_noted(const Run *run, const RunLeaf *leaf) {
        return !leaf->noted || definition_is_as_noted(run->definition, leaf->node,
                                                      variables_scope(run->variables, leaf->node), leaf->noted);
}

uint64_t run_holds_until(const Run *run, NodeId node) {
        return run_leaf(run, node) ? run_deadline(run, node) : UINT64_MAX;
}

bool run_is_false(const Run *run, NodeId node) {
        const RunLeaf *leaf = run_leaf(run, node);

        return leaf && leaf->known && leaf->status == STATUS_FAILURE;
}

/* The life of the run. */

/* The time of the input, as events have it. The numbers do not come again after a recovery, which is later. */
static BlackboardMoment on_moment(uint64_t n, void *userdata) {
        const Run *run = userdata;
        uint64_t random = run->seed + run->now * UINT64_C(0x9e3779b97f4a7c15) + (n << 40);

        /* The finalizer of SplitMix64. */
        random = (random ^ random >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        random = (random ^ random >> 27) * UINT64_C(0x94d049bb133111eb);
        return (BlackboardMoment){ .time = run->started + (run->now - run->start), .random = random ^ random >> 31 };
}

static const BlackboardHost blackboard_host = { .set = run_events_set, .moment = on_moment };

Run *run_make(const RunOrigin *origin, Definition *definition, const RunHost *host, void *userdata) {
        size_t n_id = strlen(origin->id) + 1, n_tree = strlen(origin->tree) + 1,
               n_instance = strlen(origin->instance) + 1;
        const Tree *tree = definition_tree(definition);
        Run *run = g_malloc0(sizeof(Run) + n_id + n_tree + n_instance);

        memcpy(run->names, origin->id, n_id);
        run->tree = memcpy(run->names + n_id, origin->tree, n_tree);
        memcpy(run->names + n_id + n_tree, origin->instance, n_instance);
        run->definition = definition_ref(definition);
        run->host = host;
        run->host_userdata = userdata;
        run->variables = variables_new(definition, origin->id, origin->tree, origin->instance);
        blackboard_set_host(run_blackboard(run), &blackboard_host, run);
        run->machine = machine_new(tree, &run_machine_host, run, origin->seed);
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

void run_clear_machine(Run *run) {
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

        run_end_live(run, false);
        run_observe_events(run, NULL, NULL, 0);
        run_clear_machine(run);
        g_clear_pointer(&run->queues, g_hash_table_unref);
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
        const NodeTimer *timer;

        run->replay = NULL;
        run->host = host;
        run->host_userdata = userdata;
        if (!run->timers)
                return;

        TABLE_FOREACH(timer, run->timers)
                host->act(&(Effect){ .kind = EFFECT_TIMER, .node = timer->node }, userdata);
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

json_object *run_seal(const Run *run, json_object *values) {
        json_object *sealed = json_object_new_object();

        json_object_object_foreach(values, key, value) json_object_object_add(
                sealed, key, blackboard_sealed(run_blackboard(run), key, json_object_get(value)));
        return sealed;
}

void run_give(Run *run, json_object *variables) {
        if (json_object_object_length(variables) > 0)
                run->given = run_seal(run, variables);
        run_set_variables(run, run->given ?: variables);
}

void run_set_variables(Run *run, json_object *values) {
        Blackboard *blackboard = variables_outermost(run->variables);

        json_object_object_foreach(values, key, value) blackboard_set(blackboard, key, json_object_get(value));
}

RunLock *run_find_lock(const Run *run, NodeId node) {
        const GArray *locks = run_locks(run);

        ARRAY_FOREACH(RunLock, lock, locks)
                if (lock->node == node)
                        return lock;

        return NULL;
}

/* The state. */

const char *run_id(const Run *run) {
        return run->names;
}

const char *run_tree(const Run *run) {
        return run->tree;
}

const char *run_instance(const Run *run) {
        return run->tree + strlen(run->tree) + 1;
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

uint64_t run_time_monotonic(const Run *run, uint64_t time) {
        return time > 0 ? run->start + (time - run->started) : 0;
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

const char *run_starter(const Run *run) {
        return run->starter;
}

json_object *run_outputs(const Run *run, uint32_t *ret_n_more) {
        if (run->status == STATUS_SUCCESS || run->status == STATUS_FAILURE)
                return variables_outputs(run->variables, ret_n_more);

        *ret_n_more = 0;
        return NULL;
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
        return node_set_has(run->stops, node);
}
