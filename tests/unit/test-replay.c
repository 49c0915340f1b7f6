/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A run that is replayed from its journal is at each record where the run was: its nodes, its variables, its history,
 * its timers. And a run that another daemon has taken up, wherever its journal was broken off, can be taken up again.
 */

#include <glib/gstdio.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <unistd.h>

#include "basic/cause-json.h"
#include "basic/cleanup.h"
#include "journal/journal-definition.h"
#include "journal/replay.h"
#include "random-definition.h"
#include "script/script-status.h"

#define TREES 400
#define DEPTH 5
#define INPUTS_MAX 150
#define START 1000000

/* A world in which anything can happen at any time. */
typedef struct World {
        GRand *random;
        Progress *progress;
        GPtrArray *leaves;  /* of WorldLeaf */
        GHashTable *timers; /* deadlines, by node */
        GArray *waiting;    /* for their locks: of NodeId */
        uint64_t now;
        bool journal_failed;
} World;

typedef struct WorldLeaf {
        World *world;
        NodeId node;
        const NodeType *type;
        Status status;
        Cause *cause;
} WorldLeaf;

static bool chance(World *world, unsigned percent) {
        return (unsigned) g_rand_int_range(world->random, 0, 100) < percent;
}

static const Node *node_of(const World *world, NodeId node) {
        return &definition_tree(progress_definition(world->progress))->nodes[node];
}

static void leaf_set(WorldLeaf *leaf, Status status) {
        leaf->status = status;
        g_clear_pointer(&leaf->cause, cause_unref);
        if (status == STATUS_FAILURE) {
                leaf->cause = cause_new(CAUSE_EXIT_STATUS, facts_new("status", json_object_new_int(3), NULL),
                                        "\"failed\"\nhere");
                leaf->cause->node = leaf->node;
        }
}

static Status random_outcome(World *world) {
        return chance(world, 60) ? STATUS_SUCCESS : chance(world, 90) ? STATUS_FAILURE : STATUS_SKIPPED;
}

static Status random_value(World *world) {
        return chance(world, 50) ? STATUS_SUCCESS : chance(world, 70) ? STATUS_FAILURE : STATUS_RUNNING;
}

static WorldLeaf *leaf_new(World *world, NodeId node) {
        WorldLeaf *leaf = g_new0(WorldLeaf, 1);

        leaf->world = world;
        leaf->node = node;
        leaf->type = node_of(world, node)->type;
        leaf->status = STATUS_RUNNING;
        g_ptr_array_add(world->leaves, leaf);
        return leaf;
}

static void set_output(World *world, NodeId node) {
        static const char *const names[] = { "a", "b", "@b", "@list" };
        json_object *value = json_object_new_int(g_rand_int_range(world->random, 0, 4));
        const char *name = names[g_rand_int_range(world->random, 0, G_N_ELEMENTS(names))];

        if (g_str_equal(name, "@list")) {
                json_object *list = json_object_new_array();

                json_object_array_add(list, value);
                value = list;
        }
        progress_set_output(world->progress, node, name, value, world->now);
}

static void leaf_run(WorldLeaf *leaf) {
        Progress *progress = leaf->world->progress;
        const CodeParams *params = node_of(leaf->world, leaf->node)->params;

        leaf->status = script_status_of_code(params->code, variables_scope(progress_variables(progress), leaf->node),
                                             &leaf->cause);
}

static void *world_leaf_start(NodeId node, uint32_t attempt, void *userdata) {
        World *world = userdata;
        WorldLeaf *leaf = leaf_new(world, node);

        if (leaf->type == &quick_type || (leaf->type == &slow_type && chance(world, 10))) {
                leaf_set(leaf, random_outcome(world));
                if (chance(world, 30))
                        set_output(world, node);
        } else if (leaf->type == &code_type) {
                leaf_run(leaf);
        } else if (leaf->type == &value_type) {
                leaf_set(leaf, random_value(world));
        }

        return leaf;
}

static Status world_leaf_status(void *data) {
        const WorldLeaf *leaf = data;

        return leaf->status;
}

static Status world_leaf_look(void *data, uint32_t look) {
        WorldLeaf *leaf = data;

        if (chance(leaf->world, 15))
                leaf_set(leaf, random_value(leaf->world));

        return leaf->status;
}

static Cause *world_leaf_cause(void *data) {
        const WorldLeaf *leaf = data;

        return leaf->cause;
}

static bool world_leaf_halt(void *data) {
        const WorldLeaf *leaf = data;

        return chance(leaf->world, 50);
}

static void world_leaf_free(void *data) {
        WorldLeaf *leaf = data;

        g_ptr_array_remove(leaf->world->leaves, leaf);
        cause_unref(leaf->cause);
        g_free(leaf);
}

static void world_timer_arm(NodeId node, uint64_t deadline, void *userdata) {
        const World *world = userdata;
        uint64_t *copy = g_new(uint64_t, 1);

        *copy = deadline;
        g_hash_table_replace(world->timers, GUINT_TO_POINTER(node), copy);
}

static void world_timer_disarm(NodeId node, void *userdata) {
        const World *world = userdata;

        g_assert_true(g_hash_table_remove(world->timers, GUINT_TO_POINTER(node)));
}

static bool world_lock(NodeId node, void *userdata) {
        World *world = userdata;

        if (chance(world, 60))
                return true;

        g_array_append_val(world->waiting, node);
        return false;
}

static void stop_waiting(World *world, NodeId node) {
        for (unsigned i = 0; i < world->waiting->len; i++)
                if (g_array_index(world->waiting, NodeId, i) == node) {
                        g_array_remove_index(world->waiting, i);
                        return;
                }
}

static void world_unlock(NodeId node, void *userdata) {
        stop_waiting(userdata, node);
}

static void world_journal_failed(const char *error, void *userdata) {
        World *world = userdata;

        world->journal_failed = true;
}

static const ProgressHost world_host = {
        .leaf_start = world_leaf_start,
        .leaf_status = world_leaf_status,
        .leaf_look = world_leaf_look,
        .leaf_cause = world_leaf_cause,
        .leaf_halt = world_leaf_halt,
        .leaf_free = world_leaf_free,
        .timer_arm = world_timer_arm,
        .timer_disarm = world_timer_disarm,
        .lock = world_lock,
        .unlock = world_unlock,
        .journal_failed = world_journal_failed,
};

static void world_init(World *world, GRand *random) {
        *world = (World){
                .random = random,
                .leaves = g_ptr_array_new(),
                .timers = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .waiting = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                .now = START,
        };
}

static void world_clear(World *world) {
        while (world->leaves->len > 0)
                world_leaf_free(world->leaves->pdata[0]);
        progress_free(world->progress);
        g_ptr_array_unref(world->leaves);
        g_hash_table_unref(world->timers);
        g_array_unref(world->waiting);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

/* All that can be seen of a run, as text. */

static void add_cause(GString *text, const Cause *cause) {
        g_autoptr(json_object) json = cause_to_json(cause);

        if (cause)
                g_string_append_printf(text, " %s", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
}

static void add_node(GString *text, const Progress *progress, NodeId node) {
        const History *history = progress_history(progress);
        const Machine *machine = progress_machine(progress);
        Blackboard *scope = variables_scope(progress_variables(progress), node);
        g_autoptr(json_object) variables = blackboard_to_json(scope);

        g_string_append_printf(
                text, "#%u %s %i%i%i %lu %lu %u %lu %s", node, status_to_string(history_status(history, node)),
                machine ? (int) machine_node_status(machine, node) : -1, machine && machine_node_ending(machine, node),
                progress_stands_at(progress, node), history_since(history, node),
                history_duration(history, node, UINT32_MAX), history_rounds(history, node),
                progress_deadline(progress, node), json_object_to_json_string_ext(variables, JSON_C_TO_STRING_PLAIN));
        add_cause(text, history_last_cause(history, node));
        g_string_append_c(text, '\n');
}

static char *describe(const Progress *progress) {
        const GArray *breakpoints = progress_breakpoints(progress);
        GString *text = g_string_new(NULL);

        g_string_append_printf(
                text, "%s%s%s%s %lu", status_to_string(progress_status(progress)),
                progress_is_halting(progress) ? " halting" : "", progress_is_paused(progress) ? " paused" : "",
                progress_wants_tick(progress) ? " wants a tick" : "", progress_deadline(progress, NODE_NONE));
        for (unsigned i = 0; breakpoints && i < breakpoints->len; i++)
                g_string_append_printf(text, " *%u", g_array_index(breakpoints, NodeId, i));
        add_cause(text, progress_cause(progress));
        g_string_append_c(text, '\n');
        for (NodeId node = 0; node < definition_tree(progress_definition(progress))->n_nodes; node++)
                add_node(text, progress, node);

        return g_string_free(text, FALSE);
}

/* What happens to a run. Each answers whether it could. */

static bool happen_tick(World *world) {
        if (!progress_wants_tick(world->progress))
                return false;

        progress_tick(world->progress, world->now);
        return true;
}

static WorldLeaf *random_leaf(World *world) {
        return world->leaves->len > 0
                       ? world->leaves->pdata[g_rand_int_range(world->random, 0, (gint32) world->leaves->len)]
                       : NULL;
}

static bool happen_end(World *world) {
        WorldLeaf *leaf = random_leaf(world);

        if (!leaf || leaf->type->class != NODE_ACTION || leaf->status != STATUS_RUNNING)
                return false;

        leaf_set(leaf, random_outcome(world));
        if (progress_leaf_ended(world->progress, leaf->node, world->now))
                world_leaf_free(leaf);
        return true;
}

static bool happen_change(World *world) {
        WorldLeaf *leaf = random_leaf(world);

        if (!leaf || leaf->type->class != NODE_CONDITION)
                return false;

        leaf_set(leaf, random_value(world));
        progress_condition_changed(world->progress, leaf->node, world->now);
        return true;
}

static bool happen_timer(World *world) {
        GHashTableIter iter;
        NodeId node;
        void *key, *deadline;

        g_hash_table_iter_init(&iter, world->timers);
        if (!g_hash_table_iter_next(&iter, &key, &deadline))
                return false;

        node = GPOINTER_TO_UINT(key);
        world->now = MAX(world->now, *(uint64_t *) deadline);
        g_hash_table_iter_remove(&iter);
        progress_timer_expired(world->progress, node, world->now);
        return true;
}

static bool happen_lock(World *world) {
        NodeId node;

        if (world->waiting->len == 0)
                return false;

        node = g_array_index(world->waiting, NodeId, 0);
        g_array_remove_index(world->waiting, 0);
        progress_lock_granted(world->progress, node, world->now);
        return true;
}

static bool happen_set(World *world) {
        g_autoptr(json_object) values = json_object_new_object();

        json_object_object_add(values, "a", json_object_new_int(g_rand_int_range(world->random, 0, 4)));
        json_object_object_add(values, "b", json_object_new_double(g_rand_double(world->random)));
        progress_set_variables(world->progress, values, world->now);
        return true;
}

static bool happen_output(World *world) {
        const WorldLeaf *leaf = random_leaf(world);
        uint64_t version;
        Blackboard *scope;

        if (!leaf)
                return false;

        scope = variables_scope(progress_variables(world->progress), leaf->node);
        version = blackboard_version(scope);
        set_output(world, leaf->node);
        return blackboard_version(scope) != version;
}

static bool happen_control(World *world) {
        NodeId n = definition_tree(progress_definition(world->progress))->n_nodes,
               node = (NodeId) g_rand_int_range(world->random, 0, (gint32) n);
        bool paused = progress_is_paused(world->progress);

        if (progress_is_halting(world->progress))
                return false;

        switch (g_rand_int_range(world->random, 0, 6)) {
        case 0:
                progress_pause(world->progress, world->now);
                return true;
        case 1:
        case 2:
                progress_resume(world->progress, world->now);
                return true;
        case 3:
                if (paused) {
                        progress_step(world->progress, world->now);
                        return true;
                }
                return false;
        case 4: {
                const GArray *breakpoints = progress_breakpoints(world->progress);
                bool set = !breakpoints;

                progress_set_breakpoint(world->progress, set ? node : g_array_index(breakpoints, NodeId, 0), set,
                                        world->now);
                return true;
        }
        default:
                progress_force(world->progress, node, random_outcome(world), cause_new(CAUSE_FORCED, NULL, "by a test"),
                               world->now);
                return true;
        }
}

static bool happen_halt(World *world) {
        if (progress_is_halting(world->progress) || !chance(world, 20))
                return false;

        progress_halt(world->progress, cause_new(CAUSE_HALTED, NULL, "halted by a test"), world->now);
        return true;
}

static bool happen(World *world) {
        static bool (*const all[])(World * world) = {
                happen_tick,  happen_tick,  happen_tick, happen_tick, happen_end,     happen_end,  happen_change,
                happen_timer, happen_timer, happen_lock, happen_set,  happen_control, happen_halt, happen_output,
        };

        world->now += (uint64_t) g_rand_int_range(world->random, 0, 2000);
        return all[g_rand_int_range(world->random, 0, G_N_ELEMENTS(all))](world);
}

/* Until it is over, or long enough. What it was like behind each record of an input is added. */
static void live(World *world, GPtrArray *seen) {
        for (unsigned i = 0; i < INPUTS_MAX && progress_status(world->progress) == STATUS_RUNNING; i++) {
                if (!happen(world))
                        continue;

                g_ptr_array_add(seen, describe(world->progress));
                if (progress_status(world->progress) != STATUS_RUNNING)
                        g_ptr_array_add(seen, describe(world->progress));
        }

        g_assert_false(world->journal_failed);
}

typedef struct File {
        char *path;
} File;

static void file_init(File *file) {
        int fd = g_file_open_tmp("btd-replay-XXXXXX", &file->path, NULL);

        g_assert_cmpint(fd, >=, 0);
        close(fd);
        g_unlink(file->path);
}

static void file_clear(File *file) {
        g_unlink(file->path);
        g_free(file->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(File, file_clear)

static JournalWriter *begin_journal(const File *file, const Definition *definition, uint64_t seed) {
        g_auto(JournalHeader) header = {
                .run = g_strdup("test.1"),
                .seed = seed,
                .start = START,
                .files = json_object_new_array(),
                .variables = json_object_new_object(),
        };
        json_object *own = json_object_new_object();
        g_autofree char *error = NULL;
        JournalWriter *writer = NULL;

        json_object_object_add(own, "path", json_object_new_string(""));
        json_object_object_add(own, "text", json_object_new_string(definition_text(definition)));
        json_object_array_add(header.files, own);
        journal_writer_create(file->path, &header, &writer, &error);
        g_assert_cmpstr(error, ==, NULL);
        return writer;
}

static Journal *read_journal(const File *file) {
        g_autofree char *error = NULL;
        Journal *journal = NULL;

        journal_read_file(file->path, &journal, &error);
        g_assert_cmpstr(error, ==, NULL);
        return journal;
}

static Replay *begin_replay(const Journal *journal, Definition *definition) {
        g_autofree char *error = NULL;
        Replay *replay = NULL;

        replay_new(journal, definition, &replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return replay;
}

static int step(Replay *replay) {
        g_autofree char *error = NULL;
        int r = replay_step(replay, &error);

        g_assert_cmpstr(error, ==, NULL);
        return r;
}

static void start(World *world, const File *file, Definition *definition, GPtrArray *seen) {
        uint64_t seed = g_rand_int(world->random);

        world->progress = progress_new(definition, seed, START, &world_host, world);
        progress_set_journal(world->progress, begin_journal(file, definition, seed));
        progress_start(world->progress, START);
        g_ptr_array_add(seen, describe(world->progress));
}

/* Calls back for many random trees that can be loaded. */
static void for_random_trees(void (*callback)(Definition *definition, GRand *random)) {
        guint32 first = g_test_rand_int();
        unsigned n_loaded = 0;

        for (guint32 i = 0; i < TREES; i++) {
                g_autoptr(GRand) random = g_rand_new_with_seed(first + i);
                g_autoptr(Definition) definition = random_definition_new(random, DEPTH);

                if (!definition)
                        continue;

                n_loaded++;
                callback(definition, random);
        }

        g_assert_cmpuint(n_loaded, >, TREES / 4);
}

static void replay_whole(Definition *definition, GRand *random) {
        g_autoptr(GPtrArray) seen = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Definition) again = NULL;
        g_autoptr(Journal) journal = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree char *error = NULL;
        g_auto(World) world = {};
        g_auto(File) file = {};

        file_init(&file);
        world_init(&world, random);
        start(&world, &file, definition, seen);
        live(&world, seen);

        journal = read_journal(&file);
        g_assert_cmpint(journal_definition_new(&journal->header, random_definition_tables, &again, &error), ==, 0);
        replay = begin_replay(journal, again);
        for (unsigned i = 0; i < seen->len; i++) {
                g_autofree char *now = NULL;

                g_assert_cmpint(step(replay), ==, 1);
                now = describe(replay_progress(replay));
                g_assert_cmpstr(now, ==, seen->pdata[i]);
        }

        g_assert_cmpint(step(replay), ==, 0);
}

static void test_whole(void) {
        for_random_trees(replay_whole);
}

/* What the replay knows of the world is what the new world begins with. */
static void take_up(World *world, Replay *replay) {
        const GArray *locks = replay_locks(replay);

        world->progress = replay_take(replay);
        world->now = progress_now(world->progress);
        progress_set_host(world->progress, &world_host, world);
        for (const GList *link = replay_leaves(replay)->head; link; link = link->next) {
                const ReplayLeaf *leaf = link->data;
                WorldLeaf *own = leaf_new(world, leaf->node);

                own->status = leaf->status;
                own->cause = leaf->cause ? cause_ref(leaf->cause) : NULL;
                progress_set_leaf(world->progress, leaf->node, own);
        }
        for (unsigned i = 0; i < locks->len; i++) {
                const ReplayLock *lock = &g_array_index(locks, ReplayLock, i);

                if (!lock->held)
                        g_array_append_val(world->waiting, lock->node);
        }
}

/* Breaks the journal off anywhere, behind its header. */
static void break_off(const File *file, GRand *random) {
        g_autofree char *text = NULL;
        gsize length, header;

        g_assert_true(g_file_get_contents(file->path, &text, &length, NULL));
        header = (gsize) (strchr(text, '\n') - text) + 1;
        g_assert_cmpint(truncate(file->path, g_rand_int_range(random, (gint32) header, (gint32) length + 1)), ==, 0);
}

/* What had not begun begins, and code that may have run does. */
static void start_again(World *world, const ReplayLeaf *leaf, GPtrArray *seen) {
        WorldLeaf *own = progress_leaf(world->progress, leaf->node);
        bool code = node_of(world, leaf->node)->type == &code_type;

        if (node_of(world, leaf->node)->type->class != NODE_ACTION || leaf->status != STATUS_RUNNING ||
            (leaf->begun && !code))
                return;

        progress_rerun(world->progress, leaf->node, world->now);
        g_ptr_array_add(seen, describe(world->progress));
        if (!code)
                return;

        leaf_run(own);
        if (progress_leaf_ended(world->progress, leaf->node, world->now))
                world_leaf_free(own);
        g_ptr_array_add(seen, describe(world->progress));
}

/* As many inputs as there are before the end, from the texts of which those of the life before are forgotten. */
static void go_on(World *world, const File *file, Definition *definition, GPtrArray *seen) {
        g_autoptr(Journal) journal = read_journal(file);
        g_autoptr(Replay) replay = begin_replay(journal, definition);
        g_autofree char *error = NULL;
        JournalWriter *writer;
        unsigned n = 0;

        while (step(replay) > 0)
                n++;

        g_ptr_array_set_size(seen, (int) n);
        if (n > 0) {
                g_free(seen->pdata[n - 1]);
                seen->pdata[n - 1] = describe(replay_progress(replay));
        }

        take_up(world, replay);
        g_assert_cmpint(journal_writer_resume(file->path, journal->size, &writer, &error), ==, 0);
        progress_set_journal(world->progress, writer);
        if (n == 0)
                progress_start(world->progress, world->now);
        else
                progress_recovered(world->progress, world->now);
        g_ptr_array_add(seen, describe(world->progress));
        if (progress_status(world->progress) != STATUS_RUNNING)
                g_ptr_array_add(seen, describe(world->progress));
        for (const GList *link = replay_leaves(replay)->head; n > 0 && link; link = link->next)
                start_again(world, link->data, seen);
        live(world, seen);
}

static void replay_broken(Definition *definition, GRand *random) {
        g_autoptr(GPtrArray) seen = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Journal) journal = NULL;
        g_autoptr(Replay) replay = NULL;
        g_auto(World) first = {};
        g_auto(File) file = {};

        file_init(&file);
        world_init(&first, random);
        start(&first, &file, definition, seen);
        live(&first, seen);

        for (unsigned lives = 0; lives < 3; lives++) {
                g_auto(World) next = {};

                break_off(&file, random);
                world_init(&next, random);
                go_on(&next, &file, definition, seen);
        }

        journal = read_journal(&file);
        replay = begin_replay(journal, definition);
        for (unsigned i = 0; i < seen->len; i++) {
                g_autofree char *now = NULL;

                g_assert_cmpint(step(replay), ==, 1);
                now = describe(replay_progress(replay));
                g_assert_cmpstr(now, ==, seen->pdata[i]);
        }

        g_assert_cmpint(step(replay), ==, 0);
}

static void test_broken(void) {
        for_random_trees(replay_broken);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/replay/whole", test_whole);
        g_test_add_func("/replay/broken", test_broken);
        return g_test_run();
}
