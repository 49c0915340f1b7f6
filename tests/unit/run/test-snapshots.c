/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tests what becomes of a run whose run record begins with a damaged snapshot. Each value of the snapshots of stored
 * run records, which are on the command line, is replaced by others in turn; and one value of the snapshots of random
 * runs. Either the snapshot is refused, or the run continues with it, and its state can be shown and stored.
 */

#include <glib/gstdio.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "random-run.h"
#include "record/run-record.h"
#include "rounds.h"
#include "run/snapshot.h"

#define RANDOM_TREES 1000
#define DAMAGES 60

static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };

static const char *const values[] = {
        "0",  "1",    "2",     "5",  "16", "64",   "255", "256", "4294967295", "9223372036854775808",
        "-1", "null", "\"x\"", "[]", "{}", "true", "1.5",
};

static void add_places(json_object *value, const char *place, GPtrArray *places) {
        if (json_object_is_type(value, json_type_object)) {
                json_object_object_foreach(value, key, member) {
                        char *inner = g_strdup_printf("%s/%s", place, key);

                        g_ptr_array_add(places, inner);
                        add_places(member, inner, places);
                }
        } else if (json_object_is_type(value, json_type_array)) {
                for (size_t i = 0; i < json_object_array_length(value); i++) {
                        char *inner = g_strdup_printf("%s/%zu", place, i);

                        g_ptr_array_add(places, inner);
                        add_places(json_object_array_get_idx(value, i), inner, places);
                }
        }
}

static void show(const Replay *replay) {
        const Run *run = replay_run(replay);

        for (NodeId node = 0; node < definition_tree(run_definition(run))->n_nodes; node++) {
                NodeReport report;

                replay_node_report(replay, node, run_now(run), &report);
                node_report_clear(&report);
        }
}

/* NULL: the run continues. */
static char *error_of(const RunRecord *record, Definition *definition) {
        g_autoptr(Replay) replay = NULL;
        char *error = NULL;
        int r;

        r = replay_new(record, definition, &replay, &error);
        if (r >= 0)
                r = replay_step(replay, &error);
        if (r > 0) {
                show(replay);
                r = replay_until(replay, UINT64_MAX, &error);
        }
        if (r >= 0)
                show(replay);
        return error;
}

static void put(json_object **copy, const char *place, const char *text) {
        g_assert_cmpint(json_pointer_set(copy, place, json_tokener_parse(text)), ==, 0);
}

static void test_damaged(const void *path) {
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(Definition) definition = NULL;
        g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *error = NULL, *whole = NULL;
        unsigned n_refused = 0, n_unfit = 0, n = 0;
        json_object *snapshot;
        Entry *entry;

        g_assert_cmpint(run_record_read_file(path, false, UINT64_MAX, &record, &error), ==, 0);
        g_assert_cmpint(record_definition_new(&record->header, tables, &definition, &error), ==, 0);
        entry = &g_array_index(record->entries, Entry, 0);
        g_assert_cmpint(entry->kind, ==, ENTRY_SNAPSHOT);
        whole = error_of(record, definition);
        g_assert_cmpstr(whole, ==, NULL);

        snapshot = entry->details;
        add_places(snapshot, "", places);
        for (unsigned i = 0; i < places->len; i++)
                for (size_t k = 0; k < G_N_ELEMENTS(values); k++, n++) {
                        g_autofree char *refusal = NULL;

                        entry->details = NULL;
                        g_assert_cmpint(json_object_deep_copy(snapshot, &entry->details, NULL), ==, 0);
                        put(&entry->details, places->pdata[i], values[k]);
                        refusal = error_of(record, definition);
                        n_refused += refusal != NULL;
                        n_unfit += g_strcmp0(refusal, "line 2: the snapshot does not fit the tree") == 0;
                        json_object_put(entry->details);
                }
        entry->details = snapshot;

        g_test_message("%u values, %u refused, %u because of the snapshot", n, n_refused, n_unfit);
        g_assert_cmpuint(n_unfit, >, n / 4);
        g_assert_cmpuint(n_refused, <, n);
}

static void on_input(RandomRun *run, void *userdata) {}
static void on_event(const RunEvent *event, void *userdata) {}

/* The record of a random run, with nothing but its snapshot at that time. NULL: the run has finished. */
static RunRecord *random_record(Definition *definition, Dice *dice) {
        g_autofree char *path = g_strdup_printf("%s/btd-snapshots-%i", g_get_tmp_dir(), (int) getpid()), *error = NULL;
        g_auto(RandomRun) run = { .on_input = on_input, .on_event = on_event };
        RunRecord *record = NULL;
        Entry entry = { .kind = ENTRY_SNAPSHOT, .node = NODE_NONE };

        g_unlink(path);
        random_run_start(&run, definition, path, dice);
        for (unsigned n = dice_roll(dice, 40); n > 0 && run_status(run.actual) == STATUS_RUNNING; n--)
                random_run_happen(&run);
        if (run_status(run.actual) == STATUS_RUNNING) {
                run_record_read_file(path, false, UINT64_MAX, &record, &error);
                g_assert_cmpstr(error, ==, NULL);
                entry.time = run_now(run.actual) - RANDOM_RUN_START;
                entry.details = snapshot_of(run.actual);
                g_array_set_size(record->entries, 0);
                g_array_append_val(record->entries, entry);
        }

        g_unlink(path);
        return record;
}

/* One of the values above, or one that is elsewhere in the snapshot. */
static const char *random_damage(json_object *snapshot, const GPtrArray *places, Dice *dice) {
        json_object *other = NULL;

        if (dice_chance(dice, 60))
                return values[dice_roll(dice, G_N_ELEMENTS(values))];

        (void) json_pointer_get(snapshot, places->pdata[dice_roll(dice, places->len)], &other); /* -1: null */
        return json_object_to_json_string(other);
}

static void test_random(void) {
        unsigned n_refused = 0, n = 0;

        for (uint32_t seed = 1; seed <= rounds(RANDOM_TREES); seed++) {
                g_autoptr(Dice) dice = dice_new(seed);
                g_autoptr(Definition) definition = random_definition_new(dice, 4);
                g_autoptr(RunRecord) record = definition ? random_record(definition, dice) : NULL;
                g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
                g_autofree char *whole = record ? error_of(record, definition) : NULL;
                json_object *snapshot;
                Entry *entry;

                if (!record)
                        continue;

                g_assert_cmpstr(whole, ==, NULL);
                entry = &g_array_index(record->entries, Entry, 0);
                snapshot = entry->details;
                add_places(snapshot, "", places);
                for (unsigned i = 0; i < DAMAGES; i++, n++) {
                        const char *place = places->pdata[dice_roll(dice, places->len)];
                        g_autofree char *refusal = NULL;

                        entry->details = NULL;
                        g_assert_cmpint(json_object_deep_copy(snapshot, &entry->details, NULL), ==, 0);
                        g_test_message("seed %u, %s", seed, place);
                        put(&entry->details, place, random_damage(snapshot, places, dice));
                        refusal = error_of(record, definition);
                        if (refusal)
                                g_assert_cmpstr(refusal, ==, "line 2: the snapshot does not fit the tree");
                        n_refused += refusal != NULL;
                        json_object_put(entry->details);
                }
                entry->details = snapshot;
        }

        g_test_message("%u values, %u refused", n, n_refused);
        g_assert_cmpuint(n_refused, >, n / 4);
        g_assert_cmpuint(n_refused, <, n);
}

/* The replay begins with the newest snapshot that has no event above the number. */
static void test_after(const void *path) {
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(Definition) definition = NULL;
        g_autofree char *error = NULL;
        unsigned snapshots[2], n = 0;
        const struct {
                uint64_t number;
                unsigned snapshot;
        } cases[] = { { 5, 0 }, { 10, 0 }, { 199, 0 }, { 200, 1 }, { UINT64_MAX, 1 } };

        g_assert_cmpint(run_record_read_file(path, false, UINT64_MAX, &record, &error), ==, 0);
        g_assert_cmpint(record_definition_new(&record->header, tables, &definition, &error), ==, 0);
        for (unsigned i = 0; i < record->entries->len; i++) {
                const Entry *entry = &g_array_index(record->entries, Entry, i);

                if (entry->kind != ENTRY_SNAPSHOT)
                        continue;
                g_assert_cmpuint(n, <, G_N_ELEMENTS(snapshots));
                json_object_object_add(entry->details, "n_events", json_object_new_int(n == 0 ? 10 : 200));
                snapshots[n++] = i;
        }
        g_assert_cmpuint(n, ==, G_N_ELEMENTS(snapshots));

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Replay) replay = NULL;

                g_assert_cmpint(replay_new_after(record, definition, cases[i].number, &replay, &error), ==, 0);
                g_assert_cmpint(replay_step(replay, &error), ==, 1);
                g_assert_cmpuint(replay_position(replay), ==, snapshots[cases[i].snapshot] + 1);
                g_assert_cmpuint(run_n_events(replay_run(replay)), ==, cases[i].snapshot == 0 ? 10 : 200);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/snapshots/random", test_random);
        for (int i = 1; i < argc; i++) {
                g_autofree char *name = g_path_get_basename(argv[i]);
                g_autofree char *damaged = g_strdup_printf("/snapshots/damaged/%s", name),
                                *after = g_strdup_printf("/snapshots/after/%s", name);

                g_test_add_data_func(damaged, argv[i], test_damaged);
                g_test_add_data_func(after, argv[i], test_after);
        }
        return g_test_run();
}
