/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tests DBusProperty on real buses: leaves that share a property, objects and services that come and go, hand over and
 * flap, and values that are too large to be read.
 */

#include "basic/log.h"
#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define N_MANY 1000u

/* Says Powered of another object below. */
static void say_powered_of(BusPeer *peer, const char *path, bool powered) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(peer), path, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                                           CAMERA, 1, "Powered", "b", powered, 0),
                        >=, 0);
}

/* However many leaves use a property, it is read once; for a leaf that starts later, again. */
static void test_shared(CameraStage *stage) {
        TestLeaf *leaves[N_MANY];

        for (unsigned i = 0; i < N_MANY; i++) {
                leaves[i] = camera_stage_look(stage, "Powered", i % 2 ? "" : ", \"equals\": false");
                g_assert_cmpint(leaves[i]->status, ==, STATUS_RUNNING);
        }
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(test_leaf_wait(leaves[i]), ==, i % 2 ? STATUS_SUCCESS : STATUS_FAILURE);
        g_assert_cmpuint(stage->camera.n_gets, ==, 1);

        say_powered(stage->camera.peer, false);
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(test_leaf_wait_reports(leaves[i], 2), ==, i % 2 ? STATUS_FAILURE : STATUS_SUCCESS);

        for (unsigned i = 0; i < N_MANY - 1; i++)
                test_leaf_free(leaves[i]);
        stage->camera.powered = true;
        leaves[0] = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(leaves[0]->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(leaves[0]), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(leaves[N_MANY - 1], 3), ==, STATUS_SUCCESS);
        g_assert_cmpuint(stage->camera.n_gets, ==, 2);

        /* Nothing is kept of a property that no leaf uses. */
        test_leaf_free(leaves[0]);
        test_leaf_free(leaves[N_MANY - 1]);
        leaves[0] = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(leaves[0]->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(leaves[0]), ==, STATUS_SUCCESS);
        g_assert_cmpuint(stage->camera.n_gets, ==, 3);
        test_leaf_free(leaves[0]);
}

/* A service without signals; it is read again until the object is gone. */
static void test_interval(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = camera_stage_look(stage, "Powered", ", \"interval\": \"100ms\"");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        stage->camera.powered = false;
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        stage->camera.powered = true;
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);
        stage->camera.gone = true;
        g_assert_cmpint(test_leaf_wait_reports(leaf, 4), ==, STATUS_FAILURE);
}

/* What the service says about its signals: of a property that it does not signal, the cause says so; one that never
 * changes is read once. */
static void test_no_signals(CameraStage *stage) {
        g_autoptr(TestLeaf) mode = NULL, again = NULL, count = NULL, more = NULL, fits = NULL;
        g_autofree char *remark = NULL, *none = NULL;

        mode = camera_stage_look(stage, "Mode", ", \"equals\": \"manual\"");
        again = camera_stage_look(stage, "Mode", ", \"equals\": \"manual\", \"interval\": \"100ms\"");
        wait_until(again->cause && strstr(again->cause, ";"));
        g_assert_cmpstr(again->cause, ==,
                        "Mode is \"auto\", not \"manual\"; the service reports no changes, so it is read every 100ms");
        g_assert_cmpstr(mode->cause, ==,
                        "Mode is \"auto\", not \"manual\"; the service reports no changes, so the node needs an "
                        "\"interval\"");

        fits = camera_stage_look(stage, "Mode", ", \"equals\": \"auto\", \"interval\": \"1s\"");
        remark = test_leaf_remark(fits);
        g_assert_cmpstr(remark, ==, "the service reports no changes, so it is read every 1s");

        stage->camera.n_gets = 0;
        test_leaf_free(g_steal_pointer(&again));
        count = camera_stage_look(stage, "Count", ", \"equals\": 4, \"interval\": \"100ms\"");
        wait_until(stage->camera.n_introspections == 2);
        /* The answer has no other effect than this. */
        do {
                test_leaf_free(g_steal_pointer(&more));
                wait_round_trip(stage->camera.peer);
                stage->camera.n_gets = 0;
                more = camera_stage_look(stage, "Count", ", \"equals\": 4");
        } while (more->status == STATUS_RUNNING);
        g_assert_cmpint(more->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(more->cause, ==, "Count is 3, not 4");
        g_assert_cmpuint(stage->camera.n_gets, ==, 0);
        none = test_leaf_remark(more);
        g_assert_null(none);
}

/* Properties of one object have values of their own. */
static void test_siblings(CameraStage *stage) {
        g_autoptr(TestLeaf) powered = NULL, count = NULL;

        powered = camera_stage_look(stage, "Powered", "");
        count = camera_stage_look(stage, "Count", ", \"equals\": 4");
        g_assert_cmpint(test_leaf_wait(powered), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(count), ==, STATUS_FAILURE);

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(stage->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 2, "Count", "u", 4, "Powered", "b",
                                           false, 0),
                        >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(count, 2), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(powered, 2), ==, STATUS_FAILURE);
}

/* More objects than a dbus-daemon takes rules from one connection; each hears its own. */
static void test_many_objects(CameraStage *stage) {
        TestLeaf *leaves[N_MANY];

        for (unsigned i = 0; i < N_MANY; i++) {
                g_autofree char *path = g_strdup_printf(CAMERA_PATH "/%u", i);

                leaves[i] = camera_stage_look_at(stage, path, "Powered", "");
        }
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(test_leaf_wait(leaves[i]), ==, STATUS_SUCCESS);
        g_assert_cmpuint(stage->camera.n_gets, ==, N_MANY);

        say_powered_of(stage->camera.peer, CAMERA_PATH "/nobody", false);
        say_powered_of(stage->camera.peer, CAMERA_PATH "/999", false);
        g_assert_cmpint(test_leaf_wait_reports(leaves[N_MANY - 1], 2), ==, STATUS_FAILURE);
        for (unsigned i = 0; i < N_MANY; i++) {
                g_assert_cmpuint(leaves[i]->n_reports, ==, i == N_MANY - 1 ? 2 : 1);
                test_leaf_free(leaves[i]);
        }
}

/* From one owner to another without a gap: the value is the new one's, whatever the old one says. */
static void test_handover(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;
        Camera other;

        camera_open_unnamed(&other, stage->bus, false);
        leaf = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);

        g_assert_cmpint(sd_bus_request_name(bus_peer_bus(other.peer), CAMERA, SD_BUS_NAME_QUEUE), >=, 0);
        g_assert_cmpint(sd_bus_release_name(bus_peer_bus(stage->camera.peer), CAMERA), >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "Powered is false, not true");

        say_powered(stage->camera.peer, true);
        wait_round_trip(stage->camera.peer);
        say_powered(other.peer, false);
        say_powered(other.peer, true);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 3), ==, STATUS_SUCCESS);
        g_assert_cmpuint(other.n_gets, ==, 1);
        camera_close(&other);
}

/* A service that comes and goes, each time with another value and another unique name. */
static void test_flaps(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        for (unsigned i = 0; i < 30; i++) {
                camera_close(&stage->camera);
                camera_open(&stage->camera, stage->bus, i % 2);
                if (i % 3 == 0)
                        say_powered(stage->camera.peer, i % 2);
                if (i % 4 == 0)
                        wait_round_trip(stage->camera.peer);
        }
        wait_until(leaf->status == STATUS_SUCCESS);

        stage->camera.powered = false;
        say_powered(stage->camera.peer, false);
        wait_until(leaf->status == STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "Powered is false, not true");
}

/* Many changes at once: the last value is the one that counts. */
static void test_flood(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Count", ", \"equals\": 10000");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        for (unsigned i = 1; i <= 10000; i++)
                g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(stage->camera.peer), CAMERA_PATH, PROPERTIES,
                                                   "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Count", "u", i, 0),
                                >=, 0);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_SUCCESS);
        g_assert_cmpuint(stage->camera.n_gets, ==, 1);
}

/* The same of a service that only says that there is another value: one question at a time, whatever its number. */
static void test_flood_invalidated(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        for (unsigned i = 0; i < 10000; i++)
                camera_invalidate(&stage->camera);
        stage->camera.powered = false;
        camera_invalidate(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_FAILURE);
        wait_round_trip(stage->camera.peer);
        g_assert_cmpuint(stage->camera.n_gets, <, 10000);
}

static void test_changes(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);

        /* A signal with the value needs no Get; the same value again is no news. */
        say_powered(stage->camera.peer, false);
        test_leaf_expect(leaf, 2, STATUS_FAILURE, "Powered is false, not true");
        say_powered(stage->camera.peer, false);
        say_powered(stage->camera.peer, true);
        test_leaf_expect(leaf, 3, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage->camera.n_gets, ==, 1);

        /* A signal without it needs one. */
        stage->camera.powered = false;
        camera_invalidate(&stage->camera);
        test_leaf_expect(leaf, 4, STATUS_FAILURE, "Powered is false, not true");
        g_assert_cmpuint(stage->camera.n_gets, ==, 2);
}

/* The value of a signal is not overtaken by the older one of a Get that was on its way. */
static void test_signal_first(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        stage->camera.late = true;
        leaf = camera_stage_look(stage, "Powered", "");
        wait_until(stage->camera.get);

        say_powered(stage->camera.peer, true);
        camera_answer(&stage->camera, false);
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);

        /* Nor does the value that was on its way count when it was invalidated meanwhile. */
        camera_invalidate(&stage->camera);
        wait_until(stage->camera.get);
        camera_invalidate(&stage->camera);
        camera_answer(&stage->camera, false);
        wait_until(stage->camera.get);
        g_assert_cmpuint(leaf->n_reports, ==, 1);
        camera_answer(&stage->camera, true);

        /* But one that changes all the time is known, too. */
        camera_invalidate(&stage->camera);
        wait_until(stage->camera.get);
        for (unsigned i = 0; leaf->n_reports == 1; i++) {
                camera_invalidate(&stage->camera);
                camera_answer(&stage->camera, false);
                wait_until(stage->camera.get);
                g_assert_cmpuint(i, <, 3);
        }
        test_leaf_expect(leaf, 2, STATUS_FAILURE, "Powered is false, not true");
        camera_answer(&stage->camera, true);
        test_leaf_expect(leaf, 3, STATUS_SUCCESS, NULL);
}

/* The variable follows the value, and stays as it is when nothing is known. */
static void test_output(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = camera_stage_look(stage, "Powered", ", \"output\": \"seen\"");

        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);
        g_assert_cmpstr(test_leaf_output(leaf, "seen"), ==, "true");
        say_powered(stage->camera.peer, false);
        test_leaf_expect(leaf, 2, STATUS_FAILURE, "Powered is false, not true");
        g_assert_cmpstr(test_leaf_output(leaf, "seen"), ==, "false");
        say_powered(stage->camera.peer, true);
        test_leaf_expect(leaf, 3, STATUS_SUCCESS, NULL);
        camera_close(&stage->camera);
        test_leaf_expect(leaf, 4, STATUS_FAILURE, "org.example.Camera is not on the bus");
        g_assert_cmpstr(test_leaf_output(leaf, "seen"), ==, "true");
}

/* What another sender says of an object of the same path is not believed, though it reaches the connection. */
static void test_other_sender(CameraStage *stage) {
        g_autoptr(BusPeer) other = NULL;
        g_autoptr(TestLeaf) leaf = NULL, decoy = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        decoy = camera_stage_start(stage, &dbus_property_type,
                                   "\"destination\": \"org.example.Other\", \"path\": \"" CAMERA_PATH
                                   "\", \"interface\": \"" CAMERA "\", \"property\": \"Powered\"");
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);
        test_leaf_expect(decoy, 1, STATUS_FAILURE, "org.example.Other is not on the bus");

        other = bus_peer_new(stage->bus, "org.example.Other");
        say_powered(other, false);
        wait_until(strstr(decoy->cause, "cannot be read") || strstr(decoy->cause, "is false"));
        say_powered(other, true);
        test_leaf_expect(decoy, 2, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(leaf->n_reports, ==, 1);
}

static void test_service_restarts(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        camera_close(&stage->camera);
        leaf = camera_stage_look(stage, "Powered", "");
        test_leaf_expect(leaf, 1, STATUS_FAILURE, "org.example.Camera is not on the bus");

        camera_open(&stage->camera, stage->bus, true);
        test_leaf_expect(leaf, 2, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage->camera.n_gets, ==, 1);

        camera_close(&stage->camera);
        test_leaf_expect(leaf, 3, STATUS_FAILURE, "org.example.Camera is not on the bus");

        camera_open(&stage->camera, stage->bus, true);
        test_leaf_expect(leaf, 4, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage->camera.n_gets, ==, 1);
}

/* The service goes while it is asked. */
static void test_service_goes(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        stage->camera.late = true;
        leaf = camera_stage_look(stage, "Powered", "");
        wait_until(stage->camera.get);
        camera_close(&stage->camera);
        wait_until(leaf->cause && g_str_equal(leaf->cause, "org.example.Camera is not on the bus"));
        g_assert_cmpint(leaf->status, ==, STATUS_FAILURE);

        camera_open(&stage->camera, stage->bus, true);
        wait_until(leaf->status == STATUS_SUCCESS);
}

static void test_object_goes(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);

        camera_remove_object(&stage->camera);
        test_leaf_expect(leaf, 2, STATUS_FAILURE, "org.example.Camera of /org/example/Camera no longer exists");
        camera_add_object(&stage->camera);
        test_leaf_expect(leaf, 3, STATUS_SUCCESS, NULL);
}

static void test_unreadable(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL, mute = NULL;

        leaf = camera_stage_look(stage, "Nothing", "");
        test_leaf_expect(leaf, 1, STATUS_FAILURE,
                         "Nothing cannot be read: org.freedesktop.DBus.Error.UnknownProperty: no property Nothing");
        mute = camera_stage_look(stage, "Mute", "");
        test_leaf_expect(mute, 1, STATUS_FAILURE, "Mute cannot be read: org.example.Error.Mute: no reason given");
}

/* A service that has its name before its object, and does not say when it has both. */
static void test_object_comes_late(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        stage->camera.gone = true;
        leaf = camera_stage_look(stage, "Powered", "");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        wait_until(stage->camera.n_gets == 2);
        stage->camera.gone = false;
        g_assert_cmpint(test_leaf_wait_reports(leaf, 2), ==, STATUS_SUCCESS);
        g_assert_cmpuint(stage->camera.n_gets, ==, 3);
}

static void test_bus_dies(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = camera_stage_look(stage, "Powered", "");
        test_leaf_expect(leaf, 1, STATUS_SUCCESS, NULL);

        bus_fixture_kill(stage->bus);
        test_leaf_expect(leaf, 2, STATUS_FAILURE, "the connection to the bus 'test' was lost");

        camera_close(&stage->camera);
        bus_fixture_start(stage->bus);
        camera_open(&stage->camera, stage->bus, true);
        wait_until(leaf->status == STATUS_SUCCESS);
        say_powered(stage->camera.peer, false);
        wait_until(leaf->status == STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "Powered is false, not true");
}

/* Released in all states: before the bus has answered, and while it is asked. */
static void test_released(CameraStage *stage) {
        g_autoptr(TestLeaf) early = NULL, asked = NULL;

        early = camera_stage_look(stage, "Powered", "");
        g_clear_pointer(&early, test_leaf_free);

        stage->camera.late = true;
        asked = camera_stage_look(stage, "Powered", "");
        wait_until(stage->camera.get);
        g_clear_pointer(&asked, test_leaf_free);
        say_powered(stage->camera.peer, true);
        camera_answer(&stage->camera, true);
        wait_round_trip(stage->camera.peer);
}

static void test_describe(CameraStage *stage) {
        g_autofree char *text = NULL;
        g_autoptr(TestLeaf) leaf = NULL;

        stage->camera.late = true;
        leaf = camera_stage_look(stage, "Powered", "");
        wait_until(stage->camera.get);
        text = test_leaf_describe(leaf);
        g_assert_cmpstr(text, ==, "value of org.example.Camera.Powered from org.example.Camera");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        camera_stage_add("dbus-property", "shared", test_shared);
        camera_stage_add("dbus-property", "interval", test_interval);
        camera_stage_add("dbus-property", "no-signals", test_no_signals);
        camera_stage_add("dbus-property", "siblings", test_siblings);
        camera_stage_add("dbus-property", "many-objects", test_many_objects);
        camera_stage_add("dbus-property", "handover", test_handover);
        camera_stage_add("dbus-property", "flaps", test_flaps);
        camera_stage_add("dbus-property", "flood", test_flood);
        camera_stage_add("dbus-property", "flood-invalidated", test_flood_invalidated);
        camera_stage_add("dbus-property", "changes", test_changes);
        camera_stage_add("dbus-property", "signal-first", test_signal_first);
        camera_stage_add("dbus-property", "output", test_output);
        camera_stage_add("dbus-property", "other-sender", test_other_sender);
        camera_stage_add("dbus-property", "service-restarts", test_service_restarts);
        camera_stage_add("dbus-property", "service-goes", test_service_goes);
        camera_stage_add("dbus-property", "object-goes", test_object_goes);
        camera_stage_add("dbus-property", "unreadable", test_unreadable);
        camera_stage_add("dbus-property", "object-comes-late", test_object_comes_late);
        camera_stage_add("dbus-property", "bus-dies", test_bus_dies);
        camera_stage_add("dbus-property", "released", test_released);
        camera_stage_add("dbus-property", "describe", test_describe);
        return g_test_run();
}
