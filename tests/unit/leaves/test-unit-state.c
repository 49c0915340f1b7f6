/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests UnitState with a service manager that disappears, appears late, and forgets units. */

#include "assert-cause.h"
#include "fake-systemd.h"

static void test_state(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        fake_change(&scene->fake, "failed");
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service is failed (exited), not active");
        assert_cause(leaf->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":[\"active\",\"reloading\",\"refreshing\"]},"
                     "\"seen\":{\"load_state\":\"loaded\","
                     "\"state\":\"failed\",\"sub_state\":\"exited\",\"result\":\"success\"}}");
        fake_change(&scene->fake, "active");
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);

        fake_remove_unit(&scene->fake);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 4), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service is inactive (dead), not active");

        g_clear_pointer(&leaf, test_leaf_free);
        wait_until(scene->fake.n_subscribed == 0);
}

static void test_state_complaints(Scene *scene, const void *data) {
        static const struct {
                const char *load_state, *active_state, *result, *wanted, *cause;
        } cases[] = {
                { "not-found", "inactive", "success", "\"state\": \"active\"",
                  "cam.service is inactive (exited), not active: there is no such unit" },
                { "loaded", "active", "success", "\"state\": [\"failed\", \"inactive\"]",
                  "cam.service is active (exited), not failed or inactive" },
                { "loaded", "active", "success", "\"sub_state\": \"running\"",
                  "cam.service is active (exited), not running" },
                { "loaded", "failed", "exit-code", "\"result\": \"success\"",
                  "cam.service has the result exit-code, not success" },
        };

        fake_come(scene);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *node =
                        g_strdup_printf("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", %s }", cases[i].wanted);
                g_autoptr(TestLeaf) leaf = NULL;

                scene->fake.load_state = cases[i].load_state;
                scene->fake.active_state = cases[i].active_state;
                scene->fake.unit_result = cases[i].result;
                leaf = scene_start(scene, node);
                test_leaf_expect(leaf, 1, STATUS_FAILURE, cases[i].cause);
                g_clear_pointer(&leaf, test_leaf_free);
                wait_until(scene->fake.n_subscribed == 0);
        }
}

static void test_state_reloaded(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.load_state = "not-found";
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"load_state\": \"loaded\" }");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service is not-found, not loaded");

        scene->fake.load_state = "loaded";
        fake_reload(&scene->fake, false);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_SUCCESS);
}

/* What it says of the unit before it has done is not true. */
static void reload(Scene *scene, bool executed_anew) {
        Fake *fake = &scene->fake;

        fake_reload(fake, true);
        fake->active_state = "inactive";
        fake_remove_unit(fake);
        fake_change(fake, "inactive");
        if (executed_anew) {
                fake_go(scene);
                fake_come(scene);
                fake_change(fake, "inactive");
        }
        wait_round_trip(fake->peer);
        fake->active_state = "active";
        fake_reload(fake, false);
}

static void test_state_while_reloading(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;
        unsigned n_reports = 1;

        fake_come(scene);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        for (unsigned i = 0; i < 4; i++) {
                unsigned n_read = scene->fake.n_read;

                reload(scene, i % 2);
                wait_until(scene->fake.n_read > n_read);
                wait_round_trip(scene->fake.peer);
                test_leaf_expect(leaf, n_reports, STATUS_SUCCESS, NULL);
        }

        /* What has really changed meanwhile is seen. */
        fake_reload(&scene->fake, true);
        fake_remove_unit(&scene->fake);
        scene->fake.active_state = "failed";
        fake_reload(&scene->fake, false);
        test_leaf_expect(leaf, ++n_reports, STATUS_FAILURE, "cam.service is failed (exited), not active");
}

/* A leaf that starts meanwhile waits. */
static void test_state_begun_while_reloading(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) first = NULL, leaf = NULL;

        fake_come(scene);
        first = scene_start(scene, "{ \"type\": \"UnitState\", \"unit\": \"other.service\" }");
        g_assert_cmpint(test_leaf_wait(first), ==, STATUS_SUCCESS);
        fake_reload(&scene->fake, true);
        wait_round_trip(scene->fake.peer);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        scene->fake.active_state = "inactive";
        fake_go(scene);
        fake_come(scene);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpuint(leaf->n_reports, ==, 0);
        scene->fake.active_state = "active";
        fake_reload(&scene->fake, false);
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);
}

static void test_state_bus_lost_while_reloading(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        fake_reload(&scene->fake, true);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);
        bus_fixture_kill(scene->bus);
        test_leaf_expect(leaf, 2, STATUS_FAILURE,
                         "the state of cam.service is not known: the connection to the bus 'test' was lost");
        bus_fixture_start(scene->bus);
        fake_come(scene);
        test_leaf_expect(leaf, 3, STATUS_SUCCESS, NULL);
}

static void wait_status(TestLeaf *leaf, Status status) {
        while (leaf->status != status)
                test_leaf_wait_reports(leaf, leaf->n_reports + 1);
}

static void test_state_without_systemd(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, CAM_IS_ACTIVE), late = NULL;

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_true(g_str_has_prefix(leaf->cause, "the state of cam.service is not known: "));
        assert_cause(leaf->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":[\"active\",\"reloading\",\"refreshing\"]},"
                     "\"seen\":null}");
        late = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(late->status, ==, STATUS_FAILURE);

        fake_come(scene);
        wait_status(leaf, STATUS_SUCCESS);
        wait_status(late, STATUS_SUCCESS);
        fake_go(scene);
        wait_status(leaf, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "the state of cam.service is not known: systemd has left the bus");
}

/* What it is while nothing is known. */
static void test_state_unknown(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) running =
                scene_start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"unknown\": \"running\" }"),
                            success = scene_start(
                                    scene,
                                    "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"unknown\": \"success\" }");
        g_autofree char *before = test_leaf_describe(running), *after = NULL;

        g_assert_cmpstr(before, ==, "connection to the bus 'test'");
        wait_status(success, STATUS_SUCCESS);
        g_assert_cmpint(running->status, ==, STATUS_RUNNING);
        after = test_leaf_describe(running);
        g_assert_true(g_str_has_prefix(after, "state of cam.service: "));

        scene->fake.active_state = "failed";
        fake_come(scene);
        wait_status(running, STATUS_FAILURE);
        wait_status(success, STATUS_FAILURE);
        fake_go(scene);
        wait_status(running, STATUS_RUNNING);
        wait_status(success, STATUS_SUCCESS);
}

/* A unit that reloads is up, unless the tree asks for exactly "active". */
static void test_state_while_unit_reloads(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL, exact = NULL;

        fake_come(scene);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        exact = scene_start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": \"active\" }");
        wait_status(leaf, STATUS_SUCCESS);
        wait_status(exact, STATUS_SUCCESS);
        fake_change(&scene->fake, "reloading");
        wait_status(exact, STATUS_FAILURE);
        g_assert_cmpstr(exact->cause, ==, "cam.service is reloading (exited), not active");
        g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
        fake_change(&scene->fake, "refreshing");
        wait_until(strstr(exact->cause, "refreshing"));
        g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
        fake_change(&scene->fake, "active");
        wait_status(exact, STATUS_SUCCESS);
        fake_change(&scene->fake, "failed");
        wait_status(leaf, STATUS_FAILURE);
}

static void test_state_lists(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(
                scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": [\"active\", \"reloading\"], "
                       "\"sub_state\": \"exited\", \"result\": [\"success\"] }");
        wait_status(leaf, STATUS_SUCCESS);
        fake_change(&scene->fake, "failed");
        wait_status(leaf, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service is failed (exited), not active or reloading");
        assert_cause(leaf->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":[\"active\",\"reloading\"],"
                     "\"sub_state\":\"exited\",\"result\":\"success\"},\"seen\":{\"load_state\":\"loaded\","
                     "\"state\":\"failed\",\"sub_state\":\"exited\",\"result\":\"success\"}}");
        fake_change(&scene->fake, "reloading");
        wait_status(leaf, STATUS_SUCCESS);
}

/* An expression that is evaluated again when the unit or a variable has changed. */
static void test_state_test(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf_stage_set_variable(scene->stage, "wanted", "failed");
        fake_come(scene);
        leaf = scene_start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", "
                                  "\"test\": \"value.active_state == wanted and value.result == 'success'\" }");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "value.active_state == wanted and value.result == 'success' is false (wanted is \"failed\", "
                        "value is {\"active_state\":\"active\",\"sub_state\":\"exited\",\"result\":\"succ...)");
        fake_change(&scene->fake, "failed");
        wait_status(leaf, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_evaluate(leaf), ==, STATUS_SUCCESS);

        leaf_stage_set_variable(scene->stage, "wanted", "active");
        g_assert_cmpint(test_leaf_evaluate(leaf), ==, STATUS_FAILURE);
        fake_change(&scene->fake, "active");
        wait_status(leaf, STATUS_SUCCESS);
}

static void test_state_test_fails(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(
                scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"test\": \"value.result + 1 > 0\" }");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_ERROR);
        g_assert_cmpstr(leaf->cause, ==, "value.result + 1 > 0: attempt to add a 'string' with a 'number'");
        assert_cause(leaf->reason, "expression", "{\"expression\":\"value.result + 1 > 0\"}");
}

/* However many leaves use a unit, systemd is asked once, and a leaf that starts later need not wait. */
static void test_state_shared(Scene *scene, const void *data) {
        g_autoptr(GPtrArray) leaves = g_ptr_array_new_with_free_func((GDestroyNotify) test_leaf_free);
        g_autoptr(TestLeaf) late = NULL;

        fake_come(scene);
        for (unsigned i = 0; i < 1000; i++)
                g_ptr_array_add(leaves, scene_start(scene, CAM_IS_ACTIVE));
        for (unsigned i = 0; i < leaves->len; i++)
                wait_status(g_ptr_array_index(leaves, i), STATUS_SUCCESS);
        late = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(late->status, ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_loaded, ==, 1);
        g_assert_cmpuint(scene->fake.n_read, ==, 1);

        fake_change(&scene->fake, "failed");
        for (unsigned i = 0; i < leaves->len; i++)
                wait_status(g_ptr_array_index(leaves, i), STATUS_FAILURE);
        wait_status(late, STATUS_FAILURE);

        g_ptr_array_set_size(leaves, 0);
        g_clear_pointer(&late, test_leaf_free);
        wait_until(scene->fake.n_subscribed == 0);
}

static void test_state_bus_lost(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        fake_go(scene);
        wait_status(leaf, STATUS_FAILURE);

        bus_fixture_kill(scene->bus);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        while (leaf->status != STATUS_SUCCESS)
                wait_turn();
}

/* systemd sends no signals to a bus on which nobody has subscribed: that of a user, for example. */
static void test_dbus_leaves_subscribe(Scene *scene, const void *data) {
        static const char *const nodes[] = {
                "{ \"type\": \"DBusProperty\", \"destination\": \"org.freedesktop.systemd1\", \"path\": \"" UNIT_PATH
                "\", \"interface\": \"org.freedesktop.systemd1.Unit\", \"property\": \"FreezerState\" }",
                "{ \"type\": \"DBusSignal\", \"sender\": \"org.freedesktop.systemd1\", \"member\": \"JobNew\" }",
        };

        fake_come(scene);
        for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++) {
                g_autoptr(TestLeaf) leaf = scene_start(scene, nodes[i]);

                wait_until(scene->fake.n_subscribed == 1);
                g_clear_pointer(&leaf, test_leaf_free);
                wait_until(scene->fake.n_subscribed == 0);
        }
}

#define add(name, function) g_test_add("/unit-state/" name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("state", test_state);
        add("complaints", test_state_complaints);
        add("reloaded", test_state_reloaded);
        add("while-reloading", test_state_while_reloading);
        add("begun-while-reloading", test_state_begun_while_reloading);
        add("bus-lost-while-reloading", test_state_bus_lost_while_reloading);
        add("without-systemd", test_state_without_systemd);
        add("unknown", test_state_unknown);
        add("lists", test_state_lists);
        add("while-unit-reloads", test_state_while_unit_reloads);
        add("test", test_state_test);
        add("test-fails", test_state_test_fails);
        add("shared", test_state_shared);
        add("bus-lost", test_state_bus_lost);
        add("dbus-leaves-subscribe", test_dbus_leaves_subscribe);

        return g_test_run();
}
