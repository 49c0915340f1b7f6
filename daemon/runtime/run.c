/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The machine's host: starts and halts activities for its leaves, keeps its timers, and gives it a tick whenever
 * something has happened.
 */

#include <assert.h>
#include <inttypes.h>
#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/span.h"
#include "runtime/activity.h"
#include "runtime/detail.h"
#include "runtime/history.h"
#include "runtime/node-timers.h"
#include "runtime/run.h"
#include "script/loop-lists.h"
#include "script/variable.h"

struct Run {
        char *id, *tree, *instance;
        Definition *definition;
        Ticker *ticker;
        TickerEntry turn;
        const RunCallbacks *callbacks;
        void *userdata;

        Blackboard *blackboard;
        LoopLists *lists;
        ActivityContext context;
        Machine *machine;   /* NULL when it has finished, as are */
        NodeTimers *timers; /* these */
        History *history;
        char *last_look; /* why the condition that was looked at last is false, or NULL */
        bool first_look; /* ... for the first time since it was released */

        Status status;
        bool halting, ticking;
        char *why; /* it is halting */
        char *cause;
        uint64_t started, finished; /* CLOCK_REALTIME */
        uint64_t start, now;        /* CLOCK_MONOTONIC; now: of this tick or input */
};

/* Everything that happens outside of a tick goes through here. */
static void begin_input(Run *run) {
        assert(!run->ticking);

        run->now = (uint64_t) g_get_monotonic_time();
}

static void on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        begin_input(run);
        machine_timer_expired(run->machine, node);
        ticker_queue(run->ticker, &run->turn);
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Run *run = machine_userdata(machine);

        node_timers_arm(run->timers, node, usec);
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        node_timers_drop(run->timers, node);
}

static void drop_activity(Run *run, Activity *activity) {
        machine_node_set_data(run->machine, activity_node(activity), NULL);
        activity_free(activity);
}

static Activity *start_activity(Run *run, NodeId node) {
        Activity *activity = activity_start(&run->context, node, history_count_start(run->history, node));

        machine_node_set_data(run->machine, node, activity);
        return activity;
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        return activity_status(start_activity(machine_userdata(machine), node));
}

static bool host_leaf_halt(Machine *machine, NodeId node) {
        Activity *activity = machine_node_data(machine, node);

        if (!activity_halt(activity))
                return false;

        drop_activity(machine_userdata(machine), activity);
        return true;
}

static Status host_condition_look(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        Activity *activity = machine_node_data(machine, node);

        run->first_look = !activity;
        if (!activity)
                activity = start_activity(run, node);

        g_free(run->last_look);
        run->last_look = g_strdup(activity_cause(activity));
        return activity_status(activity);
}

static void host_condition_release(Machine *machine, NodeId node) {
        Activity *activity = machine_node_data(machine, node);

        if (activity)
                drop_activity(machine_userdata(machine), activity);
}

static void on_activity_ended(Activity *activity, void *userdata) {
        Run *run = userdata;
        NodeId node = activity_node(activity);
        Status status = activity_status(activity);

        begin_input(run);
        /* A halted one is of no further interest, any other until the machine has seen its end. */
        if (machine_node_ending(run->machine, node))
                drop_activity(run, activity);

        machine_leaf_ended(run->machine, node, status);
        ticker_queue(run->ticker, &run->turn);
}

static void on_activity_changed(Activity *activity, void *userdata) {
        Run *run = userdata;

        begin_input(run);
        machine_condition_changed(run->machine, activity_node(activity));
        ticker_queue(run->ticker, &run->turn);
}

/* What is not to be found in the children; NULL: nothing. */
static char *own_reason(Run *run, NodeId node, Reason reason, const char *leaf_cause) {
        g_autofree char *text = NULL;

        switch (reason) {
        case REASON_NONE:
                return g_strdup(leaf_cause);
        case REASON_TIMEOUT:
                text = span_format(node_timers_span(run->timers, node));
                return g_strdup_printf("timed out after %s", text);
        case REASON_ATTEMPTS:
                text = history_cause(run->history, node + 1);
                return text ? g_strdup_printf("failed %" PRIu32 " times; last: %s", history_rounds(run->history, node),
                                              text)
                            : NULL;
        default:
                return NULL;
        }
}

/* Conditions fail all the time, and who tries again fails for the same reason again. */
static void log_failure(Run *run, NodeId node, const char *reason) {
        const Tree *tree = definition_tree(run->definition);
        const char *before = history_own_reason(run->history, node);
        bool usual = tree->nodes[node].type->class == NODE_CONDITION || g_strcmp0(before, reason) == 0;

        log_message(usual ? LOG_DEBUG : LOG_INFO,
                    &(LogSubject){ .tree = run->tree, .run = run->id, .node = tree_node_name(tree, node) }, "%s%s",
                    tree->nodes[node].flags & NODE_LEAF ? "failed: " : "", reason);
}

static void record(Run *run, NodeId node, Status status, Reason reason, const char *leaf_cause) {
        g_autofree char *text = NULL;

        if (status == STATUS_FAILURE || status == STATUS_SKIPPED)
                text = own_reason(run, node, reason, leaf_cause);
        if (status == STATUS_FAILURE && text)
                log_failure(run, node, text);

        history_record(run->history, node, status, reason, text, run->now);
}

static void action_changed(Run *run, NodeId node, Status status, Reason reason) {
        Activity *activity = machine_node_data(run->machine, node);

        record(run, node, status, reason, activity ? activity_cause(activity) : NULL);
        if (activity && status != STATUS_RUNNING && !activity_is_ending(activity))
                drop_activity(run, activity);
}

static void condition_changed(Run *run, NodeId node, Status status, Reason reason) {
        if (!run->first_look && status == history_status(run->history, node))
                history_repeat(run->history, node);
        else
                record(run, node, status, reason, run->last_look);
}

static void inner_changed(Run *run, NodeId node, Status status, Reason reason) {
        record(run, node, status, reason, NULL);
        if (status != STATUS_RUNNING)
                node_timers_drop(run->timers, node);
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        Run *run = machine_userdata(machine);

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
}

static bool host_guard(Machine *machine, NodeId node, Guard guard) {
        const Run *run = machine_userdata(machine);
        const char *variable = definition_guard(run->definition, node, guard);

        return variable ? variable_is_true(run->blackboard, variable) : guard == GUARD_WHILE;
}

static bool host_test(Machine *machine, NodeId node, const char *variable) {
        const Run *run = machine_userdata(machine);

        return variable_is_true(run->blackboard, variable);
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const char *const *cases) {
        const Run *run = machine_userdata(machine);

        return variable_match(run->blackboard, variable, cases);
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        const Run *run = machine_userdata(machine);

        return loop_lists_hand_out(run->lists, run->blackboard, node, list, variable, index);
}

static const MachineHost host = {
        .leaf_start = host_leaf_start,
        .leaf_halt = host_leaf_halt,
        .condition_look = host_condition_look,
        .condition_release = host_condition_release,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .guard = host_guard,
        .test = host_test,
        .match = host_match,
        .next_element = host_next_element,
        .changed = host_changed,
};

static char *error_cause(const Run *run, NodeId *ret_node) {
        const char *error = machine_error(run->machine, ret_node);
        g_autofree char *path = tree_node_path(definition_tree(run->definition), *ret_node);

        return g_strdup_printf("%s: %s", path, detail_error(error));
}

static void drop_all(Run *run) {
        ticker_remove(run->ticker, &run->turn);
        while (run->context.activities.head)
                activity_free(run->context.activities.head->data);

        g_clear_pointer(&run->timers, node_timers_free);
        g_clear_pointer(&run->last_look, g_free);
        g_clear_pointer(&run->machine, machine_free);
}

static void finish(Run *run, Status status) {
        run->status = run->cause ? STATUS_ERROR : status;
        run->finished = (uint64_t) g_get_real_time();
        if (status == STATUS_HALTED && !run->cause)
                run->cause = g_steal_pointer(&run->why);
        else if (!run->cause)
                run->cause = history_full_cause(run->history, 0);

        drop_all(run);
        run->callbacks->changed(run, run->userdata);
        run->callbacks->finished(run, run->userdata);
}

static void halt_after_error(Run *run) {
        NodeId node = NODE_NONE;

        run->cause = error_cause(run, &node);
        run->halting = true;
        machine_halt(run->machine);
        history_close(run->history, node, run->now);
}

static void run_tick(void *userdata) {
        Run *run = userdata;
        Status status;

        begin_input(run);
        run->ticking = true;
        status = machine_tick(run->machine);
        run->ticking = false;

        if (status == STATUS_ERROR && !run->cause) {
                halt_after_error(run);
                status = STATUS_RUNNING;
        }

        if (status != STATUS_RUNNING) {
                finish(run, status);
                return;
        }

        if (machine_wants_tick(run->machine))
                ticker_queue(run->ticker, &run->turn);
        run->callbacks->changed(run, run->userdata);
}

static Blackboard *initial_blackboard(const Definition *definition) {
        Blackboard *blackboard = blackboard_new();

        json_object_object_foreach(definition_blackboard(definition), key, value)
                blackboard_set(blackboard, key, json_object_get(value));

        return blackboard;
}

Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const LeafServices *services, Ticker *ticker, const RunCallbacks *callbacks, void *userdata) {
        Run *run = g_new0(Run, 1);
        uint64_t seed = (uint64_t) g_random_int() << 32 | g_random_int();

        run->id = g_strdup(id);
        run->tree = g_strdup(tree);
        run->instance = g_strdup(instance);
        run->definition = definition_ref(definition);
        run->ticker = ticker;
        run->turn = (TickerEntry){ .tick = run_tick, .userdata = run };
        run->callbacks = callbacks;
        run->userdata = userdata;
        run->blackboard = initial_blackboard(definition);
        run->lists = loop_lists_new();
        run->context = (ActivityContext){
                .tree = run->tree,
                .run = run->id,
                .definition = definition,
                .services = services,
                .blackboard = run->blackboard,
                .ended = on_activity_ended,
                .changed = on_activity_changed,
                .userdata = run,
        };
        run->timers = node_timers_new(services->timers, on_timer, run);
        run->machine = machine_new(definition_tree(definition), &host, run, seed);
        run->status = STATUS_RUNNING;
        run->started = (uint64_t) g_get_real_time();
        run->start = run->now = (uint64_t) g_get_monotonic_time();
        run->history = history_new(definition_tree(definition), run->start);
        return run;
}

void run_free(Run *run) {
        if (!run)
                return;

        drop_all(run);
        history_free(run->history);
        loop_lists_free(run->lists);
        blackboard_free(run->blackboard);
        definition_unref(run->definition);
        g_free(run->why);
        g_free(run->cause);
        g_free(run->id);
        g_free(run->tree);
        g_free(run->instance);
        g_free(run);
}

void run_set_variable(Run *run, const char *key, json_object *value) {
        blackboard_set(run->blackboard, key, value);
}

void run_start(Run *run) {
        begin_input(run);
        machine_start(run->machine);
        ticker_queue(run->ticker, &run->turn);
}

void run_halt(Run *run, const char *why) {
        if (run->halting || run->status != STATUS_RUNNING)
                return;

        begin_input(run);
        run->halting = true;
        run->why = g_strdup(why);
        machine_halt(run->machine);
        ticker_queue(run->ticker, &run->turn);
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

const Definition *run_definition(const Run *run) {
        return run->definition;
}

Blackboard *run_blackboard(Run *run) {
        return run->blackboard;
}

Status run_status(const Run *run) {
        return run->status;
}

bool run_halting(const Run *run) {
        return run->halting && run->status == STATUS_RUNNING;
}

const char *run_cause(const Run *run) {
        return run->cause;
}

uint64_t run_started(const Run *run) {
        return run->started;
}

uint64_t run_finished(const Run *run) {
        return run->finished;
}

void run_set_watched(Run *run, bool watched) {
        history_set_watched(run->history, watched);
}

GArray *run_take_changes(Run *run) {
        return history_take_changes(run->history);
}

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report) {
        const Tree *tree = definition_tree(run->definition);
        uint64_t now = (uint64_t) g_get_monotonic_time(), since = history_since(run->history, node);
        bool leaf = tree->nodes[node].flags & NODE_LEAF;
        Activity *activity = leaf && run->machine ? machine_node_data(run->machine, node) : NULL;
        uint64_t left = run->timers ? node_timers_left(run->timers, node) : UINT64_MAX;

        *ret_report = (NodeReport){
                .status = history_status(run->history, node),
                .since = since > 0 ? run->started + (since - run->start) : 0,
                .duration = history_duration(run->history, node, now),
                .detail = detail_text(tree, run->history, node, activity, left),
        };
}
