/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a leaf may do is checked here, once for all kinds. */

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "basic/log.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "definition/reasons.h"
#include "journal/detail.h"
#include "leaves/on-recover.h"
#include "runtime/activity.h"
#include "script/secrets.h"

struct Activity {
        Leaf leaf; /* first: a Leaf is its Activity */
        ActivityContext *context;
        GList link; /* of the context's activities */
        Params params;
        Secrets secrets; /* that are in them */
        Timer *timeout;
        Timer *halt_timeout; /* while it is stopping and may not take for ever */
        Status status;
        bool held;      /* the kind has been called, and its release is due */
        bool stopping;  /* the kind has been told to stop */
        bool no_room;   /* there was none for one of its results */
        bool timed_out; /* ... because its time was over */
        bool halted;    /* ... or its outcome is no longer asked for */
        Cause *cause;
        alignas(max_align_t) char op[];
};

static Activity *activity_of(Leaf *leaf) {
        return (Activity *) leaf;
}

static const LeafKind *kind_of(const Activity *activity) {
        return activity->leaf.type->leaf;
}

static bool is_condition(const Activity *activity) {
        return activity->leaf.type->class == NODE_CONDITION;
}

static void release(Activity *activity) {
        if (activity->held && kind_of(activity)->release)
                kind_of(activity)->release(&activity->leaf);

        activity->held = false;
}

/* Who could not leave his results has not succeeded. */
static Status bound(Activity *activity, Status status) {
        bool no_room = activity->no_room;

        activity->no_room = false;
        return no_room && status == STATUS_SUCCESS ? STATUS_FAILURE : status;
}

/* An action that has ended is released at once: nothing more is to come from it. Before that its run has to know of the
 * end, since with the release the world may forget it. */
static void settle(Activity *activity, Status status) {
        const ActivityContext *context = activity->context;

        g_clear_pointer(&activity->timeout, timer_free);
        g_clear_pointer(&activity->halt_timeout, timer_free);
        activity->status = bound(activity, status);
        if (is_condition(activity))
                context->changed(activity, context->userdata);
        else if (context->ended(activity, context->userdata))
                activity_free(activity);
        else
                release(activity);
}

static void replace_cause(Activity *activity, Cause *cause) {
        cause_unref(activity->cause);
        activity->cause = cause;
}

/* It has had its time to stop: what it was doing is dropped. */
static void on_halt_timeout(void *userdata) {
        Activity *activity = userdata;
        const Leaf *leaf = &activity->leaf;
        g_autofree char *span = span_format(definition_halt_timeout(activity->context->definition, leaf->node));
        g_autofree char *text = g_strdup_printf("%s%sgiven up, since it had not ended %s after it was told to",
                                                activity->timed_out ? activity->cause->text : "",
                                                activity->timed_out ? "; " : "", span);
        json_object *facts = facts_new("limit", fact_text(span), "where", fact_text("halt_timeout"), NULL);

        log_message(LOG_WARNING, &(LogSubject){ .tree = leaf->tree, .run = leaf->run, .node = leaf->name }, "%s", text);
        replace_cause(activity, cause_new(CAUSE_TIMEOUT, facts, text));
        settle(activity, STATUS_FAILURE);
}

static bool stop(Activity *activity) {
        const ActivityContext *context = activity->context;
        uint64_t limit = definition_halt_timeout(context->definition, activity->leaf.node);

        activity->stopping = true;
        if (!kind_of(activity)->halt || kind_of(activity)->halt(&activity->leaf))
                return true;

        if (limit != SPAN_INFINITY)
                activity->halt_timeout = timer_new(context->services->timers, limit, on_halt_timeout, activity);
        return false;
}

static uint64_t timeout_of(const Activity *activity) {
        const LeafKind *kind = kind_of(activity);

        if (!kind->has_timeout)
                return SPAN_INFINITY;

        return *(const uint64_t *) ((const char *) activity->leaf.params + kind->timeout_offset);
}

static void on_timeout(void *userdata) {
        Activity *activity = userdata;

        leaf_give_cause(&activity->leaf,
                        reason_of_timeout(definition_tree(activity->context->definition), activity->leaf.node,
                                          kind_of(activity)->timeout_offset, timeout_of(activity)));
        activity->timed_out = true;
        if (stop(activity))
                settle(activity, STATUS_FAILURE);
}

static Status fill_params(Activity *activity) {
        g_autofree char *error = NULL;
        int r;

        activity->secrets.directory = activity->context->services->credentials;
        r = definition_params_revealed(activity->context->definition, activity->leaf.node, activity->leaf.blackboard,
                                       &activity->secrets, &activity->params, &error);
        if (r < 0) {
                leaf_set_cause_of(&activity->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        activity->leaf.params = activity->params.values;
        activity->leaf.checked = !activity->params.owned;
        return STATUS_RUNNING;
}

static void arm_timeout(Activity *activity) {
        uint64_t timeout = timeout_of(activity), started = activity->leaf.started;

        if (timeout != SPAN_INFINITY && timeout < UINT64_MAX - started)
                activity->timeout =
                        timer_new_at(activity->context->services->timers, started + timeout, on_timeout, activity);
}

/* What start or recover has answered. */
static void begin(Activity *activity, Status status) {
        assert(status <= STATUS_SKIPPED || status == STATUS_ERROR);

        activity->status = status;
        if (status == STATUS_RUNNING && !activity->timeout)
                arm_timeout(activity);
}

static void start(Activity *activity) {
        activity->held = true;
        begin(activity, bound(activity, kind_of(activity)->start(&activity->leaf)));
}

static Activity *activity_new(ActivityContext *context, NodeId node, uint32_t attempt, uint64_t started) {
        const Tree *tree = definition_tree(context->definition);
        const NodeType *type = tree->nodes[node].type;
        Activity *activity = g_malloc0(sizeof(Activity) + type->leaf->op_size);

        activity->context = context;
        activity->link.data = activity;
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
                .durable = context->durable,
        };
        g_queue_push_tail_link(&context->activities, &activity->link);
        return activity;
}

Activity *activity_start(ActivityContext *context, NodeId node, uint32_t attempt) {
        Activity *activity = activity_new(context, node, attempt, (uint64_t) g_get_monotonic_time());

        activity->status = fill_params(activity);
        if (activity->status == STATUS_RUNNING)
                start(activity);

        return activity;
}

static void fail_as_lost(Activity *activity) {
        leaf_set_cause_of(&activity->leaf, CAUSE_LOST, NULL,
                          "the daemon was restarted while this was under way, so how it ended is not known");
        activity->status = STATUS_FAILURE;
}

static bool is_to_run_again(const Activity *activity) {
        const LeafKind *kind = kind_of(activity);

        if (activity->halted || activity->stopping)
                return false;
        if (!kind->has_on_recover || !activity->leaf.remembers)
                return true;

        return *(const int *) (const void *) ((const char *) activity->leaf.params + kind->on_recover_offset) ==
               ON_RECOVER_RERUN;
}

static void start_again(Activity *activity) {
        activity->context->rerun(activity, activity->context->userdata);
        g_clear_pointer(&activity->timeout, timer_free);
        activity->leaf.started = (uint64_t) g_get_monotonic_time();
        activity->leaf.remembers = false;
        start(activity);
}

/* Nothing is left of it. */
static void give_up(Activity *activity) {
        release(activity);
        memset(activity->op, 0, kind_of(activity)->op_size);
        if (is_to_run_again(activity))
                start_again(activity);
        else
                fail_as_lost(activity);
}

static void recover_action(Activity *activity, const ReplayLeaf *past) {
        const LeafKind *kind = kind_of(activity);

        activity->halted = past->halted;
        if (!past->begun && past->halted) {
                activity->status = STATUS_FAILURE;
                return;
        }
        if (!past->begun) {
                start_again(activity);
                return;
        }

        activity->held = true;
        begin(activity, kind->recover ? bound(activity, kind->recover(&activity->leaf)) : STATUS_IDLE);
        if (activity->status == STATUS_IDLE)
                give_up(activity);
        if (activity->halted && activity->status == STATUS_RUNNING) {
                g_clear_pointer(&activity->timeout, timer_free);
                if (stop(activity))
                        activity->status = STATUS_FAILURE;
        }
}

/* The value from before stands until there is a newer one. */
static void recover_condition(Activity *activity, const ReplayLeaf *past) {
        Status status;

        activity->held = true;
        status = kind_of(activity)->start(&activity->leaf);
        activity->status = status == STATUS_RUNNING ? past->status : status;
}

Activity *activity_recover(ActivityContext *context, const ReplayLeaf *past) {
        Activity *activity = activity_new(context, past->node, past->attempt, past->since);

        activity->leaf.remembers = past->remembers;
        activity->leaf.memory = past->memory;
        activity->cause = past->cause ? cause_ref(past->cause) : NULL;
        if (!is_condition(activity) && past->status != STATUS_RUNNING) {
                activity->status = past->status;
                return activity;
        }

        activity->status = fill_params(activity);
        if (activity->status == STATUS_RUNNING && is_condition(activity))
                recover_condition(activity, past);
        else if (activity->status == STATUS_RUNNING)
                recover_action(activity, past);

        activity->leaf.memory = NULL;
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
        release(activity);
        g_queue_unlink(&activity->context->activities, &activity->link);
        params_clear(&activity->params);
        secrets_clear(&activity->secrets);
        cause_unref(activity->cause);
        g_free(activity);
}

bool activity_halt(Activity *activity) {
        assert(!is_condition(activity) && activity->status == STATUS_RUNNING && !activity->halted);

        g_clear_pointer(&activity->timeout, timer_free);
        activity->halted = true;
        return activity->stopping ? false : stop(activity);
}

Status activity_look(Activity *activity) {
        if (kind_of(activity)->look && activity->held && !activity->stopping)
                activity->status = kind_of(activity)->look(&activity->leaf);

        return activity->status;
}

NodeId activity_node(const Activity *activity) {
        return activity->leaf.node;
}

uint32_t activity_attempt(const Activity *activity) {
        return activity->leaf.attempt;
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
        span = detail_span(deadline > now ? deadline - now : 0);
        g_string_append_printf(text, "%stimes out in %s", text->len > 0 ? "; " : "", span);
}

char *activity_describe(Activity *activity) {
        GString *text = g_string_new(NULL);
        g_autofree char *hidden = NULL;

        if (activity->status == STATUS_RUNNING) {
                if (kind_of(activity)->describe)
                        kind_of(activity)->describe(&activity->leaf, text);
                if (text->len > 0)
                        g_string_prepend(text, "waits for ");
                describe_timeout(activity, text);
        }

        hidden = secrets_hide(&activity->secrets, text->str);
        if (hidden)
                g_string_assign(text, hidden);
        return g_string_free(text, text->len == 0);
}

void leaf_end(Leaf *leaf, Status status) {
        Activity *activity = activity_of(leaf);

        assert(activity->status == STATUS_RUNNING);
        assert(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               status == STATUS_ERROR);

        settle(activity, activity->timed_out ? STATUS_FAILURE : status);
}

void leaf_set_value(Leaf *leaf, Status value) {
        Activity *activity = activity_of(leaf);

        assert(is_condition(activity) && value != STATUS_IDLE && value != STATUS_SKIPPED);

        if (!activity->stopping && activity->status != value)
                settle(activity, value);
}

void leaf_value_changed(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(is_condition(activity) && kind_of(activity)->look);

        if (!activity->stopping)
                activity->context->changed(activity, activity->context->userdata);
}

/* Takes the cause. */
static Cause *without_secrets(const Activity *activity, Cause *cause) {
        g_autofree char *text = NULL;
        Cause *hidden;

        if (!activity->secrets.known)
                return cause;

        text = secrets_hide(&activity->secrets, cause->text);
        hidden = cause_new(cause->kind,
                           cause->facts ? secrets_hide_all(&activity->secrets, json_object_get(cause->facts)) : NULL,
                           text ?: cause->text);
        hidden->node = cause->node;
        hidden->because = cause->because ? cause_ref(cause->because) : NULL;
        cause_unref(cause);
        return hidden;
}

/* What comes after the time is over is not the reason. A condition that stays false is no news to the tree, but to
 * those who look at it. */
void leaf_give_cause(Leaf *leaf, Cause *given) {
        Activity *activity = activity_of(leaf);
        g_autoptr(Cause) cause = without_secrets(activity, given);

        if (activity->timed_out)
                return;

        if (is_condition(activity) && activity->status == STATUS_FAILURE && activity->cause)
                cause_renew(activity->cause, cause);
        else
                replace_cause(activity, g_steal_pointer(&cause));
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        Activity *activity = activity_of(leaf);
        json_object *hidden = secrets_hide_all(&activity->secrets, value);

        if (blackboard_has_room(leaf->blackboard, blackboard_growth(leaf->blackboard, key, hidden))) {
                activity->context->output(activity, key, hidden, activity->context->userdata);
                return;
        }

        activity->no_room = true;
        leaf_set_cause(leaf, "%s: " BLACKBOARD_FULL_TEXT, key);
        json_object_put(hidden);
}

void leaf_remember(Leaf *leaf, json_object *memory) {
        Activity *activity = activity_of(leaf);

        leaf->remembers = true;
        if (activity->context->durable)
                activity->context->remember(activity, memory, activity->context->userdata);
        json_object_put(memory);
}

void leaf_lost(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(!is_condition(activity) && activity->status == STATUS_RUNNING);

        give_up(activity);
        if (activity->status != STATUS_RUNNING)
                settle(activity, activity->status);
}
