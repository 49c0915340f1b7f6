/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Recovers activities that the previous btd started. */

#include <string.h>

#include "run/activity-state.h"
#include "run/leaf-params.h"

static void fail_as_lost(Activity *activity) {
        leaf_set_cause_of(&activity->leaf, CAUSE_LOST, NULL,
                          "the daemon was restarted while this was under way, so how it ended is not known");
        activity->status = STATUS_FAILURE;
}

static bool is_to_run_again(const Activity *activity) {
        const LeafKind *kind = activity_kind(activity);

        if (activity->halted || activity->stopping || activity->failed)
                return false;
        if (!kind->has_on_recover || !activity->leaf.has_memo)
                return true;

        return *(const int *) (const void *) ((const char *) activity->leaf.params + kind->on_recover_offset) ==
               ON_RECOVER_RERUN;
}

static void start_again(Activity *activity) {
        activity->context->callbacks->rerun(activity, activity->context->userdata);
        g_clear_pointer(&activity->timeout, timer_free);
        activity->leaf.started = (uint64_t) g_get_monotonic_time();
        activity->leaf.suspended = activity->leaf.clock == TIMER_BOOTTIME ? timers_suspended() : 0;
        activity->leaf.has_memo = false;
        g_clear_pointer(&activity->leaf.memo, json_object_put);
        activity_call_start(activity);
}

/* Frees what the recovered leaf left, before it is rerun or fails. */
void activity_give_up(Activity *activity) {
        activity_release(activity);
        memset(activity->op, 0, activity_kind(activity)->op_size);
        if (is_to_run_again(activity))
                start_again(activity);
        else
                fail_as_lost(activity);
}

static void recover_action(Activity *activity, const ReplayLeaf *past) {
        const LeafKind *kind = activity_kind(activity);

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
        activity_set_begun(activity,
                           kind->recover ? activity_bound(activity, kind->recover(&activity->leaf)) : STATUS_IDLE);
        if (activity->status == STATUS_IDLE)
                activity_give_up(activity);
        if ((activity->halted || activity->failed) && activity->status == STATUS_RUNNING) {
                g_clear_pointer(&activity->timeout, timer_free);
                if (activity_stop(activity))
                        activity->status = STATUS_FAILURE;
        }
}

/* The secrets in its parameters are lost, so it cannot continue. Stop what it started. */
static void recover_to_stop(Activity *activity, const ReplayLeaf *past) {
        activity->failed = true;
        if (activity_fill_params_openly(activity) == STATUS_RUNNING)
                recover_action(activity, past);
        if (activity->status != STATUS_RUNNING)
                activity->status = STATUS_FAILURE;
}

/* Keep the value that the previous btd knew until there is a new one. */
static void recover_condition(Activity *activity, const ReplayLeaf *past) {
        Status status;

        activity->held = true;
        status = activity_kind(activity)->start(&activity->leaf);
        activity->status = status == STATUS_RUNNING ? past->status : status;
}

Activity *activity_recover(ActivityContext *context, const ReplayLeaf *past) {
        Activity *activity =
                activity_new(context, past->node, past->attempt, past->noted, past->since, past->suspended);

        activity->leaf.has_memo = past->remembers;
        activity->leaf.memo = json_object_get(past->memory);
        activity->cause = past->cause ? cause_ref(past->cause) : NULL;
        if (!activity_is_condition(activity) && past->status != STATUS_RUNNING) {
                activity->status = past->status;
                return activity;
        }

        activity->status = activity_fill_params(activity);
        if (activity->status == STATUS_RUNNING && activity_is_condition(activity))
                recover_condition(activity, past);
        else if (activity->status == STATUS_RUNNING)
                recover_action(activity, past);
        else if (!activity_is_condition(activity) && past->begun)
                recover_to_stop(activity, past);

        return activity;
}
