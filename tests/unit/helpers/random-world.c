/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Simulates the leaves, timers and locks of a random run. */

#include "basic/cleanup.h"
#include "random-run.h"
#include "script/script-status.h"
#include "world-rules.h"

static Site *site_of(const RandomRun *run, NodeId node) {
        return &run->rules.sites[node];
}

static void leaf_is(RandomLeaf *leaf, Status status) {
        Site *site = site_of(leaf->run, leaf->node);

        leaf->status = status;
        if (leaf->type->class == NODE_ACTION && status != STATUS_RUNNING)
                site->running = site->ending = false;
}

void random_leaf_set(RandomLeaf *leaf, Status status) {
        leaf_is(leaf, status);
        g_clear_pointer(&leaf->cause, cause_unref);
        if (status == STATUS_FAILURE) {
                leaf->cause = cause_new(CAUSE_EXIT_STATUS, facts_new("status", json_object_new_int(3), NULL),
                                        "\"failed\"\nhere");
                leaf->cause->node = leaf->node;
        }
}

Status random_outcome(Dice *dice) {
        static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SUCCESS, STATUS_SKIPPED,
                                           STATUS_SUCCESS };

        return outcomes[dice_roll(dice, G_N_ELEMENTS(outcomes))];
}

Status random_condition(Dice *dice) {
        static const Status values[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };

        return values[dice_roll(dice, G_N_ELEMENTS(values))];
}

json_object *random_value(Dice *dice) {
        json_object *list;

        switch (dice_roll(dice, 12)) {
        case 0:
                return NULL;
        case 1:
                return json_object_new_double(dice_roll(dice, 256) / 7.0);
        case 2:
                return json_object_new_string("\"\n#\\/\xc3\xa9 {a}");
        case 3:
                return json_object_new_boolean(true);
        case 4:
                return json_object_new_int64(G_MININT64);
        case 5:
                return json_object_new_double(-1e300);
        case 6:
                list = json_object_new_array();
                json_object_array_add(list, random_value(dice));
                return list;
        default:
                return json_object_new_int((int) dice_roll(dice, 4));
        }
}

RandomLeaf *random_leaf_new(RandomRun *run, const RunLeaf *of) {
        RandomLeaf *leaf = g_new0(RandomLeaf, 1);

        leaf->run = run;
        leaf->node = of->node;
        leaf->type = run->rules.tree->nodes[of->node].type;
        leaf->status = of->status;
        leaf->cause = cause_ref(of->cause);
        leaf->ending = of->halted;
        leaf->suspended = of->suspended;
        leaf->memo = json_object_get(of->memo);
        leaf->what = random_run_what(run->actual, of->node, of->noted);
        g_ptr_array_add(run->leaves, leaf);
        return leaf;
}

void random_leaf_free(RandomLeaf *leaf) {
        Site *site = site_of(leaf->run, leaf->node);

        site->running = site->ending = false;
        g_ptr_array_remove(leaf->run->leaves, leaf);
        cause_unref(leaf->cause);
        json_object_put(leaf->memo);
        g_free(leaf->what);
        g_free(leaf);
}

void random_run_set_output(RandomRun *run, NodeId node) {
        static const char *const names[] = { "a", "b", "@b", "@list" };
        const char *name = names[dice_roll(run->dice, G_N_ELEMENTS(names))];
        json_object *value = random_value(run->dice);

        if (g_str_equal(name, "@list")) {
                json_object *list = json_object_new_array();

                json_object_array_add(list, value);
                value = list;
        }
        input_output(run->actual, node, name, value, run->now);
}

void random_leaf_set_memo(RandomLeaf *leaf) {
        RandomRun *run = leaf->run;

        json_object_put(leaf->memo);
        leaf->memo = json_object_new_object();
        json_object_object_add(leaf->memo, "said", random_value(run->dice));
        input_memo(run->actual, leaf->node, leaf->memo, run->now);
}

static Cause *new_cause(NodeId node) {
        Cause *cause =
                cause_new(CAUSE_EXIT_STATUS, facts_new("status", json_object_new_int(3), NULL), "\"failed\"\nhere");

        cause->node = node;
        return cause;
}

static Status on_compute(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        RandomRun *run = userdata;
        const NodeType *type = run->rules.tree->nodes[leaf->node].type;
        const CodeParams *params = run->rules.tree->nodes[leaf->node].params;
        Status status;

        if (!(type->flags & TYPE_IMMEDIATE))
                return STATUS_RUNNING;
        if (type == &code_type) {
                Variables *variables = run_variables(run->actual);
                g_autofree char *error = NULL;

                if (results_run(variables_results(variables), params->code, variables_scope(variables, leaf->node),
                                &error) >= 0)
                        return STATUS_SUCCESS;
                *ret_cause = cause_new(CAUSE_EXPRESSION, NULL, error);
                return STATUS_ERROR;
        }

        if (dice_chance(run->dice, 20))
                random_run_set_output(run, leaf->node);
        if (dice_chance(run->dice, 10))
                run_set_message(run->actual, (int) dice_roll(run->dice, 8), g_strdup("\"said\""));
        status = random_outcome(run->dice);
        *ret_cause = status == STATUS_FAILURE ? new_cause(leaf->node) : NULL;
        return status;
}

static Status on_look(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        RandomRun *run = userdata;
        RandomLeaf *own = leaf->activity;

        if (!own) {
                own = leaf->activity = random_leaf_new(run, leaf);
                random_leaf_set(own, random_condition(run->dice));
        } else if (dice_chance(run->dice, 15)) {
                random_leaf_set(own, random_condition(run->dice));
        }

        *ret_cause = cause_ref(own->cause);
        return own->status;
}

static bool on_halts_at_once(const RunLeaf *leaf, void *userdata) {
        const RandomRun *run = userdata;

        g_assert_true(site_of(run, leaf->node)->running);
        return dice_chance(run->dice, 50);
}

static bool on_lock_is_free(NodeId node, void *userdata) {
        const RandomRun *run = userdata;

        return dice_chance(run->dice, 60);
}

static void start(RandomRun *run, RunLeaf *leaf) {
        leaf->activity = random_leaf_new(run, leaf);
        site_of(run, leaf->node)->running = true;
}

static void halt(RandomRun *run, const Effect *effect) {
        RandomLeaf *own = effect->activity;
        Site *site = site_of(run, effect->node);

        site->running = false;
        if (effect->over) {
                random_leaf_free(own);
                return;
        }

        own->ending = site->ending = true;
}

/* Again and again, for a minute each. */
static uint64_t on_suspended(void *userdata) {
        const RandomRun *run = userdata;

        return (run->now - RANDOM_RUN_START) / 3000 * 60 * G_USEC_PER_SEC;
}

static bool *timer_of(RandomRun *run, NodeId node) {
        return node == NODE_NONE ? &run->rules.interval : &site_of(run, node)->timer_armed;
}

static void set_timer(RandomRun *run, NodeId node) {
        uint64_t deadline = run_deadline(run->actual, node);

        *timer_of(run, node) = deadline != UINT64_MAX;
        if (deadline != UINT64_MAX)
                g_hash_table_replace(run->timers, GUINT_TO_POINTER(node), g_memdup2(&deadline, sizeof(deadline)));
        else
                g_hash_table_remove(run->timers, GUINT_TO_POINTER(node));
}

static void lock(RandomRun *run, const Effect *effect) {
        Site *site = site_of(run, effect->node);

        g_assert_false(site->waits_for_lock || site->holds_lock);
        site->holds_lock = effect->over;
        site->waits_for_lock = !effect->over;
        if (site->waits_for_lock)
                g_array_append_val(run->waiting, effect->node);
}

static void stop_waiting(RandomRun *run, NodeId node) {
        for (unsigned i = 0; i < run->waiting->len; i++)
                if (g_array_index(run->waiting, NodeId, i) == node) {
                        g_array_remove_index(run->waiting, i);
                        return;
                }
}

static void unlock(RandomRun *run, NodeId node) {
        Site *site = site_of(run, node);

        g_assert_true(site->waits_for_lock || site->holds_lock);
        site->waits_for_lock = site->holds_lock = false;
        stop_waiting(run, node);
}

static void on_act(const Effect *effect, void *userdata) {
        RandomRun *run = userdata;

        switch (effect->kind) {
        case EFFECT_START:
                start(run, run_leaf(run->actual, effect->node));
                break;
        case EFFECT_HALT:
                halt(run, effect);
                break;
        case EFFECT_DROP:
                random_leaf_free(effect->activity);
                break;
        case EFFECT_TIMER:
                set_timer(run, effect->node);
                break;
        case EFFECT_LOCK:
                lock(run, effect);
                break;
        case EFFECT_UNLOCK:
                unlock(run, effect->node);
                break;
        case EFFECT_LOG:
                g_assert_nonnull(effect->text);
                break;
        }
}

static void on_record_failed(const char *error, void *userdata) {
        g_error("%s", error);
}

const RunHost random_run_host = {
        .compute = on_compute,
        .look = on_look,
        .halts_at_once = on_halts_at_once,
        .lock_is_free = on_lock_is_free,
        .suspended = on_suspended,
        .act = on_act,
        .record_failed = on_record_failed,
};
