/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "random-run.h"
#include "basic/cause-json.h"
#include "basic/cleanup.h"
#include "script/script-status.h"
#include "world-rules.h"

#define INPUTS_MAX 150

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

static RandomLeaf *leaf_new(RandomRun *run, NodeId node) {
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

        site->running = site->ending = site->watching = false;
        g_ptr_array_remove(leaf->run->leaves, leaf);
        cause_unref(leaf->cause);
        json_object_put(leaf->memory);
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
        progress_set_output(run->progress, node, name, value, run->now);
}

static void leaf_run(RandomLeaf *leaf) {
        const RandomRun *run = leaf->run;
        const CodeParams *params = run->rules.tree->nodes[leaf->node].params;
        Blackboard *scope = variables_scope(progress_variables(run->progress), leaf->node);

        leaf_is(leaf, script_status_of_code(params->code, scope, &leaf->cause));
}

void random_leaf_remember(RandomLeaf *leaf) {
        RandomRun *run = leaf->run;

        json_object_put(leaf->memory);
        leaf->memory = json_object_new_object();
        json_object_object_add(leaf->memory, "said", random_value(run->dice));
        progress_remember(run->progress, leaf->node, leaf->memory, run->now);
}

static void start_action(RandomLeaf *leaf) {
        RandomRun *run = leaf->run;

        /* One that takes no time need not wait for what it comes after. */
        if (!(leaf->type->flags & TYPE_IMMEDIATE))
                rules_check_start(&run->rules, leaf->node);
        site_of(run, leaf->node)->running = true;
        if (leaf->type == &code_type) {
                leaf_run(leaf);
                return;
        }

        if (dice_chance(run->dice, 5))
                random_leaf_remember(leaf);
        if (leaf->type == &quick_type || dice_chance(run->dice, 10))
                random_leaf_set(leaf, random_outcome(run->dice));
        if (dice_chance(run->dice, 20))
                random_run_set_output(run, leaf->node);
}

static void *on_leaf_start(NodeId node, uint32_t attempt, void *userdata) {
        RandomRun *run = userdata;
        RandomLeaf *leaf = leaf_new(run, node);

        if (leaf->type->class == NODE_ACTION) {
                start_action(leaf);
        } else {
                site_of(run, node)->watching = true;
                random_leaf_set(leaf, random_condition(run->dice));
        }

        return leaf;
}

static Status on_leaf_status(void *data) {
        const RandomLeaf *leaf = data;

        return leaf->status;
}

static Status on_leaf_look(void *data, uint32_t look) {
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

static void on_leaf_free(void *leaf) {
        random_leaf_free(leaf);
}

static bool *timer_of(RandomRun *run, NodeId node) {
        return node == NODE_NONE ? &run->rules.interval : &site_of(run, node)->timer;
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

        g_assert_false(site->waits || site->holds);
        site->holds = dice_chance(run->dice, 60);
        site->waits = !site->holds;
        if (site->waits)
                g_array_append_val(run->waiting, node);
        return site->holds;
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

        g_assert_true(site->waits || site->holds);
        site->waits = site->holds = false;
        stop_waiting(run, node);
}

static void on_journal_failed(const char *error, void *userdata) {
        g_error("%s", error);
}

static const ProgressHost host = {
        .leaf_start = on_leaf_start,
        .leaf_status = on_leaf_status,
        .leaf_look = on_leaf_look,
        .leaf_cause = on_leaf_cause,
        .leaf_halt = on_leaf_halt,
        .leaf_free = on_leaf_free,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
        .lock = on_lock,
        .unlock = on_unlock,
        .journal_failed = on_journal_failed,
};

static void init(RandomRun *run, Definition *definition, Dice *dice) {
        const Tree *tree = definition_tree(definition);

        *run = (RandomRun){
                .dice = dice,
                .leaves = g_ptr_array_new(),
                .timers = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .waiting = g_array_new(FALSE, FALSE, sizeof(NodeId)),
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

/* What the result is, is a record of its own. */
static void look(RandomRun *run) {
        check(run);
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
        run->progress = progress_new(definition, seed, RANDOM_RUN_START, &host, run);
        run->rules.machine = (Machine *) progress_machine(run->progress);
        progress_set_journal(run->progress, begin_journal(path, definition, seed));
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
                RandomLeaf *own = leaf_new(run, leaf->node);
                bool action = own->type->class == NODE_ACTION;

                own->status = leaf->status;
                own->cause = leaf->cause ? cause_ref(leaf->cause) : NULL;
                own->memory = json_object_get(leaf->memory);
                own->ending = leaf->halted;
                site_of(run, leaf->node)->running = action && own->status == STATUS_RUNNING && !own->ending;
                site_of(run, leaf->node)->ending = own->ending;
                site_of(run, leaf->node)->watching = !action;
                progress_set_leaf(run->progress, leaf->node, own);
        }
        for (unsigned i = 0; i < locks->len; i++) {
                const ReplayLock *lock = &g_array_index(locks, ReplayLock, i);

                site_of(run, lock->node)->holds = lock->held;
                site_of(run, lock->node)->waits = !lock->held;
                if (!lock->held)
                        g_array_append_val(run->waiting, lock->node);
        }
}

static void note_forced(RandomRun *run, const Journal *journal) {
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
                progress_rerun(run->progress, leaf->node, run->now);
                look(run);
        }
        if (!(own->type->flags & TYPE_IMMEDIATE))
                return;

        if (own->type == &code_type)
                leaf_run(own);
        else
                random_leaf_set(own, random_outcome(run->dice));
        if (progress_leaf_ended(run->progress, leaf->node, run->now))
                random_leaf_free(own);
        look(run);
}

static void resume_journal(RandomRun *run, const Journal *journal, const char *path) {
        g_autofree char *error = NULL;
        JournalWriter *writer = NULL;

        journal_writer_resume(path, journal->size, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        progress_set_journal(run->progress, writer);
}

void random_run_take_up(RandomRun *run, Replay *replay, const Journal *journal, const char *path, Dice *dice) {
        bool begun = replay_position(replay) > 0;

        init(run, progress_definition(replay_progress(replay)), dice);
        run->progress = replay_take(replay);
        run->now = progress_now(run->progress);
        progress_set_host(run->progress, &host, run);
        take_over(run, replay);
        note_forced(run, journal);
        resume_journal(run, journal, path);

        if (begun)
                progress_recovered(run->progress, run->now);
        else
                progress_start(run->progress, run->now);
        look(run);
        for (const GList *link = replay_leaves(replay)->head; begun && link; link = link->next)
                start_again(run, link->data);
}
