/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Makes and counts the events of a run. run.c calls a function of this file for each thing that happens.
 *
 * Every event is counted, but only made if it is observed. So whether something is an event depends on the inputs of
 * the run alone, and the state for that decision is in snapshots. Who has halted a node is only clear at the end of
 * the input, so the events of one input are reported together.
 */

#include <inttypes.h>
#include <json-c/linkhash.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "run/events.h"
#include "run/run-state.h"

struct RunEvents {
        RunEventObserver observer;
        void *userdata;
        unsigned max;
        GArray *events;   /* of RunEvent: of this input */
        json_object *set; /* variables that have changed and are not reported yet */
};

/* In Run.skips. */
enum {
        SKIPPED_BEFORE = 1, /* the node was skipped since its parent has changed last */
        HAS_SKIPPED = 2,    /* the node has such children */
};

RunEvent run_event_copy(const RunEvent *event) {
        RunEvent copy = *event;

        copy.label = g_strdup(event->label);
        copy.text = g_strdup(event->text);
        copy.values = json_object_get(event->values);
        return copy;
}

void run_event_clear(RunEvent *event) {
        g_clear_pointer(&event->label, g_free);
        g_clear_pointer(&event->text, g_free);
        g_clear_pointer(&event->values, json_object_put);
}

static void clear_event(void *event) {
        run_event_clear(event);
}

void run_events_set(const char *key, json_object *value, void *userdata) {
        const Run *run = userdata;

        if (run->events)
                json_object_object_add(run->events->set, key, json_object_get(value));
}

static json_object *take_set(RunEvents *events) {
        json_object *set = g_steal_pointer(&events->set);

        events->set = json_object_new_object();
        return set;
}

static void events_free(RunEvents *events) {
        if (!events)
                return;

        g_array_unref(events->events);
        json_object_put(events->set);
        g_free(events);
}

void run_observe_events(Run *run, RunEventObserver observer, void *userdata, unsigned max) {
        g_clear_pointer(&run->events, events_free);
        if (observer) {
                run->events = g_new(RunEvents, 1);
                *run->events = (RunEvents){
                        .observer = observer,
                        .userdata = userdata,
                        .max = max,
                        .events = g_array_new(FALSE, FALSE, sizeof(RunEvent)),
                        .set = json_object_new_object(),
                };
                g_array_set_clear_func(run->events->events, clear_event);
        }
}

uint64_t run_n_events(const Run *run) {
        return run->n_events;
}

/* Makes an event without a number of its own. Takes the text, references the values. */
static RunEvent *add(const Run *run, NodeId node, const char *what, char *text, json_object *values) {
        GArray *events = run->events->events;
        RunEvent event = {
                .time = run->now - run->start,
                .node = node,
                .what = what,
                .label = run_node_label(run, node),
                .text = text,
                .values = json_object_get(values),
        };

        g_array_append_val(events, event);
        return &g_array_index(events, RunEvent, events->len - 1);
}

/* Counts an event; true if it must be made. */
static bool count(Run *run) {
        run->n_events++;
        return run->events && run->events->events->len < run->events->max;
}

static RunEvent *add_counted(const Run *run, NodeId node, const char *what, char *text, json_object *values) {
        RunEvent *event = add(run, node, what, text, values);

        event->number = run->n_events;
        return event;
}

void run_tell(Run *run, NodeId node, const char *what) {
        if (count(run))
                add_counted(run, node, what, NULL, NULL);
}

void run_tell_text(Run *run, NodeId node, const char *what, const char *format, ...) {
        va_list args;

        if (!count(run))
                return;

        va_start(args, format);
        add_counted(run, node, what, g_strdup_vprintf(format, args), NULL);
        va_end(args);
}

static char *describe_user(const char *by) {
        return by ? g_strconcat("by ", by, NULL) : NULL;
}

void run_tell_request(Run *run, NodeId node, const char *what, const char *by) {
        if (count(run))
                add_counted(run, node, what, describe_user(by), NULL);
}

void run_tell_start(Run *run) {
        g_autoptr(json_object) none = NULL;

        if (!count(run))
                return;

        none = run->given ? NULL : json_object_new_object();
        add_counted(run, NODE_NONE, "started", describe_user(run->starter), run->given ?: none);
}

/* From here on, the variables that have changed are those that nodes compute. */
static void forget_set(Run *run) {
        run->n_sets_told = (uint32_t) blackboard_n_sets(variables_outermost(run->variables));
        if (run->events && json_object_object_length(run->events->set) > 0)
                json_object_put(take_set(run->events));
}

void run_tell_set(Run *run, NodeId node, json_object *values, const char *by) {
        if (count(run))
                add_counted(run, node, "set", describe_user(by), values);
        forget_set(run);
}

/* By a Script, by a hook, or by passing a value to another scope. */
void run_tell_computed(Run *run, NodeId node) {
        g_autoptr(json_object) values = NULL;

        if ((uint32_t) blackboard_n_sets(variables_outermost(run->variables)) == run->n_sets_told)
                return;

        if (count(run)) {
                values = take_set(run->events);
                add_counted(run, node, "set", NULL, values);
        }
        forget_set(run);
}

static unsigned skip_of(const Run *run, NodeId node) {
        return GPOINTER_TO_UINT(g_hash_table_lookup(run->skips, GUINT_TO_POINTER(node)));
}

static void set_skip(Run *run, NodeId node, unsigned skip) {
        if (skip)
                g_hash_table_insert(run->skips, GUINT_TO_POINTER(node), GUINT_TO_POINTER(skip));
        else
                g_hash_table_remove(run->skips, GUINT_TO_POINTER(node));
}

bool run_was_skipped_before(const Run *run, NodeId node) {
        return run->skips && skip_of(run, node) & SKIPPED_BEFORE;
}

void run_put_skip(Run *run, NodeId node) {
        NodeId parent = definition_tree(run->definition)->nodes[node].parent;

        if (!run->skips)
                run->skips = g_hash_table_new(NULL, NULL);
        set_skip(run, node, skip_of(run, node) | SKIPPED_BEFORE);
        set_skip(run, parent, skip_of(run, parent) | HAS_SKIPPED);
}

/* A parent that ticks again skips its child again. That is an event only if the parent was started again. */
static bool is_repeated(Run *run, NodeId node, Status before, Status status) {
        const Node *nodes = definition_tree(run->definition)->nodes;
        bool again;

        if (run->skips && skip_of(run, node) & HAS_SKIPPED) {
                set_skip(run, node, skip_of(run, node) & ~HAS_SKIPPED);
                for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                        set_skip(run, child, skip_of(run, child) & ~SKIPPED_BEFORE);
        }
        if (status != STATUS_SKIPPED || nodes[node].parent == NODE_NONE)
                return false;

        again = before == STATUS_SKIPPED && run_was_skipped_before(run, node);
        run_put_skip(run, node);
        return again;
}

/* Why a node has ended. NULL: the cause says no more than the status. */
static char *describe_end(const Run *run, NodeId node, Status status) {
        const Cause *cause = node_history_cause(run->history, node);

        if (!cause || (cause->node == node && g_str_equal(cause->kind, CAUSE_FAILED) &&
                       g_str_equal(cause->text, status == STATUS_SKIPPED ? "skipped" : "failed")))
                return NULL;

        return cause_describe(definition_tree(run->definition), cause, node);
}

void run_tell_change(Run *run, NodeId node, Status before, uint64_t waited) {
        Status status = node_history_status(run->history, node);
        RunEvent *event;

        /* A node that the next tick starts does not wait; a breakpoint has an event of its own. */
        if (node_history_phase(run->history, node) == PHASE_WAITING) {
                g_autofree char *text = run_is_at_breakpoint(run, node) ? NULL : run_describe_waiting(run, node);

                if (!text || !count(run))
                        return;
                event = add_counted(run, node, "waiting", g_steal_pointer(&text), NULL);
                event->status = STATUS_RUNNING;
                event->phase = PHASE_WAITING;
                return;
        }
        if (is_repeated(run, node, before, status) || !count(run))
                return;

        event = add_counted(run, node, node_history_state(run->history, node),
                            status == STATUS_RUNNING ? NULL : describe_end(run, node, status), NULL);
        event->status = status;
        event->phase = node_history_phase(run->history, node);
        if (status != STATUS_RUNNING)
                event->duration = node_history_duration(run->history, node, run->now);
        else if (event->phase == PHASE_BEGUN)
                event->waited = waited;
}

void run_tell_given_up(Run *run, NodeId node, const Cause *why) {
        GArray *events = run->events ? run->events->events : NULL;
        RunEvent *event = events && events->len > 0 ? &g_array_index(events, RunEvent, events->len - 1) : NULL;

        if (event && event->node == node && event->status == STATUS_HALTED && !event->text)
                event->text = g_strdup(why->text);
}

void run_tell_result(Run *run) {
        g_autoptr(json_object) outputs = NULL;
        const Cause *cause = run_cause_chain(run);
        RunEvent *event;
        uint32_t n_more;

        if (!count(run))
                return;

        outputs = run_outputs(run, &n_more);
        event = add_counted(run, NODE_NONE, status_to_string(run->status),
                            cause ? cause_describe(definition_tree(run->definition), cause, NODE_NONE) : NULL, outputs);
        event->status = run->status;
        event->duration = event->time;
}

void run_tell_restored(Run *run) {
        if (run->events)
                add_counted(run, NODE_NONE, "cut", NULL, NULL);
        for (NodeId node = 0; run->events && node < definition_tree(run->definition)->n_nodes; node++) {
                Phase phase = node_history_phase(run->history, node);
                RunEvent *event;

                if (node_history_status(run->history, node) != STATUS_RUNNING)
                        continue;
                event = add(run, node, node_history_state(run->history, node),
                            phase == PHASE_WAITING ? run_describe_waiting(run, node) : NULL, NULL);
                event->status = STATUS_RUNNING;
                event->phase = phase;
        }

        run_end_events(run);
}

/* Adds the cause of a halt. */
static void complete(const Run *run, RunEvent *event) {
        g_autoptr(Cause) cause = NULL;
        g_autofree char *given_up = NULL;
        Phase phase;

        if (event->node == NODE_NONE || (event->status != STATUS_HALTED && event->phase != PHASE_HALTING))
                return;

        /* A node that has stopped can wait for its next start already. */
        phase = node_history_phase(run->history, event->node);
        cause = phase == PHASE_WAITING ? run_halted_cause(run, event->node) : run_node_cause(run, event->node);
        if (!cause || (phase != PHASE_HALTING && !g_str_equal(cause->kind, CAUSE_HALTED)))
                return;

        given_up = g_steal_pointer(&event->text);
        event->text = given_up ? g_strdup_printf("%s; %s", cause->text, given_up) : g_strdup(cause->text);
}

void run_end_events(Run *run) {
        GArray *events;

        forget_set(run);
        if (!run->events)
                return;

        events = run->events->events;
        ARRAY_FOREACH(RunEvent, event, events) {
                complete(run, event);
                run->events->observer(event, run->events->userdata);
        }
        g_array_set_size(events, 0);
}
