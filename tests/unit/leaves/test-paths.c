/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests PathExists with real files. */

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assert-cause.h"
#include "leaf-types/leaf-types.h"
#include "path-scene.h"

#define NOBODY 65534

static const NodeType *const types[] = { &path_exists_type, NULL };

static void assert_failure(const PathScene *scene, const char *name, const char *kind, const char *cause) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, name, kind);

        g_assert_cmpint(leaf->status, ==, STATUS_FAILURE);
        path_scene_wait_failure(scene, leaf, cause);
        g_assert_cmpuint(leaf->n_reports, ==, 0);
}

static void assert_success(const PathScene *scene, const char *name, const char *kind) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, name, kind);

        g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
}

static void test_kinds(PathScene *scene, const void *data) {
        path_scene_make_file(scene, "empty", "");
        path_scene_make_file(scene, "full", "x");
        path_scene_make_directory(scene, "void");
        path_scene_make_directory(scene, "house");
        path_scene_make_file(scene, "house/chair", "");
        g_assert_cmpint(mkfifo(path_scene_at(scene, "pipe"), 0600), ==, 0);

        assert_success(scene, "empty", "any");
        assert_success(scene, "empty", "file");
        assert_failure(scene, "empty", "directory", "%/empty is a file, not a directory");
        assert_failure(scene, "empty", "not-empty", "%/empty is empty");
        assert_success(scene, "full", "not-empty");

        assert_success(scene, "void", "any");
        assert_success(scene, "void", "directory");
        assert_success(scene, "void/", "directory");
        assert_failure(scene, "void", "file", "%/void is a directory, not a file");
        assert_failure(scene, "void", "not-empty", "%/void is empty");
        assert_success(scene, "house", "not-empty");

        assert_success(scene, "pipe", "any");
        assert_failure(scene, "pipe", "file", "%/pipe is neither a file nor a directory");
        assert_failure(scene, "pipe", "not-empty", "%/pipe is neither a file nor a directory");

        assert_failure(scene, "none", "any", "%/none does not exist");
        assert_failure(scene, "none/of/these", "any", "%/none/of/these does not exist: there is no %/none");
        assert_failure(scene, "full/x", "any", "%/full/x does not exist: %/full is not a directory");
        assert_failure(scene, "full/", "any", "%/full/ does not exist: %/full is not a directory");
        assert_success(scene, "void/../house/./chair", "file");
}

static void test_facts(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, "none", "file");
        g_autofree char *facts = g_strdup_printf("{\"path\":\"%s\",\"seen\":\"missing\",\"wanted\":\"file\"}",
                                                 path_scene_at(scene, "none"));

        assert_cause(leaf->reason, "condition", facts);
}

static void test_comes_and_goes(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, "here", "file");

        path_scene_make_file(scene, "here", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        path_scene_drop(scene, "here");
        path_scene_wait_failure(scene, leaf, "%/here does not exist");
        path_scene_make_directory(scene, "here");
        path_scene_wait_failure(scene, leaf, "%/here is a directory, not a file");

        path_scene_make_file(scene, "there", "");
        path_scene_drop(scene, "here");
        path_scene_move(scene, "there", "here");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        path_scene_move(scene, "here", "there");
        path_scene_wait_failure(scene, leaf, "%/here does not exist");
}

static void test_parents_come_and_go(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, "a/b/c", "any");

        path_scene_make_directory(scene, "a");
        path_scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a/b");
        path_scene_make_directory(scene, "a/b");
        path_scene_wait_failure(scene, leaf, "%/a/b/c does not exist");
        path_scene_make_file(scene, "a/b/c", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);

        path_scene_move(scene, "a", "z");
        path_scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a");
        /* This is nobody's business any more. */
        path_scene_drop(scene, "z/b/c");
        path_scene_make_file(scene, "z/b/c", "");
        path_scene_move(scene, "z", "a");
        path_scene_wait_status(leaf, STATUS_SUCCESS);

        path_scene_drop(scene, "a/b/c");
        path_scene_drop(scene, "a/b");
        path_scene_drop(scene, "a");
        path_scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a");

        /* All at once: when the first is noticed, the others are there already. */
        path_scene_make_directory(scene, "a");
        path_scene_make_directory(scene, "a/b");
        path_scene_make_file(scene, "a/b/c", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_links(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        path_scene_make_directory(scene, "one");
        path_scene_make_directory(scene, "two");
        path_scene_make_file(scene, "two/file", "");
        path_scene_make_link(scene, "now", "one");
        path_scene_make_link(scene, "absolute", path_scene_at(scene, "now/file"));
        path_scene_make_link(scene, "one/up", "../absolute");

        leaf = path_scene_start(scene, "now/up", "file");
        path_scene_wait_failure(scene, leaf, "%/now/up does not exist: there is no %/one/file");
        path_scene_make_file(scene, "one/file", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);

        path_scene_make_link(scene, "new", "two");
        path_scene_move(scene, "new", "now");
        path_scene_wait_failure(scene, leaf, "%/now/up does not exist: there is no %/two/up");
        path_scene_make_link(scene, "two/up", "file");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_link_loop(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        path_scene_make_link(scene, "here", "there");
        path_scene_make_link(scene, "there", "here");
        leaf = path_scene_start(scene, "here", "any");
        path_scene_wait_failure(scene, leaf,
                                "the state of %/here is not known: %/here cannot be examined: Too many levels of "
                                "symbolic links");
        path_scene_drop(scene, "there");
        path_scene_wait_failure(scene, leaf, "%/here does not exist: there is no %/there");
}

static void test_directory_fills(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, "queue", "not-empty");

        path_scene_make_directory(scene, "queue");
        path_scene_wait_failure(scene, leaf, "%/queue is empty");
        path_scene_make_file(scene, "queue/1", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        path_scene_make_directory(scene, "queue/2");
        path_scene_drop(scene, "queue/1");
        path_scene_drop(scene, "queue/2");
        path_scene_wait_failure(scene, leaf, "%/queue is empty");
}

static void test_file_fills(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        path_scene_make_file(scene, "log", "");
        leaf = path_scene_start(scene, "log", "not-empty");
        path_scene_make_file(scene, "log", "x");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        path_scene_make_file(scene, "log", "");
        path_scene_wait_failure(scene, leaf, "%/log is empty");
        path_scene_make_file(scene, "new", "x");
        path_scene_move(scene, "new", "log");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_root(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) root =
                path_scene_start_node(scene, "{ \"type\": \"PathExists\", \"path\": \"/\", \"kind\": \"not-empty\" }"),
                            above = path_scene_start_node(
                                    scene,
                                    "{ \"type\": \"PathExists\", \"path\": \"/../..\", \"kind\": \"directory\" }");

        g_assert_cmpint(root->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(above->status, ==, STATUS_SUCCESS);
}

/* Root may read everything, so the leaf is evaluated as another user. */
static bool become_nobody(void) {
        return geteuid() != 0 || seteuid(NOBODY) == 0;
}

static void become_root(void) {
        if (getuid() == 0)
                g_assert_cmpint(seteuid(0), ==, 0);
}

static void set_mode(const PathScene *scene, const char *name, mode_t mode) {
        become_root();
        g_assert_cmpint(chmod(path_scene_at(scene, name), mode), ==, 0);
        g_assert_true(become_nobody());
}

static void test_permissions(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        path_scene_make_directory(scene, "safe");
        path_scene_make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);

        leaf = path_scene_start(scene, "safe/gold", "file");
        path_scene_wait_failure(scene, leaf,
                                "the state of %/safe/gold is not known: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        path_scene_wait_status(leaf, STATUS_FAILURE);
        become_root();
}

static void test_unknown(PathScene *scene, const void *data) {
        const char *const values[] = { "failure", "success", "running" };
        const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };
        TestLeaf *leaves[G_N_ELEMENTS(values)];
        g_autofree char *text = NULL, *expected = NULL;

        path_scene_make_directory(scene, "safe");
        path_scene_make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autofree char *node =
                        g_strdup_printf("{ \"type\": \"PathExists\", \"path\": \"%s\", \"unknown\": \"%s\" }",
                                        path_scene_at(scene, "safe/gold"), values[i]);

                leaves[i] = path_scene_start_node(scene, node);
                g_assert_cmpint(leaves[i]->status, ==, statuses[i]);
        }

        text = test_leaf_describe(leaves[2]);
        expected = g_strdup_printf("the state of the path: %s cannot be watched: Permission denied",
                                   path_scene_at(scene, "safe"));
        g_assert_cmpstr(text, ==, expected);

        set_mode(scene, "safe", 0755);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                path_scene_wait_status(leaves[i], STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                path_scene_wait_status(leaves[i], statuses[i]);
                test_leaf_free(leaves[i]);
        }
        become_root();
}

/* What is in a directory that may not be read can be seen to go, but not to come. */
static void test_hidden_directory(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) gold = NULL, silver = NULL;

        path_scene_make_directory(scene, "safe");
        path_scene_make_directory(scene, "safe/box");
        path_scene_make_file(scene, "safe/box/gold", "");
        set_mode(scene, "safe", 0111);

        gold = path_scene_start(scene, "safe/box/gold", "file");
        g_assert_cmpint(gold->status, ==, STATUS_SUCCESS);
        silver = path_scene_start(scene, "safe/silver", "file");
        path_scene_wait_failure(scene, silver,
                                "the state of %/safe/silver is not known: %/safe cannot be watched: Permission denied");

        become_root();
        path_scene_move(scene, "safe/box", "box");
        g_assert_true(become_nobody());
        path_scene_wait_failure(
                scene, gold, "the state of %/safe/box/gold is not known: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        path_scene_wait_failure(scene, gold, "%/safe/box/gold does not exist: there is no %/safe/box");
        path_scene_wait_failure(scene, silver, "%/safe/silver does not exist");
        become_root();
}

static void assert_refused(const char *rest, const char *text) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"PathExists\", %s }", rest);
        g_autofree char *error = leaf_stage_check(types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_bad_parameters(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        assert_refused("\"path\": \"tmp/x\"", "path: \"tmp/x\" must begin with \"/\"");
        assert_refused("\"path\": \"\"", "path: \"\" must begin with \"/\"");
        assert_refused("\"path\": \"/x\", \"kind\": \"dir\"",
                       "kind: \"dir\" is none of \"any\", \"file\", \"directory\", \"not-empty\"; did you mean "
                       "\"directory\"?");
        assert_refused("\"path\": \"/x\", \"unknown\": true",
                       "unknown: expected one of \"failure\", \"success\", \"running\", not true");
        assert_refused("\"path\": \"/sys/class/net\"",
                       "path: the kernel does not report changes of \"/sys/class/net\", so the condition is evaluated "
                       "only once; a Command can check it again and again");
        assert_refused("\"path\": \"/system\"", NULL);
        assert_refused("\"path\": \"{path}\"", NULL);

        leaf_stage_set_variable(scene->stage, "path", "tmp/x");
        leaf = leaf_stage_start(scene->stage, types, "{ \"type\": \"PathExists\", \"path\": \"{path}\" }");
        g_assert_cmpint(leaf->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "path: \"tmp/x\" must begin with \"/\"");
        assert_cause(leaf->reason, "parameter", "null");
}

#define add(name, function) g_test_add("/paths/" name, PathScene, NULL, path_scene_open, function, path_scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("kinds", test_kinds);
        add("facts", test_facts);
        add("comes-and-goes", test_comes_and_goes);
        add("parents-come-and-go", test_parents_come_and_go);
        add("links", test_links);
        add("link-loop", test_link_loop);
        add("directory-fills", test_directory_fills);
        add("file-fills", test_file_fills);
        add("root", test_root);
        add("permissions", test_permissions);
        add("unknown", test_unknown);
        add("hidden-directory", test_hidden_directory);
        add("bad-parameters", test_bad_parameters);

        return g_test_run();
}
