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

static void assert_failure(const Scene *scene, const char *name, const char *kind, const char *cause) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, name, kind);

        g_assert_cmpint(leaf->status, ==, STATUS_FAILURE);
        scene_wait_failure(scene, leaf, cause);
        g_assert_cmpuint(leaf->n_reports, ==, 0);
}

static void assert_success(const Scene *scene, const char *name, const char *kind) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, name, kind);

        g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
}

static void test_kinds(Scene *scene, const void *data) {
        scene_make_file(scene, "empty", "");
        scene_make_file(scene, "full", "x");
        scene_make_directory(scene, "void");
        scene_make_directory(scene, "house");
        scene_make_file(scene, "house/chair", "");
        g_assert_cmpint(mkfifo(scene_at(scene, "pipe"), 0600), ==, 0);

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

static void test_facts(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, "none", "file");
        g_autofree char *facts =
                g_strdup_printf("{\"path\":\"%s\",\"seen\":\"missing\",\"wanted\":\"file\"}", scene_at(scene, "none"));

        assert_cause(leaf->reason, "condition", facts);
}

static void test_comes_and_goes(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, "here", "file");

        scene_make_file(scene, "here", "");
        scene_wait_status(leaf, STATUS_SUCCESS);
        scene_drop(scene, "here");
        scene_wait_failure(scene, leaf, "%/here does not exist");
        scene_make_directory(scene, "here");
        scene_wait_failure(scene, leaf, "%/here is a directory, not a file");

        scene_make_file(scene, "there", "");
        scene_drop(scene, "here");
        scene_move(scene, "there", "here");
        scene_wait_status(leaf, STATUS_SUCCESS);
        scene_move(scene, "here", "there");
        scene_wait_failure(scene, leaf, "%/here does not exist");
}

static void test_parents_come_and_go(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, "a/b/c", "any");

        scene_make_directory(scene, "a");
        scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a/b");
        scene_make_directory(scene, "a/b");
        scene_wait_failure(scene, leaf, "%/a/b/c does not exist");
        scene_make_file(scene, "a/b/c", "");
        scene_wait_status(leaf, STATUS_SUCCESS);

        scene_move(scene, "a", "z");
        scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a");
        /* This is nobody's business any more. */
        scene_drop(scene, "z/b/c");
        scene_make_file(scene, "z/b/c", "");
        scene_move(scene, "z", "a");
        scene_wait_status(leaf, STATUS_SUCCESS);

        scene_drop(scene, "a/b/c");
        scene_drop(scene, "a/b");
        scene_drop(scene, "a");
        scene_wait_failure(scene, leaf, "%/a/b/c does not exist: there is no %/a");

        /* All at once: when the first is noticed, the others are there already. */
        scene_make_directory(scene, "a");
        scene_make_directory(scene, "a/b");
        scene_make_file(scene, "a/b/c", "");
        scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_links(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene_make_directory(scene, "one");
        scene_make_directory(scene, "two");
        scene_make_file(scene, "two/file", "");
        scene_make_link(scene, "now", "one");
        scene_make_link(scene, "absolute", scene_at(scene, "now/file"));
        scene_make_link(scene, "one/up", "../absolute");

        leaf = scene_start(scene, "now/up", "file");
        scene_wait_failure(scene, leaf, "%/now/up does not exist: there is no %/one/file");
        scene_make_file(scene, "one/file", "");
        scene_wait_status(leaf, STATUS_SUCCESS);

        scene_make_link(scene, "new", "two");
        scene_move(scene, "new", "now");
        scene_wait_failure(scene, leaf, "%/now/up does not exist: there is no %/two/up");
        scene_make_link(scene, "two/up", "file");
        scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_link_loop(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene_make_link(scene, "here", "there");
        scene_make_link(scene, "there", "here");
        leaf = scene_start(scene, "here", "any");
        scene_wait_failure(scene, leaf,
                           "the state of %/here is not known: %/here cannot be examined: Too many levels of "
                           "symbolic links");
        scene_drop(scene, "there");
        scene_wait_failure(scene, leaf, "%/here does not exist: there is no %/there");
}

static void test_directory_fills(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, "queue", "not-empty");

        scene_make_directory(scene, "queue");
        scene_wait_failure(scene, leaf, "%/queue is empty");
        scene_make_file(scene, "queue/1", "");
        scene_wait_status(leaf, STATUS_SUCCESS);
        scene_make_directory(scene, "queue/2");
        scene_drop(scene, "queue/1");
        scene_drop(scene, "queue/2");
        scene_wait_failure(scene, leaf, "%/queue is empty");
}

static void test_file_fills(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene_make_file(scene, "log", "");
        leaf = scene_start(scene, "log", "not-empty");
        scene_make_file(scene, "log", "x");
        scene_wait_status(leaf, STATUS_SUCCESS);
        scene_make_file(scene, "log", "");
        scene_wait_failure(scene, leaf, "%/log is empty");
        scene_make_file(scene, "new", "x");
        scene_move(scene, "new", "log");
        scene_wait_status(leaf, STATUS_SUCCESS);
}

static void test_root(Scene *scene, const void *data) {
        g_autoptr(TestLeaf)
                root = scene_start_node(scene,
                                        "{ \"type\": \"PathExists\", \"path\": \"/\", \"kind\": \"not-empty\" }"),
                above = scene_start_node(scene,
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

static void set_mode(const Scene *scene, const char *name, mode_t mode) {
        become_root();
        g_assert_cmpint(chmod(scene_at(scene, name), mode), ==, 0);
        g_assert_true(become_nobody());
}

static void test_permissions(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene_make_directory(scene, "safe");
        scene_make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);

        leaf = scene_start(scene, "safe/gold", "file");
        scene_wait_failure(scene, leaf,
                           "the state of %/safe/gold is not known: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        scene_wait_status(leaf, STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        scene_wait_status(leaf, STATUS_FAILURE);
        become_root();
}

static void test_unknown(Scene *scene, const void *data) {
        const char *const values[] = { "failure", "success", "running" };
        const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };
        TestLeaf *leaves[G_N_ELEMENTS(values)];
        g_autofree char *text = NULL, *expected = NULL;

        scene_make_directory(scene, "safe");
        scene_make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autofree char *node =
                        g_strdup_printf("{ \"type\": \"PathExists\", \"path\": \"%s\", \"unknown\": \"%s\" }",
                                        scene_at(scene, "safe/gold"), values[i]);

                leaves[i] = scene_start_node(scene, node);
                g_assert_cmpint(leaves[i]->status, ==, statuses[i]);
        }

        text = test_leaf_describe(leaves[2]);
        expected = g_strdup_printf("the state of the path: %s cannot be watched: Permission denied",
                                   scene_at(scene, "safe"));
        g_assert_cmpstr(text, ==, expected);

        set_mode(scene, "safe", 0755);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                scene_wait_status(leaves[i], STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                scene_wait_status(leaves[i], statuses[i]);
                test_leaf_free(leaves[i]);
        }
        become_root();
}

/* What is in a directory that may not be read can be seen to go, but not to come. */
static void test_hidden_directory(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) gold = NULL, silver = NULL;

        scene_make_directory(scene, "safe");
        scene_make_directory(scene, "safe/box");
        scene_make_file(scene, "safe/box/gold", "");
        set_mode(scene, "safe", 0111);

        gold = scene_start(scene, "safe/box/gold", "file");
        g_assert_cmpint(gold->status, ==, STATUS_SUCCESS);
        silver = scene_start(scene, "safe/silver", "file");
        scene_wait_failure(scene, silver,
                           "the state of %/safe/silver is not known: %/safe cannot be watched: Permission denied");

        become_root();
        scene_move(scene, "safe/box", "box");
        g_assert_true(become_nobody());
        scene_wait_failure(scene, gold,
                           "the state of %/safe/box/gold is not known: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        scene_wait_failure(scene, gold, "%/safe/box/gold does not exist: there is no %/safe/box");
        scene_wait_failure(scene, silver, "%/safe/silver does not exist");
        become_root();
}

static void assert_refused(const char *rest, const char *text) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"PathExists\", %s }", rest);
        g_autofree char *error = leaf_stage_check(types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_bad_parameters(Scene *scene, const void *data) {
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

#define add(name, function) g_test_add("/paths/" name, Scene, NULL, scene_open, function, scene_close)

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
