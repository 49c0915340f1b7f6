/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the ProgressHost of a replay: it answers the run from the records that follow the input. */

#include <inttypes.h>
#include <json-c/linkhash.h>

#include "basic/cause-json.h"
#include "basic/cleanup.h"
#include "run/replay-state.h"
#include "script/script-status.h"

/* True if all effects of the last input are recorded. */
static bool is_known(const Replay *replay) {
        const Record *record = replay_next(replay);

        return record && record->kind != RECORD_RECOVERED;
}

/* The next record, if it is this answer. */
static const Record *next_answer(Replay *replay, RecordKind kind, NodeId node) {
        const Record *record = replay_next(replay);

        return record && record->kind == kind && record->node == node ? record : NULL;
}

static const Record *take_answer(Replay *replay, RecordKind kind, NodeId node) {
        const Record *record = next_answer(replay, kind, node);

        if (record)
                replay->position++;

        return record;
}

static bool knows_all_effects(const Replay *replay) {
        return is_known(replay) && replay->position > replay->journal->all_effects;
}

/* The same for an effect of the run: if it is missing, the recorded run did not have it. */
static const Record *take_effect(Replay *replay, RecordKind kind, NodeId node) {
        const Record *record = take_answer(replay, kind, node);

        if (!record && knows_all_effects(replay) && node != NODE_NONE)
                replay_mismatch(replay, "behind it there is '%s' of node #%u, which is not recorded",
                                record_kind_to_string(kind), node);
        else if (!record && knows_all_effects(replay))
                replay_mismatch(replay, "behind it there is '%s' of the run, which is not recorded",
                                record_kind_to_string(kind));
        return record;
}

json_object *replay_detail(const Record *record, const char *name) {
        json_object *value = NULL;

        if (record->details)
                json_object_object_get_ex(record->details, name, &value);

        return value;
}

/* IDLE: none. */
Status replay_status(const Record *record) {
        const char *text = json_object_get_string(replay_detail(record, "status"));

        for (Status status = STATUS_RUNNING; text && status < STATUS_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        return STATUS_IDLE;
}

static bool is_own_cause(const Record *record, const Cause *cause) {
        return cause && cause->text && !cause->because && (cause->node == NODE_NONE || cause->node == record->node);
}

Cause *replay_cause(Replay *replay, const Record *record) {
        json_object *json = replay_detail(record, "cause");
        g_autoptr(Cause) cause = json ? cause_from_json(json) : NULL;

        if (json && !is_own_cause(record, cause)) {
                replay_mismatch(replay, "its cause is not one of its own");
                return NULL;
        }

        return g_steal_pointer(&cause);
}

void replay_set_outcome(ReplayLeaf *leaf, const Record *record) {
        Status status = replay_status(record);

        if (status == STATUS_IDLE || status == STATUS_HALTED)
                replay_mismatch(leaf->replay, "it has no status");
        else
                leaf->status = status;

        cause_unref(leaf->cause);
        leaf->cause = replay_cause(leaf->replay, record);
        if (leaf->status == STATUS_ERROR && !leaf->cause) {
                replay_mismatch(leaf->replay, "it has no cause");
                leaf->cause = cause_new(CAUSE_EXPRESSION, NULL, "");
        }
}

void replay_set_outputs(Replay *replay, NodeId node, json_object *values, uint64_t now) {
        if (!json_object_is_type(values, json_type_object))
                return;

        json_object_object_foreach(values, key, value)
                progress_set_output(replay->progress, node, key, json_object_get(value), now);
}

void replay_leaf_begin_again(ReplayLeaf *leaf, uint64_t now) {
        leaf->begun = true;
        leaf->since = now;
        leaf->suspended = progress_suspended(leaf->replay->progress);
        leaf->remembers = false;
        g_clear_pointer(&leaf->memory, json_object_put);
}

void replay_leaf_remember(ReplayLeaf *leaf, const Record *record) {
        leaf->remembers = true;
        json_object_put(leaf->memory);
        leaf->memory = json_object_get(record->details);
}

static const Script *code_of(const Node *node) {
        for (const Param *param = node->type->params; param && param->name; param++)
                if (param->kind == PARAM_CODE)
                        return *(const Script *const *) (const void *) ((const char *) node->params + param->offset);

        return NULL;
}

void replay_leaf_compute(ReplayLeaf *leaf) {
        const Script *code = code_of(&replay_tree(leaf->replay)->nodes[leaf->node]);
        Blackboard *scope = variables_scope(progress_variables(leaf->replay->progress), leaf->node);
        g_autoptr(Cause) cause = NULL;

        /* A failed leaf did not run its code; code itself cannot fail. */
        if (code && leaf->status != STATUS_FAILURE && script_status_of_code(code, scope, &cause) != leaf->status)
                replay_mismatch(leaf->replay, "its code comes to something else");
}

/* Data that the action stored while it was being started; data that it stores later is an input. */
static const Record *take_note(Replay *replay, const Record *begin) {
        const Record *record = replay_next(replay);

        return record && record->time == begin->time ? take_answer(replay, RECORD_NOTE, begin->node) : NULL;
}

void replay_leaf_check_noted(ReplayLeaf *leaf, const Record *record) {
        json_object *with = replay_detail(record, "with");

        if (!json_object_is_type(with, json_type_object))
                return;

        json_object_object_foreach(with, name, then) {
                json_object *now = NULL;
                bool set = leaf->noted && json_object_object_get_ex(leaf->noted, name, &now);

                if (set && json_object_equal(then, now))
                        continue;

                replay_mismatch(leaf->replay, "node #%u is started when '%s' is %s, but with this engine it is %s",
                                leaf->node, name, json_object_to_json_string_ext(then, JSON_C_TO_STRING_PLAIN),
                                set ? json_object_to_json_string_ext(now, JSON_C_TO_STRING_PLAIN) : "not set");
        }
}

/* If the daemon was stopped right then, the start is the last record. */
static void begin_action(ReplayLeaf *leaf) {
        Replay *replay = leaf->replay;
        const Record *begin, *record;

        if (!is_known(replay))
                return;

        begin = take_answer(replay, RECORD_BEGIN, leaf->node);
        if (!begin) {
                replay_mismatch(replay, "behind it the run starts node #%u, which is not recorded", leaf->node);
                return;
        }

        leaf->begun = true;
        replay_leaf_check_noted(leaf, begin);
        while ((record = take_note(replay, begin)))
                replay_leaf_remember(leaf, record);

        record = take_answer(replay, RECORD_AT_ONCE, leaf->node);
        if (!record)
                return;

        replay_set_outcome(leaf, record);
        replay_leaf_compute(leaf);
        replay_set_outputs(replay, leaf->node, replay_detail(record, "outputs"), 0);
}

/* A condition has a record of its start only if it refers to variables. */
static void begin_condition(ReplayLeaf *leaf) {
        const Record *begin = leaf->noted ? take_effect(leaf->replay, RECORD_BEGIN, leaf->node) : NULL;

        if (begin)
                replay_leaf_check_noted(leaf, begin);
}

static void *on_leaf_start(NodeId node, uint32_t attempt, json_object *noted, void *userdata) {
        Replay *replay = userdata;
        ReplayLeaf *leaf = g_new(ReplayLeaf, 1);

        *leaf = (ReplayLeaf){
                .node = node,
                .attempt = attempt,
                .status = STATUS_RUNNING,
                .noted = json_object_get(noted),
                .since = progress_now(replay->progress),
                .suspended = progress_suspended(replay->progress),
                .replay = replay,
                .link.data = leaf,
        };
        g_queue_push_tail_link(&replay->leaves, &leaf->link);
        if (replay_tree(replay)->nodes[node].type->class == NODE_ACTION)
                begin_action(leaf);
        else
                begin_condition(leaf);

        return leaf;
}

static Status on_leaf_status(void *data) {
        const ReplayLeaf *leaf = data;

        return leaf->status;
}

static Status on_leaf_evaluate(void *data, uint32_t evaluation) {
        ReplayLeaf *leaf = data;
        const Record *record = next_answer(leaf->replay, RECORD_VALUE, leaf->node);

        if (record && json_object_get_int64(replay_detail(record, "look")) == evaluation) {
                leaf->replay->position++;
                replay_set_outcome(leaf, record);
        }

        return leaf->status;
}

static Cause *on_leaf_cause(void *data) {
        const ReplayLeaf *leaf = data;

        return leaf->cause;
}

static bool on_leaf_halt(void *data) {
        ReplayLeaf *leaf = data;

        take_effect(leaf->replay, RECORD_STOP, leaf->node);
        leaf->halted = !take_answer(leaf->replay, RECORD_STOPPED, leaf->node);
        return !leaf->halted;
}

void replay_leaf_free(ReplayLeaf *leaf) {
        g_queue_unlink(&leaf->replay->leaves, &leaf->link);
        cause_unref(leaf->cause);
        json_object_put(leaf->memory);
        json_object_put(leaf->noted);
        g_free(leaf);
}

static void on_leaf_free(void *leaf) {
        replay_leaf_free(leaf);
}

static uint64_t after_of(const Record *record) {
        return json_object_get_uint64(replay_detail(record, "after"));
}

static bool is_idle_interval(const Replay *replay, NodeId node) {
        return node == NODE_NONE && replay_is_of_idle_intervals(replay);
}

/* The progress itself knows which timers are armed. */
static void on_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        Replay *replay = userdata;
        const Record *record = is_idle_interval(replay, node) ? take_answer(replay, RECORD_ARM, node)
                                                              : take_effect(replay, RECORD_ARM, node);
        uint64_t now = progress_now(replay->progress), after = record ? after_of(record) : 0;

        if (record && deadline != (after < UINT64_MAX - now ? now + after : UINT64_MAX))
                replay_mismatch(replay, "it arms a timer for %" PRIu64 "us, but this engine for %" PRIu64 "us", after,
                                deadline - now);
}

static void on_timer_disarm(NodeId node, void *userdata) {
        if (is_idle_interval(userdata, node))
                take_answer(userdata, RECORD_DISARM, node);
        else
                take_effect(userdata, RECORD_DISARM, node);
}

static bool on_lock(NodeId node, void *userdata) {
        Replay *replay = userdata;
        bool held = take_answer(replay, RECORD_AT_ONCE_LOCKED, node);

        if (!held)
                take_effect(replay, RECORD_WAITS, node);

        return held;
}

static void on_unlock(NodeId node, void *userdata) {
        take_effect(userdata, RECORD_UNLOCK, node);
}

static void on_leaf_report(void *data, LeafReport *ret_report) {
        const ReplayLeaf *leaf = data;

        *ret_report = (LeafReport){
                .attempt = leaf->attempt,
                .since = leaf->since,
                .suspended = leaf->suspended,
                .begun = leaf->begun,
                .halted = leaf->halted,
                .remembers = leaf->remembers,
                .memory = leaf->memory,
                .noted = leaf->noted,
        };
}

const ProgressHost replay_host = {
        .leaf_start = on_leaf_start,
        .leaf_status = on_leaf_status,
        .leaf_evaluate = on_leaf_evaluate,
        .leaf_cause = on_leaf_cause,
        .leaf_halt = on_leaf_halt,
        .leaf_report = on_leaf_report,
        .leaf_free = on_leaf_free,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
        .lock = on_lock,
        .unlock = on_unlock,
};
