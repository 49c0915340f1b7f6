/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests who may do what to a tree and its runs, by the key 'access'. */

#include <errno.h>

#include "loading.h"
#include "manager-stage.h"
#include "service/permission.h"

#define TREE(access) "{ \"btd\": 1, " access "\"root\": { \"type\": \"FakeAction\", \"name\": \"A\" } }"

static ManagerStage *stage_new(const char *tree) {
        ManagerStage *stage = manager_stage_new();

        manager_stage_put(stage, "t.json", tree);
        manager_stage_open(stage, NULL, NULL);
        manager_load(stage->manager);
        return stage;
}

static int may_halt(const ManagerStage *stage, char **ret_error) {
        const Credentials who = { .known = true, .uid = 1000 };
        g_auto(Request) request = { .permission = PERMISSION_HALT, .tree = g_strdup("t") };
        g_autoptr(Accounts) accounts = accounts_new();

        return tree_access_check(stage->manager, &request, &who, accounts, ret_error);
}

/* A run keeps the access of the file that it was started with, when this file is changed or removed. */
static void test_access_of_running_tree(void) {
        g_autoptr(ManagerStage) stage = stage_new(TREE("\"access\": { \"halt\": [] }, "));
        g_autofree char *changed = NULL, *removed = NULL, *error = NULL;
        static const char expected[] = "you may not halt 't': the tree lets only root do this";
        Run *run;

        g_assert_cmpint(manager_start(stage->manager, "t", "", NULL, "a test", &run, &error), ==, 0);
        manager_stage_turn(stage);
        manager_stage_put(stage, "t.json", TREE(""));
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        g_assert_cmpint(may_halt(stage, &changed), ==, -EACCES);
        g_assert_cmpstr(changed, ==, expected);

        manager_stage_remove(stage, "t.json");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        g_assert_cmpint(may_halt(stage, &removed), ==, -EACCES);
        g_assert_cmpstr(removed, ==, expected);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/permission/access-of-running-tree", test_access_of_running_tree);
        return g_test_run();
}
