/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the loading of valid tree files, also very deep and very wide ones, and of text that is no tree file. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "loaded.h"

static void test_whole(void) {
        static const char *const text =
                "{ // with a comment\n  \"$schema\": \"x\", \"btd\": 1, \"description\": \"a {b}\", \"autostart\": "
                "true, \"interval\": \"1s\",\n  \"blackboard\": { \"primary\": \"eth0\", \"n\": [1, \"{raw}\"] },\n  "
                "\"root\": { \"type\": \"Many\", \"name\": \"Boot\", \"description\": \"why\", \"children\": [\n    { "
                "\"type\": \"Specimen\", \"name\": \"Cam\", \"unit\": \"cam\", \"timeout\": \"5s\" },\n    { "
                "\"child\": { \"type\": \"Plain\" }, \"delay\": \"150ms\", \"type\": \"Wrapper\" },\n    { \"type\": "
                "\"Plain\" } ] } }\n";
        g_autoptr(Definition) definition = loaded_good(text);
        const Tree *tree = definition_tree(definition);
        const Example *example = tree->nodes[1].params;
        g_autofree char *path = tree_node_path(tree, 3);

        g_assert_cmpstr(definition_header(definition)->description, ==, "a {b}");
        g_assert_true(definition_header(definition)->autostart);
        g_assert_cmpstr(definition_text(definition), ==, text);
        g_assert_cmpstr(json_object_to_json_string_ext(definition_blackboard(definition), JSON_C_TO_STRING_PLAIN), ==,
                        "{\"primary\":\"eth0\",\"n\":[1,\"{raw}\"]}");

        g_assert_cmpuint(tree->n_nodes, ==, 5);
        g_assert_cmpuint(tree->interval, ==, 1000000);
        g_assert_true(tree->nodes[0].type == &many_type);
        g_assert_true(tree->nodes[1].type == &example_type);
        g_assert_cmpstr(tree_node_name(tree, 1), ==, "Cam");
        g_assert_cmpstr(tree_node_name(tree, 4), ==, "Plain");
        g_assert_cmpstr(path, ==, "Boot/Wrapper/Plain");
        g_assert_cmpstr(example->unit, ==, "cam");
        g_assert_cmpuint(example->timeout, ==, 5000000);
        g_assert_cmpuint(*(const uint64_t *) tree->nodes[2].params, ==, 150000);
}

static void test_defaults(void) {
        g_autoptr(Definition) definition = loaded_good("{\"btd\":1,\"root\":{\"type\":\"Plain\"}}");
        g_autoptr(Definition) again = definition_ref(definition);

        g_assert_null(definition_header(definition)->description);
        g_assert_false(definition_header(definition)->autostart);
        g_assert_cmpuint(definition_tree(again)->interval, ==, TREE_INTERVAL_DEFAULT);
        g_assert_cmpint(json_object_object_length(definition_blackboard(definition)), ==, 0);
        g_assert_cmpstr(definition_hash(definition), ==,
                        "8c5914c5c6b3d48a6487b77ab2a135b8b9b200880f80733daefe73405fe78ab4");
        definition_unref(NULL);
}

/* What is wrong at the top of a file. */
static void test_warning(void) {
        static const char *const text = "{\"btd\":1,\"root\":{\"type\":\"Inverse\",\"name\":\"N\",\"child\":{\"type\":"
                                        "\"Example\",\"unit\":\"odd\"}}}";
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        g_autofree char *messages = NULL;

        g_assert_cmpint(definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition), ==,
                        0);
        messages = loaded_messages(diagnostics);
        g_assert_cmpstr(messages, ==, "t:1:79: warning: unit: an odd one (in N/Example)");
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), ==, 0);
        g_assert_true(diagnostics_get(diagnostics, 0)->warning);
}

static char *chain(unsigned levels) {
        GString *text = g_string_new("{\"btd\":1,\"root\":");

        for (unsigned i = 1; i < levels; i++)
                g_string_append(text, "{\"type\":\"Many\",\"children\":[");
        g_string_append(text, "{\"type\":\"Plain\"}");
        for (unsigned i = 1; i < levels; i++)
                g_string_append(text, "]}");

        g_string_append_c(text, '}');
        return g_string_free(text, false);
}

static void test_deep(void) {
        g_autofree char *deepest = chain(TREE_DEPTH_MAX), *deeper = chain(TREE_DEPTH_MAX + 1);
        g_autoptr(Definition) definition = loaded_good(deepest);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        Definition *none = NULL;

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, TREE_DEPTH_MAX);
        g_assert_cmpint(definition_load_text(deeper, strlen(deeper), example_tables, NULL, diagnostics, &none), ==,
                        -EINVAL);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_cmpstr(diagnostics_get(diagnostics, 0)->text, ==, "nested too deeply: a tree has at most 1000 levels");
        g_assert_cmpuint(strlen(diagnostics_get(diagnostics, 0)->where), <, 310);
        g_assert_true(g_str_has_prefix(diagnostics_get(diagnostics, 0)->where, "..."));
}

static char *broad(const char *child, unsigned n) {
        GString *text = g_string_new("{\"btd\":1,\"root\":{\"type\":\"Many\",\"children\":[");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, "%s%s", i > 0 ? "," : "", child);

        g_string_append(text, "]}}");
        return g_string_free(text, false);
}

/* All are counted, but not all are kept. */
static void test_many_errors(void) {
        g_autofree char *nodes = broad("5", 20000), *elements = NULL;
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t"), more = diagnostics_new("t");
        g_autoptr(GString) text = g_string_new("{\"btd\":1,\"root\":{\"type\":\"Example\",\"unit\":\"a\",\"argv\":[0");
        g_autofree char *last = NULL;
        Definition *none = NULL;

        g_assert_cmpint(definition_load_text(nodes, strlen(nodes), example_tables, NULL, diagnostics, &none), ==,
                        -EINVAL);
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), ==, 20000);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, DIAGNOSTICS_MAX + 1);
        last = diagnostics_format(diagnostics, DIAGNOSTICS_MAX);
        g_assert_cmpstr(last, ==, "t: error: 19500 more like these are not shown");

        elements = g_strnfill(40000, ',');
        for (size_t i = 1; i < 40000; i += 2)
                elements[i] = '0';
        g_string_append(text, elements);
        g_string_append(text, "]}}");
        g_assert_cmpint(definition_load_text(text->str, text->len, example_tables, NULL, more, &none), ==, -EINVAL);
        g_assert_cmpuint(diagnostics_count_errors(more), ==, 20001);
}

/* Nodes that set nothing share the struct of the defaults, and equal names are one string. */
static void test_sharing(void) {
        g_autofree char *text = broad("{\"type\":\"Few\",\"name\":\"N\",\"children\":[{\"type\":\"Plain\"}]}", 100);
        g_autoptr(Definition) definition = loaded_good(text);
        const Tree *tree = definition_tree(definition);

        g_assert_cmpuint(tree->n_nodes, ==, 201);
        g_assert_true(tree->names[1] == tree->names[199]);
        g_assert_true(tree->nodes[1].params == tree->nodes[199].params);
        g_assert_null(tree->names[2]);
}

static void assert_bad_file(const char *path, int error, const char *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("FILE");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;

        g_assert_cmpint(definition_load_file(path, example_tables, NULL, diagnostics, &definition), ==, error);
        messages = loaded_messages(diagnostics);
        g_assert_cmpstr(messages, ==, text);
        g_assert_null(definition);
}

static void test_files(void) {
        g_autofree char *dir = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        g_autofree char *good = g_build_filename(dir, "good.json", NULL), *fifo = g_build_filename(dir, "fifo", NULL);
        g_autofree char *large = g_build_filename(dir, "large", NULL), *loop = g_build_filename(dir, "loop", NULL);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(good);
        g_autoptr(Definition) definition = NULL;
        g_auto(AutoFd) fd = -1;

        g_assert_true(g_file_set_contents(good, "{\"btd\":1,\"root\":{\"type\":\"Plain\"}}", -1, NULL));
        g_assert_cmpint(definition_load_file(good, example_tables, NULL, diagnostics, &definition), ==, 0);
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 1);

        g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
        g_assert_cmpint(symlink("loop", loop), ==, 0);
        fd = open(large, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        g_assert_cmpint(ftruncate(fd, 64 * 1024 * 1024 + 1), ==, 0);

        assert_bad_file("/nonexistent/x.json", -ENOENT, "FILE: error: cannot be opened: No such file or directory");
        assert_bad_file(loop, -ELOOP, "FILE: error: cannot be opened: Too many levels of symbolic links");
        assert_bad_file(dir, -EISDIR, "FILE: error: is a directory, not a regular file");
        assert_bad_file(fifo, -EINVAL, "FILE: error: is not a regular file");
        assert_bad_file("/dev/null", -EINVAL, "FILE: error: is not a regular file");
        assert_bad_file(large, -EFBIG, "FILE: error: is too large: more than 64 MiB");

        g_unlink(good);
        g_unlink(fifo);
        g_unlink(loop);
        g_unlink(large);
        g_rmdir(dir);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition/whole", test_whole);
        g_test_add_func("/definition/defaults", test_defaults);
        g_test_add_func("/definition/warning", test_warning);
        g_test_add_func("/definition/deep", test_deep);
        g_test_add_func("/definition/many-errors", test_many_errors);
        g_test_add_func("/definition/sharing", test_sharing);
        g_test_add_func("/definition/files", test_files);
        return g_test_run();
}
