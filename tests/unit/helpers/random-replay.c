/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "random-replay.h"
#include "record/record-definition.h"
#include "run/snapshot.h"

/* Describes the run after an input. */
typedef struct View {
        char *run, *world; /* NULL: not compared here */
} View;

typedef struct Check {
        Definition *definition;
        Dice *dice;
        bool thorough;
        uint32_t compared; /* the input after which runs are compared */
        char *path;
        GArray *views;  /* of View, of each input so far */
        unsigned n_cut; /* how many inputs were cut from the beginning of the record to recover */
} Check;

static void view_clear(void *data) {
        View *view = data;

        g_free(view->run);
        g_free(view->world);
}

static void on_input(RandomRun *run, void *userdata) {
        Check *check = userdata;
        View view = {};

        if (check->thorough || check->views->len == check->compared) {
                view.run = random_run_describe(run->actual);
                view.world = random_run_describe_world(run);
        }

        g_array_append_val(check->views, view);
}

static void check_init(Check *check, Definition *definition, Dice *dice, bool thorough) {
        *check = (Check){
                .definition = definition,
                .dice = dice,
                .thorough = thorough,
                .compared = dice_roll(dice, 128),
                .path = g_strdup_printf("%s/btd-check-%i", g_get_tmp_dir(), (int) getpid()),
                .views = g_array_new(false, false, sizeof(View)),
        };
        g_array_set_clear_func(check->views, view_clear);
        g_unlink(check->path);
}

static void check_clear(Check *check) {
        g_unlink(check->path);
        g_free(check->path);
        g_array_unref(check->views);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Check, check_clear)

static RunRecord *read_journal(const Check *check) {
        g_autofree char *error = NULL;
        RunRecord *journal = NULL;

        run_record_read_file(check->path, &journal, &error);
        g_assert_cmpstr(error, ==, NULL);
        return journal;
}

static const Entry *next_of(const RunRecord *journal, const Replay *replay) {
        unsigned position = replay_position(replay);

        return position < journal->entries->len ? &g_array_index(journal->entries, Entry, position) : NULL;
}

/* Snapshots are not inputs, and a suspend is an input only if something follows it. */
static int step(const RunRecord *journal, Replay *replay) {
        g_autofree char *error = NULL;
        const Entry *next;
        int r;

        while ((next = next_of(journal, replay)) && (next->kind == ENTRY_SNAPSHOT || next->kind == ENTRY_SUSPENDED)) {
                replay_step(replay, &error);
                g_assert_cmpstr(error, ==, NULL);
        }

        r = replay_step(replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return r;
}

typedef int (*BeginReplay)(const RunRecord *journal, Definition *definition, Replay **ret_replay, char **ret_error);

static Replay *begin_replay(const RunRecord *journal, Definition *definition, BeginReplay begin) {
        g_autofree char *error = NULL;
        Replay *replay = NULL;

        begin(journal, definition, &replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return replay;
}

/* Without the causes, which may be shared in another way. */
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

/* Replay gives the same run from the first entry and from the newest snapshot. */
static void compare_ends(const RunRecord *journal, Definition *definition) {
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

/* The number of inputs that are left in the record. */
static unsigned count_inputs(const RunRecord *journal, Definition *definition, BeginReplay begin) {
        g_autoptr(Replay) replay = begin_replay(journal, definition, begin);
        unsigned n = 0;

        while (step(journal, replay) > 0)
                n++;

        return n;
}

static void compare(const Replay *replay, const View *view) {
        g_autofree char *run = NULL, *world = NULL;

        if (!view->run)
                return;

        run = random_run_describe(replay_run(replay));
        world = random_run_describe_replay(replay);
        random_run_assert_same(run, view->run);
        random_run_assert_same(world, view->world);
}

static Definition *definition_of(const Check *check, const RunRecord *journal) {
        g_autofree char *error = NULL;
        Definition *definition = NULL;

        if (!check->thorough)
                return definition_ref(check->definition);

        record_definition_new(&journal->header, random_definition_tables, &definition, &error);
        g_assert_cmpstr(error, ==, NULL);
        return definition;
}

/* The last change of each node that an observer received. */
typedef struct Told {
        const Run *actual; /* which is tested */
        Status *nodes;
} Told;

static void on_told(NodeId node, void *userdata) {
        const Told *told = userdata;

        told->nodes[node] = history_status(run_history(told->actual), node);
}

/* After the run, each node that was running has an end, and an observer has received it. */
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

/* Covers the last life. */
static void check_replay(const Check *check, const RunRecord *journal, Definition *definition, BeginReplay begin,
                         const View *last) {
        g_autoptr(Replay) replay = begin_replay(journal, definition, begin);
        unsigned n = count_inputs(journal, definition, begin);

        const RunObserver observer = { .changed = on_told };
        g_autofree Status *nodes = g_new0(Status, definition_tree(definition)->n_nodes);
        Told told = { .actual = replay_run(replay), .nodes = nodes };

        g_assert_cmpuint(n, <=, check->views->len);
        run_observe(replay_run(replay), &observer, &told);
        for (unsigned i = check->views->len - n; i < check->views->len; i++) {
                g_assert_cmpint(step(journal, replay), ==, 1);
                compare(replay, &g_array_index(check->views, View, i));
        }

        g_assert_cmpint(step(journal, replay), ==, 0);
        check_ends(replay_run(replay), nodes);
        compare(replay, last);
}

static bool begins_with_snapshot(const RunRecord *journal) {
        return journal->entries->len > 0 && g_array_index(journal->entries, Entry, 0).kind == ENTRY_SNAPSHOT;
}

static void check_recovery(const Check *check, const RandomRun *run) {
        g_autoptr(RunRecord) journal = read_journal(check);
        g_autoptr(Definition) definition = definition_of(check, journal);
        View last = { random_run_describe(run->actual), random_run_describe_world(run) };

        if (!begins_with_snapshot(journal))
                g_assert_cmpuint(count_inputs(journal, definition, replay_new), ==, check->views->len);
        check_replay(check, journal, definition, replay_new, &last);
        check_replay(check, journal, definition, replay_new_of_end, &last);
        view_clear(&last);
}

/* The part that is never cut: the header, and the snapshot after it, if any, because both are written at once. */
static gsize uncut_length(const char *text) {
        const char *end = strchr(text, '\n') + 1, *next = strchr(end, '\n');
        const char *snapshot = strstr(end, " snapshot ");

        return (gsize) ((next && snapshot && snapshot < next ? next + 1 : end) - text);
}

static void cut_record(Check *check) {
        g_autoptr(RunRecord) journal = read_journal(check);
        g_autofree char *text = NULL;
        gsize length, begin;

        check->n_cut = check->views->len - count_inputs(journal, check->definition, replay_new);
        g_assert_true(g_file_get_contents(check->path, &text, &length, NULL));
        begin = uncut_length(text);
        g_assert_cmpint(
                truncate(check->path, (off_t) (begin + dice_roll(check->dice, (uint32_t) (length - begin) + 1))), ==,
                0);
}

/* Drops the views of the previous life after the cut. The last input before it may have had another effect. */
static void recover(Check *check, RandomRun *run) {
        g_autoptr(RunRecord) journal = read_journal(check);
        g_autoptr(Replay) replay = begin_replay(journal, check->definition, replay_new_of_end);
        unsigned n = count_inputs(journal, check->definition, replay_new);
        View last = {};

        while (step(journal, replay) > 0)
                ;

        compare_ends(journal, check->definition);
        g_array_set_size(check->views, check->n_cut + (n > 0 ? n - 1 : 0));
        if (n > 0 && (check->thorough || check->compared == check->n_cut + n - 1)) {
                last.run = random_run_describe(replay_run(replay));
                last.world = random_run_describe_replay(replay);
        }
        if (n > 0)
                g_array_append_val(check->views, last);

        random_run_recover(run, replay, journal, check->path, check->dice);
        random_run_live(run);
}

void random_replay_check(Definition *definition, Dice *dice, unsigned lives, bool thorough) {
        g_auto(Check) check = {};
        RandomRun run = { .seen = on_input, .userdata = &check };

        check_init(&check, definition, dice, thorough);
        random_run_start(&run, definition, check.path, dice);
        random_run_live(&run);
        for (; lives > 0; lives--) {
                random_run_clear(&run);
                cut_record(&check);
                recover(&check, &run);
        }

        check_recovery(&check, &run);
        random_run_clear(&run);
}
