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

RandomLeaf *random_leaf_new(RandomRun *run, NodeId node) {
        RandomLeaf *leaf = g_new0(RandomLeaf, 1);

        leaf->run = run;
        leaf->node = node;
        leaf->type = run->rules.tree->nodes[node].type;
        leaf->status = STATUS_RUNNING;
        g_ptr_array_add(run->leaves, leaf);
        return leaf;
}

void random_leaf_free(RandomLeaf *leaf) {
        Site *site = site_of(leaf->run, leaf->node);

        site->running = site->ending = site->watched = false;
        g_ptr_array_remove(leaf->run->leaves, leaf);
        cause_unref(leaf->cause);
        json_object_put(leaf->memo);
        json_object_put(leaf->noted);
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

void random_leaf_run(RandomLeaf *leaf) {
        const RandomRun *run = leaf->run;
        const CodeParams *params = run->rules.tree->nodes[leaf->node].params;
        Blackboard *scope = variables_scope(run_variables(run->actual), leaf->node);

        leaf_is(leaf, script_status_of_code(params->code, scope, &leaf->cause));
}

void random_leaf_set_memo(RandomLeaf *leaf) {
        RandomRun *run = leaf->run;

        json_object_put(leaf->memo);
        leaf->memo = json_object_new_object();
        json_object_object_add(leaf->memo, "said", random_value(run->dice));
        input_memo(run->actual, leaf->node, leaf->memo, run->now);
}

static void start_action(RandomLeaf *leaf) {
        RandomRun *run = leaf->run;

        /* One that takes no time need not wait for what it comes after. */
        if (!(leaf->type->flags & TYPE_IMMEDIATE))
                rules_check_start(&run->rules, leaf->node);
        site_of(run, leaf->node)->running = true;
        if (leaf->type == &code_type) {
                random_leaf_run(leaf);
                return;
        }

        if (dice_chance(run->dice, 5))
                random_leaf_set_memo(leaf);
        if (leaf->type == &quick_type || dice_chance(run->dice, 10))
                random_leaf_set(leaf, random_outcome(run->dice));
        if (dice_chance(run->dice, 20))
                random_run_set_output(run, leaf->node);
}

static void *on_leaf_start(NodeId node, uint32_t attempt, json_object *noted, void *userdata) {
        RandomRun *run = userdata;
        RandomLeaf *leaf = random_leaf_new(run, node);

        leaf->attempt = attempt;
        leaf->noted = json_object_get(noted);
        leaf->what = random_run_what(run->actual, node, NULL);
        leaf->since = run_now(run->actual);
        leaf->suspended = run_suspended(run->actual);
        if (leaf->type->class == NODE_ACTION) {
                start_action(leaf);
        } else {
                site_of(run, node)->watched = true;
                random_leaf_set(leaf, random_condition(run->dice));
        }

        return leaf;
}

static Status on_leaf_status(void *data) {
        const RandomLeaf *leaf = data;

        return leaf->status;
}

static Status on_leaf_evaluate(void *data, uint32_t look) {
        RandomLeaf *leaf = data;

        if (dice_chance(leaf->run->dice, 15))
                random_leaf_set(leaf, random_condition(leaf->run->dice));

        return leaf->status;
}

static Cause *on_leaf_cause(void *data) {
        const RandomLeaf *leaf = data;

        return leaf->cause;
}

static bool on_leaf_halt(void *data) {
        RandomLeaf *leaf = data;
        Site *site = site_of(leaf->run, leaf->node);

        g_assert_true(site->running);
        leaf->ending = site->ending = !dice_chance(leaf->run->dice, 50);
        site->running = false;
        return !leaf->ending;
}

static void on_leaf_report(void *data, LeafReport *ret_report) {
        const RandomLeaf *leaf = data;

        *ret_report = (LeafReport){
                .attempt = leaf->attempt,
                .since = leaf->since,
                .suspended = leaf->suspended,
                .begun = leaf->type->class == NODE_ACTION,
                .halted = leaf->ending,
                .has_memo = leaf->memo,
                .memo = leaf->memo,
                .noted = leaf->noted,
        };
}

static void on_leaf_free(void *leaf) {
        random_leaf_free(leaf);
}

/* Again and again, for a minute each. */
static uint64_t on_suspended(void *userdata) {
        const RandomRun *run = userdata;

        return (run->now - RANDOM_RUN_START) / 3000 * 60 * G_USEC_PER_SEC;
}

static bool *timer_of(RandomRun *run, NodeId node) {
        return node == NODE_NONE ? &run->rules.interval : &site_of(run, node)->timer_armed;
}

static void on_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        RandomRun *run = userdata;
        uint64_t *copy = g_new(uint64_t, 1);

        *copy = deadline;
        *timer_of(run, node) = true;
        g_hash_table_replace(run->timers, GUINT_TO_POINTER(node), copy);
}

static void on_timer_disarm(NodeId node, void *userdata) {
        RandomRun *run = userdata;

        *timer_of(run, node) = false;
        g_assert_true(g_hash_table_remove(run->timers, GUINT_TO_POINTER(node)));
}

static bool on_lock(NodeId node, void *userdata) {
        RandomRun *run = userdata;
        Site *site = site_of(run, node);

        g_assert_false(site->waits_for_lock || site->holds_lock);
        site->holds_lock = dice_chance(run->dice, 60);
        site->waits_for_lock = !site->holds_lock;
        if (site->waits_for_lock)
                g_array_append_val(run->waiting, node);
        return site->holds_lock;
}

static void stop_waiting(RandomRun *run, NodeId node) {
        for (unsigned i = 0; i < run->waiting->len; i++)
                if (g_array_index(run->waiting, NodeId, i) == node) {
                        g_array_remove_index(run->waiting, i);
                        return;
                }
}

static void on_unlock(NodeId node, void *userdata) {
        RandomRun *run = userdata;
        Site *site = site_of(run, node);

        g_assert_true(site->waits_for_lock || site->holds_lock);
        site->waits_for_lock = site->holds_lock = false;
        stop_waiting(run, node);
}

static void on_record_failed(const char *error, void *userdata) {
        g_error("%s", error);
}

const RunHost random_run_host = {
        .leaf_start = on_leaf_start,
        .leaf_status = on_leaf_status,
        .leaf_evaluate = on_leaf_evaluate,
        .leaf_cause = on_leaf_cause,
        .leaf_halt = on_leaf_halt,
        .leaf_report = on_leaf_report,
        .leaf_free = on_leaf_free,
        .suspended = on_suspended,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
        .lock = on_lock,
        .unlock = on_unlock,
        .record_failed = on_record_failed,
};
