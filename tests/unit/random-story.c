/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "journal/journal-definition.h"
#include "random-story.h"

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
                sight.run = random_run_describe(run->progress);
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

static void compare(const Replay *replay, const Sight *sight) {
        g_autofree char *run = NULL, *world = NULL;

        if (!sight->run)
                return;

        run = random_run_describe(replay_progress(replay));
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

/* Of the life that it has ended with. */
static void check(const Story *story, const RandomRun *run) {
        g_autoptr(Journal) journal = read_journal(story);
        g_autoptr(Definition) definition = definition_of(story, journal);
        g_autoptr(Replay) replay = begin_replay(journal, definition);
        Sight last = { random_run_describe(run->progress), random_run_describe_world(run) };

        for (unsigned i = 0; i < story->sights->len; i++) {
                g_assert_cmpint(step(replay), ==, 1);
                compare(replay, &g_array_index(story->sights, Sight, i));
        }

        g_assert_cmpint(step(replay), ==, 0);
        compare(replay, &last);
        sight_clear(&last);
}

/* Anywhere behind its header. */
static void break_off(const Story *story) {
        g_autofree char *text = NULL;
        gsize length, header;

        g_assert_true(g_file_get_contents(story->path, &text, &length, NULL));
        header = (gsize) (strchr(text, '\n') - text) + 1;
        g_assert_cmpint(
                truncate(story->path, (off_t) (header + dice_roll(story->dice, (uint32_t) (length - header) + 1))), ==,
                0);
}

/* Of the life before, what was seen is forgotten from there on where its journal breaks off; its last input may have
 * come to something else. */
static void take_up(Story *story, RandomRun *run) {
        g_autoptr(Journal) journal = read_journal(story);
        g_autoptr(Replay) replay = begin_replay(journal, story->definition);
        Sight last = {};
        unsigned n = 0;

        while (step(replay) > 0)
                n++;

        g_array_set_size(story->sights, n > 0 ? n - 1 : 0);
        if (n > 0 && (story->thorough || story->look_at == n - 1)) {
                last.run = random_run_describe(replay_progress(replay));
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
