/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the life of a run: the machine gets a tick after each input, until it has finished. */

#include <string.h>

#include "run/detail.h"
#include "run/run-state.h"

static void drop_all(Run *run) {
        while (run->context.activities.head)
                activity_free(run->context.activities.head->data);

        g_clear_pointer(&run->timers, node_timers_free);
        g_clear_pointer(&run->locks, node_locks_free);
        g_clear_pointer(&run->kept, g_array_unref);
        g_clear_pointer(&run->later, timer_free);
        ticker_remove(run->services->ticker, &run->turn);
}

void run_abandon(Run *run) {
        while (run->context.activities.head)
                activity_abandon(run->context.activities.head->data);

        drop_all(run);
}

/* Tell it after the changes of nodes in the same tick. A run that was ready when it was recovered was reported
 * before. */
static void report_ready(Run *run) {
        if (run->ready_reported || !progress_was_made_ready(run->progress))
                return;

        run->ready_reported = true;
        if (run->callbacks->ready)
                run->callbacks->ready(run, run->userdata);
}

/* CLOCK_REALTIME may have been set meanwhile, so add the duration to the start. */
void run_finish(Run *run) {
        run->finished = run->started + (progress_now(run->progress) - run->start);
        drop_all(run);
        run->callbacks->changed(run, run->userdata);
        report_ready(run);
        run->callbacks->finished(run, run->userdata);
}

static void run_tick(void *userdata) {
        Run *run = userdata;

        if (progress_tick(run->progress, run_now()) != STATUS_RUNNING) {
                run_finish(run);
                return;
        }

        run_settle(run);
        run->callbacks->changed(run, run->userdata);
        report_ready(run);
        run_tell_moved(run);
}

Run *run_make(const char *id, const char *tree, const char *instance, const RunServices *services,
              const RunCallbacks *callbacks, void *userdata) {
        size_t n_id = strlen(id) + 1, n_tree = strlen(tree) + 1, n_instance = strlen(instance) + 1;
        Run *run = g_malloc0(sizeof(Run) + n_id + n_tree + n_instance);

        run->id = memcpy(run->names, id, n_id);
        run->tree = memcpy(run->names + n_id, tree, n_tree);
        run->instance = memcpy(run->names + n_id + n_tree, instance, n_instance);
        run->services = services;
        run->turn = (TickerEntry){ .tick = run_tick, .userdata = run };
        run->callbacks = callbacks;
        run->userdata = userdata;
        return run;
}

/* A unit that is started waits until the run is ready; one that is stopped, until the halt of the run completes. */
static bool is_awaited_by(const char *unit, bool stop, void *userdata) {
        const Run *run = userdata;

        return run->services->waiters && (stop ? run_halting(run) : run_ready(run) == 0) &&
               waiters_has(run->services->waiters, run->tree, run->instance, stop, unit);
}

void run_tell_awaited(Run *run) {
        for (GList *i = run->context.activities.head; i; i = i->next)
                activity_tell_awaited(i->data);
}

static const ActivityCallbacks activity_callbacks = {
        .ended = run_on_activity_ended,
        .changed = run_on_activity_changed,
        .output = run_on_activity_output,
        .remember = run_on_activity_remembers,
        .rerun = run_on_activity_rerun,
        .awaited_by = is_awaited_by,
};

void run_set_progress(Run *run, Progress *progress) {
        Definition *definition = progress_definition(progress);

        run->progress = progress;
        run->ready_reported = progress_was_made_ready(progress);
        run->context = (ActivityContext){
                .tree = run->tree,
                .run = run->id,
                .definition = definition,
                .services = run->services->leaves,
                .variables = progress_variables(progress),
                .callbacks = &activity_callbacks,
                .userdata = run,
        };
}

Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata) {
        Run *run = run_make(id, tree, instance, services, callbacks, userdata);

        run->started = (uint64_t) g_get_real_time();
        run->start = run_now();
        run->seed = (uint64_t) g_random_int() << 32 | g_random_int();
        run_set_progress(run, progress_new(definition, run->seed, run->start, &run_host, run));
        return run;
}

void run_free(Run *run) {
        if (!run)
                return;

        drop_all(run);
        progress_free(run->progress);
        json_object_put(run->given);
        g_free(run->token);
        g_free(run->not_durable);
        g_free(run);
}

void run_give(Run *run, json_object *variables) {
        if (json_object_object_length(variables) > 0)
                run->given = json_object_get(variables);
        progress_give(run->progress, variables);
}

json_object *run_given(const Run *run) {
        return run->given;
}

void run_set_caller(Run *run, uint32_t uid) {
        run->caller = uid;
}

uint32_t run_caller(const Run *run) {
        return run->caller;
}

void run_set_token(Run *run, const char *token) {
        g_free(run->token);
        run->token = g_strdup(token);
}

const char *run_token(const Run *run) {
        return run->token ?: run->id;
}

void run_start(Run *run) {
        progress_start(run->progress, run_now());
        run_settle(run);
}

void run_halt(Run *run, Cause *why) {
        if (progress_is_halting(run->progress) || run_status(run) != STATUS_RUNNING) {
                cause_unref(why);
                return;
        }

        progress_halt(run->progress, why, run_now());
        run_settle(run);
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
        return progress_definition(run->progress);
}

Blackboard *run_blackboard(Run *run) {
        return variables_outermost(progress_variables(run->progress));
}

Status run_status(const Run *run) {
        return progress_status(run->progress);
}

bool run_halting(const Run *run) {
        return progress_is_halting(run->progress) && run_status(run) == STATUS_RUNNING;
}

const char *run_status_text(const Run *run) {
        return progress_status_text(run->progress);
}

const char *run_cause(const Run *run) {
        const Cause *cause = progress_cause(run->progress);

        return cause ? cause->text : NULL;
}

const Cause *run_cause_chain(const Run *run) {
        return progress_cause(run->progress);
}

Cause *run_node_cause(const Run *run, NodeId node) {
        return progress_node_cause(run->progress, node);
}

bool run_awaits(const Run *run, NodeId node, uint32_t attempt) {
        const Tree *tree = definition_tree(run_definition(run));
        const Activity *activity = node < tree->n_nodes ? progress_leaf(run->progress, node) : NULL;

        if (!activity || activity_attempt(activity) != attempt)
                return false;

        /* A condition continues whatever its value is. */
        return activity_status(activity) == STATUS_RUNNING || tree->nodes[node].type->class == NODE_CONDITION;
}

uint64_t run_started(const Run *run) {
        return run->started;
}

uint64_t run_finished(const Run *run) {
        return run->finished;
}

uint64_t run_ready(const Run *run) {
        uint64_t ready = progress_ready(run->progress);

        return ready != UINT64_MAX ? run->started + (ready - run->start) : 0;
}

void run_set_watched(Run *run, bool watched) {
        progress_set_watched(run->progress, watched);
}

GArray *run_take_changes(Run *run) {
        return progress_take_changes(run->progress);
}

/* A leaf without an activity waits for the node that it replaces to end. */
static char *leaf_detail(Activity *activity) {
        return activity ? activity_describe(activity) : g_strdup("waits until the node that it replaces has ended");
}

static char *node_detail(const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run_definition(run));
        const History *history = progress_history(run->progress);
        Activity *activity = progress_leaf(run->progress, node);
        uint64_t now = run_now(), deadline = progress_deadline(run->progress, node), left = UINT64_MAX;
        g_autofree char *lock = run->locks ? node_locks_describe(run->locks, node) : NULL;

        if (progress_stands_at(run->progress, node))
                return g_strdup("paused at a breakpoint");
        if (lock)
                return g_strconcat("waits for ", lock, NULL);

        if (activity ? activity_is_ending(activity) : progress_is_ending(run->progress, node))
                return g_strdup("ending");
        if (history_status(history, node) == STATUS_RUNNING && tree->nodes[node].flags & NODE_LEAF)
                return leaf_detail(activity);

        if (deadline != UINT64_MAX && definition_uses_boottime(run_definition(run), node)) {
                deadline = progress_boottime_deadline(run->progress, node);
                now = timers_now(TIMER_BOOTTIME);
        }
        if (deadline != UINT64_MAX)
                left = deadline - MIN(now, deadline);
        return detail_text(tree, history, node, left);
}

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report) {
        const History *history = progress_history(run->progress);
        uint64_t since = history_since(history, node);

        *ret_report = (NodeReport){
                .status = history_status(history, node),
                .since = since > 0 ? run->started + (since - run->start) : 0,
                .duration = history_duration(history, node, run_now()),
                .detail = node_detail(run, node),
        };
}
