/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements activities: resolves the parameters, starts the kind, enforces the timeouts, reports the end, and recovers
 * what the previous btd started. The functions of run/leaf.h that leaf kinds call are at the end, with all checks of
 * what a leaf may do.
 */

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "basic/log.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "leaf-types/leaf-types.h"
#include "run/causes.h"
#include "run/run-state.h"
#include "script/secrets.h"

struct Activity {
        Leaf leaf; /* must be the first member, see activity_of() */
        Run *run;
        Params params;
        Secrets secrets;             /* secrets in the parameters */
        BlackboardWatch *references; /* of a condition, to variables in its parameters; NULL: there are none */
        Timer *timeout;
        Timer *halt_timeout; /* limits how long it may stop; NULL: no limit, or not stopping */
        Status status;
        bool held : 1;      /* the kind was called, and release() must follow */
        bool stopping : 1;  /* halt() of the kind was called */
        bool no_room : 1;   /* one of its results did not fit */
        bool recovered : 1; /* the previous btd has started it */
        bool failed : 1;    /* failed because of its timeout or a lost secret: keep the cause */
        bool halted : 1;    /* halted by its run */
        bool unread : 1;    /* recovered, and what it does is not known yet */
        bool old : 1;       /* a recovered condition: its value is that of the previous btd */
        bool kept : 1;      /* its end is kept by the run until all its leaves have been read */
        Cause *cause;
        alignas(max_align_t) char op[];
};

bool activity_is_condition(const Activity *activity) {
        return activity->leaf.type->class == NODE_CONDITION;
}

static void release(Activity *activity) {
        if (activity->held && activity->leaf.kind->release)
                activity->leaf.kind->release(&activity->leaf);

        activity->held = false;
}

static Status bound(Activity *activity, Status status) {
        bool no_room = activity->no_room;

        activity->no_room = false;
        return no_room && status == STATUS_SUCCESS ? STATUS_FAILURE : status;
}

static void stop_reading(Activity *activity) {
        if (!activity->unread)
                return;

        activity->unread = false;
        run_end_reading(activity->run);
}

/* An action that has ended is freed at once, but only when its end was reported: after the release, systemd may forget
 * its unit, so the run record must have the end already. */
static void settle(Activity *activity, Status status) {
        Run *run = activity->run;

        g_clear_pointer(&activity->timeout, timer_free);
        g_clear_pointer(&activity->halt_timeout, timer_free);
        activity->status = bound(activity, status);
        if (activity->unread) {
                activity->kept = true;
                run_keep(run, activity->leaf.node, false, timers_now(run->services->leaves->timers, TIMER_MONOTONIC));
                stop_reading(activity);
        } else if (activity_is_condition(activity))
                run_condition_changed(run, activity->leaf.node);
        else
                run_leaf_ended(run, activity->leaf.node);
}

void activity_tell_end(Activity *activity) {
        if (!activity->kept)
                return;

        activity->kept = false;
        run_leaf_ended(activity->run, activity->leaf.node);
}

static void replace_cause(Activity *activity, Cause *cause) {
        cause_unref(activity->cause);
        activity->cause = cause;
}

/* The halt timeout has expired: release the leaf, whatever it still does. */
static void on_halt_timeout(void *userdata) {
        Activity *activity = userdata;
        const Leaf *leaf = &activity->leaf;
        Cause *cause = reason_of_halt_timeout(activity->run->definition, leaf->node,
                                              activity->failed ? activity->cause : NULL);

        run_log(activity->run, leaf->node, LOG_WARNING, NULL, cause->text);
        replace_cause(activity, cause);
        settle(activity, STATUS_FAILURE);
}

static bool stop(Activity *activity) {
        Run *run = activity->run;
        uint64_t limit = definition_halt_timeout(run->definition, activity->leaf.node);

        activity->stopping = true;
        if (!activity->leaf.kind->halt || activity->leaf.kind->halt(&activity->leaf))
                return true;

        if (limit != SPAN_INFINITY)
                activity->halt_timeout = timer_new(run->services->leaves->timers, limit, on_halt_timeout, activity);
        return false;
}

static uint64_t timeout_of(const Activity *activity) {
        const NodeType *type = activity->leaf.type;

        if (!type->has_timeout)
                return SPAN_INFINITY;

        return *(const uint64_t *) ((const char *) activity->leaf.params + type->timeout_offset);
}

static char *obstacle_of(const Activity *activity) {
        return activity->held && activity->leaf.kind->obstacle ? activity->leaf.kind->obstacle(&activity->leaf) : NULL;
}

char *activity_waited(const Activity *activity, const char *subject) {
        const LeafKind *kind = activity->leaf.kind;
        g_autofree char *obstacle = activity->status == STATUS_RUNNING ? obstacle_of(activity) : NULL, *hidden = NULL;
        const char *aftermath = activity->status == STATUS_RUNNING && activity->held && kind->aftermath
                                        ? kind->aftermath(&activity->leaf)
                                        : NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        if (obstacle)
                g_string_append_printf(text, "%s waited for %s", subject, obstacle);
        if (aftermath)
                g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", aftermath);

        hidden = secrets_hide(&activity->secrets, text->str);
        return text->len == 0 ? NULL : g_strdup(hidden ?: text->str);
}

char *activity_remark(const Activity *activity) {
        const LeafKind *kind = activity->leaf.kind;

        return activity->status == STATUS_SUCCESS && activity->held && kind->remark ? kind->remark(&activity->leaf)
                                                                                    : NULL;
}

static void fail_for_timeout(Activity *activity) {
        g_autofree char *waited = activity_waited(activity, "it");

        leaf_give_cause(&activity->leaf, reason_of_timeout(definition_tree(activity->run->definition),
                                                           activity->leaf.node, timeout_of(activity), waited));
        activity->failed = true;
}

static void on_timeout(void *userdata) {
        Activity *activity = userdata;

        fail_for_timeout(activity);
        if (stop(activity))
                settle(activity, STATUS_FAILURE);
}

/* noted: the values of the variables in its parameters, at its start. */
static Status fill_params_with(Activity *activity, json_object *noted, Secrets *secrets) {
        g_autofree char *error = NULL;
        int r;

        r = definition_params_revealed(activity->run->definition, activity->leaf.node, activity->leaf.blackboard, noted,
                                       secrets, &activity->params, &error);
        if (r < 0 && activity->leaf.kind->unresolved) {
                activity->leaf.kind->unresolved(&activity->leaf, error);
                activity->params = (Params){
                        .values = definition_tree(activity->run->definition)->nodes[activity->leaf.node].params
                };
        } else if (r < 0) {
                leaf_set_cause_of(&activity->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        activity->leaf.params = activity->params.values;
        return STATUS_RUNNING;
}

static Status fill_params(Activity *activity, const RunLeaf *of) {
        activity->secrets.directory = activity->run->services->leaves->credentials;
        return fill_params_with(activity, of->noted, activity->leaf.kind->unresolved ? NULL : &activity->secrets);
}

/* A condition begins again when it is evaluated. */
static void on_reference_changed(void *userdata) {
        const Activity *activity = userdata;

        run_condition_changed(activity->run, activity->leaf.node);
}

/* How long before its last start the leaf was started first: it keeps its deadline if it is executed again after a
 * restart of btd. */
static uint64_t time_before(const Activity *activity) {
        uint64_t first = node_history_since(run_node_history(activity->run), activity->leaf.node);

        return activity->recovered && !activity_is_condition(activity)
                       ? activity->leaf.started - MIN(first, activity->leaf.started)
                       : 0;
}

static uint64_t deadline_of(const Activity *activity) {
        uint64_t limit = timeout_of(activity), first = activity->leaf.started - time_before(activity);

        return limit < UINT64_MAX - first ? first + limit : UINT64_MAX;
}

static void arm_timeout(Activity *activity) {
        uint64_t limit = timeout_of(activity);

        if (limit != SPAN_INFINITY)
                limit -= MIN(limit, time_before(activity));
        activity->timeout = leaf_timer_new(&activity->leaf, limit, on_timeout, activity);
}

static void set_begun(Activity *activity, Status status) {
        assert(status <= STATUS_SKIPPED || status == STATUS_ERROR);

        activity->status = status;
        if (status == STATUS_RUNNING && !activity->timeout && !activity->unread)
                arm_timeout(activity);
}

void activity_act(Activity *activity) {
        activity->held = true;
        set_begun(activity, bound(activity, activity->leaf.kind->start(&activity->leaf)));
}

static Activity *activity_new(Run *run, const RunLeaf *of, uint64_t started, uint64_t suspended) {
        const Tree *tree = definition_tree(run->definition);
        NodeId node = of->node;
        const NodeType *type = tree->nodes[node].type;
        const LeafKind *kind = run->services->leaves->kind_of(type);
        Activity *activity = g_malloc0(sizeof(Activity) + kind->op_size);
        g_auto(GStrv) names = NULL;

        activity->run = run;
        activity->leaf = (Leaf){
                .type = type,
                .kind = kind,
                .op = activity->op,
                .services = run->services->leaves,
                .blackboard = variables_scope(run->variables, node),
                .tree = run->tree,
                .run = run_id(run),
                .name = tree_node_name(tree, node),
                .label = run_node_label(run, node),
                .node = node,
                .attempt = of->attempt,
                .started = started,
                .clock = definition_uses_boottime(run->definition, node) ? TIMER_BOOTTIME : TIMER_MONOTONIC,
                .suspended = suspended,
                .listens = kind->listen && run_hears(run, node),
                .durable = run->durable,
        };
        if (activity_is_condition(activity))
                names = definition_references(run->definition, node);
        if (names)
                activity->references = blackboard_watch(activity->leaf.blackboard, (const char *const *) names,
                                                        on_reference_changed, activity);
        return activity;
}

Activity *activity_start(Run *run, const RunLeaf *leaf) {
        const Timers *timers = run->services->leaves->timers;
        Activity *activity =
                activity_new(run, leaf, timers_now(timers, TIMER_MONOTONIC),
                             definition_uses_boottime(run->definition, leaf->node) ? timers_suspended(timers) : 0);

        activity->status = fill_params(activity, leaf);
        if (activity->leaf.listens)
                live_run_listen(run, leaf->node);
        if (activity->status == STATUS_RUNNING && !activity->leaf.kind->acts)
                activity_act(activity);

        return activity;
}

Activity *activity_listen(Run *run, const RunLeaf *of) {
        g_autoptr(Activity) activity = activity_new(run, of, 0, 0);

        if (!activity->leaf.kind->listen || fill_params(activity, of) != STATUS_RUNNING)
                return NULL;

        activity->held = true;
        return activity->leaf.kind->listen(&activity->leaf) ? g_steal_pointer(&activity) : NULL;
}

bool activity_waits_for_signal(const Activity *activity) {
        return activity->held && !activity->stopping && !activity->kept && activity->status == STATUS_RUNNING;
}

void activity_hear(Activity *activity, json_object *signal) {
        activity->leaf.kind->heard(&activity->leaf, signal);
}

bool activity_is_to_act(const Activity *activity) {
        return activity->leaf.kind->acts && !activity->held && activity->status == STATUS_RUNNING;
}

void activity_abandon(Activity *activity) {
        activity->leaf.abandoned = true;
        activity_free(activity);
}

void activity_free(Activity *activity) {
        if (!activity)
                return;

        blackboard_watch_free(activity->references);
        timer_free(activity->timeout);
        timer_free(activity->halt_timeout);
        stop_reading(activity);
        release(activity);
        params_clear(&activity->params);
        secrets_clear(&activity->secrets);
        cause_unref(activity->cause);
        json_object_put(activity->leaf.memo);
        g_free((char *) activity->leaf.label);
        g_free(activity);
}

static bool has_ended(const Activity *activity) {
        return activity->kept || activity->status != STATUS_RUNNING;
}

bool activity_halts_at_once(const Activity *activity) {
        const LeafKind *kind = activity->leaf.kind;

        assert(!activity_is_condition(activity) && !activity->halted);

        if (has_ended(activity) || !kind->halt)
                return true;
        return !activity->stopping && kind->halts_at_once && kind->halts_at_once(&activity->leaf);
}

bool activity_halt(Activity *activity) {
        assert(!activity_is_condition(activity) && !activity->halted);

        g_clear_pointer(&activity->timeout, timer_free);
        activity->halted = true;
        if (has_ended(activity))
                return true;
        stop_reading(activity);
        if (activity->stopping || !stop(activity))
                return false;

        activity->status = STATUS_FAILURE;
        return true;
}

void activity_tell_awaited(Activity *activity) {
        if (activity->leaf.kind->awaited && activity->held && !activity->stopping && activity->status == STATUS_RUNNING)
                activity->leaf.kind->awaited(&activity->leaf);
}

Status activity_evaluate(Activity *activity) {
        if (activity->leaf.kind->evaluate && activity->held && !activity->stopping) {
                Status value = activity->leaf.kind->evaluate(&activity->leaf);

                activity->old &= value == STATUS_RUNNING;
                if (!activity->old)
                        activity->status = value;
        }

        return activity->status;
}

bool activity_is_known(const Activity *activity) {
        return !activity->old;
}

uint32_t activity_attempt(const Activity *activity) {
        return activity->leaf.attempt;
}

Status activity_status(const Activity *activity) {
        return activity->kept ? STATUS_RUNNING : activity->status;
}

Cause *activity_cause(const Activity *activity) {
        return activity->cause;
}

char *activity_describe(Activity *activity) {
        GString *text = g_string_new(NULL);
        g_autofree char *hidden = NULL;

        if (activity->status == STATUS_RUNNING) {
                g_autofree char *obstacle = obstacle_of(activity);

                if (obstacle)
                        g_string_append(text, obstacle);
                else if (activity->leaf.kind->describe)
                        activity->leaf.kind->describe(&activity->leaf, text);
                if (text->len > 0)
                        g_string_prepend(text, "waits for ");
                if (activity->stopping) {
                        g_string_append(text, text->len > 0 ? "; being stopped" : "being stopped");
                } else if (activity->timeout) {
                        uint64_t now = timers_now(activity->leaf.services->timers, TIMER_MONOTONIC),
                                 deadline = timer_deadline(activity->timeout);
                        g_autofree char *span = span_format_rounded(deadline > now ? deadline - now : 0);

                        g_string_append_printf(text, "%stimes out in %s", text->len > 0 ? "; " : "", span);
                }
        }

        hidden = secrets_hide(&activity->secrets, text->str);
        if (hidden)
                g_string_assign(text, hidden);
        return g_string_free(text, text->len == 0);
}

/* The recovery of activities that the previous btd started. */

/* Frees what the recovered leaf left, before it is rerun or fails. */
static void give_up(Activity *activity) {
        const NodeType *type = activity->leaf.type;
        uint64_t deadline = deadline_of(activity),
                 now = timers_now(activity->leaf.services->timers, activity->leaf.clock);
        bool again = !activity->halted && !activity->stopping && !activity->failed;

        release(activity);
        memset(activity->op, 0, activity->leaf.kind->op_size);
        if (again && type->has_on_recover && activity->leaf.has_memo)
                again = *(const int *) (const void *) ((const char *) activity->leaf.params +
                                                       type->on_recover_offset) == ON_RECOVER_RERUN;
        /* The deadline counts by the clock of the node. */
        if (activity->leaf.clock == TIMER_BOOTTIME)
                now -= MIN(now, activity->leaf.suspended);
        if (!again) {
                leaf_set_cause_of(&activity->leaf, CAUSE_LOST, NULL,
                                  "btd was restarted while this was under way, so how it ended is not known");
                activity->status = STATUS_FAILURE;
        } else if (deadline != UINT64_MAX && now >= deadline) {
                fail_for_timeout(activity);
                activity->status = STATUS_FAILURE;
        } else {
                input_rerun(activity->run, activity->leaf.node, live_run_clock(activity->run));
                g_clear_pointer(&activity->timeout, timer_free);
                activity->leaf.started = timers_now(activity->leaf.services->timers, TIMER_MONOTONIC);
                activity->leaf.has_memo = false;
                g_clear_pointer(&activity->leaf.memo, json_object_put);
                activity_act(activity);
        }
}

static void recover_action(Activity *activity, const RunLeaf *past) {
        const LeafKind *kind = activity->leaf.kind;

        activity->halted = past->halted;
        activity->held = true;
        activity->unread = kind->reads && !past->halted;
        if (activity->unread)
                run_begin_reading(activity->run);
        set_begun(activity, kind->recover ? bound(activity, kind->recover(&activity->leaf)) : STATUS_IDLE);
        if (activity->status != STATUS_RUNNING)
                stop_reading(activity);
        if (activity->status == STATUS_IDLE)
                give_up(activity);
        if ((activity->halted || activity->failed) && activity->status == STATUS_RUNNING) {
                g_clear_pointer(&activity->timeout, timer_free);
                if (stop(activity))
                        activity->status = STATUS_FAILURE;
        }
}

Activity *activity_recover(Run *run, const RunLeaf *past) {
        Activity *activity = activity_new(run, past, past->since, past->suspended);
        const LeafKind *kind = activity->leaf.kind;

        activity->recovered = true;
        activity->leaf.has_memo = past->has_memo;
        activity->leaf.memo = json_object_get(past->memo);
        activity->cause = cause_ref(past->cause);
        activity->status = fill_params(activity, past);
        if (activity->leaf.listens)
                live_run_listen(run, past->node);
        if (activity->status == STATUS_RUNNING && activity_is_condition(activity)) {
                /* Keep the value that the previous btd knew until there is a new one. */
                Status status;

                activity->held = true;
                status =
                        past->has_memo && kind->recover ? kind->recover(&activity->leaf) : kind->start(&activity->leaf);
                activity->old = status == STATUS_RUNNING && past->status != STATUS_RUNNING;
                activity->status = activity->old ? past->status : status;
        } else if (activity->status == STATUS_RUNNING) {
                recover_action(activity, past);
        } else if (!activity_is_condition(activity)) {
                /* The secrets in its parameters are lost, so it cannot continue. Stop what it started. */
                activity->failed = true;
                if (fill_params_with(activity, past->noted, NULL) == STATUS_RUNNING)
                        recover_action(activity, past);
                if (activity->status != STATUS_RUNNING)
                        activity->status = STATUS_FAILURE;
        }

        return activity;
}

/* The functions of run/leaf.h. */

/* The Leaf is the first member of its Activity. */
static Activity *activity_of(Leaf *leaf) {
        return (Activity *) leaf;
}

void leaf_end(Leaf *leaf, Status status) {
        Activity *activity = activity_of(leaf);

        assert(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               status == STATUS_ERROR);

        if (activity->kept)
                return;

        assert(activity->status == STATUS_RUNNING);
        settle(activity, activity->failed ? STATUS_FAILURE : status);
}

void leaf_set_value(Leaf *leaf, Status value) {
        Activity *activity = activity_of(leaf);
        bool news;

        assert(activity_is_condition(activity) && value != STATUS_IDLE && value != STATUS_SKIPPED);

        if (activity->stopping)
                return;

        /* The time for which an old value must hold may have passed. */
        news = activity->status != value || (activity->old && run_holds_until(activity->run, leaf->node) != UINT64_MAX);
        activity->old = false;
        if (news)
                settle(activity, value);
}

void leaf_value_changed(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(activity_is_condition(activity) && activity->leaf.kind->evaluate);

        if (!activity->stopping)
                run_condition_changed(activity->run, leaf->node);
}

char *leaf_hide_secrets(Leaf *leaf, const char *text) {
        return secrets_hide(&activity_of(leaf)->secrets, text);
}

json_object *leaf_hide_value(Leaf *leaf, json_object *value) {
        return secrets_hide_all(&activity_of(leaf)->secrets, json_object_get(value));
}

size_t leaf_secret_length(Leaf *leaf) {
        return secrets_longest(&activity_of(leaf)->secrets);
}

/* Takes the cause. Replaces the values of secrets in it. */
static Cause *without_secrets(const Activity *activity, Cause *cause) {
        g_autofree char *text = NULL;
        Cause *hidden;

        if (!activity->secrets.set)
                return cause;

        text = secrets_hide_message(&activity->secrets, cause->text);
        hidden = cause_new(cause->kind,
                           cause->facts ? secrets_hide_all(&activity->secrets, json_object_get(cause->facts)) : NULL,
                           text ?: cause->text);
        hidden->node = cause->node;
        hidden->because = cause_ref(cause->because);
        cause_unref(cause);
        return hidden;
}

/* A cause that comes after the timeout is not the reason. For a condition that stays false, the tree does not react,
 * but readers see the new reason. */
void leaf_give_cause(Leaf *leaf, Cause *given) {
        Activity *activity = activity_of(leaf);
        g_autoptr(Cause) cause = given ? without_secrets(activity, given) : NULL;

        if (activity->failed || activity->kept)
                return;

        /* During an input, or before the condition was evaluated, an evaluation follows that records the reason. */
        if (cause && activity_is_condition(activity) && activity->status == STATUS_FAILURE &&
            !cause_is_same(activity->cause, cause) && !run_is_busy(activity->run) &&
            run_is_false(activity->run, leaf->node))
                input_reason(activity->run, leaf->node, cause, live_run_clock(activity->run));
        replace_cause(activity, g_steal_pointer(&cause));
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        Activity *activity = activity_of(leaf);
        json_object *hidden;
        g_autofree char *text = NULL;
        int64_t growth;

        if (activity->kept) {
                json_object_put(value);
                return;
        }

        hidden = secrets_hide_all(&activity->secrets, value);

        growth = blackboard_growth(leaf->blackboard, key, hidden);
        if (blackboard_has_room(leaf->blackboard, growth)) {
                input_output(activity->run, leaf->node, key, hidden, live_run_clock(activity->run));
                if (!run_is_busy(activity->run))
                        live_run_settle(activity->run);
                return;
        }

        activity->no_room = true;
        text = blackboard_lack_text(leaf->blackboard, growth);
        leaf_set_cause(leaf, "%s: %s", key, text);
        json_object_put(hidden);
}

void leaf_set_memo(Leaf *leaf, json_object *memo) {
        Activity *activity = activity_of(leaf);

        json_object_put(leaf->memo);
        leaf->memo = memo;
        leaf->has_memo = true;
        /* A leaf whose halt takes no time is gone from the run when it is halted. */
        if (run_leaf(activity->run, leaf->node))
                input_memo(activity->run, leaf->node, memo, live_run_clock(activity->run));
}

void leaf_hear(Leaf *leaf, json_object *signal) {
        run_hear(activity_of(leaf)->run, leaf->node, signal);
}

json_object *leaf_take_signal(Leaf *leaf) {
        return run_take_signal(activity_of(leaf)->run, leaf->node);
}

bool leaf_own_connection(const Leaf *leaf, const char *bus, Connection **ret_connection) {
        const NodeLocks *locks = activity_of((Leaf *) leaf)->run->node_locks;

        return locks && node_locks_find_connection(locks, leaf->node, bus, ret_connection);
}

unsigned leaf_queue_length(const Leaf *leaf) {
        return run_queue_length(activity_of((Leaf *) leaf)->run, leaf->node);
}

Status leaf_run(Leaf *leaf, const Script *code) {
        g_autofree char *error = NULL;
        json_object *facts;

        if (results_run(variables_results(activity_of(leaf)->run->variables), code, leaf->blackboard, &error) >= 0)
                return STATUS_SUCCESS;

        facts = facts_new("expression", fact_text(script_code(code)), NULL);
        leaf_set_cause_of(leaf, CAUSE_EXPRESSION, facts, "%s", error);
        return STATUS_ERROR;
}

void leaf_say(Leaf *leaf, int level, const char *text) {
        g_autofree char *hidden = leaf_hide_secrets(leaf, text);

        run_set_message(activity_of(leaf)->run, level, hidden ? g_steal_pointer(&hidden) : g_strdup(text));
}

void leaf_lost(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(!activity_is_condition(activity));

        if (activity->kept)
                return;

        assert(activity->status == STATUS_RUNNING);
        give_up(activity);
        /* It may have ended before any limit. */
        if (activity->unread && activity->status != STATUS_RUNNING)
                run_keep(activity->run, leaf->node, false, leaf->started);
        if (activity->status != STATUS_RUNNING)
                settle(activity, activity->status);
        else
                activity_end_reading(activity);
}

void leaf_read(Leaf *leaf, uint64_t ended) {
        Activity *activity = activity_of(leaf);

        if (!activity->unread)
                return;

        if (ended == 0) {
                activity_end_reading(activity);
                return;
        }

        run_keep(activity->run, leaf->node, false, ended);
        if (ended > deadline_of(activity))
                fail_for_timeout(activity);
}

void activity_end_reading(Activity *activity) {
        if (!activity->unread)
                return;

        stop_reading(activity);
        if (!activity->timeout && !activity->stopping)
                arm_timeout(activity);
}

User *leaf_user(const Leaf *leaf) {
        return run_user(activity_of((Leaf *) leaf)->run);
}

/* A unit that is started waits until the run is ready; one that is stopped, until the halt of the run completes. */
bool leaf_is_awaited_by(const Leaf *leaf, const char *unit, bool stop) {
        const Run *run = activity_of((Leaf *) leaf)->run;
        Waiters *waiters = run->services->waiters;

        if (!waiters || !(stop ? run_halting(run) : run_ready(run) == 0))
                return false;

        return (stop && run->ends_with_btd && waiters_are_in(waiters, unit)) ||
               waiters_has(waiters, run->tree, run_instance(run), stop, unit);
}
