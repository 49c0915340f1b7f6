/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a leaf may do is checked here, once for all kinds. */

#include <assert.h>

#include "runtime/activity-state.h"

/* A Leaf is the beginning of its Activity. */
static Activity *activity_of(Leaf *leaf) {
        return (Activity *) leaf;
}

void leaf_end(Leaf *leaf, Status status) {
        Activity *activity = activity_of(leaf);

        assert(activity->status == STATUS_RUNNING);
        assert(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
               status == STATUS_ERROR);

        activity_settle(activity, activity->timed_out ? STATUS_FAILURE : status);
}

void leaf_set_value(Leaf *leaf, Status value) {
        Activity *activity = activity_of(leaf);

        assert(activity_is_condition(activity) && value != STATUS_IDLE && value != STATUS_SKIPPED);

        if (!activity->stopping && activity->status != value)
                activity_settle(activity, value);
}

void leaf_value_changed(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(activity_is_condition(activity) && activity_kind(activity)->look);

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
                activity->context->output(activity, key, hidden, activity->context->userdata);
                return;
        }

        activity->no_room = true;
        text = blackboard_full_text();
        leaf_set_cause(leaf, "%s: %s", key, text);
        json_object_put(hidden);
}

void leaf_remember(Leaf *leaf, json_object *memory) {
        Activity *activity = activity_of(leaf);

        json_object_put(leaf->memory);
        leaf->memory = memory;
        leaf->remembers = true;
        if (activity->context->durable)
                activity->context->remember(activity, memory, activity->context->userdata);
}

void leaf_lost(Leaf *leaf) {
        Activity *activity = activity_of(leaf);

        assert(!activity_is_condition(activity) && activity->status == STATUS_RUNNING);

        activity_give_up(activity);
        if (activity->status != STATUS_RUNNING)
                activity_settle(activity, activity->status);
}
