/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements live runs: their inputs come from leaves, timers and locks, and their effects are carried out. The
 * requests of users are at the end; the run record is in run-entries.c, the recovery in run-recovery.c.
 */

#include <assert.h>
#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "engine/machine.h"
#include "engine/types/types.h"
#include "record/halt-request.h"
#include "run/instance.h"
#include "run/run-state.h"

/* A run takes no input while it computes and while its effects are carried out, but these can change a condition, end
 * an action at once or free a lock; such inputs are kept until then. A run that only reacts to its own inputs, such as
 * a Script that always changes a Condition before it, is slowed down like any other loop. */
#define UNPROMPTED_MAX 1000u

/* So many leaves are named in the cause of a run that was cut off. */
#define DOINGS_MAX 5u

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

/* The value to which a condition has changed. It counts in the next tick even if the condition has changed back by
 * then: a unit restarts in less time than it can take to ask whether the machine goes down. */
typedef struct Seen {
        NodeId node; /* NODE_NONE: it has counted */
        Status status;
        Cause *cause;
} Seen;

uint64_t live_run_clock(const Run *run) {
        return timers_now(run->services->leaves->timers, TIMER_MONOTONIC);
}

Activity *live_run_activity(const Run *run, NodeId node) {
        const RunLeaf *leaf = run_leaf(run, node);

        return leaf ? leaf->activity : NULL;
}

static void seen_clear(void *p) {
        cause_unref(((Seen *) p)->cause);
}

static Seen *find_seen(const Run *run, NodeId node) {
        for (unsigned i = 0; run->seen && i < run->seen->len; i++)
                if (g_array_index(run->seen, Seen, i).node == node)
                        return &g_array_index(run->seen, Seen, i);

        return NULL;
}

/* When a condition becomes known, and when a paused run is resumed, what is there then counts. */
static void see(Run *run, const RunLeaf *leaf) {
        Seen seen = { .node = leaf->node };

        if (!leaf->activity || leaf->status == STATUS_RUNNING || run->paused || find_seen(run, leaf->node))
                return;

        seen.status = activity_evaluate(leaf->activity);
        if (seen.status == leaf->status || seen.status == STATUS_RUNNING)
                return;

        seen.cause = cause_ref(activity_cause(leaf->activity));
        if (!run->seen) {
                run->seen = g_array_new(FALSE, FALSE, sizeof(Seen));
                g_array_set_clear_func(run->seen, seen_clear);
        }
        g_array_append_val(run->seen, seen);
}

/* The end is recorded before the activity is released. */
void live_run_give_end(Run *run, NodeId node) {
        Activity *activity = live_run_activity(run, node);

        if (!activity || activity_status(activity) == STATUS_RUNNING)
                return;

        if (activity_status(activity) == STATUS_FAILURE && !run->halting)
                run->in_doubt = true;
        input_leaf_ended(run, node, activity_status(activity), activity_cause(activity), live_run_clock(run));
        activity_free(activity);
}

/* Gives one input to the run. If it was kept, the run caused it itself, so check it again: the leaf may have ended, and
 * the lock may have been released since, or the node may have been halted and have taken it anew. When the machine goes
 * down, units, services and processes end, and that is no failure: so a leaf that fails, a condition that changes and
 * a time limit that expires are in doubt. */
static void give(Run *run, const Kept *input, bool kept) {
        switch (input->kind) {
        case INPUT_CONDITION:
                if (!run_leaf(run, input->node))
                        break;
                if (!(definition_tree(run->definition)->nodes[input->node].type->flags & TYPE_INWARD) && !run->halting)
                        run->in_doubt = true;
                see(run, run_leaf(run, input->node));
                input_condition_changed(run, input->node, kept, live_run_clock(run));
                break;
        case INPUT_END:
                live_run_give_end(run, input->node);
                break;
        case INPUT_LOCK:
                if (node_locks_has(run->node_locks, input->node) && run_waits_for_lock(run, input->node))
                        input_lock_granted(run, input->node, live_run_clock(run));
                break;
        }
}

static void give_kept(Run *run) {
        g_autoptr(GArray) kept = g_steal_pointer(&run->kept);

        g_clear_pointer(&run->later, timer_free);
        for (unsigned i = 0; i < kept->len; i++)
                give(run, &g_array_index(kept, Kept, i), true);
}

static void on_later(void *userdata) {
        Run *run = userdata;

        give_kept(run);
        live_run_settle(run);
}

void live_run_settle(Run *run) {
        const Tree *tree = definition_tree(run->definition);

        if (run->kept && run->unprompted < UNPROMPTED_MAX) {
                run->unprompted++;
                give_kept(run);
        } else if (run->kept && !run->later) {
                run->later = timer_new(run->services->leaves->timers, tree->interval, on_later, run);
        }

        /* A unit such as btd-run@ that is stopped waits for the halt of its run, and the stop of btd waits for that
         * unit. */
        run->turn.urgent = run->halting;
        if (run_wants_tick(run) && run->in_doubt)
                ticker_queue_in_doubt(run->services->ticker, &run->turn);
        else if (run_wants_tick(run))
                ticker_queue(run->services->ticker, &run->turn);
        run->in_doubt = false;
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
        live_run_settle(run);
}

/* For the cause of a time limit: what the first leaf below the node that waits for something waits for; or NULL. */
static char *waited_below(const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);

        for (const RunLeaf *leaf = run_next_leaf(run, node); leaf && leaf->node < tree->nodes[node].end;
             leaf = run_next_leaf(run, leaf->node + 1)) {
                g_autofree char *label = run_node_label(run, leaf->node);
                char *waited = leaf->activity
                                       ? activity_waited(leaf->activity, label ?: tree_node_name(tree, leaf->node))
                                       : NULL;

                if (waited)
                        return waited;
        }
        return NULL;
}

void live_run_timer_expired(Run *run, NodeId node) {
        const NodeType *type = node == NODE_NONE ? NULL : definition_tree(run->definition)->nodes[node].type;
        g_autofree char *waited = NULL;

        if (run->past && node != NODE_NONE) {
                run_keep(run, node, true, run_deadline(run, node));
                return;
        }

        /* The value of a condition may count now. An old one does not, until it is known again. */
        if (type && type->class == NODE_CONDITION) {
                const Activity *activity = live_run_activity(run, node);

                if (activity && activity_is_known(activity))
                        run_condition_changed(run, node);
                return;
        }

        if (type)
                run->unprompted = 0;
        /* It limits how long something else may take. */
        if (type == &timeout_type || type == &wait_for_type) {
                waited = waited_below(run, node);
                run->in_doubt |= !run->halting;
        }
        input_timer_expired(run, node, waited, live_run_clock(run));
        live_run_settle(run);
}

void run_leaf_ended(Run *run, NodeId node) {
        give_or_keep(run, INPUT_END, node);
}

void run_condition_changed(Run *run, NodeId node) {
        give_or_keep(run, INPUT_CONDITION, node);
}

/* While the machine goes down, logind refuses locks, and a bus ends. */
static void on_lock_changed(NodeId node, Cause *refused, void *userdata) {
        Run *run = userdata;

        if (!refused) {
                give_or_keep(run, INPUT_LOCK, node);
                return;
        }

        assert(!run_is_busy(run));
        run->unprompted = 0;
        run->in_doubt = !run->halting;
        input_lock_refused(run, node, cause_ref(refused), live_run_clock(run));
        live_run_settle(run);
}

/* The answers, and the effects. */

static Status host_compute(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        Run *run = userdata;
        const NodeType *type = definition_tree(run->definition)->nodes[leaf->node].type;
        g_autoptr(Activity) activity = NULL;
        Status status;

        if (!(type->flags & TYPE_IMMEDIATE) && !run->services->leaves->kind_of(type)->computes)
                return STATUS_RUNNING;

        activity = activity_start(run, leaf);
        status = activity_status(activity);
        assert(status != STATUS_RUNNING || !(type->flags & TYPE_IMMEDIATE));

        if (status == STATUS_RUNNING)
                leaf->activity = g_steal_pointer(&activity);
        else
                *ret_cause = cause_ref(activity_cause(activity));
        return status;
}

static Status host_look(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        Run *run = userdata;
        Seen *seen = find_seen(run, leaf->node);
        bool first = !leaf->activity;
        Status status;

        if (first) {
                leaf->activity = activity_start(run, leaf);
                if (activity_is_to_act(leaf->activity))
                        run_add_effect(run, &(Effect){ .kind = EFFECT_START, .node = leaf->node });
        }

        status = activity_evaluate(leaf->activity);
        if (seen)
                seen->node = NODE_NONE;
        if (seen && !first && seen->status != status) {
                give_or_keep(run, INPUT_CONDITION, leaf->node);
                *ret_cause = g_steal_pointer(&seen->cause);
                return seen->status;
        }

        *ret_cause = cause_ref(activity_cause(leaf->activity));
        return status;
}

static bool host_halts_at_once(const RunLeaf *leaf, void *userdata) {
        return activity_halts_at_once(leaf->activity);
}

static void on_timer(void *userdata) {
        NodeTimer *timer = userdata;

        g_clear_pointer(&timer->timer, timer_free);
        live_run_timer_expired(timer->run, timer->node);
}

static uint64_t host_suspended(void *userdata) {
        const Run *run = userdata;

        return timers_suspended(run->services->leaves->timers);
}

static void log_as(const Run *run, NodeId node, const char *label, int level, const Cause *cause, const char *text) {
        LogSubject subject = {
                .tree = run->tree,
                .run = run_id(run),
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

static NodeLocks *locks_of(Run *run) {
        run->node_locks = run->node_locks ?: node_locks_new(run, run->services, on_lock_changed, run);
        return run->node_locks;
}

/* The request that completes a deadlock logs it, once for all requests in it. Only something other than a lock, such as
 * a halt or a timeout, can end it. */
bool live_run_take_lock(Run *run, NodeId node, bool again) {
        g_autofree char *text = NULL, *message = NULL;

        if (node_locks_take(locks_of(run), node, again))
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

static void host_act(const Effect *effect, void *userdata) {
        Run *run = userdata;
        NodeTimer *timer;
        RunLeaf *leaf;
        bool boottime, taken;

        switch (effect->kind) {
        case EFFECT_START:
                leaf = run_leaf(run, effect->node);
                if (!leaf->activity)
                        leaf->activity = activity_start(run, leaf);
                else
                        activity_act(leaf->activity);
                if (activity_status(leaf->activity) != STATUS_RUNNING)
                        give_or_keep(run, activity_is_condition(leaf->activity) ? INPUT_CONDITION : INPUT_END,
                                     effect->node);
                break;
        case EFFECT_HALT:
                if (activity_halt(effect->activity) && !effect->over)
                        give_or_keep(run, INPUT_END, effect->node);
                if (effect->over)
                        activity_free(effect->activity);
                break;
        case EFFECT_DROP:
                activity_free(effect->activity);
                break;
        case EFFECT_TIMER:
                /* A timer that was disarmed meanwhile is no longer there. */
                timer = run_timer(run, effect->node);
                if (!timer || !timer->armed)
                        break;
                boottime = effect->node != NODE_NONE && definition_uses_boottime(run->definition, effect->node);
                timer_free(timer->timer);
                timer->timer = timer_new_on(run->services->leaves->timers, boottime ? TIMER_BOOTTIME : TIMER_MONOTONIC,
                                            boottime ? run_boottime_deadline(run, effect->node) : timer->deadline,
                                            on_timer, timer);
                break;
        case EFFECT_LOCK:
                /* A lock that was not free may be so by now, because this input has released it. */
                taken = live_run_take_lock(run, effect->node, false);
                assert(taken || !effect->over);
                if (taken && !effect->over)
                        give_or_keep(run, INPUT_LOCK, effect->node);
                break;
        case EFFECT_UNLOCK:
                if (run_is_connection(run, effect->node))
                        live_run_end_listening(run, effect->node);
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

void run_end_live(Run *run, bool left) {
        NodeTimer *timer;

        if (!run->services)
                return;

        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                g_clear_pointer((Activity **) &leaf->activity, left ? activity_abandon : activity_free);

        live_run_end_listening(run, NODE_NONE);
        if (run->timers) {
                TABLE_FOREACH(timer, run->timers)
                        g_clear_pointer(&timer->timer, timer_free);
        }
        node_locks_free(g_steal_pointer(&run->node_locks), left);
        g_clear_pointer(&run->kept, g_array_unref);
        g_clear_pointer(&run->seen, g_array_unref);
        g_clear_pointer(&run->later, timer_free);
        run_forget_past(run);
        ticker_remove(run->services->ticker, &run->turn);
}

void run_abandon(Run *run) {
        run_end_live(run, true);
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

void live_run_finish(Run *run) {
        run_end_live(run, false);
        run->callbacks->changed(run, run->callbacks_userdata);
        report_ready(run);
        run->callbacks->finished(run, run->callbacks_userdata);
}

void run_append_doings(const Run *run, const char *before, GString *text) {
        const Tree *tree = definition_tree(run->definition);
        unsigned n = 0;

        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1)) {
                Status status = leaf->activity ? activity_status(leaf->activity) : leaf->status;
                g_autofree char *doing = NULL;

                if (status != STATUS_RUNNING || (run->services && !leaf->activity) || n++ >= DOINGS_MAX)
                        continue;

                doing = leaf->activity ? activity_describe(leaf->activity) : NULL;
                g_string_append_printf(text, "%s%s%s%s", n == 1 ? before : ", ", tree_node_name(tree, leaf->node),
                                       doing ? " " : "", doing ?: "");
        }

        if (n > DOINGS_MAX)
                g_string_append_printf(text, " and %u more", n - DOINGS_MAX);
}

void run_give_up(Run *run) {
        g_autoptr(GString) text = g_string_new("btd stopped before the run had ended");

        run_append_doings(run, ": ", text);
        run_abandon(run);
        input_give_up(run,
                      cause_new(CAUSE_HALTED, facts_new("stopping", json_object_new_boolean(true), NULL), text->str),
                      live_run_clock(run));
        live_run_finish(run);
}

/* Tells that the run was paused or resumed, or that a breakpoint was set, removed or reached. */
static void tell_moved(Run *run) {
        if (!run->moved)
                return;

        run->moved = false;
        if (run->paused)
                g_clear_pointer(&run->seen, g_array_unref);
        run->callbacks->state_changed(run, run->callbacks_userdata);
}

bool live_run_tick(Run *run) {
        Status status = input_tick(run, live_run_clock(run));

        g_clear_pointer(&run->seen, g_array_unref);
        if (status != STATUS_RUNNING) {
                live_run_finish(run);
                return true;
        }

        live_run_settle(run);
        run->callbacks->changed(run, run->callbacks_userdata);
        report_ready(run);
        tell_moved(run);
        return false;
}

static void tick(void *userdata) {
        (void) live_run_tick(userdata);
}

void run_tell_awaited(Run *run) {
        for (RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                if (leaf->activity)
                        activity_tell_awaited(leaf->activity);
}

void run_end_with_btd(Run *run) {
        run->ends_with_btd = true;
        run_tell_awaited(run);
}

void live_run_begin(Run *run, const RunServices *services, const RunCallbacks *callbacks, void *userdata) {
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

        live_run_begin(run, services, callbacks, userdata);
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
        blackboard_set_user(run_blackboard(run), run_user(run));
}

uint32_t run_caller(const Run *run) {
        return run->caller;
}

User *run_user(const Run *run) {
        return users_get(run->services->leaves->users, run->caller);
}

void run_set_token(Run *run, const char *token) {
        g_free(run->token);
        run->token = g_strdup(token);
}

const char *run_token(const Run *run) {
        return run->token ?: run_id(run);
}

void run_start(Run *run, const RunTaken *taken) {
        /* What has ended the run before this one may have been a part of the shutdown. */
        run->in_doubt = g_strcmp0(run->starter, RUN_RESTART) == 0;
        input_start(run, taken, live_run_clock(run));
        live_run_settle(run);
}

bool run_awaits(const Run *run, NodeId node, uint32_t attempt) {
        const Tree *tree = definition_tree(run_definition(run));
        const Activity *activity = node < tree->n_nodes ? live_run_activity(run, node) : NULL;

        if (!activity || activity_attempt(activity) != attempt)
                return false;

        /* A condition continues whatever its value is. */
        return activity_status(activity) == STATUS_RUNNING || tree->nodes[node].type->class == NODE_CONDITION;
}

/* CLOCK_REALTIME may have been set meanwhile, so add the duration to the start. */
uint64_t run_finished(const Run *run) {
        return run->status != STATUS_RUNNING ? run->started + (run->now - run->start) : 0;
}

/* The requests of users, with the checks that the run can do itself. */

static bool is_controllable(const Run *run) {
        return run->status == STATUS_RUNNING && !run->halting;
}

void run_halt(Run *run, Cause *why) {
        if (!is_controllable(run)) {
                cause_unref(why);
                return;
        }

        input_halt(run, why, live_run_clock(run));
        live_run_settle(run);
}

void run_pause(Run *run, const char *by) {
        if (!is_controllable(run) || run_paused(run))
                return;

        input_control(run, ENTRY_PAUSE, by, live_run_clock(run));
        ticker_remove(run->services->ticker, &run->turn);
        tell_moved(run);
}

void run_resume(Run *run, const char *by) {
        if (!run_paused(run))
                return;

        input_control(run, ENTRY_RESUME, by, live_run_clock(run));
        live_run_settle(run);
        tell_moved(run);
}

bool run_step(Run *run, const char *by) {
        /* A step that is refused leaves no entry in the run record. */
        if (!run_paused(run) || (!machine_wants_tick(run->machine) && !run_stops(run)))
                return false;

        input_control(run, ENTRY_STEP, by, live_run_clock(run));
        tell_moved(run);
        if (!machine_wants_tick(run->machine))
                return false;

        ticker_queue(run->services->ticker, &run->turn);
        return true;
}

void run_set_breakpoint(Run *run, NodeId node, bool set, const char *by) {
        if (!is_controllable(run))
                return;

        input_breakpoint(run, node, set, by, live_run_clock(run));
        tell_moved(run);
}

bool run_force(Run *run, NodeId node, Status status, Cause *why) {
        bool runs;

        if (!is_controllable(run)) {
                cause_unref(why);
                return false;
        }

        runs = input_force(run, node, status, why, live_run_clock(run));
        live_run_settle(run);
        return runs;
}

int run_check_start(const char *instance, json_object *variables, char **ret_error) {
        int r = instance_check(instance, ret_error);

        if (r < 0 || !variables)
                return r;

        json_object_object_foreach(variables, key, value) {
                g_autofree char *shown = NULL;

                (void) value;
                if (blackboard_key_valid(key))
                        continue;

                shown = excerpt(key, strlen(key));
                *ret_error = g_strdup_printf(
                        "'%s' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
                        "and '-', 255 at most)",
                        shown);
                return -EINVAL;
        }

        return 0;
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

int run_set_values(Run *run, json_object *values, const char *by, char **ret_error) {
        const Blackboard *blackboard = run_blackboard(run);
        int r = run_check_start("", values, ret_error);
        int64_t growth = 0;

        if (r >= 0)
                r = definition_check_set(run->definition, values, ret_error);
        if (r < 0)
                return r;

        json_object_object_foreach(values, key, value) growth += blackboard_growth(blackboard, key, value);
        if (!blackboard_has_room(blackboard, growth)) {
                *ret_error = blackboard_lack_text(blackboard, growth);
                return -EDQUOT;
        }
        if (run_status(run) != STATUS_RUNNING)
                return 0;

        input_variables(run, values, by, live_run_clock(run));
        live_run_settle(run);
        return 0;
}
