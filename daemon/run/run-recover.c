/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Recovers a run. What has happened while btd was not running becomes inputs: an expired timer, a free lock, an ended
 * leaf. */

#include "run/run-recover.h"
#include "run/run-journal.h"
#include "run/run-state.h"

Run *run_recover(const JournalHeader *header, Replay *replay, JournalWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata) {
        Run *run = run_make(header->run, header->tree, header->instance, services, callbacks, userdata);
        bool begun = replay_position(replay) > 0 && !replay_has_finished(replay);

        run->given = json_object_object_length(header->variables) > 0 ? json_object_get(header->variables) : NULL;
        run_set_caller(run, header->uid);
        run_set_token(run, header->token);
        run->started = header->started;
        run->start = header->start;
        run->seed = header->seed;
        run_set_progress(run, replay_take(replay));
        progress_set_host(run->progress, &run_host, run);
        if (writer)
                run_set_journal(run, writer);
        if (begun)
                progress_recovered(run->progress, run_now());

        return run;
}

void run_recover_lock(Run *run, const ProgressLock *lock) {
        if (run_take_lock(run, lock->node) && !lock->held)
                progress_lock_granted(run->progress, lock->node, run_now());
}

/* A condition can be false for a new reason, for example because a secret in its parameters was lost. */
static bool is_as_before(const Activity *activity, const ReplayLeaf *leaf, bool condition) {
        const Cause *cause = activity_cause(activity);

        return activity_status(activity) == leaf->status &&
               (!condition || g_strcmp0(cause ? cause->text : NULL, leaf->cause ? leaf->cause->text : NULL) == 0);
}

static void recover_leaf(Run *run, const ReplayLeaf *leaf) {
        bool condition = definition_tree(run_definition(run))->nodes[leaf->node].type->class == NODE_CONDITION;
        Activity *activity = activity_recover(&run->context, leaf);

        progress_set_leaf(run->progress, leaf->node, activity);
        if (is_as_before(activity, leaf, condition))
                return;

        if (condition)
                progress_condition_changed(run->progress, leaf->node, run_now());
        else if (progress_leaf_ended(run->progress, leaf->node, run_now()))
                activity_free(activity);
}

void run_recover_leaves(Run *run, const Replay *replay) {
        if (run_status(run) != STATUS_RUNNING) {
                run_finish(run);
                return;
        }
        if (replay_position(replay) == 0) {
                run_start(run);
                return;
        }

        for (const GList *link = replay_leaves(replay)->head; link; link = link->next)
                recover_leaf(run, link->data);

        run_settle(run);
}
