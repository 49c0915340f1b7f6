/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes a random run, drives it, and recovers it from its run record. */

#include "random-run.h"
#include "basic/cleanup.h"
#include "engine/machine.h"
#include "world-rules.h"

#define INPUTS_MAX 150

static Site *site_of(const RandomRun *run, NodeId node) {
        return &run->rules.sites[node];
}

static void init(RandomRun *run, Definition *definition, Dice *dice) {
        const Tree *tree = definition_tree(definition);

        *run = (RandomRun){
                .dice = dice,
                .leaves = g_ptr_array_new(),
                .timers = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .waiting = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                .reported = g_new0(Status, tree->n_nodes),
                .now = RANDOM_RUN_START,
                .rules = { .tree = tree, .sites = g_new0(Site, tree->n_nodes), .effects = g_string_new(NULL) },
                .on_input = run->on_input,
                .on_event = run->on_event,
                .userdata = run->userdata,
        };
}

void random_run_clear(RandomRun *run) {
        if (!run->rules.tree)
                return;

        while (run->leaves->len > 0) {
                RandomLeaf *leaf = run->leaves->pdata[0];

                run_leaf(run->actual, leaf->node)->activity = NULL;
                random_leaf_free(leaf);
        }
        run_free(run->actual);
        g_ptr_array_unref(run->leaves);
        g_hash_table_unref(run->timers);
        g_array_unref(run->waiting);
        g_free(run->rules.sites);
        g_free(run->reported);
        g_string_free(run->rules.effects, true);
}

/* Where the machine has gone, nothing of the world is held. An input can release a condition and evaluate it again:
 * then its new leaf begins before the old one is freed, so the leaves that are left tell which conditions are watched.
 */
static void check(RandomRun *run) {
        NodeId n = run->rules.tree->n_nodes;
        World *rules = &run->rules;

        rules->machine = (Machine *) run_machine(run->actual);
        for (NodeId node = 0; node < n; node++) {
                rules->sites[node].at_breakpoint = run_is_at_breakpoint(run->actual, node);
                rules->sites[node].watched = false;
        }
        for (unsigned i = 0; i < run->leaves->len; i++) {
                const RandomLeaf *leaf = run->leaves->pdata[i];

                rules->sites[leaf->node].watched = leaf->type->class == NODE_CONDITION;
        }
        for (NodeId node = 0; node < n; node++)
                g_assert_true(rules->machine || !world_is_anything_left(rules, node));

        rules->result = run_status(run->actual);
        if (rules->machine)
                rules_check(rules);
}

/* Whoever watches it has been told of every change. */
static void check_reported(RandomRun *run) {
        g_autoptr(GArray) changes = run_take_changes(run->actual);
        const NodeHistory *history = run_node_history(run->actual);

        for (unsigned i = 0; changes && i < changes->len; i++) {
                NodeId node = g_array_index(changes, NodeId, i);

                run->reported[node] = node_history_status(history, node);
        }
        for (NodeId node = 0; node < run->rules.tree->n_nodes; node++)
                g_assert_cmpint(run->reported[node], ==, node_history_status(history, node));
}

static void watch(RandomRun *run) {
        for (NodeId node = 0; node < run->rules.tree->n_nodes; node++)
                run->reported[node] = node_history_status(run_node_history(run->actual), node);

        run_set_watched(run->actual, true);
        run_observe_events(run->actual, run->on_event, run->userdata, UINT_MAX);
}

/* What the result is, is a record of its own. */
static void look(RandomRun *run) {
        check(run);
        check_reported(run);
        run->on_input(run, run->userdata);
        if (run_status(run->actual) != STATUS_RUNNING)
                run->on_input(run, run->userdata);
}

static RecordWriter *begin_record(const char *path, const Definition *definition, uint64_t seed) {
        g_auto(RecordHeader) header = {
                .run = g_strdup("test.1"),
                .variables_kib = limits_default.max[LIMIT_VARIABLES],
                .seed = seed,
                .start = RANDOM_RUN_START,
                .files = json_object_new_array(),
                .variables = json_object_new_object(),
        };
        json_object *own = json_object_new_object();
        g_autofree char *error = NULL;
        RecordWriter *writer = NULL;

        json_object_object_add(own, "path", json_object_new_string(""));
        json_object_object_add(own, "text", json_object_new_string(definition_text(definition)));
        json_object_object_add(own, "found", json_object_new_array());
        json_object_array_add(header.files, own);
        record_writer_create(path, &header, &limits_default, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        return writer;
}

void random_run_start(RandomRun *run, Definition *definition, const char *path, Dice *dice) {
        uint64_t seed = dice_roll(dice, 1000);
        RunOrigin origin = { .id = "test.1", .tree = "test", .instance = "", .seed = seed, .start = RANDOM_RUN_START };

        init(run, definition, dice);
        /* Often very little. */
        record_writer_set_part(UINT64_C(64) << dice_roll(dice, 10));
        run->actual = run_make(&origin, definition, &random_run_host, run);
        run->rules.machine = (Machine *) run_machine(run->actual);
        run_set_writer(run->actual, begin_record(path, definition, seed));
        watch(run);
        input_start(run->actual, NULL, RANDOM_RUN_START);
        look(run);
}

void random_run_live(RandomRun *run) {
        for (unsigned i = 0; i < INPUTS_MAX && run_status(run->actual) == STATUS_RUNNING; i++) {
                if (dice_is_used_up(run->dice))
                        return;
                if (random_run_happen(run))
                        look(run);
        }
}

/* The new world begins with the leaves and locks that the run has. */
static void take_over(RandomRun *run) {
        const GArray *locks = run_locks(run->actual);

        for (RunLeaf *leaf = run_next_leaf(run->actual, 0); leaf; leaf = run_next_leaf(run->actual, leaf->node + 1)) {
                bool action = run->rules.tree->nodes[leaf->node].type->class == NODE_ACTION;

                if (action && leaf->status != STATUS_RUNNING)
                        continue;
                leaf->activity = random_leaf_new(run, leaf);
                site_of(run, leaf->node)->running = action && !leaf->halted;
                site_of(run, leaf->node)->ending = leaf->halted;
        }
        for (unsigned i = 0; i < locks->len; i++) {
                const RunLock *lock = &g_array_index(locks, RunLock, i);

                site_of(run, lock->node)->holds_lock = lock->held;
                site_of(run, lock->node)->waits_for_lock = !lock->held;
                if (!lock->held)
                        g_array_append_val(run->waiting, lock->node);
        }
}

/* By records, or before the snapshot that the run record begins with. */
static void note_forced(RandomRun *run, const RunRecord *record) {
        const Machine *machine = run_machine(run->actual);
        NodeImage image;

        for (NodeId node = 0; machine && node < run->rules.tree->n_nodes; node++)
                if (machine_node_image(machine, node, &image) && image.forced != STATUS_IDLE)
                        site_of(run, node)->forced = true;
        for (unsigned i = 0; i < record->entries->len; i++) {
                const Entry *entry = &g_array_index(record->entries, Entry, i);

                if (entry->kind == ENTRY_FORCE)
                        site_of(run, entry->node)->forced = true;
        }
}

/* Some actions begin again. */
static void start_again(RandomRun *run, RandomLeaf *own) {
        if (own->type->class != NODE_ACTION || own->ending || !dice_chance(run->dice, 20))
                return;

        g_clear_pointer(&own->memo, json_object_put);
        input_rerun(run->actual, own->node, run->now);
        look(run);
}

static void resume_record(RandomRun *run, const RunRecord *record, const char *path) {
        g_autofree char *error = NULL;
        RecordWriter *writer = NULL;

        record_writer_resume(path, record, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        run_set_writer(run->actual, writer);
}

void random_run_recover(RandomRun *run, Replay *replay, const RunRecord *record, const char *path, Dice *dice) {
        bool begun = replay_position(replay) > 0;

        init(run, run_definition(replay_run(replay)), dice);
        run->actual = replay_take(replay);
        run->now = run_now(run->actual);
        run_set_host(run->actual, &random_run_host, run);
        take_over(run);
        note_forced(run, record);
        resume_record(run, record, path);
        watch(run);

        if (begun)
                input_recovered(run->actual, run->now);
        else
                input_start(run->actual, NULL, run->now);
        look(run);
        for (unsigned i = 0; begun && i < run->leaves->len; i++)
                start_again(run, run->leaves->pdata[i]);
}
