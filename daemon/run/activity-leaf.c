/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the functions of run/leaf.h that leaf kinds call. All checks of what a leaf may do are here, once for
 * all kinds. */

#include <assert.h>

#include "run/activity-state.h"

/* The Leaf is the first member of its Activity. */
static Activity *activity_of(Leaf *leaf) {
        return (Activity *) leaf;
}

void leaf_end(Leaf *leaf, Status status) {
        Activity *activity = activity_of(leaf);

        assert(activity->status == STATUS_RUNNING);
        assert(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               status == STATUS_ERROR);

        activity_settle(activity, activity->failed ? STATUS_FAILURE : status);
}

void leaf_set_value(Leaf *leaf, Status value) {
        Activity *activity = activity_of(leaf);

        assert(activity_is_condition(activity) && value != STATUS_IDLE && value != STATUS_SKIPPED);

        if (!activity->stopping && activity->status != value)
                activity_settle(activity, value);
}

void leaf_value_changed(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(activity_is_condition(activity) && activity_kind(activity)->evaluate);

        if (!activity->stopping)
                activity->context->callbacks->changed(activity, activity->context->userdata);
}

char *leaf_hide_secrets(Leaf *leaf, const char *text) {
        const Activity *activity = activity_of(leaf);

        return activity->secrets.known ? secrets_hide(&activity->secrets, text) : NULL;
}

/* Takes the cause. Replaces the values of secrets in it. */
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

/* A cause that comes after the timeout is not the reason. For a condition that stays false, the cause is updated in
 * place: the tree does not react, but readers see it. */
void leaf_give_cause(Leaf *leaf, Cause *given) {
        Activity *activity = activity_of(leaf);
        g_autoptr(Cause) cause = without_secrets(activity, given);

        if (activity->failed)
                return;

        if (activity_is_condition(activity) && activity->status == STATUS_FAILURE && activity->cause)
                cause_renew(activity->cause, cause);
        else
                activity_replace_cause(activity, g_steal_pointer(&cause));
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        Activity *activity = activity_of(leaf);
        json_object *hidden = secrets_hide_all(&activity->secrets, value);
        g_autofree char *text = NULL;

        if (blackboard_has_room(leaf->blackboard, blackboard_growth(leaf->blackboard, key, hidden))) {
                activity->context->callbacks->output(activity, key, hidden, activity->context->userdata);
                return;
        }

        activity->no_room = true;
        text = blackboard_full_text();
        leaf_set_cause(leaf, "%s: %s", key, text);
        json_object_put(hidden);
}

void leaf_set_memo(Leaf *leaf, json_object *memory) {
        Activity *activity = activity_of(leaf);

        json_object_put(leaf->memo);
        leaf->memo = memory;
        leaf->has_memo = true;
        if (activity->context->durable)
                activity->context->callbacks->remember(activity, memory, activity->context->userdata);
}

void leaf_lost(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(!activity_is_condition(activity) && activity->status == STATUS_RUNNING);

        activity_give_up(activity);
        if (activity->status != STATUS_RUNNING)
                activity_settle(activity, activity->status);
}

bool leaf_is_awaited_by(const Leaf *leaf, const char *unit, bool stop) {
        const ActivityContext *context = activity_of((Leaf *) leaf)->context;

        return context->callbacks->awaited_by && context->callbacks->awaited_by(unit, stop, context->userdata);
}
