/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the event log and the plot of run records, valid and invalid ones. */

#include <string.h>

#include "basic/cleanup.h"
#include "client/plot/plot.h"
#include "engine/types/types.h"
#include "leaf-types/leaf-types.h"

#define N_NODES 1000u
#define MSEC UINT64_C(1000)

static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };

/* A sequence of leaves with different names. */
static char *tree_text(unsigned n_nodes) {
        GString *text = g_string_new("{\"btd\":1,\"root\":{\"type\":\"Sequence\",\"name\":\"Boot\",\"children\":[");

        for (unsigned i = 1; i < n_nodes; i++)
                g_string_append_printf(text, "%s{\"type\":\"%s\",\"name\":\"A leaf with a name of its own %u\",%s}",
                                       i > 1 ? "," : "", "ForceSuccess", i,
                                       "\"child\":{\"type\":\"Sleep\",\"duration\":\"1ms\"}");
        g_string_append(text, "]}}");
        return g_string_free(text, FALSE);
}

static json_object *files_of(const char *text) {
        json_object *files = json_object_new_array(), *file = json_object_new_object();

        json_object_object_add(file, "path", json_object_new_string("boot.json"));
        json_object_object_add(file, "text", json_object_new_string(text));
        json_object_object_add(file, "found", json_object_new_array());
        json_object_array_add(files, file);
        return files;
}

/* The checksums of the run record that is being written. */
static EntryChain chain;

static void add_entry(GString *record, uint64_t time, EntryKind kind, NodeId node, const char *details, bool more) {
        size_t line = entry_begin(record, time, kind, node);

        if (details)
                g_string_append_printf(record, " %s", details);
        entry_end(record, line, kind, more, &chain);
}

static void add_record(GString *record, uint64_t time, EntryKind kind, NodeId node, const char *details) {
        add_entry(record, time, kind, node, details, false);
}

/* The next entry belongs to the same block. */
static void add_more(GString *record, uint64_t time, EntryKind kind, NodeId node, const char *details) {
        add_entry(record, time, kind, node, details, true);
}

/* The first line. */
static GString *begin_record(const char *tree) {
        g_autoptr(json_object) files = files_of(tree), variables = json_object_new_object();
        RecordHeader header = {
                .run = (char *) "boot.1",
                .tree = (char *) "boot",
                .engine = engine_version(),
                .variables_kib = limits_default.max[LIMIT_VARIABLES],
                .started = 1700000000000000,
                .start = 1000,
                .files = files,
                .variables = variables,
        };
        GString *record = g_string_new(NULL);

        chain.header = chain.last = record_header_append(record, &header);
        return record;
}

/* Each leaf takes a millisecond; every tenth fails. */
static char *record_text(unsigned n_leaves) {
        g_autofree char *tree = tree_text(n_leaves + 1);
        GString *record = begin_record(tree);

        add_record(record, 0, ENTRY_START, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_TICK, NODE_NONE, NULL);
        for (unsigned i = 1; i <= n_leaves; i++) {
                NodeId leaf = 2 * i;

                add_record(record, (i - 1) * MSEC, ENTRY_BEGIN, leaf, NULL);
                add_record(record, i * MSEC, ENTRY_ENDED, leaf,
                           i % 10 ? "{\"status\":\"success\"}"
                                  : "{\"status\":\"failure\",\"cause\":[{\"kind\":\"failed\",\"text\":\"it says why it "
                                    "has come to this\"}]}");
                add_record(record, i * MSEC, ENTRY_TICK, NODE_NONE, NULL);
        }
        add_record(record, n_leaves * MSEC, ENTRY_FINISHED, NODE_NONE, "{\"status\":\"success\"}");
        return g_string_free(record, FALSE);
}

/* Does all that 'btctl plot' does. */
static void test_thousand_nodes(void) {
        g_autofree char *text = record_text(N_NODES / 2), *svg = NULL, *error = NULL;
        g_autoptr(Recording) recording = NULL;

        g_assert_cmpint(recording_new("boot.1", text, strlen(text), tables, &recording, &error), ==, 0);
        svg = plot_recording(recording, plot_svg, &error);
        g_assert_nonnull(svg);
        g_assert_cmpuint(strlen(svg), <, 500 * 1024);
        g_assert_nonnull(strstr(svg, "success after 500ms"));
        g_assert_nonnull(strstr(svg, ">+602</tspan></text>"));
        g_assert_nonnull(strstr(svg, "A leaf with a name of its own 500: success, from 499ms for 1ms"));
}

static void collect(const RunEvent *event, void *userdata) {
        g_autofree char *line = g_strdup_printf("%u %s", (unsigned) (event->time / MSEC), event->what);

        g_ptr_array_add(userdata, g_steal_pointer(&line));
}

static Recording *make_recording(const char *text, size_t length) {
        g_autofree char *error = NULL;
        Recording *recording;

        g_assert_cmpint(recording_new("x.journal", text, length, tables, &recording, &error), ==, 0);
        return recording;
}

static char *tell(const Recording *recording, uint64_t until) {
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *error = NULL;

        g_assert_cmpint(recording_report(recording, until, collect, lines, &error), ==, 0);
        g_ptr_array_add(lines, NULL);
        return g_strjoinv(", ", (char **) lines->pdata);
}

static void test_until(void) {
        g_autofree char *text = record_text(2), *part = NULL, *all = NULL;
        g_autoptr(Recording) recording = make_recording(text, strlen(text));

        part = tell(recording, MSEC / 2);
        g_assert_cmpstr(part, ==, "0 started, 0 running, 0 running, 0 running, 0 running");
        all = tell(recording, UINT64_MAX);
        g_assert_cmpstr(all, ==,
                        "0 started, 0 running, 0 running, 0 running, 1 success, 1 success, 1 running, 1 running, "
                        "2 success, 2 success, 2 success, 2 success");
}

/* The machine went down: the log ends with the status at that time. */
static void test_broken_off(void) {
        g_autofree char *text = record_text(1), *told = NULL;
        const char *ended = strstr(text, "1000 ended");
        g_autoptr(Recording) recording = make_recording(text, (size_t) (ended - text) + 5);

        told = tell(recording, UINT64_MAX);
        g_assert_cmpstr(told, ==, "0 started, 0 running, 0 running, 0 running, 0 running");
        g_assert_cmpuint(recording_length(recording), ==, 0);
        recording->live = true;
        g_assert_cmpuint(recording_length(recording), >, 0);
}

static void assert_refused(const char *text, const char *expected) {
        g_autofree char *error = NULL;
        Recording *recording;

        g_assert_cmpint(recording_new("x.journal", text, strlen(text), tables, &recording, &error), <, 0);
        g_assert_cmpstr(error, ==, expected);
}

static void test_no_record(void) {
        g_autofree char *text = record_text(1);

        assert_refused("", "it is empty");
        assert_refused("{}", "its first line is incomplete");
        assert_refused("{}\n", "it is not a run record");
        strstr(text, "\"boot\"")[1] = 'B';
        assert_refused(text, "its first line does not match its checksum");
}

static void collect_sets(const RunEvent *event, void *userdata) {
        if (g_str_equal(event->what, "set"))
                g_string_append_printf(userdata, "%u %s\n", event->node,
                                       json_object_to_json_string_ext(event->values, JSON_C_TO_STRING_PLAIN));
}

/* Records have the variables that were set from outside; those that nodes computed follow from the replay. */
static void test_computed(void) {
        static const char tree[] =
                "{\"btd\":1,\"blackboard\":{\"n\":0},\"trees\":{\"double\":{\"inputs\":{\"x\":\"int\"},"
                "\"outputs\":{\"y\":\"int\"},\"root\":{\"type\":\"Script\",\"code\":\"y = 2 * x\"}}},"
                "\"root\":{\"type\":\"Sequence\",\"always\":\"done = true\",\"children\":["
                "{\"type\":\"Script\",\"code\":\"n = n + 1\"},{\"type\":\"Script\",\"code\":\"n = 1\"},"
                "{\"type\":\"Spawn\",\"argv\":[\"x\"],\"stdout\":\"text\",\"on_success\":\"text = text .. '!'\"},"
                "{\"type\":\"ForEach\",\"items\":[7],\"as\":\"i\",\"child\":{\"type\":\"SubTree\","
                "\"tree\":\"double\",\"inputs\":{\"x\":\"{i}\"},\"outputs\":{\"y\":\"n\"}}}]}}";
        static const char at_once[] = "{\"status\":\"success\"}";
        g_autoptr(GString) record = begin_record(tree), sets = g_string_new(NULL);
        g_autoptr(Recording) recording = NULL;
        g_autofree char *error = NULL;

        add_record(record, 0, ENTRY_START, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_SET, NODE_NONE, "{\"n\":5}");
        add_record(record, 0, ENTRY_SET, NODE_NONE, "{\"n\":0}");
        add_more(record, 0, ENTRY_TICK, NODE_NONE, NULL);
        for (NodeId script = 1; script <= 2; script++) {
                add_more(record, 0, ENTRY_BEGIN, script, NULL);
                add_more(record, 0, ENTRY_AT_ONCE, script, at_once);
        }
        add_more(record, 0, ENTRY_BEGIN, 3, NULL);
        add_record(record, 0, ENTRY_COMPUTED, NODE_NONE, "{\"results\":[{\"set\":{\"n\":1}},{\"set\":{}}]}");
        add_record(record, 0, ENTRY_SET, 3, "{\"text\":\"a\"}");
        add_record(record, MSEC, ENTRY_ENDED, 3, at_once);
        add_more(record, MSEC, ENTRY_TICK, NODE_NONE, NULL);
        add_more(record, MSEC, ENTRY_BEGIN, 6, NULL);
        add_more(record, MSEC, ENTRY_AT_ONCE, 6, at_once);
        add_more(record, MSEC, ENTRY_COMPUTED, NODE_NONE,
                 "{\"results\":[{\"set\":{\"text\":\"a!\"}},{\"set\":{\"y\":14}},{\"set\":{\"done\":true}}]}");
        add_record(record, MSEC, ENTRY_FINISHED, NODE_NONE, at_once);

        recording = make_recording(record->str, record->len);
        (void) recording_report(recording, UINT64_MAX, collect_sets, sets, &error);
        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpstr(sets->str, ==,
                        "4294967295 {\"n\":5}\n4294967295 {\"n\":0}\n"
                        "1 {\"n\":1}\n"
                        "3 {\"text\":\"a\"}\n3 {\"text\":\"a!\"}\n"
                        "5 {\"i\":7}\n5 {\"x\":7}\n6 {\"y\":14}\n5 {\"n\":14}\n"
                        "0 {\"done\":true}\n");
}

static GString *first_line(const char *text) {
        chain.last = chain.header;
        return g_string_new_len(text, strchr(text, '\n') + 1 - text);
}

/* The result of the replay does not match the record. */
static void test_mismatch(void) {
        g_autofree char *text = record_text(1), *error = NULL;
        g_autoptr(GString) record = first_line(text);
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Recording) recording = NULL;

        add_record(record, 0, ENTRY_START, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_ENDED, 2, "{\"status\":\"success\"}");
        recording = make_recording(record->str, record->len);
        g_assert_cmpint(recording_report(recording, UINT64_MAX, collect, lines, &error), <, 0);
        g_assert_cmpstr(error, ==, "line 3: node #2 is not running");
}

/* The next btd found the run finished, and recorded that again. */
static void test_ends_twice(void) {
        g_autofree char *text = record_text(1), *error = NULL, *svg = NULL;
        g_autoptr(GString) record = first_line(text);
        g_autoptr(Recording) recording = NULL;

        add_record(record, 0, ENTRY_START, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_TICK, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_BEGIN, 2, NULL);
        add_record(record, MSEC, ENTRY_HALT, NODE_NONE, "{\"cause\":[{\"kind\":\"halted\",\"text\":\"by me\"}]}");
        add_record(record, MSEC, ENTRY_STOP, 2, NULL);
        add_record(record, MSEC, ENTRY_STOPPED, 2, NULL);
        add_record(record, MSEC, ENTRY_TICK, NODE_NONE, NULL);
        for (unsigned i = 1; i <= 2; i++) {
                add_record(record, i * MSEC, ENTRY_FINISHED, NODE_NONE, "{\"status\":\"halted\"}");
                add_record(record, i * MSEC, ENTRY_RECOVERED, NODE_NONE, NULL);
        }
        recording = make_recording(record->str, record->len);
        svg = plot_recording(recording, plot_svg, &error);
        g_assert_cmpstr(error, ==, NULL);
        g_assert_nonnull(strstr(svg, "halted after 1ms: by me"));
}

static void assert_does_not_fit(EntryKind kind, NodeId node, const char *details, const char *expected) {
        g_autofree char *text = record_text(1), *error = NULL;
        g_autoptr(GString) record = first_line(text);
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Recording) recording = NULL;

        add_record(record, 0, ENTRY_START, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_TICK, NODE_NONE, NULL);
        add_record(record, 0, ENTRY_BEGIN, 2, NULL);
        add_record(record, 0, kind, node, details);
        recording = make_recording(record->str, record->len);
        g_assert_cmpint(recording_report(recording, UINT64_MAX, collect, lines, &error), <, 0);
        g_assert_cmpstr(error, ==, expected);
}

/* A crafted run record is refused, whatever it has. */
static void test_crafted(void) {
        static const char *const causes[] = {
                "{}",
                "[]",
                "[{}]",
                "[{\"kind\":\"failed\"}]",
                "[{\"kind\":\"failed\",\"text\":\"x\",\"node\":1}]",
                "[{\"kind\":\"failed\",\"text\":\"x\",\"node\":3000000}]",
                "[{\"kind\":\"failed\",\"text\":\"x\"},{\"kind\":\"failed\",\"text\":\"y\",\"node\":3000000}]",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(causes); i++) {
                g_autofree char *ended = g_strdup_printf("{\"status\":\"failure\",\"cause\":%s}", causes[i]),
                                *halt = g_strdup_printf("{\"cause\":%s}", causes[i]);

                assert_does_not_fit(ENTRY_ENDED, 2, ended, "line 5: its cause belongs to another node");
                assert_does_not_fit(ENTRY_HALT, NODE_NONE, halt, "line 5: its cause belongs to another node");
        }

        assert_does_not_fit(ENTRY_ENDED, 2, "{\"status\":\"error\"}", "line 5: it has no cause");
        assert_does_not_fit(ENTRY_ENDED, 3, "{\"status\":\"success\"}", "line 5: there is no such node for 'ended'");
        assert_does_not_fit(ENTRY_LOCKED, NODE_NONE, NULL, "line 5: there is no such node for 'locked'");
        assert_does_not_fit(ENTRY_VALUE, 3000000, NULL, "line 5: there is no such node for 'value'");
        assert_does_not_fit(ENTRY_HALT, 0, NULL, "line 5: there is no such node for 'halt'");
        assert_does_not_fit(ENTRY_LOCKED, 1, NULL, "line 5: node #1 waits for no lock");
        assert_does_not_fit(ENTRY_SUSPENDED, 2, NULL, "line 5: there is no such node for 'suspended'");
        assert_does_not_fit(ENTRY_SUSPENDED, NODE_NONE, "{\"usec\":\"1h\"}",
                            "line 5: it does not say for how long the machine was suspended");
        assert_does_not_fit(ENTRY_SUSPENDED, NODE_NONE, "{\"usec\":18446744073709551615}",
                            "line 5: it does not say for how long the machine was suspended");
        assert_does_not_fit(ENTRY_START, NODE_NONE, "{}",
                            "line 5: it does not say for how long the machine was suspended");
        assert_does_not_fit(ENTRY_STOPPED, 2, NULL, "line 5: the run has not requested 'stopped'");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/event-log/until", test_until);
        g_test_add_func("/event-log/broken-off", test_broken_off);
        g_test_add_func("/event-log/computed", test_computed);
        g_test_add_func("/event-log/no-record", test_no_record);
        g_test_add_func("/event-log/mismatch", test_mismatch);
        g_test_add_func("/event-log/ends-twice", test_ends_twice);
        g_test_add_func("/event-log/crafted", test_crafted);
        g_test_add_func("/plot/thousand-nodes", test_thousand_nodes);
        return g_test_run();
}
