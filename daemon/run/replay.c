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
#include "basic/log.h"
#include "engine/machine.h"
#include "run/replay.h"
#include "run/run-state.h"
#include "run/snapshot.h"

struct Replay {
        const RunRecord *record;
        Run *run;
        unsigned begin;    /* index of the first entry that was used */
        unsigned position; /* index of the next entry */
        char *error;       /* the first mismatch, or NULL */
};

/* A member of the details of an entry; NULL: none. */
static json_object *detail_of(const Entry *entry, const char *name) {
        return json_object_object_get(entry->details, name);
}

static const Tree *tree_of(const Replay *replay) {
        return definition_tree(run_definition(replay->run));
}

static const Entry *next_entry(const Replay *replay) {
        return replay->position < replay->record->entries->len
                       ? &g_array_index(replay->record->entries, Entry, replay->position)
                       : NULL;
}

/* Reports that the last entry does not match the run. Only the first mismatch is kept, because it causes the others.
 * The header is line 1. */
static void G_GNUC_PRINTF(2, 3) mismatch(Replay *replay, const char *format, ...) {
        g_autofree char *text = NULL, *engines = NULL;
        va_list args;
        uint32_t engine;

        if (replay->error)
                return;

        /* A hint that a different engine may be the reason. The one that recorded the next entry is in the last
         * ENTRY_RECOVERED or snapshot that was read, or else in the header. */
        engine = replay->record->header.engine;
        for (unsigned i = 0; i < replay->position; i++) {
                const Entry *entry = &g_array_index(replay->record->entries, Entry, i);

                if ((entry->kind == ENTRY_RECOVERED || entry->kind == ENTRY_SNAPSHOT) && detail_of(entry, "engine"))
                        engine = (uint32_t) json_object_get_int64(detail_of(entry, "engine"));
        }

        engines = engine == engine_version()
                          ? g_strdup("")
                          : g_strdup_printf(" (recorded with engine %" PRIu32 ", but this is engine %" PRIu32 ")",
                                            engine, engine_version());

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        replay->error = g_strdup_printf("line %u: %s%s", replay->position + 1, text, engines);
}

/* The answers to the run, and the effects of the run, which are compared: the entries that follow the input in its
 * block. */

static const Entry *take(Replay *replay, EntryKind kind, NodeId node) {
        const Entry *entry = next_entry(replay);

        if (!entry || entry->kind != kind || entry->node != node)
                return NULL;

        replay->position++;
        return entry;
}

/* A script without a result ends the run, so that is what is wrong, and not what it does after that. */
static bool check_results(Replay *replay) {
        const char *problem = results_problem(variables_results(run_variables(replay->run)));

        if (problem)
                mismatch(replay, "after this line, %s", problem);
        return !problem;
}

/* The same for what must be there. */
static const Entry *expect(Replay *replay, EntryKind kind, NodeId node) {
        const Entry *entry = take(replay, kind, node);

        if (entry || !check_results(replay))
                return entry;

        if (node != NODE_NONE)
                mismatch(replay, "after this line, the run requests '%s' of node #%u, which is not recorded",
                         entry_kind_to_string(kind), node);
        else
                mismatch(replay, "after this line, the run requests '%s', which is not recorded",
                         entry_kind_to_string(kind));
        return NULL;
}

static bool is_effect(EntryKind kind) {
        return kind == ENTRY_BEGIN || kind == ENTRY_STOP || kind == ENTRY_UNLOCK || kind == ENTRY_ARM ||
               kind == ENTRY_DISARM;
}

void replay_note(Replay *replay, EntryKind kind, NodeId node) {
        if (kind == ENTRY_COMPUTED) {
                if (check_results(replay) && results_are_left(variables_results(run_variables(replay->run))))
                        mismatch(replay, "after this line, the run evaluates fewer expressions than are recorded");
                (void) take(replay, ENTRY_COMPUTED, NODE_NONE);
        } else if (is_effect(kind)) {
                expect(replay, kind, node);
        }
}

void replay_note_number(Replay *replay, EntryKind kind, NodeId node, const char *name, uint64_t number) {
        const Entry *entry = is_effect(kind) ? expect(replay, kind, node) : NULL;
        uint64_t then = entry ? json_object_get_uint64(detail_of(entry, name)) : number;

        if (then != number)
                mismatch(replay, "it arms a timer for %" PRIu64 "us, but this engine for %" PRIu64 "us", then, number);
}

/* Checks that the variables had the values in the entry. The entry of a rerun is the input itself. */
void replay_note_noted(Replay *replay, EntryKind kind, NodeId node, json_object *noted) {
        const Entry *entry = is_effect(kind) ? expect(replay, kind, node)
                                             : &g_array_index(replay->record->entries, Entry, replay->position - 1);
        json_object *with = entry ? detail_of(entry, "with") : NULL;

        if (!entry || !json_object_is_type(with, json_type_object))
                return;

        json_object_object_foreach(with, name, then) {
                json_object *now = NULL;
                bool set = noted && json_object_object_get_ex(noted, name, &now);

                if (set && json_object_equal(then, now))
                        continue;

                mismatch(replay, "node #%u is started when '%s' is %s, but with this engine it is %s", entry->node,
                         name, json_object_to_json_string_ext(then, JSON_C_TO_STRING_PLAIN),
                         set ? json_object_to_json_string_ext(now, JSON_C_TO_STRING_PLAIN) : "not set");
        }
}

/* IDLE: none, or not a valid one. */
static Status status_in(const Entry *entry) {
        const char *text = json_object_get_string(detail_of(entry, "status"));

        for (Status status = STATUS_RUNNING; text && status < STATUS_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        return STATUS_IDLE;
}

/* A new reference; NULL: none. Causes that are passed on from a child are not recorded, since they are computed
 * again. */
static Cause *cause_in(Replay *replay, const Entry *entry) {
        json_object *json = detail_of(entry, "cause");
        g_autoptr(Cause) cause = json ? cause_from_json(json) : NULL;

        if (json &&
            (!cause || !cause->text || cause->because || (cause->node != NODE_NONE && cause->node != entry->node))) {
                mismatch(replay, "its cause belongs to another node");
                return NULL;
        }

        return g_steal_pointer(&cause);
}

static Status outcome_in(Replay *replay, const Entry *entry, Cause **ret_cause) {
        Status status = status_in(entry);
        Cause *cause = cause_in(replay, entry);

        if (status == STATUS_IDLE || status == STATUS_HALTED || status == STATUS_UNFINISHED) {
                mismatch(replay, "it has no status");
                status = STATUS_FAILURE;
        }
        if (status == STATUS_ERROR && !cause) {
                mismatch(replay, "it has no cause");
                cause = cause_new(CAUSE_EXPRESSION, NULL, "");
        }

        *ret_cause = cause;
        return status;
}

static void set_outputs(Replay *replay, NodeId node, json_object *values, uint64_t now) {
        if (!json_object_is_type(values, json_type_object))
                return;

        json_object_object_foreach(values, key, value)
                input_output(replay->run, node, key, json_object_get(value), now);
}

/* The code of a node that did not fail has run. */
static void compute(Replay *replay, NodeId node, Status status) {
        const Node *own = &tree_of(replay)->nodes[node];
        const Script *code = NULL;
        Variables *variables = run_variables(replay->run);
        g_autofree char *error = NULL;
        int r;

        for (const Param *param = own->type->params; param && param->name; param++)
                if (param->kind == PARAM_CODE)
                        code = *(const Script *const *) (const void *) ((const char *) own->params + param->offset);
        if (!code || status == STATUS_FAILURE)
                return;

        r = results_run(variables_results(variables), code, variables_scope(variables, node), &error);
        if ((r < 0) != (status == STATUS_ERROR))
                mismatch(replay, "its code has another result");
}

static int level_of(const char *name) {
        for (int level = 0; name && log_level_names[level]; level++)
                if (g_str_equal(log_level_names[level], name))
                        return level;

        return LOG_INFO;
}

Status replay_outcome(Replay *replay, const RunLeaf *leaf, Cause **ret_cause) {
        bool immediate = tree_of(replay)->nodes[leaf->node].type->flags & TYPE_IMMEDIATE;
        const Entry *entry = immediate ? expect(replay, ENTRY_AT_ONCE, leaf->node) : NULL;
        json_object *message;
        Status status;

        if (!entry)
                return immediate ? STATUS_FAILURE : STATUS_RUNNING;

        status = outcome_in(replay, entry, ret_cause);
        if (status == STATUS_RUNNING) {
                mismatch(replay, "it has no outcome");
                return STATUS_FAILURE;
        }

        compute(replay, leaf->node, status);
        set_outputs(replay, leaf->node, detail_of(entry, "outputs"), run_now(replay->run));
        message = detail_of(entry, "message");
        if (json_object_is_type(message, json_type_string))
                run_set_message(replay->run, level_of(json_object_get_string(detail_of(entry, "level"))),
                                g_strdup(json_object_get_string(message)));
        return status;
}

Status replay_value(Replay *replay, const RunLeaf *leaf, uint32_t evaluation, Cause **ret_cause) {
        const Entry *entry = next_entry(replay);

        if (entry && entry->kind == ENTRY_VALUE && entry->node == leaf->node &&
            json_object_get_int64(detail_of(entry, "look")) == evaluation) {
                replay->position++;
                return outcome_in(replay, entry, ret_cause);
        }

        *ret_cause = cause_ref(leaf->cause);
        return leaf->status;
}

bool replay_takes_no_time(Replay *replay, NodeId node) {
        return take(replay, ENTRY_STOPPED, node);
}

bool replay_has_lock(Replay *replay, NodeId node) {
        return take(replay, ENTRY_AT_ONCE_LOCKED, node) || !expect(replay, ENTRY_WAITS, node);
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
                replay->run->suspended = json_object_get_uint64(suspended);
        if (replay->position > 1 || replay->begin > 0)
                mismatch(replay, "the run has begun already");
        else
                input_start(replay->run, NULL, now);
}

static void apply_tick(Replay *replay, const Entry *entry, uint64_t now) {
        input_tick(replay->run, now);
}

static bool is_of_class(const Replay *replay, const Entry *entry, NodeClass class) {
        return tree_of(replay)->nodes[entry->node].type->class == class;
}

static void apply_ended(Replay *replay, const Entry *entry, uint64_t now) {
        const RunLeaf *leaf = run_leaf(replay->run, entry->node);
        g_autoptr(Cause) cause = NULL;
        Status status;

        if (!leaf || leaf->status != STATUS_RUNNING || !is_of_class(replay, entry, NODE_ACTION)) {
                mismatch(replay, "node #%u is not running", entry->node);
                return;
        }

        status = outcome_in(replay, entry, &cause);
        if (status == STATUS_RUNNING)
                mismatch(replay, "it has no outcome");
        else
                input_leaf_ended(replay->run, entry->node, status, cause, now);
}

static void apply_changed(Replay *replay, const Entry *entry, uint64_t now) {
        if (!run_leaf(replay->run, entry->node) || !is_of_class(replay, entry, NODE_CONDITION))
                mismatch(replay, "node #%u is not being evaluated", entry->node);
        else
                input_condition_changed(replay->run, entry->node, entry->kind == ENTRY_TURNED, now);
}

static void apply_reason(Replay *replay, const Entry *entry, uint64_t now) {
        g_autoptr(Cause) cause = NULL;

        if (!is_of_class(replay, entry, NODE_CONDITION) || !run_is_false(replay->run, entry->node))
                mismatch(replay, "node #%u is not a condition that is false", entry->node);
        else if (outcome_in(replay, entry, &cause) != STATUS_FAILURE || !cause)
                mismatch(replay, "it has no reason");
        else
                input_reason(replay->run, entry->node, cause, now);
}

static void apply_timer(Replay *replay, const Entry *entry, uint64_t now) {
        json_object *waited = detail_of(entry, "waited");

        if (run_deadline(replay->run, entry->node) == UINT64_MAX ||
            (entry->node != NODE_NONE && run_leaf(replay->run, entry->node)))
                mismatch(replay, "there is no such timer");
        else
                input_timer_expired(replay->run, entry->node, json_object_get_string(waited), now);
}

/* The user who made the request; NULL: not known. */
static const char *user_of(const Entry *entry) {
        json_object *by = detail_of(entry, ENTRY_BY);

        return json_object_is_type(by, json_type_string) ? json_object_get_string(by) : NULL;
}

static void apply_set(Replay *replay, const Entry *entry, uint64_t now) {
        g_autoptr(json_object) values = json_object_new_object();

        if (!entry->details) {
                mismatch(replay, "it has no variables");
                return;
        }
        if (entry->node != NODE_NONE) {
                set_outputs(replay, entry->node, entry->details, now);
                return;
        }

        json_object_object_foreach(entry->details, key, value) {
                if (!g_str_equal(key, ENTRY_BY))
                        json_object_object_add(values, key, json_object_get(value));
        }
        input_variables(replay->run, values, user_of(entry), now);
}

static void apply_memo(Replay *replay, const Entry *entry, uint64_t now) {
        if (run_leaf(replay->run, entry->node))
                input_memo(replay->run, entry->node, entry->details, now);
        else
                mismatch(replay, "node #%u is not running", entry->node);
}

static void apply_signal(Replay *replay, const Entry *entry, uint64_t now) {
        json_object *came = detail_of(entry, "came"), *taken = detail_of(entry, "taken"),
                    *missed = detail_of(entry, "missed");
        json_object *signals = run_signals(replay->run, entry->node);

        if (!signals)
                mismatch(replay, "node #%u gets no signals", entry->node);
        else if (came && run_queue_has_room(replay->run, entry->node, came))
                input_signal(replay->run, entry->node, came, now);
        else if (taken && run_leaf(replay->run, entry->node) && json_object_array_length(signals) > 0)
                input_signal_taken(replay->run, entry->node, now);
        else if (missed && json_object_is_type(missed, json_type_int))
                input_signals_missed(replay->run, entry->node, json_object_get_uint64(missed), now);
        else
                mismatch(replay, "the queue of node #%u has no room for this, or is empty", entry->node);
}

static void apply_locked(Replay *replay, const Entry *entry, uint64_t now) {
        if (run_waits_for_lock(replay->run, entry->node))
                input_lock_granted(replay->run, entry->node, now);
        else
                mismatch(replay, "node #%u waits for no lock", entry->node);
}

static void apply_refused(Replay *replay, const Entry *entry, uint64_t now) {
        Cause *why = cause_in(replay, entry);

        if (run_find_lock(replay->run, entry->node))
                input_lock_refused(replay->run, entry->node, why ?: cause_new(CAUSE_FAILED, NULL, "refused"), now);
        else {
                cause_unref(why);
                mismatch(replay, "node #%u has no lock", entry->node);
        }
}

static void apply_halt(Replay *replay, const Entry *entry, uint64_t now) {
        Cause *why = cause_in(replay, entry);

        input_halt(replay->run, why ?: cause_new(CAUSE_HALTED, NULL, "halted"), now);
}

static void apply_request(Replay *replay, const Entry *entry, uint64_t now) {
        input_control(replay->run, entry->kind, user_of(entry), now);
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
        if (run_leaf(replay->run, entry->node))
                input_rerun(replay->run, entry->node, now);
        else
                mismatch(replay, "node #%u is not running", entry->node);
}

static bool is_given_up(const Entry *entry) {
        return entry->kind == ENTRY_FINISHED && status_in(entry) == STATUS_UNFINISHED;
}

static void apply_finished(Replay *replay, const Entry *entry, uint64_t now) {
        Status status = run_status(replay->run);

        if (is_given_up(entry))
                input_give_up(replay->run, cause_in(replay, entry), now);
        else if (status_in(entry) != status)
                mismatch(replay, "the run is %s at this point", status_to_string(status));
}

/* Only the snapshot at which the replay begins is restored. */
static void apply_snapshot(Replay *replay, const Entry *entry, uint64_t now) {
        if (replay->position == replay->begin + 1 &&
            (!entry->details || !snapshot_restore(replay->run, entry->details, now)))
                mismatch(replay, "the snapshot does not fit the tree");
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
        [ENTRY_MEMO] = { apply_memo, OF_NODE },
        [ENTRY_SUSPENDED] = { apply_suspended },
        [ENTRY_SIGNAL] = { apply_signal, OF_NODE },
        [ENTRY_LOCKED] = { apply_locked, OF_NODE },
        [ENTRY_REFUSED] = { apply_refused, OF_NODE },
        [ENTRY_HALT] = { apply_halt, .waiting = true },
        [ENTRY_PAUSE] = { apply_request, .waiting = true },
        [ENTRY_RESUME] = { apply_request, .waiting = true },
        [ENTRY_STEP] = { apply_request, .waiting = true },
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
        [ENTRY_COMPUTED] = { .scope = OF_RUN },
        [ENTRY_STOP] = { .scope = OF_NODE },
        [ENTRY_UNLOCK] = { .scope = OF_NODE },
        [ENTRY_ARM] = { .scope = OF_EITHER },
        [ENTRY_DISARM] = { .scope = OF_EITHER },
};

int replay_step(Replay *replay, char **ret_error) {
        const GArray *entries = replay->record->entries;
        const Entry *entry = next_entry(replay);
        json_object *results = NULL;
        const Input *input;
        const char *kind;
        Status status;

        if (!entry)
                return 0;

        replay->position++;
        input = &inputs[entry->kind];
        kind = entry_kind_to_string(entry->kind);
        status = run_status(replay->run);
        if (entry->time > ENTRY_TIME_MAX)
                mismatch(replay, "no run lasts that long");
        else if (!input->apply)
                mismatch(replay, "the run has not requested '%s'", kind);
        else if ((status != STATUS_RUNNING) != (input->last && !is_given_up(entry)) && entry->kind != ENTRY_RECOVERED)
                mismatch(replay, "'%s' does not happen to a run that is %s", kind, status_to_string(status));
        else if (input->waiting && run_halting(replay->run))
                mismatch(replay, "'%s' does not happen to a run that is being halted", kind);
        else if (replay->position == 1 && entry->kind != ENTRY_START && entry->kind != ENTRY_SNAPSHOT)
                mismatch(replay, "the run has not begun");
        else {
                for (unsigned i = replay->position; i < entries->len && g_array_index(entries, Entry, i - 1).more; i++)
                        if (g_array_index(entries, Entry, i).kind == ENTRY_COMPUTED)
                                results = detail_of(&g_array_index(entries, Entry, i), "results");
                results_replay(variables_results(run_variables(replay->run)),
                               json_object_is_type(results, json_type_array) ? results : NULL);
                input->apply(replay, entry, replay->record->header.start + entry->time);
        }
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

int replay_new_after(const RunRecord *record, Definition *definition, uint64_t n_events, Replay **ret_replay,
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
                definition, NULL, NULL);
        run_set_replay(replay->run, replay);
        run_give(replay->run, header->variables);
        /* Checks the nodes of all entries, so that no other code has to. */
        for (const Entry *entry; (entry = next_entry(replay)) && !replay->error; replay->position++) {
                Scope scope = inputs[entry->kind].scope;

                if (entry->node == NODE_NONE ? scope != OF_NODE
                                             : scope != OF_RUN && entry->node < tree_of(replay)->n_nodes)
                        continue;
                replay->position++;
                mismatch(replay, "there is no such node for '%s'", entry_kind_to_string(entry->kind));
        }

        replay->position = 0;
        if (replay->error) {
                *ret_error = g_strdup(replay->error);
                return -EBADMSG;
        }

        for (unsigned i = 0; n_events > 0 && i < record->entries->len; i++) {
                const Entry *entry = &g_array_index(record->entries, Entry, i);

                if (entry->kind == ENTRY_SNAPSHOT && json_object_get_uint64(detail_of(entry, "n_events")) <= n_events)
                        replay->begin = i;
        }
        replay->position = replay->begin;
        *ret_replay = g_steal_pointer(&replay);
        return 0;
}

int replay_new(const RunRecord *record, Definition *definition, Replay **ret_replay, char **ret_error) {
        return replay_new_after(record, definition, 0, ret_replay, ret_error);
}

void replay_node_report(const Replay *replay, NodeId node, uint64_t now, NodeReport *ret_report) {
        run_report_at(replay->run, node, now, replay->run->suspended, ret_report);
}

void replay_free(Replay *replay) {
        if (!replay)
                return;

        run_free(replay->run);
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

Run *replay_take(Replay *replay) {
        run_set_replay(replay->run, NULL);
        return g_steal_pointer(&replay->run);
}
