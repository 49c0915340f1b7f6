/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes a random run, drives it, and recovers it from its run record. */

#include "random-run.h"
#include "basic/cleanup.h"
#include "engine/machine-image.h"
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
                .told = g_new0(Status, tree->n_nodes),
                .now = RANDOM_RUN_START,
                .rules = { .tree = tree, .sites = g_new0(Site, tree->n_nodes), .effects = g_string_new(NULL) },
                .seen = run->seen,
                .userdata = run->userdata,
        };
}

void random_run_clear(RandomRun *run) {
        if (!run->rules.tree)
                return;

        while (run->leaves->len > 0)
                random_leaf_free(run->leaves->pdata[0]);
        progress_free(run->progress);
        g_ptr_array_unref(run->leaves);
        g_hash_table_unref(run->timers);
        g_array_unref(run->waiting);
        g_free(run->rules.sites);
        g_free(run->told);
        g_string_free(run->rules.effects, true);
}

/* Where the machine has gone, nothing of the world is held. */
static void check(RandomRun *run) {
        NodeId n = run->rules.tree->n_nodes;
        World *rules = &run->rules;

        rules->machine = (Machine *) progress_machine(run->progress);
        for (NodeId node = 0; node < n; node++) {
                rules->sites[node].stopped = progress_stands_at(run->progress, node);
                g_assert_true(rules->machine || !world_is_anything_left(rules, node));
        }

        rules->result = progress_status(run->progress);
        if (rules->machine)
                rules_check(rules);
}

/* Whoever watches it has been told of every change. */
static void check_told(RandomRun *run) {
        g_autoptr(GArray) changes = progress_take_changes(run->progress);
        const History *history = progress_history(run->progress);

        for (unsigned i = 0; changes && i < changes->len; i++) {
                NodeId node = g_array_index(changes, NodeId, i);

                run->told[node] = history_status(history, node);
        }
        for (NodeId node = 0; node < run->rules.tree->n_nodes; node++)
                g_assert_cmpint(run->told[node], ==, history_status(history, node));
}

static void watch(RandomRun *run) {
        for (NodeId node = 0; node < run->rules.tree->n_nodes; node++)
                run->told[node] = history_status(progress_history(run->progress), node);

        progress_set_watched(run->progress, true);
}

/* What the result is, is a record of its own. */
static void look(RandomRun *run) {
        check(run);
        check_told(run);
        run->seen(run, run->userdata);
        if (progress_status(run->progress) != STATUS_RUNNING)
                run->seen(run, run->userdata);
}

static JournalWriter *begin_journal(const char *path, const Definition *definition, uint64_t seed) {
        g_auto(JournalHeader) header = {
                .run = g_strdup("test.1"),
                .seed = seed,
                .start = RANDOM_RUN_START,
                .files = json_object_new_array(),
                .variables = json_object_new_object(),
        };
        json_object *own = json_object_new_object();
        g_autofree char *error = NULL;
        JournalWriter *writer = NULL;

        json_object_object_add(own, "path", json_object_new_string(""));
        json_object_object_add(own, "text", json_object_new_string(definition_text(definition)));
        json_object_array_add(header.files, own);
        journal_writer_create(path, &header, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        return writer;
}

void random_run_start(RandomRun *run, Definition *definition, const char *path, Dice *dice) {
        uint64_t seed = dice_roll(dice, 1000);

        init(run, definition, dice);
        /* Often very little. */
        journal_writer_set_part(UINT64_C(64) << dice_roll(dice, 10));
        run->progress = progress_new(definition, seed, RANDOM_RUN_START, &random_run_host, run);
        run->rules.machine = (Machine *) progress_machine(run->progress);
        progress_set_journal(run->progress, begin_journal(path, definition, seed));
        watch(run);
        progress_start(run->progress, RANDOM_RUN_START);
        look(run);
}

void random_run_live(RandomRun *run) {
        for (unsigned i = 0; i < INPUTS_MAX && progress_status(run->progress) == STATUS_RUNNING; i++) {
                if (dice_is_used_up(run->dice))
                        return;
                if (random_run_happen(run))
                        look(run);
        }
}

/* What the replay knows of the world is what the new world begins with. */
static void take_over(RandomRun *run, Replay *replay) {
        const GArray *locks = replay_locks(replay);

        for (const GList *link = replay_leaves(replay)->head; link; link = link->next) {
                const ReplayLeaf *leaf = link->data;
                RandomLeaf *own = random_leaf_new(run, leaf->node);
                bool action = own->type->class == NODE_ACTION;

                own->status = leaf->status;
                own->cause = leaf->cause ? cause_ref(leaf->cause) : NULL;
                own->attempt = leaf->attempt;
                own->since = leaf->since;
                own->suspended = leaf->suspended;
                own->memory = json_object_get(leaf->memory);
                own->noted = json_object_get(leaf->noted);
                own->what = random_run_what(run->progress, leaf->node, leaf->noted);
                own->ending = leaf->halted;
                site_of(run, leaf->node)->running = action && own->status == STATUS_RUNNING && !own->ending;
                site_of(run, leaf->node)->ending = own->ending;
                site_of(run, leaf->node)->watching = !action;
                progress_set_leaf(run->progress, leaf->node, own);
        }
        for (unsigned i = 0; i < locks->len; i++) {
                const ProgressLock *lock = &g_array_index(locks, ProgressLock, i);

                site_of(run, lock->node)->holds = lock->held;
                site_of(run, lock->node)->waits = !lock->held;
                if (!lock->held)
                        g_array_append_val(run->waiting, lock->node);
        }
}

/* By records, or before the snapshot that the journal begins with. */
static void note_forced(RandomRun *run, const Journal *journal) {
        const Machine *machine = progress_machine(run->progress);
        NodeImage image;

        for (NodeId node = 0; machine && node < run->rules.tree->n_nodes; node++)
                if (machine_node_image(machine, node, &image) && image.forced != STATUS_IDLE)
                        site_of(run, node)->forced = true;
        for (unsigned i = 0; i < journal->records->len; i++) {
                const Record *record = &g_array_index(journal->records, Record, i);

                if (record->kind == RECORD_FORCE)
                        site_of(run, record->node)->forced = true;
        }
}

/* What had not begun begins, and code that may have run does again. What takes no time is over then. */
static void start_again(RandomRun *run, const ReplayLeaf *leaf) {
        RandomLeaf *own = progress_leaf(run->progress, leaf->node);

        if (!own || own->type->class != NODE_ACTION || leaf->status != STATUS_RUNNING)
                return;

        if (!leaf->begun || own->type == &code_type) {
                own->since = run->now;
                g_clear_pointer(&own->memory, json_object_put);
                progress_rerun(run->progress, leaf->node, own->noted, run->now);
                own->suspended = progress_suspended(run->progress);
                look(run);
        }
        if (!(own->type->flags & TYPE_IMMEDIATE))
                return;

        if (own->type == &code_type)
                random_leaf_run(own);
        else
                random_leaf_set(own, random_outcome(run->dice));
        if (progress_leaf_ended(run->progress, leaf->node, run->now))
                random_leaf_free(own);
        look(run);
}

static void resume_journal(RandomRun *run, const Journal *journal, const char *path) {
        g_autofree char *error = NULL;
        JournalWriter *writer = NULL;

        journal_writer_resume(path, journal, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        progress_set_journal(run->progress, writer);
}

void random_run_take_up(RandomRun *run, Replay *replay, const Journal *journal, const char *path, Dice *dice) {
        bool begun = replay_position(replay) > 0;

        init(run, progress_definition(replay_progress(replay)), dice);
        run->progress = replay_take(replay);
        run->now = progress_now(run->progress);
        progress_set_host(run->progress, &random_run_host, run);
        take_over(run, replay);
        note_forced(run, journal);
        resume_journal(run, journal, path);
        watch(run);

        if (begun)
                progress_recovered(run->progress, run->now);
        else
                progress_start(run->progress, run->now);
        look(run);
        for (const GList *link = replay_leaves(replay)->head; begun && link; link = link->next)
                start_again(run, link->data);
}
