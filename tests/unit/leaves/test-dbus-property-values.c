/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which values of a property make DBusProperty succeed or fail, and its causes. */

#include "assert-cause.h"
#include "basic/log.h"
#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

static void test_values(CameraStage *stage) {
        static const struct {
                const char *property, *rest;
                Status status;
                const char *cause;
        } cases[] = {
                { "Powered", "", STATUS_SUCCESS, NULL },
                { "Powered", ", \"equals\": true", STATUS_SUCCESS, NULL },
                { "Powered", ", \"equals\": false", STATUS_FAILURE, "Powered is true, not false" },
                { "Powered", ", \"equals\": 1", STATUS_FAILURE, "Powered is true, not 1" },
                { "Count", "", STATUS_SUCCESS, NULL },
                { "Count", ", \"equals\": 3.0", STATUS_SUCCESS, NULL },
                { "Count", ", \"one_of\": [1, 2]", STATUS_FAILURE, "Count is 3, not one of [1,2]" },
                { "Zero", "", STATUS_FAILURE, "Zero is 0.0" },
                { "Zero", ", \"equals\": 0", STATUS_SUCCESS, NULL },
                { "Mode", "", STATUS_SUCCESS, NULL },
                { "Mode", ", \"one_of\": [\"auto\", \"manual\"]", STATUS_SUCCESS, NULL },
                { "Mode", ", \"equals\": \"manual\"", STATUS_FAILURE, "Mode is \"auto\", not \"manual\"" },
                { "Empty", "", STATUS_FAILURE, "Empty is []" },
                { "Empty", ", \"equals\": []", STATUS_SUCCESS, NULL },
                { "Odd", "", STATUS_FAILURE,
                  "Odd cannot be read: org.freedesktop.DBus.Error.UnknownProperty: no property Odd" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TestLeaf) leaf = NULL;

                leaf = camera_stage_look(stage, cases[i].property, cases[i].rest);
                test_leaf_expect(leaf, 1, cases[i].status, cases[i].cause);
        }
}

static void test_facts(CameraStage *stage) {
        g_autoptr(TestLeaf) count = NULL, odd = NULL;

        count = camera_stage_look(stage, "Count", ", \"one_of\": [1, 2]");
        test_leaf_expect(count, 1, STATUS_FAILURE, NULL);
        assert_cause(count->reason, "condition",
                     "{\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"property\":\"Count\","
                     "\"seen\":3,\"wanted\":[1,2]}");

        odd = camera_stage_look(stage, "Odd", "");
        test_leaf_expect(odd, 1, STATUS_FAILURE, NULL);
        assert_cause(odd->reason, "dbus-error",
                     "{\"name\":\"org.freedesktop.DBus.Error.UnknownProperty\",\"message\":\"no property Odd\","
                     "\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"property\":\"Odd\","
                     "\"seen\":null,\"wanted\":true}");
}

static void test_unknown(CameraStage *stage) {
        g_autoptr(TestLeaf) failure = NULL, success = NULL, running = NULL;

        failure = camera_stage_look(stage, "Powered", ", \"unknown\": \"failure\"");
        success = camera_stage_look(stage, "Powered", ", \"unknown\": \"success\", \"equals\": false");
        running = camera_stage_look(stage, "Powered", ", \"unknown\": \"running\"");
        g_assert_cmpint(test_leaf_wait(failure), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(success), ==, STATUS_FAILURE);
        g_assert_cmpint(test_leaf_wait(running), ==, STATUS_SUCCESS);

        camera_close(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(failure, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "org.example.Camera is not on the bus");
        g_assert_cmpint(test_leaf_wait_reports(success, 2), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(running, 2), ==, STATUS_RUNNING);

        camera_open(&stage->camera, stage->bus, true);
        g_assert_cmpint(test_leaf_wait_reports(failure, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(success, 3), ==, STATUS_FAILURE);
        g_assert_cmpint(test_leaf_wait_reports(running, 3), ==, STATUS_SUCCESS);

        camera_remove_object(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(running, 4), ==, STATUS_RUNNING);
        camera_add_object(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(running, 5), ==, STATUS_SUCCESS);

        bus_fixture_kill(stage->bus);
        g_assert_cmpint(test_leaf_wait_reports(failure, 6), ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "the connection to the bus 'test' was lost");
        g_assert_cmpstr(failure->reason->kind, ==, "connection-lost");
        g_assert_cmpint(test_leaf_wait_reports(success, 6), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(running, 6), ==, STATUS_RUNNING);
}

static void test_field(CameraStage *stage) {
        static const struct {
                const char *rest;
                Status status;
                const char *cause;
        } cases[] = {
                { ", \"field\": [\"mode\"], \"equals\": \"auto\"", STATUS_SUCCESS, NULL },
                { ", \"field\": [\"sizes\", 1], \"equals\": 480", STATUS_SUCCESS, NULL },
                { ", \"field\": [\"sizes\", 1], \"one_of\": [1, 2]", STATUS_FAILURE,
                  "Config[\"sizes\"][1] is 480, not one of [1,2]" },
                { ", \"field\": [\"on\"]", STATUS_SUCCESS, NULL },
                { ", \"field\": []", STATUS_SUCCESS, NULL },
                { ", \"field\": [\"nothing\"]", STATUS_FAILURE,
                  "there is no Config[\"nothing\"]: Config is {\"mode\":\"auto\",\"sizes\":[640,480],\"on\":true}" },
                { ", \"field\": [\"sizes\", 2], \"unknown\": \"success\"", STATUS_SUCCESS,
                  "there is no Config[\"sizes\"][2]: Config is "
                  "{\"mode\":\"auto\",\"sizes\":[640,480],\"on\":true}" },
                { ", \"field\": [\"mode\", \"a\"]", STATUS_FAILURE,
                  "there is no Config[\"mode\"][\"a\"]: Config is "
                  "{\"mode\":\"auto\",\"sizes\":[640,480],\"on\":true}" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TestLeaf) leaf = camera_stage_look(stage, "Config", cases[i].rest);

                g_assert_cmpint(test_leaf_wait(leaf), ==, cases[i].status);
                g_assert_cmpstr(leaf->cause, ==, cases[i].cause);
        }
}

static void test_expression(CameraStage *stage) {
        static const struct {
                const char *property, *rest;
                Status status;
                const char *cause;
        } cases[] = {
                { "Count", ", \"test\": \"value == 3\"", STATUS_SUCCESS, NULL },
                { "Count", ", \"test\": \"value > 3\"", STATUS_FAILURE, "value > 3 is false (value is 3)" },
                { "Config", ", \"test\": \"value.sizes[1] == 640 and value.on\"", STATUS_SUCCESS, NULL },
                { "Config", ", \"field\": [\"sizes\"], \"test\": \"#value > 2\"", STATUS_FAILURE,
                  "#value > 2 is false (value is [640,480])" },
                { "Mode", ", \"test\": \"value > 3\"", STATUS_FAILURE,
                  "value > 3: attempt to compare number with string" },
                { "Mode", ", \"test\": \"value > 3\", \"unknown\": \"success\"", STATUS_SUCCESS,
                  "value > 3: attempt to compare number with string" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TestLeaf) leaf = camera_stage_look(stage, cases[i].property, cases[i].rest);

                g_assert_cmpint(test_leaf_wait(leaf), ==, cases[i].status);
                g_assert_cmpstr(leaf->cause, ==, cases[i].cause);
        }
}

/* Either side may change; while the value is not known, the variables do not matter. */
static void test_expression_lives(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf_stage_set_variable(stage->leaves, "wanted", "auto");
        leaf_stage_set_variable(stage->leaves, "other", "x");
        leaf = camera_stage_look(stage, "Mode", ", \"test\": \"value == wanted\"");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);

        leaf_stage_set_variable(stage->leaves, "other", "y");
        g_assert_cmpuint(leaf->n_reports, ==, 1);
        leaf_stage_set_variable(stage->leaves, "wanted", "manual");
        g_assert_cmpuint(leaf->n_reports, ==, 2);
        g_assert_cmpint(leaf->leaf.kind->evaluate(&leaf->leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "value == wanted is false (wanted is \"manual\", value is \"auto\")");

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(stage->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Mode", "s", "manual", 0),
                        >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(leaf->leaf.kind->evaluate(&leaf->leaf), ==, STATUS_SUCCESS);

        camera_close(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 4), ==, STATUS_FAILURE);
        leaf_stage_set_variable(stage->leaves, "wanted", "auto");
        g_assert_cmpint(leaf->leaf.kind->evaluate(&leaf->leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "org.example.Camera is not on the bus");

        camera_open(&stage->camera, stage->bus, true);
        wait_until(leaf->leaf.kind->evaluate(&leaf->leaf) == STATUS_SUCCESS);
}

/* What is no answer is no value, and the next one counts. */
static void test_wrong_type(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        stage->camera.odd = true;
        leaf = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "Powered cannot be read: the reply is of type \"s\", not \"v\"");

        stage->camera.odd = false;
        camera_invalidate(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_SUCCESS);

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(stage->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Powered", "s", "no", 0),
                        >=, 0);
        wait_until(stage->camera.n_gets == 2 && g_strcmp0(leaf->cause, "Powered is \"no\", not true") != 0);
        g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
}

/* A signal that cannot be read tells at least that something has changed. */
static void test_malformed(CameraStage *stage) {
        sd_bus *bus;
        g_autoptr(TestLeaf) powered = NULL, count = NULL;

        bus = bus_peer_bus(stage->camera.peer);
        powered = camera_stage_look(stage, "Powered", "");
        count = camera_stage_look(stage, "Count", "");
        g_assert_cmpint(test_leaf_wait(powered), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(count), ==, STATUS_SUCCESS);

        stage->camera.powered = false;
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, PROPERTIES, "PropertiesChanged", "su", CAMERA, 1), >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(powered, 2), ==, STATUS_FAILURE);

        /* Behind a value that cannot be read there may be others. */
        stage->camera.powered = true;
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", CAMERA, 2,
                                           "Count", "h", 0, "Powered", "b", true, 0),
                        >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(powered, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(count, 3), ==, STATUS_SUCCESS);
        g_assert_cmpstr(count->cause, ==, "Count cannot be read: it has a file descriptor, which is not supported");
}

static void test_problems(void) {
        static const struct {
                const char *rest, *error;
        } cases[] = {
                { "\"field\": \"a\"", "field: expected an array of keys and indices, not \"a\"; write [\"a\"]" },
                { "\"field\": [\"a\", -1]", "field[1]: expected a key or an index from 0, not -1" },
                { "\"field\": [1.5]", "field[0]: expected a key or an index from 0, not 1.5" },
                { "\"equals\": 1, \"one_of\": [1]",
                  "one_of: cannot be given together with 'equals'; give one of 'equals', 'one_of' or 'test'" },
                { "\"equals\": null", "equals: expected a value that a property can have, not null" },
                { "\"one_of\": 1", "one_of: expected an array, not 1; write [1]" },
                { "\"equals\": 1, \"test\": \"value\"",
                  "test: cannot be given together with 'equals'; give one of 'equals', 'one_of' or 'test'" },
                { "\"test\": \"value >\"", "test: unexpected symbol at the end" },
        };
        static const NodeType *const types[] = { &dbus_property_type, NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *node =
                        g_strdup_printf("{ \"type\": \"DBusProperty\", \"destination\": \"" CAMERA
                                        "\", \"path\": \"/\", \"interface\": \"" CAMERA "\", \"property\": \"P\", %s }",
                                        cases[i].rest);
                g_autofree char *error = leaf_stage_check(types, node);

                g_assert_cmpstr(error, ==, cases[i].error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/dbus-property-values/problems", test_problems);
        camera_stage_add("dbus-property-values", "values", test_values);
        camera_stage_add("dbus-property-values", "facts", test_facts);
        camera_stage_add("dbus-property-values", "unknown", test_unknown);
        camera_stage_add("dbus-property-values", "field", test_field);
        camera_stage_add("dbus-property-values", "expression", test_expression);
        camera_stage_add("dbus-property-values", "expression-lives", test_expression_lives);
        camera_stage_add("dbus-property-values", "wrong-type", test_wrong_type);
        camera_stage_add("dbus-property-values", "malformed", test_malformed);
        return g_test_run();
}
