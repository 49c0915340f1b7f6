/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements live runs, except their execution (run.c): the queue of runs that need a tick, activities for its leaves,
 * armed timers, requests of locks, requests of users with the checks that the run can do itself, its run record, and
 * its recovery.
 */

#include <assert.h>
#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/boot-file.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "engine/machine.h"
#include "record/halt-request.h"
#include "run/replay.h"
#include "run/run-state.h"

#define TURN_TICKS_MAX 64u
#define TURN_USEC_MAX 2000

#define INSTANCE_MAX 100u

struct Ticker {
        GSource source; /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GQueue queue;
};

static gboolean ticker_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return !g_queue_is_empty(&((Ticker *) source)->queue);
}

static gboolean ticker_check(GSource *source) {
        return !g_queue_is_empty(&((Ticker *) source)->queue);
}

bool ticker_tick(Ticker *ticker) {
        TickerEntry *entry;

        if (ticker->queue.length == 0)
                return false;

        entry = g_queue_pop_head_link(&ticker->queue)->data;
        entry->link.data = NULL;
        entry->tick(entry->userdata);
        return true;
}

/* An entry that is queued again meanwhile gets its turn in the next dispatch. */
static gboolean ticker_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Ticker *ticker = (Ticker *) source;
        int64_t until = g_get_monotonic_time() + TURN_USEC_MAX;

        for (unsigned left = MIN(ticker->queue.length, TURN_TICKS_MAX); left > 0 && ticker->queue.length > 0; left--) {
                ticker_tick(ticker);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
                if (g_get_monotonic_time() >= until)
                        break;
        }

        return G_SOURCE_CONTINUE;
}

static GSourceFuncs ticker_funcs = {
        .prepare = ticker_prepare,
        .check = ticker_check,
        .dispatch = ticker_dispatch,
};

Ticker *ticker_new(GMainContext *context) {
        Ticker *ticker = (Ticker *) g_source_new(&ticker_funcs, sizeof(Ticker));

        g_queue_init(&ticker->queue);
        g_source_set_name(&ticker->source, "ticker");
        g_source_attach(&ticker->source, context);
        return ticker;
}

void ticker_free(Ticker *ticker) {
        if (!ticker)
                return;

        g_source_destroy(&ticker->source);
        g_source_unref(&ticker->source);
}

void ticker_queue(Ticker *ticker, TickerEntry *entry) {
        if (entry->link.data)
                return;

        entry->link = (GList){ .data = entry };
        g_queue_push_tail_link(&ticker->queue, &entry->link);
}

void ticker_remove(Ticker *ticker, TickerEntry *entry) {
        if (!entry->link.data)
                return;

        g_queue_unlink(&ticker->queue, &entry->link);
        entry->link.data = NULL;
}

/* A run takes no input while it computes and while its effects are carried out, but these can change a condition, end
 * an action at once or free a lock; such inputs are kept until then. A run that only reacts to its own inputs, such as
 * a Script that always changes a Condition before it, is slowed down like any other loop. */
#define UNPROMPTED_MAX 1000u

typedef enum KeptKind {
        INPUT_CONDITION,
        INPUT_END,
        INPUT_LOCK,
} KeptKind;

/* An input that comes while the run is busy. */
typedef struct Kept {
        KeptKind kind;
        NodeId node;
} Kept;

static uint64_t clock_now(const Run *run) {
        return timers_now(run->services->leaves->timers, TIMER_MONOTONIC);
}

static Activity *activity_of(const Run *run, NodeId node) {
        const RunLeaf *leaf = run_leaf(run, node);

        return leaf ? leaf->activity : NULL;
}

/* The end is recorded before the activity is released. */
static void give_end(Run *run, NodeId node) {
        Activity *activity = activity_of(run, node);

        if (!activity || activity_status(activity) == STATUS_RUNNING)
                return;

        input_leaf_ended(run, node, activity_status(activity), activity_cause(activity), clock_now(run));
        activity_free(activity);
}

/* Gives one kept input to the run. The run caused it itself, so check it again: the leaf may have ended, and the lock
 * may have been released since, or the node may have been halted and have taken it anew. */
static void give(Run *run, const Kept *input, bool kept) {
        switch (input->kind) {
        case INPUT_CONDITION:
                if (!run_leaf(run, input->node))
                        break;
                if (kept)
                        input_condition_turned(run, input->node, clock_now(run));
                else
                        input_condition_changed(run, input->node, clock_now(run));
                break;
        case INPUT_END:
                give_end(run, input->node);
                break;
        case INPUT_LOCK:
                if (node_locks_has(run->node_locks, input->node) && run_waits_for_lock(run, input->node))
                        input_lock_granted(run, input->node, clock_now(run));
                break;
        }
}

static void give_kept(Run *run) {
        g_autoptr(GArray) kept = g_steal_pointer(&run->kept);

        g_clear_pointer(&run->later, timer_free);
        for (unsigned i = 0; i < kept->len; i++)
                give(run, &g_array_index(kept, Kept, i), true);
}

static void settle(Run *run);

static void on_later(void *userdata) {
        Run *run = userdata;

        give_kept(run);
        settle(run);
}

static void settle_kept(Run *run) {
        const Tree *tree = definition_tree(run_definition(run));

        if (run->unprompted++ < UNPROMPTED_MAX)
                give_kept(run);
        else if (!run->later)
                run->later = timer_new(run->services->leaves->timers, tree->interval, on_later, run);
}

/* After each input, unless the run has finished. */
static void settle(Run *run) {
        if (run->kept)
                settle_kept(run);

        if (run_wants_tick(run))
                ticker_queue(run->services->ticker, &run->turn);
}

static void give_or_keep(Run *run, KeptKind kind, NodeId node) {
        Kept input = { .kind = kind, .node = node };

        if (run_is_busy(run)) {
                run->kept = run->kept ?: g_array_new(FALSE, FALSE, sizeof(Kept));
                g_array_append_val(run->kept, input);
                return;
        }

        run->unprompted = 0;
        give(run, &input, false);
        settle(run);
}

static void on_timer(NodeId node, void *userdata) {
        Run *run = userdata;

        if (run->past && node != NODE_NONE) {
                past_keep(run->past, &(PastEvent){ .time = run_deadline(run, node), .node = node, .limit = true });
                return;
        }

        if (node != NODE_NONE)
                run->unprompted = 0;
        input_timer_expired(run, node, clock_now(run));
        settle(run);
}

void run_leaf_ended(Run *run, NodeId node) {
        give_or_keep(run, INPUT_END, node);
}

void run_condition_changed(Run *run, NodeId node) {
        give_or_keep(run, INPUT_CONDITION, node);
}

/* During an input, or before the condition was evaluated, an evaluation follows that records the reason. */
void run_reason_changed(Run *run, NodeId node, const Cause *cause) {
        if (!run_is_busy(run) && run_is_false(run, node))
                input_reason(run, node, cause, clock_now(run));
}

static void on_lock_granted(NodeId node, void *userdata) {
        give_or_keep(userdata, INPUT_LOCK, node);
}

void run_set_output(Run *run, NodeId node, const char *key, json_object *value) {
        input_output(run, node, key, value, clock_now(run));
        if (!run_is_busy(run))
                settle(run);
}

/* A leaf whose halt takes no time is gone from the run when it is halted. */
void run_store_memo(Run *run, NodeId node, json_object *memo) {
        if (run_leaf(run, node))
                input_memo(run, node, memo, clock_now(run));
}

void run_note_rerun(Run *run, NodeId node) {
        input_rerun(run, node, clock_now(run));
}

static bool tick_once(Run *run);

static void on_read(void *userdata) {
        Run *run = userdata;
        g_autoptr(Past) past = NULL;
        const PastEvent *events;
        unsigned n;

        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                if (leaf->activity)
                        activity_end_reading(leaf->activity);

        past = g_steal_pointer(&run->past);
        events = past_sort(past, &n);
        for (unsigned i = 0; i < n; i++) {
                Activity *activity = events[i].limit ? NULL : activity_of(run, events[i].node);

                if (activity)
                        activity_tell_end(activity);
                else if (events[i].limit && run_deadline(run, events[i].node) == events[i].time)
                        on_timer(events[i].node, run);
                if (!run_wants_tick(run))
                        continue;

                ticker_remove(run->services->ticker, &run->turn);
                if (tick_once(run))
                        return;
        }
}

void run_begin_reading(Run *run) {
        if (!run->past)
                run->past = past_new(run->services->leaves->timers, on_read, run);
        past_begin_reading(run->past);
}

void run_end_reading(Run *run) {
        past_end_reading(run->past);
}

void run_keep_end(Run *run, NodeId node, uint64_t time) {
        past_keep(run->past, &(PastEvent){ .time = time, .node = node });
}

/* The answers, and the effects. */

static Status host_compute(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        Run *run = userdata;
        const NodeType *type = definition_tree(run->definition)->nodes[leaf->node].type;
        g_autoptr(Activity) activity = NULL;
        Cause *cause;
        Status status;

        if (!(type->flags & TYPE_IMMEDIATE) && !run->services->leaves->kind_of(type)->computes)
                return STATUS_RUNNING;

        activity = activity_start(run, leaf);
        status = activity_status(activity);
        cause = activity_cause(activity);
        assert(status != STATUS_RUNNING || !(type->flags & TYPE_IMMEDIATE));

        if (status == STATUS_RUNNING)
                leaf->activity = g_steal_pointer(&activity);
        else
                *ret_cause = cause ? cause_ref(cause) : NULL;
        return status;
}

static Status host_look(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        Run *run = userdata;
        Status status;
        Cause *cause;

        if (!leaf->activity) {
                leaf->activity = activity_start(run, leaf);
                if (activity_is_to_act(leaf->activity))
                        run_add_effect(run, &(Effect){ .kind = EFFECT_START, .node = leaf->node });
        }

        status = activity_evaluate(leaf->activity);
        cause = activity_cause(leaf->activity);
        *ret_cause = cause ? cause_ref(cause) : NULL;
        return status;
}

static bool host_halts_at_once(const RunLeaf *leaf, void *userdata) {
        return activity_halts_at_once(leaf->activity);
}

static void start_leaf(Run *run, NodeId node) {
        RunLeaf *leaf = run_leaf(run, node);

        if (!leaf->activity)
                leaf->activity = activity_start(run, leaf);
        else
                activity_act(leaf->activity);
        if (activity_status(leaf->activity) != STATUS_RUNNING)
                give_or_keep(run, activity_is_condition(leaf->activity) ? INPUT_CONDITION : INPUT_END, node);
}

static void halt_leaf(Run *run, const Effect *effect) {
        if (activity_halt(effect->activity) && !effect->over)
                give_or_keep(run, INPUT_END, effect->node);
        if (effect->over)
                activity_free(effect->activity);
}

static void arm(Run *run, NodeId node, uint64_t deadline) {
        if (!run->armed)
                run->armed = node_timers_new(run->services->leaves->timers, on_timer, run);
        if (node != NODE_NONE && definition_uses_boottime(run_definition(run), node))
                node_timers_arm(run->armed, node, TIMER_BOOTTIME, run_boottime_deadline(run, node));
        else
                node_timers_arm(run->armed, node, TIMER_MONOTONIC, deadline);
}

static uint64_t host_suspended(void *userdata) {
        const Run *run = userdata;

        return timers_suspended(run->services->leaves->timers);
}

static void log_as(const Run *run, NodeId node, const char *label, int level, const Cause *cause, const char *text) {
        LogSubject subject = {
                .tree = run->tree,
                .run = run->id,
                .node = tree_node_name(definition_tree(run->definition), node),
                .label = label,
                .cause = cause,
        };

        if (run->callbacks->message)
                run->callbacks->message(node, level, text, run->callbacks_userdata);
        else
                log_message(level, &subject, "%s", text);
}

void run_log(const Run *run, NodeId node, int level, const Cause *cause, const char *text) {
        g_autofree char *label = run_node_label(run, node);

        log_as(run, node, label, level, cause, text);
}

/* The request that completes a deadlock logs it, once for all requests in it. Only something other than a lock, such as
 * a halt or a timeout, can end it. */
static NodeLocks *locks_of(Run *run) {
        if (!run->node_locks)
                run->node_locks =
                        node_locks_new(run->services->locks, run_definition(run), run->id, on_lock_granted, run);
        return run->node_locks;
}

static bool take_lock(Run *run, NodeId node) {
        g_autofree char *text = NULL, *message = NULL;

        if (node_locks_take(locks_of(run), node))
                return true;
        if (!node_locks_is_deadlocked(run->node_locks, node))
                return false;

        text = node_locks_describe(run->node_locks, node);
        message = g_strconcat("waits for ", text, NULL);
        run_log(run, node, LOG_WARNING, NULL, message);
        return false;
}

static bool host_lock_is_free(NodeId node, void *userdata) {
        return node_locks_is_free(locks_of(userdata), node);
}

/* A lock that was not free may be so by now, because this input has released it. */
static void lock(Run *run, const Effect *effect) {
        bool taken = take_lock(run, effect->node);

        assert(taken || !effect->over);
        if (taken && !effect->over)
                give_or_keep(run, INPUT_LOCK, effect->node);
}

static void host_act(const Effect *effect, void *userdata) {
        Run *run = userdata;

        switch (effect->kind) {
        case EFFECT_START:
                start_leaf(run, effect->node);
                break;
        case EFFECT_HALT:
                halt_leaf(run, effect);
                break;
        case EFFECT_DROP:
                activity_free(effect->activity);
                break;
        case EFFECT_ARM:
                arm(run, effect->node, effect->deadline);
                break;
        case EFFECT_DISARM:
                node_timers_drop(run->armed, effect->node);
                break;
        case EFFECT_LOCK:
                lock(run, effect);
                break;
        case EFFECT_UNLOCK:
                node_locks_drop(run->node_locks, effect->node);
                break;
        case EFFECT_LOG:
                log_as(run, effect->node, effect->label, effect->level, effect->cause, effect->text);
                break;
        }
}

static void host_record_failed(const char *error, void *userdata) {
        Run *run = userdata;

        run_lose_record(run, error);
        run->callbacks->state_changed(run, run->callbacks_userdata);
}

static const RunHost live_host = {
        .compute = host_compute,
        .look = host_look,
        .halts_at_once = host_halts_at_once,
        .lock_is_free = host_lock_is_free,
        .suspended = host_suspended,
        .act = host_act,
        .record_failed = host_record_failed,
};

void run_end_live(Run *run) {
        if (!run->services)
                return;

        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                g_clear_pointer((Activity **) &leaf->activity, activity_free);

        g_clear_pointer(&run->armed, node_timers_free);
        g_clear_pointer(&run->node_locks, node_locks_free);
        g_clear_pointer(&run->kept, g_array_unref);
        g_clear_pointer(&run->later, timer_free);
        g_clear_pointer(&run->past, past_free);
        ticker_remove(run->services->ticker, &run->turn);
}

void run_abandon(Run *run) {
        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                g_clear_pointer((Activity **) &leaf->activity, activity_abandon);

        run_end_live(run);
}

/* Tell it after the changes of nodes in the same tick. A run that was ready when it was recovered was reported
 * before. */
static void report_ready(Run *run) {
        if (run->ready_reported || !run_was_made_ready(run))
                return;

        run->ready_reported = true;
        if (run->callbacks->ready)
                run->callbacks->ready(run, run->callbacks_userdata);
}

static void finish(Run *run) {
        run_end_live(run);
        run->callbacks->changed(run, run->callbacks_userdata);
        report_ready(run);
        run->callbacks->finished(run, run->callbacks_userdata);
}

/* Tells that the run was paused or resumed, or that a breakpoint was reached. */
static void tell_moved(Run *run) {
        if (!run->moved)
                return;

        run->moved = false;
        run->callbacks->state_changed(run, run->callbacks_userdata);
}

/* True: the run has finished, and may have been freed. */
static bool tick_once(Run *run) {
        if (input_tick(run, clock_now(run)) != STATUS_RUNNING) {
                finish(run);
                return true;
        }

        settle(run);
        run->callbacks->changed(run, run->callbacks_userdata);
        report_ready(run);
        tell_moved(run);
        return false;
}

static void tick(void *userdata) {
        (void) tick_once(userdata);
}

/* A unit that is started waits until the run is ready; one that is stopped, until the halt of the run completes. */
bool run_is_awaited_by(const Run *run, const char *unit, bool stop) {
        return run->services->waiters && (stop ? run_halting(run) : run_ready(run) == 0) &&
               waiters_has(run->services->waiters, run->tree, run->instance, stop, unit);
}

void run_tell_awaited(Run *run) {
        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                if (leaf->activity)
                        activity_tell_awaited(leaf->activity);
}

static void go_live(Run *run, const RunServices *services, const RunCallbacks *callbacks, void *userdata) {
        run->services = services;
        run->turn = (TickerEntry){ .tick = tick, .userdata = run };
        run->callbacks = callbacks;
        run->callbacks_userdata = userdata;
        run->ready_reported = run_was_made_ready(run);
        run_set_host(run, &live_host, run);
}

Run *run_make_live(const RunOrigin *origin, Definition *definition, const RunServices *services,
                   const RunCallbacks *callbacks, void *userdata) {
        Run *run = run_make(origin, definition, &live_host, NULL);

        go_live(run, services, callbacks, userdata);
        return run;
}

Run *run_new(const char *id, const char *tree, const char *instance, Definition *definition,
             const RunServices *services, const RunCallbacks *callbacks, void *userdata) {
        RunOrigin origin = {
                .id = id,
                .tree = tree,
                .instance = instance,
                .seed = (uint64_t) g_random_int() << 32 | g_random_int(),
                .started = (uint64_t) g_get_real_time(),
                .start = timers_now(services->leaves->timers, TIMER_MONOTONIC),
        };

        return run_make_live(&origin, definition, services, callbacks, userdata);
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
        input_start(run, clock_now(run));
        settle(run);
}

static bool is_controllable(const Run *run) {
        return run_status(run) == STATUS_RUNNING && !run->halting;
}

void run_halt(Run *run, Cause *why) {
        if (!is_controllable(run)) {
                cause_unref(why);
                return;
        }

        input_halt(run, why, clock_now(run));
        settle(run);
}

bool run_awaits(const Run *run, NodeId node, uint32_t attempt) {
        const Tree *tree = definition_tree(run_definition(run));
        const Activity *activity = node < tree->n_nodes ? activity_of(run, node) : NULL;

        if (!activity || activity_attempt(activity) != attempt)
                return false;

        /* A condition continues whatever its value is. */
        return activity_status(activity) == STATUS_RUNNING || tree->nodes[node].type->class == NODE_CONDITION;
}

/* CLOCK_REALTIME may have been set meanwhile, so add the duration to the start. */
uint64_t run_finished(const Run *run) {
        return run->status != STATUS_RUNNING ? run->started + (run->now - run->start) : 0;
}

char *run_describe_lock(const Run *run, NodeId node) {
        return run->node_locks ? node_locks_describe(run->node_locks, node) : NULL;
}

static char *node_detail(const Run *run, NodeId node) {
        const NodeHistory *history = run_node_history(run);
        Activity *activity = activity_of(run, node);
        uint64_t now = clock_now(run), deadline = run_deadline(run, node), left = UINT64_MAX;
        g_autofree char *lock = run_describe_lock(run, node);

        if (lock)
                return g_strconcat("waits for ", lock, NULL);
        if (activity && node_history_status(history, node) == STATUS_RUNNING &&
            node_history_phase(history, node) == PHASE_BEGUN)
                return activity_describe(activity);

        if (deadline != UINT64_MAX && definition_uses_boottime(run_definition(run), node)) {
                deadline = run_boottime_deadline(run, node);
                now = timers_now(run->services->leaves->timers, TIMER_BOOTTIME);
        }
        if (deadline != UINT64_MAX)
                left = deadline - MIN(now, deadline);
        return run_node_detail(run, node, left);
}

void run_node_report(const Run *run, NodeId node, NodeReport *ret_report) {
        const NodeHistory *history = run_node_history(run);
        uint64_t since = node_history_since(history, node);

        *ret_report = (NodeReport){
                .status = node_history_status(history, node),
                .state = node_history_state(history, node),
                .since = since > 0 ? run->started + (since - run->start) : 0,
                .duration = node_history_duration(history, node, clock_now(run)),
                .element = g_strdup(run_node_element(run, node)),
                .detail = node_detail(run, node),
        };
}

/* The control of a run by hand. */

void run_pause(Run *run, const char *by) {
        if (!is_controllable(run) || run_paused(run))
                return;

        input_pause(run, by, clock_now(run));
        ticker_remove(run->services->ticker, &run->turn);
        tell_moved(run);
}

void run_resume(Run *run, const char *by) {
        if (!run_paused(run))
                return;

        input_resume(run, by, clock_now(run));
        settle(run);
        tell_moved(run);
}

bool run_step(Run *run, const char *by) {
        /* A step that is refused leaves no entry in the run record. */
        if (!run_paused(run) || (!machine_wants_tick(run->machine) && !run_stops(run)))
                return false;

        input_step(run, by, clock_now(run));
        tell_moved(run);
        if (!machine_wants_tick(run->machine))
                return false;

        ticker_queue(run->services->ticker, &run->turn);
        return true;
}

void run_set_breakpoint(Run *run, NodeId node, bool set, const char *by) {
        if (!is_controllable(run))
                return;

        input_breakpoint(run, node, set, by, clock_now(run));
        tell_moved(run);
}

bool run_force(Run *run, NodeId node, Status status, Cause *why) {
        bool runs;

        if (!is_controllable(run)) {
                cause_unref(why);
                return false;
        }

        runs = input_force(run, node, status, why, clock_now(run));
        settle(run);
        return runs;
}

static int check_instance(const char *instance, char **ret_error) {
        size_t length = strlen(instance);
        g_autofree char *shown = NULL;

        if (length <= INSTANCE_MAX && strspn(instance, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-") == length)
                return 0;

        shown = excerpt(instance, length);
        *ret_error = g_strdup_printf("'%s' cannot be the name of an instance; it consists of letters, digits, '_', '.' "
                                     "and '-', %u at most",
                                     shown, INSTANCE_MAX);
        return -EINVAL;
}

static int check_names(json_object *variables, char **ret_error) {
        json_object_object_foreach(variables, key, value) {
                g_autofree char *shown = NULL;

                (void) value;
                if (blackboard_key_valid(key))
                        continue;

                shown = excerpt(key, strlen(key));
                *ret_error = g_strdup_printf(
                        "'%s' cannot be the name of a variable (a letter or '_', then letters, digits, '_', "
                        "'-' and '.', 255 at most)",
                        shown);
                return -EINVAL;
        }

        return 0;
}

int run_check_start(const char *instance, json_object *variables, char **ret_error) {
        int r = check_instance(instance, ret_error);

        if (r < 0 || !variables)
                return r;

        return check_names(variables, ret_error);
}

int run_check_token(const char *token, char **ret_error) {
        g_autofree char *shown = NULL;

        if (token_valid(token))
                return 0;

        shown = excerpt(token, strlen(token));
        *ret_error = g_strdup_printf("'%s' cannot be a token; it consists of letters, digits, '_', '.' and '-', %u at "
                                     "most",
                                     shown, TOKEN_MAX);
        return -EINVAL;
}

static int check_values(const Run *run, json_object *values, char **ret_error) {
        int r = run_check_start("", values, ret_error);

        return r < 0 ? r : definition_check_set(run_definition(run), values, ret_error);
}

static int check_room(Run *run, json_object *values, char **ret_error) {
        const Blackboard *blackboard = run_blackboard(run);
        int64_t growth = 0;

        json_object_object_foreach(values, key, value) growth += blackboard_growth(blackboard, key, value);
        if (blackboard_has_room(blackboard, growth))
                return 0;

        *ret_error = blackboard_full_text(blackboard_limits(blackboard));
        return -EDQUOT;
}

int run_set_values(Run *run, json_object *values, const char *by, char **ret_error) {
        int r = check_values(run, values, ret_error);

        if (r >= 0)
                r = check_room(run, values, ret_error);
        if (r < 0)
                return r;
        if (run_status(run) != STATUS_RUNNING)
                return 0;

        input_variables(run, values, by, clock_now(run));
        settle(run);
        return 0;
}

/* The run record. The header contains all the files of the tree, because these may change before it is read. */

static RecordHeader header_of(const Run *run, const char *boot, const char *starter) {
        const Definition *definition = run_definition(run);

        return (RecordHeader){
                .engine = engine_version(),
                .boot = g_strdup(boot),
                .run = g_strdup(run->id),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .starter = g_strdup(starter),
                .token = g_strdup(run_token(run)),
                .uid = run_caller(run),
                .variables_kib = definition_limits(definition)->max[LIMIT_VARIABLES],
                .hash = g_strdup(definition_hash(definition)),
                .seed = run->seed,
                .started = run->started,
                .start = run->start,
                .variables = run->given ? json_object_get(run->given) : json_object_new_object(),
        };
}

void run_begin_record(Run *run, RecordStore *store, const char *starter) {
        g_auto(RecordHeader) header = {};
        g_autofree char *error = NULL;
        RecordWriter *writer;

        run->starter = g_strdup(starter);
        if (!record_store_are_kept(store))
                return;

        header = header_of(run, boot_id(), starter);
        header.files_text = definition_take_files(run_definition(run));
        if (record_store_begin(store, &header, &writer, &error) >= 0)
                run_set_writer(run, writer);
        else
                run_lose_record(run, error);
}

void run_lose_record(Run *run, const char *error) {
        run->durable = false;
        run->not_durable = g_strdup(error);
        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run->id },
                    "would not survive a restart of btd, because %s", error);
}

void run_close_record(Run *run) {
        run_set_writer(run, NULL);
}

void run_leave_record(Run *run) {
        g_autofree char *error = NULL;

        if (run_status(run) == STATUS_RUNNING && run_close(run, &error) < 0)
                log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run->id },
                            "has no snapshot, so the next btd has to replay the whole run record: %s", error);
}

/* The same summary that record_summary_read() would read. */
static RecordSummary summary_of(const Run *run) {
        return (RecordSummary){
                .run = g_strdup(run->id),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .token = g_strdup(run_token(run)),
                .status = g_strdup(run_status_text(run)),
                .cause = g_strdup(run_cause(run) ?: ""),
                .started = run->started,
                .finished = run_finished(run),
        };
}

void run_end_record(Run *run, RecordStore *store) {
        const RecordWriter *writer = run->writer;
        uint64_t bytes = writer ? record_writer_size(writer) : 0;
        g_auto(RecordSummary) summary = {};

        run_close_record(run);
        if (bytes == 0)
                return;

        summary = summary_of(run);
        record_store_finish(store, &summary, bytes);
}

bool run_is_durable(const Run *run) {
        return run->durable;
}

const char *run_not_durable(const Run *run) {
        return run->not_durable;
}

/* Recovery. What has happened while btd was not running becomes inputs: an expired timer, a free lock, an ended leaf.
 */

Run *run_recover(const RecordHeader *header, Replay *replay, RecordWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata) {
        bool begun = replay_position(replay) > 0 && !replay_has_finished(replay);
        Run *run = replay_take(replay);

        go_live(run, services, callbacks, userdata);
        run_set_caller(run, header->uid);
        run_set_token(run, header->token);
        if (writer)
                run_set_writer(run, writer);
        if (begun)
                input_recovered(run, clock_now(run));

        return run;
}

void run_recover_lock(Run *run, const RunLock *lock) {
        if (take_lock(run, lock->node) && !lock->held)
                input_lock_granted(run, lock->node, clock_now(run));
}

/* A condition can be false for a new reason, for example because a secret in its parameters was lost. */
static bool is_as_before(const RunLeaf *leaf, const Activity *activity) {
        const Cause *cause = activity_cause(activity);

        return activity_status(activity) == leaf->status &&
               (!activity_is_condition(activity) ||
                g_strcmp0(cause ? cause->text : NULL, leaf->cause ? leaf->cause->text : NULL) == 0);
}

/* The outcome of an action may be known already. */
static void recover_leaf(Run *run, RunLeaf *leaf) {
        if (!leaf->known && leaf->status != STATUS_RUNNING)
                return;

        leaf->activity = activity_recover(run, leaf);
        if (!is_as_before(leaf, leaf->activity))
                give(run, &(Kept){ activity_is_condition(leaf->activity) ? INPUT_CONDITION : INPUT_END, leaf->node },
                     false);
}

/* By the time of the start; for equal times, by the order of nodes. */
static int compare_starts(const void *a, const void *b) {
        const RunLeaf *x = *(const RunLeaf *const *) a, *y = *(const RunLeaf *const *) b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;

        return (x->node > y->node) - (x->node < y->node);
}

void run_recover_leaves(Run *run, const Replay *replay) {
        g_autoptr(GPtrArray) leaves = NULL;

        if (run_status(run) != STATUS_RUNNING) {
                finish(run);
                return;
        }
        if (replay_position(replay) == 0) {
                run_start(run);
                return;
        }

        leaves = g_ptr_array_new();
        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                g_ptr_array_add(leaves, leaf);
        g_ptr_array_sort(leaves, compare_starts);
        for (unsigned i = 0; i < leaves->len; i++)
                recover_leaf(run, leaves->pdata[i]);

        settle(run);
}
