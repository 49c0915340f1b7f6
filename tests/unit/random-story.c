/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "random-story.h"
#include "record/journal-definition.h"
#include "run/snapshot.h"

/* What the run was like behind an input. */
typedef struct Sight {
        char *run, *world; /* NULL: nobody has looked */
} Sight;

typedef struct Story {
        Definition *definition;
        Dice *dice;
        bool thorough;
        uint32_t look_at;
        char *path;
        GArray *sights; /* of Sight, of each input so far */
        unsigned n_cut; /* how many inputs the journal that is to be taken up has lost at its beginning */
} Story;

static void sight_clear(void *data) {
        Sight *sight = data;

        g_free(sight->run);
        g_free(sight->world);
}

static void on_seen(RandomRun *run, void *userdata) {
        Story *story = userdata;
        Sight sight = {};

        if (story->thorough || story->sights->len == story->look_at) {
                sight.run = random_run_describe(run->actual);
                sight.world = random_run_describe_world(run);
        }

        g_array_append_val(story->sights, sight);
}

static void story_init(Story *story, Definition *definition, Dice *dice, bool thorough) {
        *story = (Story){
                .definition = definition,
                .dice = dice,
                .thorough = thorough,
                .look_at = dice_roll(dice, 128),
                .path = g_strdup_printf("%s/btd-story-%i", g_get_tmp_dir(), (int) getpid()),
                .sights = g_array_new(false, false, sizeof(Sight)),
        };
        g_array_set_clear_func(story->sights, sight_clear);
        g_unlink(story->path);
}

static void story_clear(Story *story) {
        g_unlink(story->path);
        g_free(story->path);
        g_array_unref(story->sights);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Story, story_clear)

static Journal *read_journal(const Story *story) {
        g_autofree char *error = NULL;
        Journal *journal = NULL;

        journal_read_file(story->path, &journal, &error);
        g_assert_cmpstr(error, ==, NULL);
        return journal;
}

static const Record *next_of(const Journal *journal, const Replay *replay) {
        unsigned position = replay_position(replay);

        return position < journal->records->len ? &g_array_index(journal->records, Record, position) : NULL;
}

/* Snapshots are no inputs, and a suspend is one only to what follows it. */
static int step(const Journal *journal, Replay *replay) {
        g_autofree char *error = NULL;
        const Record *next;
        int r;

        while ((next = next_of(journal, replay)) && (next->kind == RECORD_SNAPSHOT || next->kind == RECORD_SUSPENDED)) {
                replay_step(replay, &error);
                g_assert_cmpstr(error, ==, NULL);
        }

        r = replay_step(replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return r;
}

typedef int (*BeginReplay)(const Journal *journal, Definition *definition, Replay **ret_replay, char **ret_error);

static Replay *begin_replay(const Journal *journal, Definition *definition, BeginReplay begin) {
        g_autofree char *error = NULL;
        Replay *replay = NULL;

        begin(journal, definition, &replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return replay;
}

/* All but the causes, which may be shared in another way. */
static char *describe_state(const Replay *replay) {
        static const char *const members[] = { "halting", "paused", "first_look", "breakpoints",     "stops",
                                               "machine", "nodes",  "variables",  "history",         "timers",
                                               "locks",   "ready",  "suspended",  "timers_suspended" };
        g_autoptr(json_object) snapshot = snapshot_of(replay_run(replay));
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
                g_string_append_printf(text, "%s: %s\n", members[i],
                                       json_object_to_json_string(json_object_object_get(snapshot, members[i])));

        return g_string_free(text, FALSE);
}

/* Whether it begins with its first record or with its newest snapshot, it comes to the same. */
static void compare_ends(const Journal *journal, Definition *definition) {
        g_autoptr(Replay) whole = begin_replay(journal, definition, replay_new),
                          end = begin_replay(journal, definition, replay_new_of_end);
        g_autofree char *was = NULL, *is = NULL;

        while (step(journal, whole) > 0)
                ;
        while (step(journal, end) > 0)
                ;

        if (run_status(replay_run(whole)) != STATUS_RUNNING)
                return;

        was = describe_state(whole);
        is = describe_state(end);
        random_run_assert_same(is, was);
}

/* How many inputs the journal has yet. */
static unsigned count_inputs(const Journal *journal, Definition *definition, BeginReplay begin) {
        g_autoptr(Replay) replay = begin_replay(journal, definition, begin);
        unsigned n = 0;

        while (step(journal, replay) > 0)
                n++;

        return n;
}

static void compare(const Replay *replay, const Sight *sight) {
        g_autofree char *run = NULL, *world = NULL;

        if (!sight->run)
                return;

        run = random_run_describe(replay_run(replay));
        world = random_run_describe_replay(replay);
        random_run_assert_same(run, sight->run);
        random_run_assert_same(world, sight->world);
}

static Definition *definition_of(const Story *story, const Journal *journal) {
        g_autofree char *error = NULL;
        Definition *definition = NULL;

        if (!story->thorough)
                return definition_ref(story->definition);

        journal_definition_new(&journal->header, random_definition_tables, &definition, &error);
        g_assert_cmpstr(error, ==, NULL);
        return definition;
}

/* What an observer was told of each node last. */
typedef struct Told {
        const Run *actual; /* which is tested */
        Status *nodes;
} Told;

static void on_told(NodeId node, void *userdata) {
        const Told *told = userdata;

        told->nodes[node] = history_status(run_history(told->actual), node);
}

/* When the run is over, each node that was running has an end, and who looks on was told of it. */
static void check_ends(const Run *run, const Status *told) {
        const Tree *tree = definition_tree(run_definition(run));

        for (NodeId node = 0; node < tree->n_nodes; node++) {
                Status status = history_status(run_history(run), node);

                if (run_status(run) != STATUS_RUNNING)
                        g_assert_cmpstr(status_to_string(status), !=, "running");
                if (told[node] != STATUS_IDLE)
                        g_assert_cmpstr(status_to_string(told[node]), ==, status_to_string(status));
        }
}

/* As far as the story goes back: of the life that it has ended with. */
static void check_replay(const Story *story, const Journal *journal, Definition *definition, BeginReplay begin,
                         const Sight *last) {
        g_autoptr(Replay) replay = begin_replay(journal, definition, begin);
        unsigned n = count_inputs(journal, definition, begin);

        const RunObserver observer = { .changed = on_told };
        g_autofree Status *nodes = g_new0(Status, definition_tree(definition)->n_nodes);
        Told told = { .actual = replay_run(replay), .nodes = nodes };

        g_assert_cmpuint(n, <=, story->sights->len);
        run_observe(replay_run(replay), &observer, &told);
        for (unsigned i = story->sights->len - n; i < story->sights->len; i++) {
                g_assert_cmpint(step(journal, replay), ==, 1);
                compare(replay, &g_array_index(story->sights, Sight, i));
        }

        g_assert_cmpint(step(journal, replay), ==, 0);
        check_ends(replay_run(replay), nodes);
        compare(replay, last);
}

static bool begins_with_snapshot(const Journal *journal) {
        return journal->records->len > 0 && g_array_index(journal->records, Record, 0).kind == RECORD_SNAPSHOT;
}

static void check(const Story *story, const RandomRun *run) {
        g_autoptr(Journal) journal = read_journal(story);
        g_autoptr(Definition) definition = definition_of(story, journal);
        Sight last = { random_run_describe(run->actual), random_run_describe_world(run) };

        if (!begins_with_snapshot(journal))
                g_assert_cmpuint(count_inputs(journal, definition, replay_new), ==, story->sights->len);
        check_replay(story, journal, definition, replay_new, &last);
        check_replay(story, journal, definition, replay_new_of_end, &last);
        sight_clear(&last);
}

/* The first line behind which it may break off: the header, and with it the snapshot that it begins with, since both
 * came to be at once. */
static gsize unbroken(const char *text) {
        const char *end = strchr(text, '\n') + 1, *next = strchr(end, '\n');
        const char *snapshot = strstr(end, " snapshot ");

        return (gsize) ((next && snapshot && snapshot < next ? next + 1 : end) - text);
}

static void break_off(Story *story) {
        g_autoptr(Journal) journal = read_journal(story);
        g_autofree char *text = NULL;
        gsize length, begin;

        story->n_cut = story->sights->len - count_inputs(journal, story->definition, replay_new);
        g_assert_true(g_file_get_contents(story->path, &text, &length, NULL));
        begin = unbroken(text);
        g_assert_cmpint(
                truncate(story->path, (off_t) (begin + dice_roll(story->dice, (uint32_t) (length - begin) + 1))), ==,
                0);
}

/* Of the life before, what was seen is forgotten from there on where its journal breaks off; its last input may have
 * come to something else. */
static void take_up(Story *story, RandomRun *run) {
        g_autoptr(Journal) journal = read_journal(story);
        g_autoptr(Replay) replay = begin_replay(journal, story->definition, replay_new_of_end);
        unsigned n = count_inputs(journal, story->definition, replay_new);
        Sight last = {};

        while (step(journal, replay) > 0)
                ;

        compare_ends(journal, story->definition);
        g_array_set_size(story->sights, story->n_cut + (n > 0 ? n - 1 : 0));
        if (n > 0 && (story->thorough || story->look_at == story->n_cut + n - 1)) {
                last.run = random_run_describe(replay_run(replay));
                last.world = random_run_describe_replay(replay);
        }
        if (n > 0)
                g_array_append_val(story->sights, last);

        random_run_take_up(run, replay, journal, story->path, story->dice);
        random_run_live(run);
}

void random_story_check(Definition *definition, Dice *dice, unsigned lives, bool thorough) {
        g_auto(Story) story = {};
        RandomRun run = { .seen = on_seen, .userdata = &story };

        story_init(&story, definition, dice, thorough);
        random_run_start(&run, definition, story.path, dice);
        random_run_live(&run);
        for (; lives > 0; lives--) {
                random_run_clear(&run);
                break_off(&story);
                take_up(&story, &run);
        }

        check(&story, &run);
        random_run_clear(&run);
}
