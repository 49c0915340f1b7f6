/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements replay.h. Requests of the run are compared with the next entries, and recorded inputs must be possible. So
 * a run record that does not belong to the tree is detected, and does no harm.
 */

#include <errno.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <limits.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "engine/machine.h"
#include "run/replay.h"
#include "run/snapshot.h"
#include "script/script-status.h"

struct Replay {
        const RunRecord *record;
        Run *run;
        unsigned begin;    /* index of the first entry that was used */
        unsigned position; /* index of the next entry */
        GQueue leaves;     /* of ReplayLeaf */
        GArray *locks;     /* of RunLock, after the run was taken */
        char *error;       /* the first mismatch, or NULL */
};

/* A member of the details of an entry; NULL: none. */
static json_object *detail_of(const Entry *entry, const char *name) {
        json_object *value = NULL;

        if (entry->details)
                json_object_object_get_ex(entry->details, name, &value);

        return value;
}

static const Tree *tree_of(const Replay *replay) {
        return definition_tree(run_definition(replay->run));
}

static const Entry *next_entry(const Replay *replay) {
        return replay->position < replay->record->entries->len
                       ? &g_array_index(replay->record->entries, Entry, replay->position)
                       : NULL;
}

/* The engine that recorded the next entry. It is in the last ENTRY_RECOVERED that was read, or else in the header. */
static uint32_t engine_of_next(const Replay *replay) {
        uint32_t engine = replay->record->header.engine;

        for (unsigned i = 0; i < replay->position; i++) {
                const Entry *entry = &g_array_index(replay->record->entries, Entry, i);

                if (entry->kind == ENTRY_RECOVERED && detail_of(entry, "engine"))
                        engine = (uint32_t) json_object_get_int64(detail_of(entry, "engine"));
        }

        return engine;
}

/* A hint that a different engine may be the reason. */
static char *describe_engines(const Replay *replay) {
        uint32_t engine = engine_of_next(replay);

        return engine == engine_version()
                       ? g_strdup("")
                       : g_strdup_printf(" (recorded with engine %" PRIu32 ", but this is engine %" PRIu32 ")", engine,
                                         engine_version());
}

/* Reports that the last entry does not match the run. Only the first mismatch is kept, because it causes the others.
 * The header is line 1. */
static void G_GNUC_PRINTF(2, 3) mismatch(Replay *replay, const char *format, ...) {
        g_autofree char *text = NULL, *engines = NULL;
        va_list args;

        if (replay->error)
                return;

        engines = describe_engines(replay);

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        replay->error = g_strdup_printf("line %u: %s%s", replay->position + 1, text, engines);
}

/* The answers to the run, from the entries that follow the input. */

/* True if all effects of the last input are recorded. */
static bool is_known(const Replay *replay) {
        const Entry *entry = next_entry(replay);

        return entry && entry->kind != ENTRY_RECOVERED;
}

/* The next entry, if it is this answer. */
static const Entry *next_answer(Replay *replay, EntryKind kind, NodeId node) {
        const Entry *entry = next_entry(replay);

        return entry && entry->kind == kind && entry->node == node ? entry : NULL;
}

static const Entry *take_answer(Replay *replay, EntryKind kind, NodeId node) {
        const Entry *entry = next_answer(replay, kind, node);

        if (entry)
                replay->position++;

        return entry;
}

/* The same for an effect of the run: if it is missing, the recorded run did not have it. */
static const Entry *take_effect(Replay *replay, EntryKind kind, NodeId node) {
        const Entry *entry = take_answer(replay, kind, node);

        if (!entry && is_known(replay) && node != NODE_NONE)
                mismatch(replay, "after this line, the run requests '%s' of node #%u, which is not recorded",
                         entry_kind_to_string(kind), node);
        else if (!entry && is_known(replay))
                mismatch(replay, "after this line, the run requests '%s', which is not recorded",
                         entry_kind_to_string(kind));
        return entry;
}

/* IDLE: none, or not a valid one. */
static Status status_in(const Entry *entry) {
        const char *text = json_object_get_string(detail_of(entry, "status"));

        for (Status status = STATUS_RUNNING; text && status < STATUS_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        return STATUS_IDLE;
}

static bool is_own_cause(const Entry *entry, const Cause *cause) {
        return cause && cause->text && !cause->because && (cause->node == NODE_NONE || cause->node == entry->node);
}

/* A new reference; NULL: none. Causes that are passed on from a child are not recorded, since they are computed
 * again. */
static Cause *cause_in(Replay *replay, const Entry *entry) {
        json_object *json = detail_of(entry, "cause");
        g_autoptr(Cause) cause = json ? cause_from_json(json) : NULL;

        if (json && !is_own_cause(entry, cause)) {
                mismatch(replay, "its cause belongs to another node");
                return NULL;
        }

        return g_steal_pointer(&cause);
}

static void set_outcome(ReplayLeaf *leaf, const Entry *entry) {
        Status status = status_in(entry);

        if (status == STATUS_IDLE || status == STATUS_HALTED)
                mismatch(leaf->replay, "it has no status");
        else
                leaf->status = status;

        cause_unref(leaf->cause);
        leaf->cause = cause_in(leaf->replay, entry);
        if (leaf->status == STATUS_ERROR && !leaf->cause) {
                mismatch(leaf->replay, "it has no cause");
                leaf->cause = cause_new(CAUSE_EXPRESSION, NULL, "");
        }
}

static void set_outputs(Replay *replay, NodeId node, json_object *values, uint64_t now) {
        if (!json_object_is_type(values, json_type_object))
                return;

        json_object_object_foreach(values, key, value)
                input_output(replay->run, node, key, json_object_get(value), now);
}

static void begin_again(ReplayLeaf *leaf, uint64_t now) {
        leaf->begun = true;
        leaf->since = now;
        leaf->suspended = run_suspended(leaf->replay->run);
        leaf->has_memo = false;
        g_clear_pointer(&leaf->memo, json_object_put);
}

static void keep_memo(ReplayLeaf *leaf, const Entry *entry, uint64_t now) {
        leaf->has_memo = true;
        json_object_put(leaf->memo);
        leaf->memo = json_object_get(entry->details);
        input_memo(leaf->replay->run, leaf->node, leaf->memo, now);
}

static const Script *code_of(const Node *node) {
        for (const Param *param = node->type->params; param && param->name; param++)
                if (param->kind == PARAM_CODE)
                        return *(const Script *const *) (const void *) ((const char *) node->params + param->offset);

        return NULL;
}

/* Computes the outcome again, for a leaf that has ended and only uses variables: it is not recorded. */
static void compute(ReplayLeaf *leaf) {
        const Script *code = code_of(&tree_of(leaf->replay)->nodes[leaf->node]);
        Blackboard *scope = variables_scope(run_variables(leaf->replay->run), leaf->node);
        g_autoptr(Cause) cause = NULL;

        /* A failed leaf did not run its code; code itself cannot fail. */
        if (code && leaf->status != STATUS_FAILURE && script_status_of_code(code, scope, &cause) != leaf->status)
                mismatch(leaf->replay, "its code has another result");
}

/* Data that the action stored while it was being started; data that it stores later is an input. */
static const Entry *take_note(Replay *replay, const Entry *begin) {
        const Entry *entry = next_entry(replay);

        return entry && entry->time == begin->time ? take_answer(replay, ENTRY_MEMO, begin->node) : NULL;
}

/* Checks that the variables have the values in the entry of the leaf's start. */
static void check_noted(ReplayLeaf *leaf, const Entry *entry) {
        json_object *with = detail_of(entry, "with");

        if (!json_object_is_type(with, json_type_object))
                return;

        json_object_object_foreach(with, name, then) {
                json_object *now = NULL;
                bool set = leaf->noted && json_object_object_get_ex(leaf->noted, name, &now);

                if (set && json_object_equal(then, now))
                        continue;

                mismatch(leaf->replay, "node #%u is started when '%s' is %s, but with this engine it is %s", leaf->node,
                         name, json_object_to_json_string_ext(then, JSON_C_TO_STRING_PLAIN),
                         set ? json_object_to_json_string_ext(now, JSON_C_TO_STRING_PLAIN) : "not set");
        }
}

/* If the daemon was stopped right then, the start is the last entry. */
static void begin_action(ReplayLeaf *leaf) {
        Replay *replay = leaf->replay;
        const Entry *begin, *entry;

        if (!is_known(replay))
                return;

        begin = take_answer(replay, ENTRY_BEGIN, leaf->node);
        if (!begin) {
                mismatch(replay, "after this line, the run starts node #%u, which is not recorded", leaf->node);
                return;
        }

        leaf->begun = true;
        check_noted(leaf, begin);
        while ((entry = take_note(replay, begin)))
                keep_memo(leaf, entry, begin->time);

        entry = take_answer(replay, ENTRY_AT_ONCE, leaf->node);
        if (!entry)
                return;

        set_outcome(leaf, entry);
        compute(leaf);
        set_outputs(replay, leaf->node, detail_of(entry, "outputs"), 0);
}

/* A condition has an entry of its start only if it refers to variables. */
static void begin_condition(ReplayLeaf *leaf) {
        const Entry *begin = leaf->noted ? take_effect(leaf->replay, ENTRY_BEGIN, leaf->node) : NULL;

        if (begin)
                check_noted(leaf, begin);
}

static void *on_leaf_start(NodeId node, uint32_t attempt, json_object *noted, void *userdata) {
        Replay *replay = userdata;
        ReplayLeaf *leaf = g_new(ReplayLeaf, 1);

        *leaf = (ReplayLeaf){
                .node = node,
                .attempt = attempt,
                .status = STATUS_RUNNING,
                .noted = json_object_get(noted),
                .since = run_now(replay->run),
                .suspended = run_suspended(replay->run),
                .replay = replay,
                .link.data = leaf,
        };
        g_queue_push_tail_link(&replay->leaves, &leaf->link);
        if (tree_of(replay)->nodes[node].type->class == NODE_ACTION)
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
        const Entry *entry = next_answer(leaf->replay, ENTRY_VALUE, leaf->node);

        if (entry && json_object_get_int64(detail_of(entry, "look")) == evaluation) {
                leaf->replay->position++;
                set_outcome(leaf, entry);
        }

        return leaf->status;
}

static Cause *on_leaf_cause(void *data) {
        const ReplayLeaf *leaf = data;

        return leaf->cause;
}

static bool on_leaf_halt(void *data) {
        ReplayLeaf *leaf = data;

        take_effect(leaf->replay, ENTRY_STOP, leaf->node);
        leaf->halted = !take_answer(leaf->replay, ENTRY_STOPPED, leaf->node);
        return !leaf->halted;
}

static void leaf_free(ReplayLeaf *leaf) {
        g_queue_unlink(&leaf->replay->leaves, &leaf->link);
        cause_unref(leaf->cause);
        json_object_put(leaf->memo);
        json_object_put(leaf->noted);
        g_free(leaf);
}

static void on_leaf_free(void *leaf) {
        leaf_free(leaf);
}

static uint64_t after_of(const Entry *entry) {
        return json_object_get_uint64(detail_of(entry, "after"));
}

/* The run itself knows which timers are armed. */
static void on_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        Replay *replay = userdata;
        const Entry *entry = take_effect(replay, ENTRY_ARM, node);
        uint64_t now = run_now(replay->run), after = entry ? after_of(entry) : 0;

        if (entry && deadline != (after < UINT64_MAX - now ? now + after : UINT64_MAX))
                mismatch(replay, "it arms a timer for %" PRIu64 "us, but this engine for %" PRIu64 "us", after,
                         deadline - now);
}

static void on_timer_disarm(NodeId node, void *userdata) {
        take_effect(userdata, ENTRY_DISARM, node);
}

static bool on_lock(NodeId node, void *userdata) {
        Replay *replay = userdata;
        bool held = take_answer(replay, ENTRY_AT_ONCE_LOCKED, node);

        if (!held)
                take_effect(replay, ENTRY_WAITS, node);

        return held;
}

static void on_unlock(NodeId node, void *userdata) {
        take_effect(userdata, ENTRY_UNLOCK, node);
}

static void on_leaf_report(void *data, LeafReport *ret_report) {
        const ReplayLeaf *leaf = data;

        *ret_report = (LeafReport){
                .attempt = leaf->attempt,
                .since = leaf->since,
                .suspended = leaf->suspended,
                .begun = leaf->begun,
                .halted = leaf->halted,
                .has_memo = leaf->has_memo,
                .memo = leaf->memo,
                .noted = leaf->noted,
        };
}

static const RunHost replay_host = {
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

/* The restore of a snapshot at which the replay begins. */

static void *make_leaf(NodeId node, Status status, Cause *cause, const LeafReport *report, void *userdata) {
        Replay *replay = userdata;
        ReplayLeaf *leaf = g_new(ReplayLeaf, 1);

        *leaf = (ReplayLeaf){
                .node = node,
                .attempt = report->attempt,
                .status = status,
                .cause = cause ? cause_ref(cause) : NULL,
                .begun = report->begun,
                .halted = report->halted,
                .has_memo = report->has_memo,
                .memo = json_object_get(report->memo),
                .noted = json_object_get(report->noted),
                .since = report->since,
                .suspended = report->suspended,
                .replay = replay,
                .link.data = leaf,
        };
        g_queue_push_tail_link(&replay->leaves, &leaf->link);
        return leaf;
}

/* Sorts by the time of start; for equal times, by the order of nodes. */
static gint compare_leaves(gconstpointer a, gconstpointer b, gpointer userdata) {
        const ReplayLeaf *x = a, *y = b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;

        return (x->node > y->node) - (x->node < y->node);
}

static void restore(Replay *replay, const Entry *entry, uint64_t now) {
        if (!entry->details || !snapshot_restore(replay->run, entry->details, now, make_leaf, replay))
                mismatch(replay, "the snapshot does not fit the tree");

        g_queue_sort(&replay->leaves, compare_leaves, NULL);
}

/* The recorded inputs, which are applied after checking that they are possible. */

static bool read_suspended(Replay *replay, json_object *usec) {
        if (json_object_is_type(usec, json_type_int) && json_object_get_uint64(usec) <= ENTRY_TIME_MAX)
                return true;

        mismatch(replay, "it does not say for how long the machine was suspended");
        return false;
}

static void apply_suspended(Replay *replay, const Entry *entry, uint64_t now) {
        json_object *usec = detail_of(entry, "usec");

        if (read_suspended(replay, usec))
                input_suspended(replay->run, json_object_get_uint64(usec), now);
}

static void apply_start(Replay *replay, const Entry *entry, uint64_t now) {
        json_object *suspended = detail_of(entry, "suspended");

        if (entry->details && read_suspended(replay, suspended))
                run_set_suspended(replay->run, json_object_get_uint64(suspended));
        if (replay->position > 1 || replay->begin > 0)
                mismatch(replay, "the run has begun already");
        else
                input_start(replay->run, now);
}

static void apply_tick(Replay *replay, const Entry *entry, uint64_t now) {
        input_tick(replay->run, now);
}

static bool is_of_class(const Replay *replay, const Entry *entry, NodeClass class) {
        return tree_of(replay)->nodes[entry->node].type->class == class;
}

static void apply_ended(Replay *replay, const Entry *entry, uint64_t now) {
        ReplayLeaf *leaf = run_leaf(replay->run, entry->node);

        if (!leaf || leaf->status != STATUS_RUNNING || !is_of_class(replay, entry, NODE_ACTION)) {
                mismatch(replay, "node #%u is not running", entry->node);
                return;
        }

        set_outcome(leaf, entry);
        if (leaf->status == STATUS_RUNNING) {
                mismatch(replay, "it has no outcome");
                return;
        }

        compute(leaf);
        if (input_leaf_ended(replay->run, entry->node, now))
                leaf_free(leaf);
}

static void apply_changed(Replay *replay, const Entry *entry, uint64_t now) {
        if (!run_leaf(replay->run, entry->node) || !is_of_class(replay, entry, NODE_CONDITION))
                mismatch(replay, "node #%u is not being evaluated", entry->node);
        else if (entry->kind == ENTRY_TURNED)
                input_condition_turned(replay->run, entry->node, now);
        else
                input_condition_changed(replay->run, entry->node, now);
}

static void apply_reason(Replay *replay, const Entry *entry, uint64_t now) {
        ReplayLeaf *leaf = run_leaf(replay->run, entry->node);

        if (!leaf || !is_of_class(replay, entry, NODE_CONDITION) || !run_is_false(replay->run, entry->node)) {
                mismatch(replay, "node #%u is not a condition that is false", entry->node);
                return;
        }

        set_outcome(leaf, entry);
        if (leaf->status != STATUS_FAILURE || !leaf->cause)
                mismatch(replay, "it has no reason");
        else
                input_reason(replay->run, entry->node, leaf->cause, now);
}

static void apply_timer(Replay *replay, const Entry *entry, uint64_t now) {
        if (run_deadline(replay->run, entry->node) == UINT64_MAX)
                mismatch(replay, "there is no such timer");
        else
                input_timer_expired(replay->run, entry->node, now);
}

/* The user who made the request; NULL: not known. */
static const char *user_of(const Entry *entry) {
        json_object *by = detail_of(entry, ENTRY_BY);

        return json_object_is_type(by, json_type_string) ? json_object_get_string(by) : NULL;
}

static void set_variables(Replay *replay, const Entry *entry, uint64_t now) {
        g_autoptr(json_object) values = json_object_new_object();

        json_object_object_foreach(entry->details, key, value) {
                if (!g_str_equal(key, ENTRY_BY))
                        json_object_object_add(values, key, json_object_get(value));
        }

        input_variables(replay->run, values, user_of(entry), now);
}

static void apply_set(Replay *replay, const Entry *entry, uint64_t now) {
        if (!entry->details)
                mismatch(replay, "it has no variables");
        else if (entry->node == NODE_NONE)
                set_variables(replay, entry, now);
        else
                set_outputs(replay, entry->node, entry->details, now);
}

static void apply_note(Replay *replay, const Entry *entry, uint64_t now) {
        ReplayLeaf *leaf = run_leaf(replay->run, entry->node);

        if (leaf)
                keep_memo(leaf, entry, now);
        else
                mismatch(replay, "node #%u is not running", entry->node);
}

static void apply_locked(Replay *replay, const Entry *entry, uint64_t now) {
        if (run_waits_for_lock(replay->run, entry->node))
                input_lock_granted(replay->run, entry->node, now);
        else
                mismatch(replay, "node #%u waits for no lock", entry->node);
}

static void apply_halt(Replay *replay, const Entry *entry, uint64_t now) {
        Cause *why = cause_in(replay, entry);

        input_halt(replay->run, why ?: cause_new(CAUSE_HALTED, NULL, "halted"), now);
}

static void apply_pause(Replay *replay, const Entry *entry, uint64_t now) {
        input_pause(replay->run, user_of(entry), now);
}

static void apply_resume(Replay *replay, const Entry *entry, uint64_t now) {
        input_resume(replay->run, user_of(entry), now);
}

static void apply_step(Replay *replay, const Entry *entry, uint64_t now) {
        input_step(replay->run, user_of(entry), now);
}

static void apply_break(Replay *replay, const Entry *entry, uint64_t now) {
        bool set = json_object_get_boolean(detail_of(entry, "set"));

        input_breakpoint(replay->run, entry->node, set, user_of(entry), now);
}

static void apply_force(Replay *replay, const Entry *entry, uint64_t now) {
        Status status = status_in(entry);
        g_autoptr(Cause) why = cause_in(replay, entry);

        if (status != STATUS_SUCCESS && status != STATUS_FAILURE && status != STATUS_SKIPPED) {
                mismatch(replay, "it has no outcome");
                return;
        }

        input_force(replay->run, entry->node, status,
                    why ? g_steal_pointer(&why) : cause_new(CAUSE_FORCED, NULL, "forced"), now);
}

/* From here on, the answers are those of another daemon. */
static void apply_recovered(Replay *replay, const Entry *entry, uint64_t now) {
        if (run_status(replay->run) == STATUS_RUNNING)
                input_recovered(replay->run, now);
}

static void apply_rerun(Replay *replay, const Entry *entry, uint64_t now) {
        ReplayLeaf *leaf = run_leaf(replay->run, entry->node);

        if (!leaf) {
                mismatch(replay, "node #%u is not running", entry->node);
                return;
        }

        input_rerun(replay->run, entry->node, leaf->noted, now);
        begin_again(leaf, now);
        check_noted(leaf, entry);
}

static void apply_finished(Replay *replay, const Entry *entry, uint64_t now) {
        Status status = run_status(replay->run);

        if (status_in(entry) != status)
                mismatch(replay, "the run is %s at this point", status_to_string(status));
}

static void apply_snapshot(Replay *replay, const Entry *entry, uint64_t now) {
        if (replay->position == replay->begin + 1)
                restore(replay, entry, now);
}

typedef enum Scope {
        OF_RUN,
        OF_NODE,
        OF_EITHER,
} Scope;

typedef struct Input {
        void (*apply)(Replay *replay, const Entry *entry, uint64_t now);
        Scope scope;
        bool last;    /* for a run that has finished */
        bool waiting; /* not for a run that is halting */
} Input;

static const Input inputs[ENTRY_KIND_MAX_] = {
        [ENTRY_START] = { apply_start },
        [ENTRY_TICK] = { apply_tick },
        [ENTRY_ENDED] = { apply_ended, OF_NODE },
        [ENTRY_CHANGED] = { apply_changed, OF_NODE },
        [ENTRY_TURNED] = { apply_changed, OF_NODE },
        [ENTRY_REASON] = { apply_reason, OF_NODE },
        [ENTRY_TIMER] = { apply_timer, OF_NODE },
        [ENTRY_INTERVAL] = { apply_timer },
        [ENTRY_SET] = { apply_set, OF_EITHER },
        [ENTRY_MEMO] = { apply_note, OF_NODE },
        [ENTRY_SUSPENDED] = { apply_suspended },
        [ENTRY_LOCKED] = { apply_locked, OF_NODE },
        [ENTRY_HALT] = { apply_halt, .waiting = true },
        [ENTRY_PAUSE] = { apply_pause, .waiting = true },
        [ENTRY_RESUME] = { apply_resume, .waiting = true },
        [ENTRY_STEP] = { apply_step, .waiting = true },
        [ENTRY_BREAK] = { apply_break, OF_NODE, .waiting = true },
        [ENTRY_FORCE] = { apply_force, OF_NODE, .waiting = true },
        [ENTRY_RECOVERED] = { apply_recovered },
        [ENTRY_RERUN] = { apply_rerun, OF_NODE },
        [ENTRY_FINISHED] = { apply_finished, .last = true },
        [ENTRY_SNAPSHOT] = { apply_snapshot },
        /* Answers and effects, which are not inputs. */
        [ENTRY_BEGIN] = { .scope = OF_NODE },
        [ENTRY_AT_ONCE] = { .scope = OF_NODE },
        [ENTRY_STOPPED] = { .scope = OF_NODE },
        [ENTRY_VALUE] = { .scope = OF_NODE },
        [ENTRY_AT_ONCE_LOCKED] = { .scope = OF_NODE },
        [ENTRY_WAITS] = { .scope = OF_NODE },
        [ENTRY_STOP] = { .scope = OF_NODE },
        [ENTRY_UNLOCK] = { .scope = OF_NODE },
        [ENTRY_ARM] = { .scope = OF_EITHER },
        [ENTRY_DISARM] = { .scope = OF_EITHER },
};

static bool has_node(const Replay *replay, const Entry *entry) {
        Scope scope = inputs[entry->kind].scope;

        if (entry->node == NODE_NONE)
                return scope != OF_NODE;

        return scope != OF_RUN && entry->node < tree_of(replay)->n_nodes;
}

static void apply(Replay *replay, const Entry *entry) {
        const Input *input = &inputs[entry->kind];
        const char *kind = entry_kind_to_string(entry->kind);
        bool over = run_status(replay->run) != STATUS_RUNNING;

        if (entry->time > ENTRY_TIME_MAX)
                mismatch(replay, "no run lasts that long");
        else if (!input->apply)
                mismatch(replay, "the run has not requested '%s'", kind);
        else if (over != input->last && entry->kind != ENTRY_RECOVERED)
                mismatch(replay, "'%s' does not happen to a run that is %s", kind,
                         status_to_string(run_status(replay->run)));
        else if (input->waiting && run_halting(replay->run))
                mismatch(replay, "'%s' does not happen to a run that is being halted", kind);
        else if (replay->position == 1 && entry->kind != ENTRY_START && entry->kind != ENTRY_SNAPSHOT)
                mismatch(replay, "the run has not begun");
        else
                input->apply(replay, entry, replay->record->header.start + entry->time);
}

int replay_step(Replay *replay, char **ret_error) {
        const Entry *entry = next_entry(replay);

        if (!entry)
                return 0;

        replay->position++;
        apply(replay, entry);
        if (!replay->error)
                return 1;

        *ret_error = g_strdup(replay->error);
        return -EBADMSG;
}

int replay_until(Replay *replay, uint64_t time, char **ret_error) {
        const Entry *entry;
        int r = 0;

        while (r >= 0 && (entry = next_entry(replay)) && replay->record->header.start + entry->time <= time)
                r = replay_step(replay, ret_error);

        return r < 0 ? r : 0;
}

/* Checks the nodes of all entries, so that no other code has to. */
static void check_nodes(Replay *replay) {
        for (const Entry *entry; (entry = next_entry(replay)) && !replay->error; replay->position++)
                if (!has_node(replay, entry)) {
                        replay->position++;
                        mismatch(replay, "there is no such node for '%s'", entry_kind_to_string(entry->kind));
                }

        replay->position = 0;
}

static int replay_new_from(const RunRecord *record, unsigned begin, Definition *definition, Replay **ret_replay,
                           char **ret_error) {
        const RecordHeader *header = &record->header;
        g_autoptr(Replay) replay = NULL;

        if (definition_check_start(definition, header->variables, ret_error) < 0)
                return -EBADMSG;

        replay = g_new0(Replay, 1);
        replay->record = record;
        replay->run = run_make(
                &(RunOrigin){
                        .id = header->run,
                        .tree = header->tree,
                        .instance = header->instance,
                        .starter = *header->starter ? header->starter : NULL,
                        .seed = header->seed,
                        .started = header->started,
                        .start = header->start,
                },
                definition, &replay_host, replay);
        run_give(replay->run, header->variables);
        check_nodes(replay);
        if (replay->error) {
                *ret_error = g_strdup(replay->error);
                return -EBADMSG;
        }

        replay->begin = replay->position = begin;
        *ret_replay = g_steal_pointer(&replay);
        return 0;
}

int replay_new(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error) {
        return replay_new_from(record, 0, definition, ret_replay, ret_error);
}

int replay_new_of_end(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error) {
        return replay_new_from(record, record->newest_entry, definition, ret_replay, ret_error);
}

int replay_new_after(const RunRecord *record, Definition *definition, uint64_t n_events, Replay **ret_replay,
                     char **ret_error) {
        unsigned begin = 0;

        for (unsigned i = 0; i < record->entries->len; i++) {
                const Entry *entry = &g_array_index(record->entries, Entry, i);

                if (entry->kind == ENTRY_SNAPSHOT && json_object_get_uint64(detail_of(entry, "events")) <= n_events)
                        begin = i;
        }

        return replay_new_from(record, begin, definition, ret_replay, ret_error);
}

void replay_node_report(const Replay *replay, NodeId node, uint64_t now, NodeReport *ret_report) {
        const RecordHeader *header = &replay->record->header;
        const Run *run = replay->run;
        const NodeHistory *history = run_node_history(run);
        uint64_t since = node_history_since(history, node), deadline = run_deadline(run, node), timer_now = now,
                 left = UINT64_MAX;

        if (deadline != UINT64_MAX && definition_uses_boottime(run_definition(run), node)) {
                deadline = run_boottime_deadline(run, node);
                timer_now += run_suspended(run);
        }
        if (deadline != UINT64_MAX)
                left = deadline - MIN(timer_now, deadline);

        *ret_report = (NodeReport){
                .status = node_history_status(history, node),
                .state = node_history_state(history, node),
                .since = since > 0 ? header->started + (since - header->start) : 0,
                .duration = node_history_duration(history, node, now),
                .element = g_strdup(run_node_element(run, node)),
                .detail = run_node_detail(run, node, left),
        };
}

void replay_free(Replay *replay) {
        if (!replay)
                return;

        while (replay->leaves.head)
                leaf_free(replay->leaves.head->data);
        run_free(replay->run);
        g_clear_pointer(&replay->locks, g_array_unref);
        g_free(replay->error);
        g_free(replay);
}

Run *replay_run(const Replay *replay) {
        return replay->run;
}

bool replay_has_finished(const Replay *replay) {
        const GArray *entries = replay->record->entries;

        return replay->position > 0 && g_array_index(entries, Entry, replay->position - 1).kind == ENTRY_FINISHED;
}

unsigned replay_position(const Replay *replay) {
        return replay->position;
}

const GQueue *replay_leaves(const Replay *replay) {
        return &replay->leaves;
}

const GArray *replay_locks(const Replay *replay) {
        return replay->run ? run_locks(replay->run) : replay->locks;
}

Run *replay_take(Replay *replay) {
        const GArray *locks = run_locks(replay->run);

        replay->locks = g_array_new(FALSE, FALSE, sizeof(RunLock));
        g_array_append_vals(replay->locks, locks->data, locks->len);
        return g_steal_pointer(&replay->run);
}
