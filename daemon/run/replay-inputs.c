/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Applies the recorded inputs to the run, after checking that they are possible. */

#include "basic/cause-json.h"
#include "run/replay-state.h"

static void set_suspended(Replay *replay, json_object *usec) {
        if (json_object_is_type(usec, json_type_int) && json_object_get_uint64(usec) <= RECORD_TIME_MAX)
                progress_set_suspended(replay->progress, json_object_get_uint64(usec));
        else
                replay_mismatch(replay, "it does not say for how long the machine was suspended");
}

static void apply_suspended(Replay *replay, const Record *record, uint64_t now) {
        set_suspended(replay, replay_detail(record, "usec"));
}

static void apply_start(Replay *replay, const Record *record, uint64_t now) {
        if (record->details)
                set_suspended(replay, replay_detail(record, "suspended"));
        if (replay->position > 1 || replay->begin > 0)
                replay_mismatch(replay, "the run has begun already");
        else
                progress_start(replay->progress, now);
}

static void apply_tick(Replay *replay, const Record *record, uint64_t now) {
        progress_tick(replay->progress, now);
}

static bool is_of_class(const Replay *replay, const Record *record, NodeClass class) {
        return replay_tree(replay)->nodes[record->node].type->class == class;
}

static void apply_ended(Replay *replay, const Record *record, uint64_t now) {
        ReplayLeaf *leaf = progress_leaf(replay->progress, record->node);

        if (!leaf || leaf->status != STATUS_RUNNING || !is_of_class(replay, record, NODE_ACTION)) {
                replay_mismatch(replay, "node #%u is not running", record->node);
                return;
        }

        replay_set_outcome(leaf, record);
        if (leaf->status == STATUS_RUNNING) {
                replay_mismatch(replay, "it has no outcome");
                return;
        }

        replay_leaf_compute(leaf);
        if (progress_leaf_ended(replay->progress, record->node, now))
                replay_leaf_free(leaf);
}

static void apply_changed(Replay *replay, const Record *record, uint64_t now) {
        if (!progress_leaf(replay->progress, record->node) || !is_of_class(replay, record, NODE_CONDITION))
                replay_mismatch(replay, "nothing looks at node #%u", record->node);
        else if (record->kind == RECORD_TURNED)
                progress_condition_turned(replay->progress, record->node, now);
        else
                progress_condition_changed(replay->progress, record->node, now);
}

static bool is_idle_interval(const Replay *replay, const Record *record) {
        return record->kind == RECORD_INTERVAL && replay_is_of_idle_intervals(replay);
}

static void apply_timer(Replay *replay, const Record *record, uint64_t now) {
        if (progress_deadline(replay->progress, record->node) == UINT64_MAX && !is_idle_interval(replay, record))
                replay_mismatch(replay, "there is no such timer");
        else
                progress_timer_expired(replay->progress, record->node, now);
}

static void apply_set(Replay *replay, const Record *record, uint64_t now) {
        if (!record->details)
                replay_mismatch(replay, "it has no variables");
        else if (record->node == NODE_NONE)
                progress_set_variables(replay->progress, record->details, now);
        else
                replay_set_outputs(replay, record->node, record->details, now);
}

static void apply_note(Replay *replay, const Record *record, uint64_t now) {
        ReplayLeaf *leaf = progress_leaf(replay->progress, record->node);

        if (leaf)
                replay_leaf_remember(leaf, record);
        else
                replay_mismatch(replay, "node #%u is not running", record->node);
}

static void apply_locked(Replay *replay, const Record *record, uint64_t now) {
        if (progress_waits_for_lock(replay->progress, record->node))
                progress_lock_granted(replay->progress, record->node, now);
        else
                replay_mismatch(replay, "node #%u waits for no lock", record->node);
}

static void apply_halt(Replay *replay, const Record *record, uint64_t now) {
        Cause *why = replay_cause(replay, record);

        progress_halt(replay->progress, why ?: cause_new(CAUSE_HALTED, NULL, "halted"), now);
}

static void apply_pause(Replay *replay, const Record *record, uint64_t now) {
        progress_pause(replay->progress, now);
}

static void apply_resume(Replay *replay, const Record *record, uint64_t now) {
        progress_resume(replay->progress, now);
}

static void apply_step(Replay *replay, const Record *record, uint64_t now) {
        progress_step(replay->progress, now);
}

static void apply_break(Replay *replay, const Record *record, uint64_t now) {
        progress_set_breakpoint(replay->progress, record->node, json_object_get_boolean(replay_detail(record, "set")),
                                now);
}

static void apply_force(Replay *replay, const Record *record, uint64_t now) {
        Status status = replay_status(record);
        g_autoptr(Cause) why = replay_cause(replay, record);

        if (status != STATUS_SUCCESS && status != STATUS_FAILURE && status != STATUS_SKIPPED) {
                replay_mismatch(replay, "it has no outcome");
                return;
        }

        progress_force(replay->progress, record->node, status,
                       why ? g_steal_pointer(&why) : cause_new(CAUSE_FORCED, NULL, "forced"), now);
}

/* From here on, the answers are those of another daemon. */
static void apply_recovered(Replay *replay, const Record *record, uint64_t now) {}

static void apply_rerun(Replay *replay, const Record *record, uint64_t now) {
        ReplayLeaf *leaf = progress_leaf(replay->progress, record->node);

        if (!leaf) {
                replay_mismatch(replay, "node #%u is not running", record->node);
                return;
        }

        replay_leaf_begin_again(leaf, now);
        replay_leaf_check_noted(leaf, record);
}

static void apply_finished(Replay *replay, const Record *record, uint64_t now) {
        Status status = progress_status(replay->progress);

        if (replay_status(record) != status)
                replay_mismatch(replay, "the run is %s by then", status_to_string(status));
}

static void apply_snapshot(Replay *replay, const Record *record, uint64_t now) {
        if (replay->position == replay->begin + 1)
                replay_restore(replay, record, now);
}

typedef enum Scope {
        OF_RUN,
        OF_NODE,
        OF_EITHER,
} Scope;

typedef struct Input {
        void (*apply)(Replay *replay, const Record *record, uint64_t now);
        Scope scope;
        bool last;    /* for a run that has finished */
        bool waiting; /* not for a run that is halting */
} Input;

static const Input inputs[RECORD_KIND_MAX_] = {
        [RECORD_START] = { apply_start },
        [RECORD_TICK] = { apply_tick },
        [RECORD_ENDED] = { apply_ended, OF_NODE },
        [RECORD_CHANGED] = { apply_changed, OF_NODE },
        [RECORD_TURNED] = { apply_changed, OF_NODE },
        [RECORD_TIMER] = { apply_timer, OF_NODE },
        [RECORD_INTERVAL] = { apply_timer },
        [RECORD_SET] = { apply_set, OF_EITHER },
        [RECORD_NOTE] = { apply_note, OF_NODE },
        [RECORD_SUSPENDED] = { apply_suspended },
        [RECORD_LOCKED] = { apply_locked, OF_NODE },
        [RECORD_HALT] = { apply_halt, .waiting = true },
        [RECORD_PAUSE] = { apply_pause, .waiting = true },
        [RECORD_RESUME] = { apply_resume, .waiting = true },
        [RECORD_STEP] = { apply_step, .waiting = true },
        [RECORD_BREAK] = { apply_break, OF_NODE, .waiting = true },
        [RECORD_FORCE] = { apply_force, OF_NODE, .waiting = true },
        [RECORD_RECOVERED] = { apply_recovered },
        [RECORD_RERUN] = { apply_rerun, OF_NODE },
        [RECORD_FINISHED] = { apply_finished, .last = true },
        [RECORD_SNAPSHOT] = { apply_snapshot },
        /* Answers and effects, which are not inputs. */
        [RECORD_BEGIN] = { .scope = OF_NODE },
        [RECORD_AT_ONCE] = { .scope = OF_NODE },
        [RECORD_STOPPED] = { .scope = OF_NODE },
        [RECORD_VALUE] = { .scope = OF_NODE },
        [RECORD_AT_ONCE_LOCKED] = { .scope = OF_NODE },
        [RECORD_WAITS] = { .scope = OF_NODE },
        [RECORD_STOP] = { .scope = OF_NODE },
        [RECORD_UNLOCK] = { .scope = OF_NODE },
        [RECORD_ARM] = { .scope = OF_EITHER },
        [RECORD_DISARM] = { .scope = OF_EITHER },
};

bool replay_has_node(const Replay *replay, const Record *record) {
        Scope scope = inputs[record->kind].scope;

        if (record->node == NODE_NONE)
                return scope != OF_NODE;

        return scope != OF_RUN && record->node < replay_tree(replay)->n_nodes;
}

void replay_apply(Replay *replay, const Record *record) {
        const Input *input = &inputs[record->kind];
        const char *kind = record_kind_to_string(record->kind);
        bool over = progress_status(replay->progress) != STATUS_RUNNING;

        if (record->time > RECORD_TIME_MAX)
                replay_mismatch(replay, "no run lasts that long");
        else if (!input->apply && record->node == NODE_NONE &&
                 (record->kind == RECORD_ARM || record->kind == RECORD_DISARM) && replay_is_of_idle_intervals(replay))
                return;
        else if (!input->apply)
                replay_mismatch(replay, "the run has not asked for '%s'", kind);
        else if (over != input->last && record->kind != RECORD_RECOVERED)
                replay_mismatch(replay, "'%s' does not happen to a run that is %s", kind,
                                status_to_string(progress_status(replay->progress)));
        else if (input->waiting && progress_is_halting(replay->progress))
                replay_mismatch(replay, "'%s' does not happen to a run that is being halted", kind);
        else if (replay->position == 1 && record->kind != RECORD_START && record->kind != RECORD_SNAPSHOT)
                replay_mismatch(replay, "the run has not begun");
        else
                input->apply(replay, record, replay->journal->header.start + record->time);
}
