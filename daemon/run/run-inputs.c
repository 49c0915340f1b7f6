/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the inputs of a run: each lets the machine compute, writes the run record, and has the effects carried
 * out. While it computes, the machine asks for answers and requests effects, which are both recorded. A paused run gets
 * its inputs, but no tick, so it starts nothing new. A halt takes precedence: a halting run gets its ticks even if it
 * is paused.
 */

#include <assert.h>
#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/span.h"
#include "engine/machine.h"
#include "run/causes.h"
#include "run/replay.h"
#include "run/run-state.h"

/* Microseconds. Smaller differences only come from reading two clocks one after the other. */
#define SUSPENDED_MIN 10000u

/* The effects: they are collected while the run computes, and carried out when the input is written. */

static void effect_clear(void *data) {
        Effect *effect = data;

        cause_unref(effect->cause);
        g_free(effect->text);
        g_free(effect->label);
}

RunInput *run_get_input(Run *run) {
        run->input = run->input ?: g_new0(RunInput, 1);
        return run->input;
}

void run_add_effect(Run *run, const Effect *effect) {
        RunInput *input;

        assert(run->computing && !run->acting && run->host);

        input = run_get_input(run);
        if (!input->effects) {
                input->effects = g_array_new(FALSE, FALSE, sizeof(Effect));
                g_array_set_clear_func(input->effects, effect_clear);
        }
        g_array_append_vals(input->effects, effect, 1);
        if (effect->kind == EFFECT_START)
                run_leaf(run, effect->node)->starting = true;
}

/* Does this input take or release the lock of the node? */
static bool has_lock_effect(const Run *run, NodeId node) {
        const char *lock = definition_lock(run->definition, node);
        const GArray *effects = run->input ? run->input->effects : NULL;

        if (!lock)
                return false;

        for (unsigned i = 0; effects && i < effects->len; i++) {
                const Effect *effect = &g_array_index(effects, Effect, i);

                if ((effect->kind == EFFECT_LOCK || effect->kind == EFFECT_UNLOCK) &&
                    g_strcmp0(definition_lock(run->definition, effect->node), lock) == 0)
                        return true;
        }

        return false;
}

/* Carries out the effects of the input, which were written. Nothing is left of the input then. */
static void act(Run *run) {
        g_autofree RunInput *input = g_steal_pointer(&run->input);
        g_autoptr(GArray) effects = NULL;

        if (!input)
                return;

        assert(!input->held_back && !input->outputs && !input->message);
        if (!input->effects)
                return;

        assert(!run->computing && !run->acting);
        effects = input->effects;
        run->acting = true;
        ARRAY_FOREACH(const Effect, effect, effects) {
                RunLeaf *leaf = effect->kind == EFFECT_START ? run_leaf(run, effect->node) : NULL;

                if (effect->kind == EFFECT_START && !(leaf && leaf->starting))
                        continue;
                if (leaf)
                        leaf->starting = false;
                run->host->act(effect, run->host_userdata);
        }
        run->acting = false;
}

/* Continues all nodes that wait at a breakpoint. */
static void pass_breakpoints(Run *run) {
        g_autoptr(GArray) stops = g_steal_pointer(&run->stops);

        run->moved |= stops != NULL;
        for (unsigned i = 0; stops && i < stops->len; i++)
                machine_pass_breakpoint(run->machine, g_array_index(stops, NodeId, i));
}

/* Updates the time of suspension; true if it has increased. */
static bool update_suspended(Run *run) {
        uint64_t suspended = 0;

        if (run->host && definition_uses_boottime(run->definition, NODE_NONE))
                suspended = run->host->suspended(run->host_userdata);
        if (suspended < run->suspended + SUSPENDED_MIN)
                return false;

        run->suspended = suspended;
        return true;
}

/* How long the machine was suspended since the last time: "8h". */
static void tell_suspended(Run *run, uint64_t before) {
        g_autofree char *span = span_format_rounded(run->suspended - MIN(before, run->suspended));

        run_tell_text(run, NODE_NONE, "suspended", "%s", span);
}

static void begin(Run *run, uint64_t now) {
        assert(!run->computing);

        run->computing = true;
        run->now = now;
        run->n_evaluations = 0;
}

/* Written before the input, so that times of the input begin after the suspension. */
static void note_suspended(Run *run) {
        uint64_t before = run->suspended;

        if (!update_suspended(run))
                return;

        run_note_number(run, ENTRY_SUSPENDED, NODE_NONE, "usec", run->suspended);
        tell_suspended(run, before);
}

/* Call these before and after each call of the machine. */
static void begin_input(Run *run, uint64_t now) {
        begin(run, now);
        note_suspended(run);
        RUN_COUNT(run, inputs);
}

void input_suspended(Run *run, uint64_t suspended, uint64_t now) {
        uint64_t before = run->suspended;

        run->now = now;
        run->suspended = suspended;
        tell_suspended(run, before);
        run_end_events(run);
}

static void end_input(Run *run) {
        g_autoptr(GArray) waiting = run->input ? g_steal_pointer(&run->input->held_back) : NULL;

        for (unsigned i = 0; waiting && i < waiting->len; i++) {
                NodeId node = g_array_index(waiting, NodeId, i);

                /* A halting run does not pause. */
                if (!run->halting && run_is_at_breakpoint(run, node))
                        run_tell(run, node, "at-breakpoint");
                if (node_history_phase(run->history, node) == PHASE_WAITING)
                        run_tell_node(run, node, STATUS_RUNNING, 0);
        }

        if (variables_have_changed(run->variables))
                machine_variable_set(run->machine);
        run->computing = false;
}

static void finish_input(Run *run) {
        end_input(run);
        run_note_results(run);
        run_flush(run);
        run_end_events(run);
        act(run);
}

/* The next input belongs to the same block of the run record. Only for one without effects. */
static void join_input(Run *run) {
        end_input(run);
        run_end_events(run);
}

/* Requests of the machine: answers and effects, which are recorded. */

/* A condition without references needs no entry. */
static RunLeaf *begin_leaf(Run *run, NodeId node) {
        const Tree *tree = definition_tree(run->definition);
        uint32_t attempt = node_history_count_start(run->history, node);
        g_autoptr(json_object) noted =
                definition_note_variables(run->definition, node, variables_scope(run->variables, node));

        /* A node that has waited is not reported again when its execution really begins. */
        if (node_history_phase(run->history, node) == PHASE_WAITING)
                run_record_outcome(run, node, STATUS_RUNNING, REASON_NONE, NULL);
        if (tree->nodes[node].type->class == NODE_ACTION) {
                RUN_COUNT(run, action_starts);
                if (attempt > 1)
                        RUN_COUNT(run, action_restarts);
        }
        if (noted || tree->nodes[node].type->class == NODE_ACTION)
                run_note_noted(run, ENTRY_BEGIN, node, noted);
        if (run->broken && !machine_error(run->machine, NULL))
                g_hash_table_remove(run->broken, GUINT_TO_POINTER(node));
        run_begin_queue(run, node, noted);
        return run_add_leaf(run, node, attempt, noted);
}

static Status host_leaf_start(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = begin_leaf(run, node);
        RunInput *input;

        if (run->replay)
                leaf->status = replay_outcome(run->replay, leaf, &leaf->cause);
        else
                leaf->status = run->host->compute(leaf, &leaf->cause, run->host_userdata);
        if (leaf->status == STATUS_RUNNING) {
                if (run->host && !leaf->activity)
                        run_add_effect(run, &(Effect){ .kind = EFFECT_START, .node = node });
                return leaf->status;
        }

        /* An action that takes no time. */
        input = run->input;
        if (leaf->status == STATUS_ERROR)
                run_note_broken(run, node, leaf->cause);

        run_note_outcome(run, leaf);
        if (input && input->outputs)
                run_tell_set(run, node, input->outputs, NULL);
        run_tell_computed(run, node);
        if (!input)
                return leaf->status;

        g_clear_pointer(&input->outputs, json_object_put);
        if (input->message && input->message_level == LOG_INFO)
                run_tell_text(run, node, "log", "%s", input->message);
        else if (input->message)
                run_tell_text(run, node, "log", "%s: %s", log_level_names[input->message_level], input->message);
        if (input->message && run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_LOG,
                                               .node = node,
                                               .level = input->message_level,
                                               .text = g_steal_pointer(&input->message),
                                               .label = run_node_label(run, node) });
        g_clear_pointer(&input->message, g_free);
        return leaf->status;
}

/* An action that this input would have started is not started. */
static bool host_leaf_halt(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);
        bool started = !leaf->starting, over;

        run_note(run, ENTRY_STOP, node);
        if (run->replay)
                over = replay_takes_no_time(run->replay, node);
        else
                over = !started || run->host->halts_at_once(leaf, run->host_userdata);
        if (over)
                run_note(run, ENTRY_STOPPED, node);

        if (run->host && started)
                run_add_effect(
                        run, &(Effect){ .kind = EFFECT_HALT, .node = node, .over = over, .activity = leaf->activity });
        leaf->halted = true;
        if (over)
                run_remove_leaf(run, leaf);
        return over;
}

static void host_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Run *run = machine_userdata(machine);
        NodeTimer *timer = g_new(NodeTimer, 1);

        *timer = (NodeTimer){
                .span = usec,
                .deadline = usec < UINT64_MAX - run->now ? run->now + usec : UINT64_MAX,
                .suspended = run->suspended,
                .armed = true,
        };
        run_put_timer(run, node, timer);
        run_note_number(run, ENTRY_ARM, node, "after", usec);
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_TIMER, .node = node });
}

static void host_timer_disarm(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        const NodeTimer *timer = run_timer(run, node);

        if (!timer)
                return;

        if (timer->armed) {
                run_note(run, ENTRY_DISARM, node);
                if (run->host)
                        run_add_effect(run, &(Effect){ .kind = EFFECT_TIMER, .node = node });
        }
        g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

static void host_condition_release(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);

        if (!leaf)
                return;

        if (leaf->activity)
                run_add_effect(run, &(Effect){ .kind = EFFECT_DROP, .node = node, .activity = leaf->activity });
        host_timer_disarm(machine, node);
        run_remove_leaf(run, leaf);
}

/* Returns the value that counts. A new value that has to hold for some time counts only after that time; until then,
 * the condition keeps the value of its last evaluation, before. */
static Status settle_value(Run *run, RunLeaf *leaf, Status before, Status value, Cause **cause) {
        bool known = value == STATUS_SUCCESS || value == STATUS_FAILURE, over;
        uint64_t span = known ? definition_hold(run->definition, leaf->node, value == STATUS_SUCCESS) : 0;
        const NodeTimer *timer = run_timer(run, leaf->node);

        /* The time of the other value does not count. */
        if (timer && value != before) {
                host_timer_disarm(run->machine, leaf->node);
                timer = NULL;
        }
        if (span > 0 && leaf->counts != value && !timer) {
                host_timer_arm(run->machine, leaf->node, span);
                timer = run_timer(run, leaf->node);
        }
        over = span == 0 || leaf->counts == value;
        if (!over && definition_uses_boottime(run->definition, leaf->node))
                over = run->now + run->suspended >= run_boottime_deadline(run, leaf->node);
        else if (!over)
                over = run->now >= timer->deadline;
        if (over) {
                if (timer)
                        host_timer_disarm(run->machine, leaf->node);
                leaf->counts = value;
                return value;
        }

        if (leaf->counts == STATUS_FAILURE) {
                g_autofree char *text = span_format(span), *reason = g_strdup_printf("not true for %s yet", text);

                cause_unref(*cause);
                *cause = cause_new(CAUSE_CONDITION, NULL, reason);
                (*cause)->node = leaf->node;
        } else {
                g_clear_pointer(cause, cause_unref);
                leaf->counts = leaf->counts == STATUS_IDLE ? STATUS_RUNNING : leaf->counts;
        }
        return leaf->counts;
}

static Status host_condition_evaluate(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLeaf *leaf = machine_node_data(machine, node);
        g_autoptr(Cause) cause = NULL;
        Status before, status;

        /* It begins again with the new values of the variables in its parameters. */
        if (leaf && !run_is_as_noted(run, leaf)) {
                host_condition_release(machine, node);
                leaf = NULL;
        }
        run->first_evaluation = !leaf;
        leaf = leaf ?: begin_leaf(run, node);
        before = leaf->status;
        run->n_evaluations++;
        if (run->replay)
                status = replay_value(run->replay, leaf, run->n_evaluations, &cause);
        else
                status = run->host->look(leaf, &cause, run->host_userdata);
        /* Before the first evaluation, the value is RUNNING. */
        if (leaf->known ? leaf->status != status || !cause_is_same(leaf->cause, cause)
                        : !run->first_evaluation || status != STATUS_RUNNING) {
                run_leaf_set_value(leaf, status, cause);
                run_note_evaluation(run, leaf);
        }

        status = settle_value(run, leaf, before, status, &cause);
        run->evaluated = status;
        if (status == STATUS_ERROR)
                run_note_broken(run, node, cause);
        cause_unref(run->last_evaluation);
        run->last_evaluation = g_steal_pointer(&cause);
        return status;
}

static bool host_lock(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);
        RunLock lock = { .node = node, .since = run->now };

        if (run->replay)
                lock.held = replay_has_lock(run->replay, node);
        else
                lock.held = !has_lock_effect(run, node) && run->host->lock_is_free(node, run->host_userdata);
        run_add_lock(run, &lock);
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_LOCK, .node = node, .over = lock.held });
        run_note(run, lock.held ? ENTRY_AT_ONCE_LOCKED : ENTRY_WAITS, node);
        /* It waits for something else now. */
        if (!lock.held && node_history_phase(run->history, node) == PHASE_WAITING)
                run_note_held_back(run, node);
        return lock.held;
}

static void host_unlock(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        run_note(run, ENTRY_UNLOCK, node);
        g_array_remove_index(run->locks, (unsigned) (run_find_lock(run, node) - (RunLock *) (void *) run->locks->data));
        if (run->host)
                run_add_effect(run, &(Effect){ .kind = EFFECT_UNLOCK, .node = node });
}

static void host_breakpoint(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        node_set_add(&run->stops, node);
        run_note_held_back(run, node);
        run->paused = run->moved = true;
}

static Variables *variables_of(Machine *machine) {
        return run_variables(machine_userdata(machine));
}

static Verdict judge(Machine *machine, NodeId node, Verdict verdict) {
        if (verdict == VERDICT_ERROR)
                run_note_broken(machine_userdata(machine), node, variables_error(variables_of(machine)));

        return verdict;
}

static Verdict host_guard(Machine *machine, NodeId node, Guard guard) {
        return judge(machine, node, variables_guard(variables_of(machine), node, guard));
}

static Verdict host_hook(Machine *machine, NodeId node, Hook hook) {
        Verdict verdict = judge(machine, node, variables_hook(variables_of(machine), node, hook));

        run_tell_computed(machine_userdata(machine), node);
        return verdict;
}

static Verdict host_has_changed(Machine *machine, NodeId node, const Script *of) {
        return judge(machine, node, variables_has_changed(variables_of(machine), node, of));
}

static bool host_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        const Run *run = machine_userdata(machine);

        return cause_matches_any(node_history_cause(run->history, child), patterns);
}

static Verdict host_test(Machine *machine, NodeId node, const Script *condition) {
        return judge(machine, node, variables_test(variables_of(machine), node, condition));
}

static uint32_t host_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                           const char *const *cases) {
        uint32_t n = variables_match(variables_of(machine), node, variable, of, cases);

        judge(machine, node, n == UINT32_MAX ? VERDICT_ERROR : VERDICT_YES);
        return n;
}

static bool host_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        bool any = variables_next_element(variables_of(machine), node, list, variable, index);

        run_tell_computed(machine_userdata(machine), node);
        return any;
}

/* The problem is reported when the node fails because of it. */
static bool note_refusal(Machine *machine, NodeId node, bool fine) {
        Run *run = machine_userdata(machine);

        if (!fine)
                run->refused = node;
        run_tell_computed(run, node);

        return fine;
}

static bool host_fill_in(Machine *machine, NodeId node) {
        return note_refusal(machine, node, variables_fill_in(variables_of(machine), node));
}

static const void *host_params(Machine *machine, NodeId node) {
        return variables_params(variables_of(machine), node);
}

static uint32_t host_elements(Machine *machine, NodeId node) {
        uint32_t n = variables_elements(variables_of(machine), node);

        note_refusal(machine, node, n != UINT32_MAX);
        return n;
}

static void host_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        Run *run = machine_userdata(machine);

        variables_hand_out(variables_of(machine), for_each, child, index);
        if (run_node_element(run, child))
                node_history_note_change(run->history, child);
        run_tell_computed(run, child);
}

static bool host_enter(Machine *machine, NodeId node) {
        return note_refusal(machine, node, variables_enter(variables_of(machine), node));
}

static bool host_leave(Machine *machine, NodeId node, Status status) {
        return note_refusal(machine, node, variables_leave(variables_of(machine), node, status));
}

static void host_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        run_node_changed(machine_userdata(machine), node, status, reason);
}

static void host_halting(Machine *machine, NodeId node) {
        Run *run = machine_userdata(machine);

        if (node_history_record_halting(run->history, node, run->now))
                run_tell_node(run, node, STATUS_RUNNING, 0);
}

static void host_waiting(Machine *machine, NodeId node) {
        run_consider_waiting(machine_userdata(machine), node);
}

const MachineHost run_machine_host = {
        .leaf_start = host_leaf_start,
        .leaf_halt = host_leaf_halt,
        .condition_evaluate = host_condition_evaluate,
        .condition_release = host_condition_release,
        .timer_arm = host_timer_arm,
        .timer_disarm = host_timer_disarm,
        .guard = host_guard,
        .lock = host_lock,
        .unlock = host_unlock,
        .breakpoint = host_breakpoint,
        .hook = host_hook,
        .has_changed = host_has_changed,
        .cause_matches = host_cause_matches,
        .test = host_test,
        .match = host_match,
        .next_element = host_next_element,
        .elements = host_elements,
        .assign_element = host_assign_element,
        .fill_in = host_fill_in,
        .params = host_params,
        .enter = host_enter,
        .leave = host_leave,
        .changed = host_changed,
        .halting = host_halting,
        .waiting = host_waiting,
};

/* The inputs. */

Status input_tick(Run *run, uint64_t now) {
        Status status;

        begin(run, now);
        note_suspended(run);
        RUN_COUNT(run, ticks);
        run_note(run, ENTRY_TICK, NODE_NONE);
        status = machine_tick(run->machine);
        end_input(run);

        /* Halts the run in the same input as the error. Further errors during the halt are recorded as failures. */
        if (status == STATUS_ERROR) {
                run->computing = true;
                pass_breakpoints(run);
                if (!run->cause)
                        run_record_error(run);

                run->halting = true;
                machine_halt(run->machine);
                end_input(run);
        }
        run_note_results(run);
        if (status != STATUS_ERROR && status != STATUS_RUNNING) {
                g_autofree char *error = NULL;

                /* An output with another type than the declared one is an error of the tree, as in variables_leave().
                 */
                if (!run->cause && (status == STATUS_SUCCESS || status == STATUS_FAILURE) &&
                    variables_check_outputs(run->variables, &error) < 0)
                        run->cause = cause_new(CAUSE_PARAMETER, NULL, error);
                run->status = run->cause ? STATUS_ERROR : status;
                if (status == STATUS_HALTED && !run->cause)
                        run->cause = g_steal_pointer(&run->why);
                else if (status != STATUS_SUCCESS && !run->cause)
                        run->cause = run_root_cause(run);

                run_note_finished(run);
                run_tell_result(run);
                run_clear_machine(run);
        } else if (run->halting) {
                /* A halting run does not pause at breakpoints. */
                pass_breakpoints(run);
        }

        run_flush(run);
        run_end_events(run);
        act(run);
        run_note_snapshot(run);
        return run->status;
}

bool run_wants_tick(const Run *run) {
        return run->machine && machine_wants_tick(run->machine) && (!run->paused || run->halting) &&
               !(run->node_locks && node_locks_are_lost(run->node_locks));
}

void input_halt(Run *run, Cause *why, uint64_t now) {
        g_autoptr(json_object) details = NULL;

        assert(!run->halting && why);

        details = facts_new("cause", cause_to_json(why), NULL);
        begin_input(run, now);
        run_note_values(run, ENTRY_HALT, NODE_NONE, details);
        run_tell_text(run, NODE_NONE, "halting", "%s", why->text);
        pass_breakpoints(run);
        run->halting = true;
        run->why = why;
        machine_halt(run->machine);
        /* The halt itself can start a cleanup that has a breakpoint. */
        pass_breakpoints(run);
        finish_input(run);
}

void input_leaf_ended(Run *run, NodeId node, Status status, Cause *cause, uint64_t now) {
        RunLeaf *leaf = run_leaf(run, node);
        bool over = machine_node_ending(run->machine, node) && !machine_node_continues(run->machine, node);

        begin_input(run, now);
        leaf->activity = NULL;
        run_leaf_set(leaf, status, cause);
        run_note_status(run, ENTRY_ENDED, node, status, leaf->cause);
        run_tell_computed(run, node);
        if (status == STATUS_ERROR && !over)
                run_note_broken(run, node, leaf->cause);
        machine_leaf_ended(run->machine, node, status);
        if (over) {
                g_autoptr(Cause) why = cause_ref(leaf->cause);

                run_remove_leaf(run, leaf);
                run_record_outcome(run, node, STATUS_HALTED, REASON_NONE, NULL);
                if (why && cause_is_halt_timeout(why))
                        run_tell_given_up(run, node, why);
                run_consider_waiting(run, node);
        }
        finish_input(run);
}

void input_condition_changed(Run *run, NodeId node, bool turned, uint64_t now) {
        begin_input(run, now);
        run_note(run, turned ? ENTRY_TURNED : ENTRY_CHANGED, node);
        if (turned)
                machine_condition_set(run->machine, node);
        else
                machine_condition_changed(run->machine, node);
        finish_input(run);
}

/* The nodes above this one refer to its cause, so the cause changes in place. */
void input_reason(Run *run, NodeId node, const Cause *cause, uint64_t now) {
        Cause *shown = node_history_cause(run->history, node);

        assert(run_is_false(run, node));

        begin_input(run, now);
        run_note_status(run, ENTRY_REASON, node, STATUS_FAILURE, cause);
        run_leaf_set_value(run_leaf(run, node), STATUS_FAILURE, cause);
        if (shown && node_history_status(run->history, node) == STATUS_FAILURE &&
            !g_str_equal(shown->kind, CAUSE_FORCED))
                cause_renew(shown, cause);
        finish_input(run);
}

void input_timer_expired(Run *run, NodeId node, const char *waited, uint64_t now) {
        g_autoptr(json_object) details = waited ? facts_new("waited", json_object_new_string(waited), NULL) : NULL;
        NodeTimer *timer;

        begin_input(run, now);
        run_note_values(run, node == NODE_NONE ? ENTRY_INTERVAL : ENTRY_TIMER, node, details);
        if (node != NODE_NONE)
                run_tell(run, node, "timer");
        timer = run_timer(run, node);
        if (timer) {
                timer->armed = false;
                timer->waited = g_strdup(waited);
        }
        machine_timer_expired(run->machine, node);
        finish_input(run);
}

void input_lock_granted(Run *run, NodeId node, uint64_t now) {
        RunLock *lock = run_find_lock(run, node);
        g_autofree char *name = run_lock_name(run, node);

        assert(lock);
        begin_input(run, now);
        run_note(run, ENTRY_LOCKED, node);
        run_tell_text(run, node, run_is_connection(run, node) ? "connected" : "locked", "%s", name);
        lock->held = true;
        lock->since = now;
        machine_lock_granted(run->machine, node);
        finish_input(run);
}

void input_lock_refused(Run *run, NodeId node, Cause *why, uint64_t now) {
        assert(run_find_lock(run, node));

        begin_input(run, now);
        run_note_status(run, ENTRY_REFUSED, node, STATUS_FAILURE, why);
        causes_set(&run->forced, node, why);
        machine_lock_refused(run->machine, node);
        finish_input(run);
}

static void set_variables(Run *run, json_object *given, const char *by) {
        Blackboard *blackboard = variables_outermost(run->variables);
        g_autoptr(json_object) values = run_seal(run, given);
        uint64_t version = blackboard_version(blackboard);

        run_note_request(run, ENTRY_SET, NODE_NONE, values, by);
        run_set_variables(run, values);
        run_tell_set(run, NODE_NONE, values, by);
        if (blackboard_version(blackboard) != version)
                machine_variable_changed(run->machine);
}

void input_variables(Run *run, json_object *given, const char *by, uint64_t now) {
        begin_input(run, now);
        set_variables(run, given, by);
        finish_input(run);
}

void input_output(Run *run, NodeId node, const char *key, json_object *value, uint64_t now) {
        Blackboard *blackboard = variables_scope(run->variables, node);
        uint64_t version = blackboard_version(blackboard);
        g_autoptr(json_object) output = blackboard_sealed(blackboard, key, value), values = NULL;

        blackboard_set(blackboard, key, json_object_get(output));
        if (blackboard_version(blackboard) == version)
                return;

        /* Variables that an action sets while it computes belong to its outcome. */
        if (run->computing) {
                RunInput *input = run_get_input(run);

                input->outputs = input->outputs ?: json_object_new_object();
                json_object_object_add(input->outputs, key, g_steal_pointer(&output));
                return;
        }

        values = json_object_new_object();
        json_object_object_add(values, key, g_steal_pointer(&output));
        begin_input(run, now);
        run_note_values(run, ENTRY_SET, node, values);
        run_tell_set(run, node, values, NULL);
        machine_variable_changed(run->machine);
        finish_input(run);
}

void run_set_message(Run *run, int level, char *text) {
        RunInput *input = run_get_input(run);

        assert(run->computing);

        g_free(input->message);
        input->message = text;
        input->message_level = level;
}

void input_memo(Run *run, NodeId node, json_object *memo, uint64_t now) {
        assert(!run->computing && run_leaf(run, node));

        run->now = now;
        run_leaf_set_memo(run_leaf(run, node), memo);
        run_note_values(run, ENTRY_MEMO, node, memo);
        run_flush(run);
}

void input_recovered(Run *run, uint64_t now) {
        run->now = now;
        run_note_number(run, ENTRY_RECOVERED, NODE_NONE, "engine", engine_version());
        if (run->status == STATUS_RUNNING) {
                run_tell(run, NODE_NONE, "recovered");
                run_tell_queues_were_deaf(run);
        }
        run_flush(run);
        run_end_events(run);

        /* The run record may not have had the result yet. */
        if (run->status != STATUS_RUNNING) {
                run_note_finished(run);
                run_flush(run);
        }
}

void input_give_up(Run *run, Cause *why, uint64_t now) {
        begin(run, now);
        run->status = STATUS_UNFINISHED;
        cause_unref(run->cause);
        run->cause = why;
        run_note_finished(run);
        run_tell_result(run);
        run_clear_machine(run);
        run->computing = false;
        run_flush(run);
        run_end_events(run);
}

void input_rerun(Run *run, NodeId node, uint64_t now) {
        RunLeaf *leaf = run_leaf(run, node);

        assert(!run->computing);

        run->now = now;
        note_suspended(run);
        run_note_noted(run, ENTRY_RERUN, node, leaf->noted);
        run_tell(run, node, "rerun");
        /* By 'suspended', its deadline continues to count from the first start. */
        leaf->since = now;
        leaf->has_memo = false;
        g_clear_pointer(&leaf->memo, json_object_put);
        run_flush(run);
        run_end_events(run);
}

void input_control(Run *run, EntryKind kind, const char *by, uint64_t now) {
        assert(kind == ENTRY_PAUSE || kind == ENTRY_RESUME || kind == ENTRY_STEP);

        begin_input(run, now);
        run_note_request(run, kind, NODE_NONE, NULL, by);
        run_tell_request(run, NODE_NONE,
                         kind == ENTRY_PAUSE    ? "paused"
                         : kind == ENTRY_RESUME ? "resumed"
                                                : "stepped",
                         by);
        if (kind != ENTRY_PAUSE)
                pass_breakpoints(run);
        if (kind != ENTRY_STEP) {
                run->paused = kind == ENTRY_PAUSE;
                run->moved = true;
        }
        finish_input(run);
}

void input_breakpoint(Run *run, NodeId node, bool set, const char *by, uint64_t now) {
        g_autoptr(json_object) details = NULL;

        if (set == node_set_has(run->breakpoints, node))
                return;

        begin_input(run, now);
        details = facts_new("set", json_object_new_boolean(set), NULL);
        run_note_request(run, ENTRY_BREAK, node, details, by);
        run_tell_request(run, node, set ? "breakpoint" : "cleared", by);
        if (set)
                node_set_add(&run->breakpoints, node);
        else
                node_set_remove(&run->breakpoints, node);
        run->moved = true;
        machine_set_breakpoint(run->machine, node, set);
        finish_input(run);
}

/* Takes the cause. */
static bool force(Run *run, NodeId node, Status status, Cause *why) {
        run_note_status(run, ENTRY_FORCE, node, status, why);
        run_tell_text(run, node, "forced", "%s, %s", status_to_string(status), why->text);
        causes_set(&run->forced, node, why);
        node_history_note_change(run->history, node);
        return machine_force(run->machine, node, status);
}

bool input_force(Run *run, NodeId node, Status status, Cause *why, uint64_t now) {
        bool runs;

        begin_input(run, now);
        runs = force(run, node, status, why);
        finish_input(run);
        return runs;
}

void input_start(Run *run, const RunTaken *taken, uint64_t now) {
        begin(run, now);
        RUN_COUNT(run, inputs);
        if (update_suspended(run))
                run_note_number(run, ENTRY_START, NODE_NONE, "suspended", run->suspended);
        else
                run_note(run, ENTRY_START, NODE_NONE);
        run_tell_start(run);
        machine_start(run->machine);
        if (taken) {
                /* These are the inputs that a user could give before the first tick, but nothing can come between them
                 * and the start. */
                g_autofree char *by = g_strdup_printf("a retry of %s", taken->run),
                                *why = g_strdup_printf("taken over from %s", taken->run);

                join_input(run);
                begin_input(run, now);
                set_variables(run, taken->variables, by);
                for (unsigned i = 0; i < taken->nodes->len; i++) {
                        join_input(run);
                        begin_input(run, now);
                        (void) force(run, g_array_index(taken->nodes, NodeId, i), STATUS_SUCCESS,
                                     cause_new(CAUSE_FORCED, NULL, why));
                }
        }
        finish_input(run);
}
