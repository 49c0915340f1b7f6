/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs activities: resolves parameters, starts the kind, enforces the timeouts, and reports the end. */

#include <assert.h>

#include "basic/log.h"
#include "basic/span.h"
#include "run/activity-state.h"
#include "run/reasons.h"

void activity_release(Activity *activity) {
        if (activity->held && activity_kind(activity)->release)
                activity_kind(activity)->release(&activity->leaf);

        activity->held = false;
}

Status activity_bound(Activity *activity, Status status) {
        bool no_room = activity->no_room;

        activity->no_room = false;
        return no_room && status == STATUS_SUCCESS ? STATUS_FAILURE : status;
}

/* An action that has ended is released at once. Report the end before that: after the release, systemd may forget its
 * unit, so the run record must have the end already. */
void activity_settle(Activity *activity, Status status) {
        const ActivityContext *context = activity->context;

        g_clear_pointer(&activity->timeout, timer_free);
        g_clear_pointer(&activity->halt_timeout, timer_free);
        activity->status = activity_bound(activity, status);
        if (activity_is_condition(activity))
                context->callbacks->changed(activity, context->userdata);
        else if (context->callbacks->ended(activity, context->userdata))
                activity_free(activity);
        else
                activity_release(activity);
}

void activity_replace_cause(Activity *activity, Cause *cause) {
        cause_unref(activity->cause);
        activity->cause = cause;
}

/* The time to stop is over: drop what it still does. */
static void on_halt_timeout(void *userdata) {
        Activity *activity = userdata;
        const Leaf *leaf = &activity->leaf;
        Cause *cause = reason_of_halt_timeout(activity->context->definition, leaf->node,
                                              activity->failed ? activity->cause : NULL);

        log_message(LOG_WARNING, &(LogSubject){ .tree = leaf->tree, .run = leaf->run, .node = leaf->name }, "%s",
                    cause->text);
        activity_replace_cause(activity, cause);
        activity_settle(activity, STATUS_FAILURE);
}

bool activity_stop(Activity *activity) {
        const ActivityContext *context = activity->context;
        uint64_t limit = definition_halt_timeout(context->definition, activity->leaf.node);

        activity->stopping = true;
        if (!activity_kind(activity)->halt || activity_kind(activity)->halt(&activity->leaf))
                return true;

        if (limit != SPAN_INFINITY)
                activity->halt_timeout = timer_new(context->services->timers, limit, on_halt_timeout, activity);
        return false;
}

static uint64_t timeout_of(const Activity *activity) {
        const LeafKind *kind = activity_kind(activity);

        if (!kind->has_timeout)
                return SPAN_INFINITY;

        return *(const uint64_t *) ((const char *) activity->leaf.params + kind->timeout_offset);
}

static void on_timeout(void *userdata) {
        Activity *activity = userdata;

        leaf_give_cause(&activity->leaf,
                        reason_of_timeout(definition_tree(activity->context->definition), activity->leaf.node,
                                          activity_kind(activity)->timeout_offset, timeout_of(activity)));
        activity->failed = true;
        if (activity_stop(activity))
                activity_settle(activity, STATUS_FAILURE);
}

static Status fill_params(Activity *activity, Secrets *secrets) {
        g_autofree char *error = NULL;
        int r;

        r = definition_params_revealed(activity->context->definition, activity->leaf.node, activity->leaf.blackboard,
                                       activity->noted, secrets, &activity->params, &error);
        if (r < 0) {
                leaf_set_cause_of(&activity->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        activity->leaf.params = activity->params.values;
        return STATUS_RUNNING;
}

Status activity_fill_params(Activity *activity) {
        activity->secrets.directory = activity->context->services->credentials;
        return fill_params(activity, &activity->secrets);
}

Status activity_fill_params_openly(Activity *activity) {
        return fill_params(activity, NULL);
}

static void arm_timeout(Activity *activity) {
        activity->timeout = leaf_timer_new(&activity->leaf, timeout_of(activity), on_timeout, activity);
}

void activity_set_begun(Activity *activity, Status status) {
        assert(status <= STATUS_SKIPPED || status == STATUS_ERROR);

        activity->status = status;
        if (status == STATUS_RUNNING && !activity->timeout)
                arm_timeout(activity);
}

void activity_call_start(Activity *activity) {
        activity->held = true;
        activity_set_begun(activity, activity_bound(activity, activity_kind(activity)->start(&activity->leaf)));
}

Activity *activity_new(ActivityContext *context, NodeId node, uint32_t attempt, json_object *noted, uint64_t started,
                       uint64_t suspended) {
        const Tree *tree = definition_tree(context->definition);
        const NodeType *type = tree->nodes[node].type;
        Activity *activity = g_malloc0(sizeof(Activity) + type->leaf->op_size);

        activity->context = context;
        activity->link.data = activity;
        activity->noted = json_object_get(noted);
        activity->leaf = (Leaf){
                .type = type,
                .op = activity->op,
                .services = context->services,
                .blackboard = variables_scope(context->variables, node),
                .tree = context->tree,
                .run = context->run,
                .name = tree_node_name(tree, node),
                .node = node,
                .attempt = attempt,
                .started = started,
                .clock = definition_uses_boottime(context->definition, node) ? TIMER_BOOTTIME : TIMER_MONOTONIC,
                .suspended = suspended,
                .durable = context->durable,
        };
        g_queue_push_tail_link(&context->activities, &activity->link);
        return activity;
}

Activity *activity_start(ActivityContext *context, NodeId node, uint32_t attempt, json_object *noted) {
        Activity *activity = activity_new(context, node, attempt, noted, (uint64_t) g_get_monotonic_time(),
                                          definition_uses_boottime(context->definition, node) ? timers_suspended() : 0);

        activity->status = activity_fill_params(activity);
        if (activity->status == STATUS_RUNNING)
                activity_call_start(activity);

        return activity;
}

void activity_abandon(Activity *activity) {
        activity->leaf.abandoned = true;
        activity_free(activity);
}

void activity_free(Activity *activity) {
        if (!activity)
                return;

        timer_free(activity->timeout);
        timer_free(activity->halt_timeout);
        activity_release(activity);
        g_queue_unlink(&activity->context->activities, &activity->link);
        params_clear(&activity->params);
        secrets_clear(&activity->secrets);
        cause_unref(activity->cause);
        json_object_put(activity->leaf.memo);
        json_object_put(activity->noted);
        g_free(activity);
}

bool activity_halt(Activity *activity) {
        assert(!activity_is_condition(activity) && activity->status == STATUS_RUNNING && !activity->halted);

        g_clear_pointer(&activity->timeout, timer_free);
        activity->halted = true;
        return activity->stopping ? false : activity_stop(activity);
}

void activity_tell_awaited(Activity *activity) {
        if (activity_kind(activity)->awaited && activity->held && !activity->stopping &&
            activity->status == STATUS_RUNNING)
                activity_kind(activity)->awaited(&activity->leaf);
}

Status activity_evaluate(Activity *activity) {
        if (activity_kind(activity)->evaluate && activity->held && !activity->stopping)
                activity->status = activity_kind(activity)->evaluate(&activity->leaf);

        return activity->status;
}

NodeId activity_node(const Activity *activity) {
        return activity->leaf.node;
}

uint32_t activity_attempt(const Activity *activity) {
        return activity->leaf.attempt;
}

json_object *activity_noted(const Activity *activity) {
        return activity->noted;
}

void activity_report(const Activity *activity, LeafReport *ret_report) {
        *ret_report = (LeafReport){
                .attempt = activity->leaf.attempt,
                .since = activity->leaf.started,
                .suspended = activity->leaf.suspended,
                .begun = true,
                .halted = activity->halted,
                .remembers = activity->leaf.has_memo,
                .memory = activity->leaf.memo,
                .noted = activity->noted,
        };
}

Status activity_status(const Activity *activity) {
        return activity->status;
}

bool activity_is_ending(const Activity *activity) {
        return activity->halted && activity->status == STATUS_RUNNING;
}

Cause *activity_cause(const Activity *activity) {
        return activity->cause;
}

static void describe_timeout(const Activity *activity, GString *text) {
        g_autofree char *span = NULL;
        uint64_t now = (uint64_t) g_get_monotonic_time(), deadline;

        if (activity->stopping) {
                g_string_append(text, text->len > 0 ? "; being stopped" : "being stopped");
                return;
        }
        if (!activity->timeout)
                return;

        deadline = timer_deadline(activity->timeout);
        span = span_format_rounded(deadline > now ? deadline - now : 0);
        g_string_append_printf(text, "%stimes out in %s", text->len > 0 ? "; " : "", span);
}

char *activity_describe(Activity *activity) {
        GString *text = g_string_new(NULL);
        g_autofree char *hidden = NULL;

        if (activity->status == STATUS_RUNNING) {
                if (activity_kind(activity)->describe)
                        activity_kind(activity)->describe(&activity->leaf, text);
                if (text->len > 0)
                        g_string_prepend(text, "waits for ");
                describe_timeout(activity, text);
        }

        hidden = secrets_hide(&activity->secrets, text->str);
        if (hidden)
                g_string_assign(text, hidden);
        return g_string_free(text, text->len == 0);
}
