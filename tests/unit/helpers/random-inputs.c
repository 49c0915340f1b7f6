/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The inputs of a random run. Each function returns whether the input was possible. */

#include "basic/cleanup.h"
#include "random-run.h"

static bool happen_tick(RandomRun *run) {
        if (!run_wants_tick(run->actual))
                return false;

        input_tick(run->actual, run->now);
        return true;
}

static RandomLeaf *any_leaf(RandomRun *run) {
        return run->leaves->len > 0 ? run->leaves->pdata[dice_roll(run->dice, run->leaves->len)] : NULL;
}

static RandomLeaf *any_action(RandomRun *run) {
        RandomLeaf *leaf = any_leaf(run);

        return leaf && leaf->type->class == NODE_ACTION && leaf->status == STATUS_RUNNING ? leaf : NULL;
}

static bool happen_end(RandomRun *run) {
        RandomLeaf *leaf = any_action(run);

        if (!leaf)
                return false;

        random_leaf_set(leaf, random_outcome(run->dice));
        input_leaf_ended(run->actual, leaf->node, leaf->status, leaf->cause, run->now);
        random_leaf_free(leaf);
        return true;
}

static bool happen_change(RandomRun *run) {
        RandomLeaf *leaf = any_leaf(run);

        if (!leaf || leaf->type->class != NODE_CONDITION)
                return false;

        random_leaf_set(leaf, random_condition(run->dice));
        input_condition_changed(run->actual, leaf->node, dice_chance(run->dice, 20), run->now);
        return true;
}

/* A condition that is false for another reason. */
static bool happen_reason(RandomRun *run) {
        RandomLeaf *leaf = any_leaf(run);

        if (!leaf || leaf->type->class != NODE_CONDITION || leaf->status != STATUS_FAILURE ||
            !run_is_false(run->actual, leaf->node))
                return false;

        cause_unref(leaf->cause);
        leaf->cause = cause_new(CAUSE_FAILED, NULL, "for another reason");
        leaf->cause->node = leaf->node;
        input_reason(run->actual, leaf->node, leaf->cause, run->now);
        return true;
}

static bool happen_timer(RandomRun *run) {
        GHashTableIter iter;
        NodeId node;
        void *key, *deadline;

        g_hash_table_iter_init(&iter, run->timers);
        if (!g_hash_table_iter_next(&iter, &key, &deadline))
                return false;

        node = GPOINTER_TO_UINT(key);
        run->now = MAX(run->now, *(uint64_t *) deadline);
        g_hash_table_iter_remove(&iter);
        if (node == NODE_NONE)
                run->rules.interval = false;
        else
                run->rules.sites[node].timer_armed = false;
        input_timer_expired(run->actual, node, node != NODE_NONE && node % 3 == 0 ? "it waited for \"X\"" : NULL,
                            run->now);
        return true;
}

static bool happen_lock(RandomRun *run) {
        NodeId node;

        if (run->waiting->len == 0)
                return false;

        node = g_array_index(run->waiting, NodeId, 0);
        g_array_remove_index(run->waiting, 0);
        run->rules.sites[node].waits_for_lock = false;
        run->rules.sites[node].holds_lock = true;
        input_lock_granted(run->actual, node, run->now);
        return true;
}

/* As a lock of Inhibit is, which random trees do not have. */
static bool happen_refusal(RandomRun *run) {
        const GArray *locks = run_locks(run->actual);
        NodeId node;

        if (locks->len == 0 || !dice_chance(run->dice, 5))
                return false;

        node = g_array_index(locks, RunLock, dice_roll(run->dice, locks->len)).node;
        run->rules.sites[node].forced = true;
        input_lock_refused(run->actual, node, cause_new(CAUSE_FAILED, NULL, "refused by a test"), run->now);
        return true;
}

/* A user, or NULL. */
static const char *any_user(RandomRun *run) {
        return dice_chance(run->dice, 50) ? "UID 7 (\"a\")" : NULL;
}

static bool happen_set(RandomRun *run) {
        g_autoptr(json_object) values = json_object_new_object();

        json_object_object_add(values, "a", json_object_new_int((int) dice_roll(run->dice, 4)));
        json_object_object_add(values, "b", random_value(run->dice));
        input_variables(run->actual, values, any_user(run), run->now);
        return true;
}

static bool happen_output(RandomRun *run) {
        const RandomLeaf *leaf = any_leaf(run);
        uint64_t version;
        Blackboard *scope;

        if (!leaf)
                return false;

        scope = variables_scope(run_variables(run->actual), leaf->node);
        version = blackboard_version(scope);
        random_run_set_output(run, leaf->node);
        return blackboard_version(scope) != version;
}

static bool happen_note(RandomRun *run) {
        RandomLeaf *leaf = any_action(run);

        if (!leaf)
                return false;

        random_leaf_set_memo(leaf);
        return true;
}

/* A signal that comes for an action, is taken by it, or is missed. */
static bool happen_signal(RandomRun *run) {
        NodeId node = dice_roll(run->dice, run->rules.tree->n_nodes);
        g_autoptr(json_object) signal = random_value(run->dice);
        json_object *signals = run_signals(run->actual, node);
        RandomLeaf *leaf = NULL;

        if (!signals || !signal)
                return false;
        if (dice_chance(run->dice, 20)) {
                input_signals_missed(run->actual, node, 1 + dice_roll(run->dice, 5), run->now);
                return true;
        }
        if (run_queue_has_room(run->actual, node, signal) && dice_chance(run->dice, 50)) {
                input_signal(run->actual, node, signal, run->now);
                return true;
        }

        for (unsigned i = 0; i < run->leaves->len; i++)
                if (((RandomLeaf *) run->leaves->pdata[i])->node == node)
                        leaf = run->leaves->pdata[i];
        if (!leaf || leaf->status != STATUS_RUNNING || json_object_array_length(signals) == 0)
                return false;

        input_signal_taken(run->actual, node, run->now);
        json_object_put(leaf->memo);
        leaf->memo = json_object_get(run_leaf(run->actual, node)->memo);
        return true;
}

static bool force(RandomRun *run, NodeId node) {
        Status status = random_outcome(run->dice);

        run->rules.sites[node].forced = true;
        input_force(run->actual, node, status, cause_new(CAUSE_FORCED, NULL, "by a test"), run->now);
        return true;
}

static bool has_breakpoint(const RandomRun *run, NodeId node) {
        const GArray *breakpoints = run_breakpoints(run->actual);

        for (unsigned i = 0; breakpoints && i < breakpoints->len; i++)
                if (g_array_index(breakpoints, NodeId, i) == node)
                        return true;

        return false;
}

static bool happen_control(RandomRun *run) {
        NodeId node = dice_roll(run->dice, run->rules.tree->n_nodes);

        if (run_halting(run->actual))
                return false;

        switch (dice_roll(run->dice, 6)) {
        case 0:
                input_control(run->actual, ENTRY_PAUSE, any_user(run), run->now);
                return true;
        case 1:
        case 2:
                input_control(run->actual, ENTRY_RESUME, any_user(run), run->now);
                return true;
        case 3:
                if (!run_paused(run->actual))
                        return false;
                input_control(run->actual, ENTRY_STEP, any_user(run), run->now);
                return true;
        case 4:
                input_breakpoint(run->actual, node, !has_breakpoint(run, node), any_user(run), run->now);
                return true;
        default:
                return force(run, node);
        }
}

static bool happen_halt(RandomRun *run) {
        if (run_halting(run->actual) || !dice_chance(run->dice, 20))
                return false;

        input_halt(run->actual, cause_new(CAUSE_HALTED, NULL, "halted by a test"), run->now);
        return true;
}

bool random_run_happen(RandomRun *run) {
        static bool (*const all[])(RandomRun * run) = {
                happen_tick,    happen_tick,  happen_tick,   happen_tick,   happen_end,     happen_end,
                happen_change,  happen_timer, happen_timer,  happen_lock,   happen_set,     happen_note,
                happen_control, happen_halt,  happen_output, happen_reason, happen_refusal, happen_signal,
        };

        run->now += 1 + 8 * (uint64_t) dice_roll(run->dice, 256);
        return all[dice_roll(run->dice, G_N_ELEMENTS(all))](run);
}
