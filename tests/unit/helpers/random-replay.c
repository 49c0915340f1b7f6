/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "random-replay.h"
#include "record/run-record.h"
#include "run/events.h"
#include "run/snapshot.h"

/* Describes the run after an input. */
typedef struct View {
        char *run, *world; /* NULL: not compared here */
        uint64_t n_events;
} View;

typedef struct Check {
        Definition *definition;
        Dice *dice;
        bool thorough;
        uint32_t compared; /* the input after which runs are compared */
        GPtrArray *events; /* of char *: events of the run so far, as text */
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
        View view = { .n_events = run_n_events(run->actual) };

        g_assert_cmpuint(check->events->len, ==, view.n_events);
        if (check->thorough || check->views->len == check->compared) {
                view.run = random_run_describe(run->actual);
                view.world = random_run_describe_world(run);
        }

        g_array_append_val(check->views, view);
}

static char *describe_event(const RunEvent *event) {
        return g_strdup_printf("%" PRIu64 " %" PRIu64 " #%u %s %s %" PRIu64 " %s %s", event->number, event->time,
                               event->node, event->label, event->what, event->duration, event->text,
                               json_object_to_json_string_ext(event->values, JSON_C_TO_STRING_PLAIN));
}

/* Numbers have no gaps. */
static void on_event(const RunEvent *event, void *userdata) {
        const Check *check = userdata;

        g_ptr_array_add(check->events, describe_event(event));
        g_assert_cmpuint(event->number, ==, check->events->len);
}

typedef struct Replayed {
        GPtrArray *events; /* of char *: the same from the first number that is known */
        uint64_t first;    /* of these; 0: none so far */
} Replayed;

static void on_replayed(const RunEvent *event, void *userdata) {
        Replayed *replayed = userdata;

        if (event->number == 0)
                return;
        if (g_str_equal(event->what, "cut")) {
                g_assert_cmpuint(replayed->events->len, ==, 0);
                replayed->first = event->number + 1;
                return;
        }

        replayed->first = replayed->first ?: 1;
        g_assert_cmpuint(event->number, ==, replayed->first + replayed->events->len);
        g_ptr_array_add(replayed->events, describe_event(event));
}

static void check_init(Check *check, Definition *definition, Dice *dice, bool thorough) {
        *check = (Check){
                .definition = definition,
                .dice = dice,
                .thorough = thorough,
                .compared = dice_roll(dice, 128),
                .events = g_ptr_array_new_with_free_func(g_free),
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
        g_ptr_array_unref(check->events);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Check, check_clear)

static bool seen[ENTRY_KIND_MAX_];

bool random_replay_has_seen(EntryKind kind) {
        return seen[kind];
}

static RunRecord *read_record(const Check *check) {
        g_autofree char *error = NULL;
        RunRecord *record = NULL;

        run_record_read_file(check->path, false, UINT64_MAX, &record, &error);
        g_assert_cmpstr(error, ==, NULL);
        for (unsigned i = 0; i < record->entries->len; i++)
                seen[g_array_index(record->entries, Entry, i).kind] = true;
        return record;
}

static const Entry *next_of(const RunRecord *record, const Replay *replay) {
        unsigned position = replay_position(replay);

        return position < record->entries->len ? &g_array_index(record->entries, Entry, position) : NULL;
}

/* Snapshots are not inputs, and a suspend is an input only if something follows it. */
static int step(const RunRecord *record, Replay *replay) {
        g_autofree char *error = NULL;
        const Entry *next;
        int r;

        while ((next = next_of(record, replay)) && (next->kind == ENTRY_SNAPSHOT || next->kind == ENTRY_SUSPENDED)) {
                replay_step(replay, &error);
                g_assert_cmpstr(error, ==, NULL);
        }

        r = replay_step(replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return r;
}

/* Values of 'from': a replay begins there, see replay_new_after(). */
#define FIRST_ENTRY 0u
#define NEWEST_SNAPSHOT UINT64_MAX

static Replay *begin_replay(const RunRecord *record, Definition *definition, uint64_t from) {
        g_autofree char *error = NULL;
        Replay *replay = NULL;

        (void) replay_new_after(record, definition, from, &replay, &error);
        g_assert_cmpstr(error, ==, NULL);
        return replay;
}

static void drop(json_object *json, const char *path) {
        const char *slash = strchr(path, '/');
        g_autofree char *name = slash ? g_strndup(path, (size_t) (slash - path)) : NULL;

        if (slash)
                drop(json_object_object_get(json, name), slash + 1);
        else
                json_object_object_del(json, path);
}

/* All that a snapshot saves, but for the causes, which may be shared in another way, and the counts. */
static char *describe_state(const Replay *replay) {
        static const char *const other[] = { "causes",          "why",     "cause",           "forced",
                                             "last_evaluation", "counts",  "variables/error", "history/failed",
                                             "machine/leaves",  "n_events" };
        g_autoptr(json_object) snapshot = snapshot_of(replay_run(replay));
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(other); i++)
                drop(snapshot, other[i]);
        json_object_object_foreach(snapshot, name, value)
                g_string_append_printf(text, "%s: %s\n", name, json_object_to_json_string(value));

        return g_string_free(text, FALSE);
}

/* Replay gives the same run from the first entry and from the newest snapshot. */
static void compare_ends(const RunRecord *record, Definition *definition) {
        g_autoptr(Replay) whole = begin_replay(record, definition, FIRST_ENTRY),
                          end = begin_replay(record, definition, NEWEST_SNAPSHOT);
        g_autofree char *was = NULL, *is = NULL;

        while (step(record, whole) > 0)
                ;
        while (step(record, end) > 0)
                ;

        if (run_status(replay_run(whole)) != STATUS_RUNNING)
                return;

        was = describe_state(whole);
        is = describe_state(end);
        random_run_assert_same(is, was);
}

/* A replay has the events that the run had, up to that number; and it has all of them from the first that is kept.
 * Takes the others: the last input before a cut may have had another effect. */
static void compare_events(Check *check, const RunRecord *record, Definition *definition, uint64_t from,
                           uint64_t n_same) {
        g_autoptr(Replay) replay = begin_replay(record, definition, from);
        g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func(g_free);
        Replayed replayed = { .events = events };
        uint64_t n = 0;

        run_observe_events(replay_run(replay), on_replayed, &replayed, UINT_MAX);
        while (step(record, replay) > 0)
                ;

        if (replayed.first > 0)
                n = replayed.first - 1 + events->len;
        g_assert_cmpuint(n, ==, run_n_events(replay_run(replay)));
        g_assert_cmpuint(n, >=, n_same);
        for (uint64_t i = 0; i < events->len; i++) {
                uint64_t number = replayed.first + i;

                if (number <= n_same)
                        g_assert_cmpstr(events->pdata[i], ==, check->events->pdata[number - 1]);
        }

        if (check->events->len > n_same)
                g_ptr_array_set_size(check->events, (int) n_same);
        for (uint64_t number = n_same + 1; number <= n; number++)
                g_ptr_array_add(check->events, g_strdup(events->pdata[number - replayed.first]));
}

/* The number of inputs that are left in the record. */
static unsigned count_inputs(const RunRecord *record, Definition *definition, uint64_t from) {
        g_autoptr(Replay) replay = begin_replay(record, definition, from);
        unsigned n = 0;

        while (step(record, replay) > 0)
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

static Definition *definition_of(const Check *check, const RunRecord *record) {
        g_autofree char *error = NULL;
        Definition *definition = NULL;

        if (!check->thorough)
                return definition_ref(check->definition);

        record_definition_new(&record->header, random_definition_tables, &definition, &error);
        g_assert_cmpstr(error, ==, NULL);
        return definition;
}

/* The last change of each node that an observer received. A node that stops at a breakpoint is waiting from then on. */
typedef struct Told {
        Status *nodes;
} Told;

static void on_told(const RunEvent *event, void *userdata) {
        const Told *told = userdata;

        if (g_str_equal(event->what, "at-breakpoint"))
                told->nodes[event->node] = STATUS_RUNNING;
        else if (event->node != NODE_NONE && event->status != STATUS_IDLE)
                told->nodes[event->node] = event->status;
}

/* The next tick starts it: no event says so. */
static bool is_due(const Run *run, NodeId node) {
        g_autofree char *text = NULL;

        if (node_history_phase(run_node_history(run), node) != PHASE_WAITING)
                return false;

        text = run_describe_waiting(run, node);
        return !text;
}

/* After the run, each node that was running has an end, and an observer has received it. */
static void check_ends(const Run *run, const Status *told) {
        const Tree *tree = definition_tree(run_definition(run));

        for (NodeId node = 0; node < tree->n_nodes; node++) {
                Status status = node_history_status(run_node_history(run), node);

                if (run_status(run) != STATUS_RUNNING)
                        g_assert_cmpstr(status_to_string(status), !=, "running");
                if (told[node] != STATUS_IDLE && !is_due(run, node))
                        g_assert_cmpstr(status_to_string(told[node]), ==, status_to_string(status));
        }
}

/* Covers the last life. */
static void check_replay(const Check *check, const RunRecord *record, Definition *definition, uint64_t from,
                         const View *last) {
        g_autoptr(Replay) replay = begin_replay(record, definition, from);
        unsigned n = count_inputs(record, definition, from);

        g_autofree Status *nodes = g_new0(Status, definition_tree(definition)->n_nodes);
        Told told = { .nodes = nodes };

        g_assert_cmpuint(n, <=, check->views->len);
        run_observe_events(replay_run(replay), on_told, &told, UINT_MAX);
        for (unsigned i = check->views->len - n; i < check->views->len; i++) {
                g_assert_cmpint(step(record, replay), ==, 1);
                compare(replay, &g_array_index(check->views, View, i));
        }

        g_assert_cmpint(step(record, replay), ==, 0);
        check_ends(replay_run(replay), nodes);
        compare(replay, last);
}

static bool begins_with_snapshot(const RunRecord *record) {
        return record->entries->len > 0 && g_array_index(record->entries, Entry, 0).kind == ENTRY_SNAPSHOT;
}

static void check_recovery(Check *check, const RandomRun *run) {
        g_autoptr(RunRecord) record = read_record(check);
        g_autoptr(Definition) definition = definition_of(check, record);
        View last = { random_run_describe(run->actual), random_run_describe_world(run) };

        if (!begins_with_snapshot(record))
                g_assert_cmpuint(count_inputs(record, definition, FIRST_ENTRY), ==, check->views->len);
        compare_events(check, record, definition, FIRST_ENTRY, run_n_events(run->actual));
        compare_events(check, record, definition, NEWEST_SNAPSHOT, run_n_events(run->actual));
        check_replay(check, record, definition, FIRST_ENTRY, &last);
        check_replay(check, record, definition, NEWEST_SNAPSHOT, &last);
        view_clear(&last);
}

/* The part that is never cut: the header, and the snapshot after it, if any, because both are written at once. */
static gsize uncut_length(const char *text) {
        const char *end = strchr(text, '\n') + 1, *next = strchr(end, '\n');
        const char *snapshot = strstr(end, " snapshot ");

        return (gsize) ((next && snapshot && snapshot < next ? next + 1 : end) - text);
}

static void cut_record(Check *check) {
        g_autoptr(RunRecord) record = read_record(check);
        g_autofree char *text = NULL;
        gsize length, begin;

        check->n_cut = check->views->len - count_inputs(record, check->definition, FIRST_ENTRY);
        g_assert_true(g_file_get_contents(check->path, &text, &length, NULL));
        begin = uncut_length(text);
        g_assert_cmpint(
                truncate(check->path, (off_t) (begin + dice_roll(check->dice, (uint32_t) (length - begin) + 1))), ==,
                0);
}

/* The events until the last input. A suspend after it belongs to no input, and the next cut may take just that. */
static uint64_t count_events(const RunRecord *record, Definition *definition) {
        g_autoptr(Replay) replay = begin_replay(record, definition, FIRST_ENTRY);
        uint64_t n = 0;

        while (step(record, replay) > 0)
                n = run_n_events(replay_run(replay));

        return n;
}

/* Drops the views of the previous life after the cut. The last input before it may have had another effect. */
static void recover(Check *check, RandomRun *run) {
        g_autoptr(RunRecord) record = read_record(check);
        g_autoptr(Replay) replay = begin_replay(record, check->definition, NEWEST_SNAPSHOT);
        unsigned n = count_inputs(record, check->definition, FIRST_ENTRY);
        uint64_t n_before;
        View last = {};

        while (step(record, replay) > 0)
                ;

        compare_ends(record, check->definition);
        g_array_set_size(check->views, check->n_cut + (n > 0 ? n - 1 : 0));
        n_before = check->views->len > 0 ? g_array_index(check->views, View, check->views->len - 1).n_events : 0;
        compare_events(check, record, check->definition, FIRST_ENTRY, n_before);
        last.n_events = count_events(record, check->definition);
        if (n > 0 && (check->thorough || check->compared == check->n_cut + n - 1)) {
                last.run = random_run_describe(replay_run(replay));
                last.world = random_run_describe_replay(replay);
        }
        if (n > 0)
                g_array_append_val(check->views, last);

        random_run_recover(run, replay, record, check->path, check->dice);
        random_run_live(run);
}

void random_replay_check(Definition *definition, Dice *dice, unsigned lives, bool thorough) {
        g_auto(Check) check = {};
        RandomRun run = { .on_input = on_input, .on_event = on_event, .userdata = &check };

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
