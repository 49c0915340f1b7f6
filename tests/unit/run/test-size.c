/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Trees of any size: what is refused and how, and what trees and runs take of memory.
 */

#include <errno.h>
#include <glib/gstdio.h>
#include <malloc.h>
#include <unistd.h>

#include "basic/timers.h"
#include "definition/definition.h"
#include "large-trees.h"
#include "record/record-writer.h"
#include "run/run.h"
#include "sanitized.h"

static Status good_start(Leaf *leaf) {
        return STATUS_SUCCESS;
}

static Status act_start(Leaf *leaf) {
        return STATUS_RUNNING;
}

static const LeafKind good_kind = { .start = good_start };
static const LeafKind act_kind = { .start = act_start };

static const NodeType *const *const tables[] = { engine_types, large_tree_leaves, NULL };

static Definition *load(const GString *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        Definition *definition = NULL;

        g_assert_cmpint(definition_load_text(text->str, text->len, tables, NULL, diagnostics, &definition), ==, 0);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 0);
        return definition;
}

static Definition *load_wide(const char *type, const char *child, uint32_t n, const char *last) {
        g_autoptr(GString) text = large_tree_wide(type, child, n, last);

        return load(text);
}

static void assert_refused(const GString *text, const char *expected) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        Definition *definition = NULL;

        g_assert_cmpint(definition_load_text(text->str, text->len, tables, NULL, diagnostics, &definition), <, 0);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_cmpstr(diagnostics_get(diagnostics, 0)->text, ==, expected);
}

static void test_depth(void) {
        g_autoptr(GString) deepest = large_tree_deep(TREE_DEPTH_MAX - 1), deeper = large_tree_deep(TREE_DEPTH_MAX);
        g_autoptr(GString) far_deeper = large_tree_deep(100000);
        g_autoptr(Definition) definition = load(deepest);
        g_autoptr(Machine) machine = machine_new(definition_tree(definition), &large_tree_host, NULL, 1);

        machine_start(machine);
        g_assert_cmpint(machine_tick(machine), ==, STATUS_FAILURE);

        assert_refused(deeper, "nested too deeply: a tree has at most 1000 levels");
        assert_refused(far_deeper, "nested too deeply: more than 4000 brackets are open here");
}

static void test_number_of_nodes(void) {
        g_autoptr(GString) largest = large_tree_wide("Sequence", "Good", TREE_NODES_MAX - 1, NULL);
        g_autoptr(GString) larger = large_tree_wide("Sequence", "Good", TREE_NODES_MAX, NULL);
        g_autoptr(Definition) definition = load(largest);
        g_autoptr(Machine) machine = machine_new(definition_tree(definition), &large_tree_host, NULL, 1);

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, TREE_NODES_MAX);
        machine_start(machine);
        g_assert_cmpint(machine_tick(machine), ==, STATUS_SUCCESS);

        assert_refused(larger, "a tree has at most 1000000 nodes");
}

/* Large trees are freed by threads. */
static void await_threads(void) {
        guint n_threads;

        do {
                g_autoptr(GDir) threads = g_dir_open("/proc/self/task", 0, NULL);

                for (n_threads = 0; g_dir_read_name(threads); n_threads++)
                        ;
        } while (n_threads > 1);
}

static size_t bytes_held(void) {
        struct mallinfo2 info = (await_threads(), mallinfo2());

        return info.uordblks + info.hblkhd;
}

/* The text is kept beside the tree, for those who ask for it. */
static void test_bytes_of_a_tree(void) {
        const uint32_t n = 100000;
        g_autoptr(GString) text = large_tree_wide("Sequence", "Good", n - 1, NULL);
        g_autoptr(Definition) definition = NULL;
        size_t before;

        if (SANITIZED) {
                g_test_skip("a sanitizer keeps its own books");
                return;
        }

        definition_unref(load(text)); /* what is kept for good is there now */
        before = bytes_held();
        definition = load(text);
        g_test_message("%zu bytes a node", (bytes_held() - before - text->len) / n);
        g_assert_cmpuint(bytes_held() - before - text->len, <=, (size_t) 64 * n);
}

static void test_bytes_of_a_run(void) {
        const uint32_t n = 100000;
        g_autoptr(Definition) definition = load_wide("Sequence", "Good", n - 1, NULL);
        size_t before = bytes_held();
        g_autoptr(Machine) machine = NULL;

        if (SANITIZED) {
                g_test_skip("a sanitizer keeps its own books");
                return;
        }

        machine = machine_new(definition_tree(definition), &large_tree_host, NULL, 1);
        g_test_message("%zu bytes a node", (bytes_held() - before) / n);
        g_assert_cmpuint(bytes_held() - before, <=, (size_t) 24 * n);
}

static void on_run_changed(Run *run, void *userdata) {}

static void on_run_finished(Run *run, void *userdata) {}

static const RunCallbacks run_callbacks = { .changed = on_run_changed, .finished = on_run_finished };

static const LeafKind *kind_of(const NodeType *type) {
        return g_str_equal(type->name, "Good") ? &good_kind : &act_kind;
}

/* What a thousand runs of 100 nodes take, the last of which is an action that goes on running, each. */
static size_t bytes_of_run(const char *type) {
        g_autoptr(Definition) definition = load_wide("Sequence", type, 98, "Act");
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Timers) timers = timers_new(context);
        g_autoptr(Ticker) ticker = ticker_new(context);
        LeafServices leaf_services = { .kind_of = kind_of, .timers = timers };
        RunServices services = { .leaves = &leaf_services, .ticker = ticker };
        Run *runs[1000];
        size_t before = bytes_held(), bytes;

        for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
                runs[i] = run_new("hundred.1000", "hundred", "", definition, &services, &run_callbacks, NULL);
                run_start(runs[i], NULL);
        }
        while (g_main_context_iteration(context, FALSE))
                ;

        bytes = (bytes_held() - before) / G_N_ELEMENTS(runs);
        for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
                g_assert_cmpint(run_status(runs[i]), ==, STATUS_RUNNING);
                run_free(runs[i]);
        }

        return bytes;
}

/* The tree is shared; most of a run are the states of its nodes, and in time what became of each. That is all that it
 * keeps: not what its record was written with, nor what it was not given. */
static void test_bytes_of_many_runs(void) {
        size_t begun, late;

        if (SANITIZED) {
                g_test_skip("a sanitizer keeps its own books");
                return;
        }

        begun = bytes_of_run("Act");
        late = bytes_of_run("Good");
        g_test_message("%zu bytes a run in its first leaf, %zu in its last", begun, late);
        g_assert_cmpuint(begun, <=, 4096);
        g_assert_cmpuint(late, <=, 4096);
}

/* Its header has the texts of the tree, and is not kept once it is written. */
static void test_bytes_of_a_record(void) {
        g_autofree char *directory = g_dir_make_tmp("btd-test-XXXXXX", NULL), *text = g_strnfill(10000, 'x');
        RecordHeader header = { .run = (char *) "hundred.1000", .starter = text };
        RecordWriter *writers[100];
        size_t before = 0, bytes;

        for (size_t i = 0; i < G_N_ELEMENTS(writers); i++) {
                g_autofree char *path = g_strdup_printf("%s/hundred.%zu", directory, i), *error = NULL;

                if (i == 1) /* what is kept for good is there now */
                        before = bytes_held();
                g_assert_cmpint(record_writer_create(path, &header, &limits_default, &writers[i], &error), ==, 0);
                g_assert_cmpint(record_writer_flush(writers[i], &error), ==, 0);
                g_assert_cmpint(remove(path), ==, 0);
        }

        bytes = (bytes_held() - before) / (G_N_ELEMENTS(writers) - 1);
        for (size_t i = 0; i < G_N_ELEMENTS(writers); i++)
                record_writer_free(writers[i]);

        g_assert_cmpint(g_rmdir(directory), ==, 0);
        if (SANITIZED) {
                g_test_skip("a sanitizer keeps its own books");
                return;
        }

        g_test_message("%zu bytes a record", bytes);
        g_assert_cmpuint(bytes, <=, 256);
}

/* What a thread keeps of freed memory for later counts as held, so it keeps nothing. glibc reads this only when a
 * program begins. */
static void begin_without_thread_caches(char **argv) {
        if (g_getenv("GLIBC_TUNABLES"))
                return;

        g_setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", true);
        execv("/proc/self/exe", argv);
        g_error("/proc/self/exe: %s", g_strerror(errno));
}

int main(int argc, char **argv) {
        begin_without_thread_caches(argv);
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/size/depth", test_depth);
        g_test_add_func("/size/number-of-nodes", test_number_of_nodes);
        g_test_add_func("/size/bytes-of-a-tree", test_bytes_of_a_tree);
        g_test_add_func("/size/bytes-of-a-run", test_bytes_of_a_run);
        g_test_add_func("/size/bytes-of-many-runs", test_bytes_of_many_runs);
        g_test_add_func("/size/bytes-of-a-record", test_bytes_of_a_record);

        return g_test_run();
}
