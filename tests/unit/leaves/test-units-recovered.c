/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a daemon before this one has asked systemd for, taken up while it is still under way: a unit changes, or is
 * forgotten, between two looks at it.
 */

#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <signal.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaf-stage.h"
#include "leaf-types/leaf-types.h"

#define PREFIX "/org/freedesktop/systemd1"
#define JOB_PATH PREFIX "/job/7"
#define CAM_PATH PREFIX "/unit/cam_2eservice"
#define SPAWN_PATH PREFIX "/unit/btd_2dtest_2e1_2d0_2d1_2eservice"
#define START_CAM "{ \"type\": \"StartUnit\", \"unit\": \"cam.service\" }"
#define RELOAD_CAM "{ \"type\": \"ReloadUnit\", \"unit\": \"cam.service\" }"
#define SPAWN "{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"/bin/true\"] }"

typedef struct Scene {
        BusFixture *bus;
        BusPeer *peer;
        LeafStage *stage;
        unsigned n_read;    /* how often the unit was looked at */
        unsigned n_stopped; /* and stopped */
        unsigned n_started; /* or asked for */
        const char *type;   /* of the job in the queue */
        bool idle;          /* it was up long ago, and there is no job for it */
        bool gone;          /* systemd does not know it */
        bool grudging;      /* nobody may hold it */
        TestLeaf *heir;
        bool recorded; /* when the daemon before let go of the unit, it was recorded what the heir does */
} Scene;

/* A job for it is in the queue, and nothing else is known of it. */
static int reply_all(Scene *scene, sd_bus_message *message) {
        scene->n_read++;
        if (scene->gone)
                return sd_bus_reply_method_return(message, "a{sv}", 2, "LoadState", "s", "not-found", "ActiveState",
                                                  "s", "inactive");
        if (scene->idle)
                return sd_bus_reply_method_return(message, "a{sv}", 5, "LoadState", "s", "loaded", "ActiveState", "s",
                                                  "inactive", "SubState", "s", "dead", "Job", "(uo)", 0, "/",
                                                  "InactiveExitTimestampMonotonic", "t", UINT64_C(1));

        return sd_bus_reply_method_return(message, "a{sv}", 5, "LoadState", "s", "loaded", "ActiveState", "s",
                                          "inactive", "SubState", "s", "dead", "Type", "s", "oneshot", "Job", "(uo)", 7,
                                          JOB_PATH);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *member = sd_bus_message_get_member(message);
        Scene *scene = userdata;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;

        scene->n_stopped += strcmp(member, "StopUnit") == 0;
        scene->n_started += strcmp(member, "StartTransientUnit") == 0;
        if (strcmp(member, "GetAll") == 0)
                return reply_all(scene, message);
        if (strcmp(member, "Get") == 0)
                return sd_bus_reply_method_return(message, "v", "s", scene->type);
        if (strcmp(member, "GetJobAfter") == 0)
                return sd_bus_reply_method_return(message, "a(usssoo)", 0);
        if (strcmp(member, "StartTransientUnit") == 0)
                return sd_bus_reply_method_errorf(message, "org.freedesktop.systemd1.UnitExists", "It exists.");

        if (strcmp(member, "Ref") == 0 && scene->grudging)
                return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_ACCESS_DENIED, "No.");
        if (strcmp(member, "StartUnit") == 0)
                return sd_bus_reply_method_return(message, "o", JOB_PATH);

        return sd_bus_reply_method_return(message, NULL);
}

static void scene_open(Scene *scene, const void *data) {
        scene->type = "start";
        scene->bus = bus_fixture_new(BUS_DAEMON, NULL);
        bus_fixture_start(scene->bus);
        scene->stage = leaf_stage_new(bus_fixture_address(scene->bus));
        leaf_stage_set_durable(scene->stage, NULL);
        scene->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->peer), NULL, on_message, scene), >=, 0);
}

static void scene_close(Scene *scene, const void *data) {
        leaf_stage_free(scene->stage);
        bus_peer_free(scene->peer);
        bus_fixture_free(scene->bus);
}

/* Until it has been looked at, and knows of the job. */
static TestLeaf *recover(Scene *scene, const char *node, const char *memory) {
        TestLeaf *leaf = leaf_stage_recover(scene->stage, leaf_types, node, json_tokener_parse(memory));

        wait_until(scene->n_read == 1);
        wait_round_trip(scene->peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        return leaf;
}

/* Its job is over, and it has been started for it. code: how its program has ended, as in siginfo_t. */
static void job_ends_with(Scene *scene, const char *path, const char *state, const char *sub_state, int code) {
        g_assert_cmpint(sd_bus_emit_signal(
                                bus_peer_bus(scene->peer), path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                "sa{sv}as", "org.freedesktop.systemd1.Unit", 10, "ActiveState", "s", state, "SubState",
                                "s", sub_state, "ConditionResult", "b", true, "Job", "(uo)", 0, "/", "ExecMainCode",
                                "i", code, "ExecMainStatus", "i", 0, "ExecMainExitTimestampMonotonic", "t",
                                g_get_monotonic_time(), "StateChangeTimestampMonotonic", "t", g_get_monotonic_time(),
                                "InactiveExitTimestampMonotonic", "t", g_get_monotonic_time(), "InvocationID", "ay", 16,
                                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0),
                        >=, 0);
}

static void job_ends(Scene *scene, const char *path, const char *state, const char *sub_state) {
        job_ends_with(scene, path, state, sub_state, CLD_EXITED);
}

/* Somebody has stopped it in the middle of its start: its program was killed. */
static void test_stopped_at_its_start(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true}");

        job_ends_with(scene, CAM_PATH, "inactive", "dead", CLD_KILLED);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "btd was restarted meanwhile, and cam.service was stopped, or its failure was reset since, so "
                        "its result is not known");
}

/* A oneshot service is forgotten when it has done its work: what it was like then counts. */
static void test_forgotten_at_once(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true}");

        job_ends(scene, CAM_PATH, "inactive", "dead");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->n_read, ==, 1);
}

/* Its program has ended as it should, although its status is not 0: only the unit says so. */
static void test_status_that_is_a_success(Scene *scene, const void *data) {
        static const struct {
                int status, of_post;
                bool ignored;
                Status outcome;
        } cases[] = { { 75, 0, false, STATUS_SUCCESS },
                      { 74, 0, false, STATUS_FAILURE },
                      { 74, 0, true, STATUS_SUCCESS },
                      { 0, 1, false, STATUS_FAILURE } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TestLeaf) leaf = NULL;
                uint64_t now;

                scene->n_read = 0;
                leaf = recover(scene, START_CAM, "{\"heard\":true}");
                now = (uint64_t) g_get_monotonic_time();
                g_assert_cmpint(sd_bus_emit_signal(
                                        bus_peer_bus(scene->peer), CAM_PATH, "org.freedesktop.DBus.Properties",
                                        "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Service", 11,
                                        "ActiveState", "s", "inactive", "SubState", "s", "dead", "ConditionResult", "b",
                                        true, "Job", "(uo)", 0, "/", "ExecMainCode", "i", CLD_EXITED, "ExecMainStatus",
                                        "i", cases[i].status, "ExecMainExitTimestampMonotonic", "t", now,
                                        "InactiveExitTimestampMonotonic", "t", now, "SuccessExitStatus", "(aiai)", 2, 7,
                                        75, 1, SIGTERM, "ExecStart", "a(sasbttttuii)", 2, "/bin/a", 0, false, now, now,
                                        now, now, 12, CLD_EXITED, 0, "/bin/b", 0, cases[i].ignored, now, now, now, now,
                                        13, CLD_EXITED, cases[i].status, "ExecStartPost", "a(sasbttttuii)", 1, "/bin/c",
                                        0, false, now, now, now, now, 14, CLD_EXITED, cases[i].of_post, 0),
                                >=, 0);
                g_assert_cmpint(test_leaf_wait(leaf), ==, cases[i].outcome);
        }
}

/* Its end starts another unit, which may have started it again at once. What was down for longer was started by others.
 */
static void test_stopped_and_started_again(Scene *scene, const void *data) {
        static const struct {
                uint64_t down;
                Status outcome;
        } cases[] = { { 1000000, STATUS_FAILURE }, { 1000001, STATUS_SUCCESS } };

        scene->type = "active";
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TestLeaf) leaf = NULL;
                uint64_t now;

                scene->n_read = 0;
                leaf = recover(scene, "{ \"type\": \"StopUnit\", \"unit\": \"cam.service\" }",
                               "{\"heard\":true,\"job\":7}");
                now = (uint64_t) g_get_monotonic_time();
                g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), CAM_PATH,
                                                   "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                                                   "org.freedesktop.systemd1.Unit", 6, "ActiveState", "s", "active",
                                                   "SubState", "s", "running", "Job", "(uo)", 0, "/", "OnSuccess", "as",
                                                   1, "again.service", "InactiveEnterTimestampMonotonic", "t", now,
                                                   "InactiveExitTimestampMonotonic", "t", now + cases[i].down, 0),
                                >=, 0);
                g_assert_cmpint(test_leaf_wait(leaf), ==, cases[i].outcome);
        }
}

/* It has been up before, so that there is nothing that it would have to show. */
static void test_reloaded(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, RELOAD_CAM, "{\"heard\":true}");

        job_ends(scene, CAM_PATH, "active", "running");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->n_read, ==, 1);
}

/* A service must survive its reload, also if nobody was there when it was asked for. */
static void test_reloaded_and_gone(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, RELOAD_CAM, "{\"heard\":true}");

        scene->type = "failed";
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), CAM_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 5, "Type",
                                           "s", "simple", "ActiveState", "s", "active", "SubState", "s", "running",
                                           "Job", "(uo)", 0, "/", "StateChangeTimestampMonotonic", "t",
                                           g_get_monotonic_time(), 0),
                        >=, 0);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service was reloaded, but now it is failed (running)");
}

static void test_halted(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true,\"job\":7,\"own\":true}");

        g_assert_false(leaf->leaf.kind->halt(&leaf->leaf));
        job_ends(scene, CAM_PATH, "inactive", "dead");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_null(leaf->cause);
}

/* Somebody else's job has taken the place of the leaf's. up: when the unit was last up. */
static void job_is_replaced(Scene *scene, uint64_t up) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), CAM_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 5,
                                           "ActiveState", "s", "deactivating", "ConditionResult", "b", true, "Job",
                                           "(uo)", 8, PREFIX "/job/8", "ActiveEnterTimestampMonotonic", "t", up,
                                           "InactiveExitTimestampMonotonic", "t", g_get_monotonic_time(), 0),
                        >=, 0);
}

static void test_stopped_after_it_was_up(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true,\"job\":7,\"own\":true}");

        job_is_replaced(scene, (uint64_t) g_get_monotonic_time());
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

static void test_stopped_before_it_was_up(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true,\"job\":7,\"own\":true}");

        job_is_replaced(scene, 1);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service was not started: the job was cancelled (result 'canceled')");
}

/* Its process was up for that long, in microseconds. */
static void service_ends(Scene *scene, uint64_t lasted, const char *state, const char *sub_state) {
        uint64_t now = (uint64_t) g_get_monotonic_time();

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), CAM_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 10, "Type",
                                           "s", "simple", "ActiveState", "s", state, "SubState", "s", sub_state,
                                           "ConditionResult", "b", true, "Restart", "s", "always", "NRestarts", "u", 1,
                                           "Job", "(uo)", 0, "/", "InactiveExitTimestampMonotonic", "t", now,
                                           "ActiveEnterTimestampMonotonic", "t", now, "InactiveEnterTimestampMonotonic",
                                           "t", now + lasted, 0),
                        >=, 0);
}

static void test_service_that_has_lasted(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true}");

        service_ends(scene, 100000, "inactive", "dead");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

static void test_service_that_has_not_lasted(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true}");

        service_ends(scene, 99999, "inactive", "dead");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service was started, but now it is inactive (dead); systemd has restarted it 1 time");
}

static void test_service_that_is_restarted(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, START_CAM, "{\"heard\":true}");

        service_ends(scene, 100000, "activating", "auto-restart");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service was started, but now it is activating (auto-restart); its Restart= setting starts "
                        "it again");
}

/* As the daemon before did, if it was already waiting for that. */
static void test_restarts_are_awaited(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf =
                recover(scene, "{ \"type\": \"StartUnit\", \"unit\": \"cam.service\", \"wait_for_restarts\": true }",
                        "{\"heard\":true}");
        g_autofree char *text = NULL;

        service_ends(scene, 100000, "activating", "auto-restart");
        wait_until(scene->n_read == 2);
        wait_round_trip(scene->peer);
        service_ends(scene, 100000, "activating", "auto-restart");
        wait_round_trip(scene->peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        text = test_leaf_describe(leaf);
        g_assert_cmpstr(text, ==, "cam.service to be up; systemd has restarted it 1 time");
        scene->type = "simple";
        service_ends(scene, 0, "failed", "failed");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
}

/* systemd may have heard of the request. But a start was requested, so the job that stops the unit is another one's. */
static void test_job_of_another(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene->type = "stop";
        leaf = leaf_stage_recover(scene->stage, leaf_types, START_CAM, json_tokener_parse("{\"heard\":false}"));
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(
                leaf->cause, ==,
                "btd was restarted meanwhile, and systemd has forgotten cam.service since, so its result is not known");
}

/* That it is not active does not mean that it was. */
static void test_process_not_started_yet(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = recover(scene, SPAWN, "{\"unit\":true}");

        job_ends(scene, SPAWN_PATH, "active", "exited");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->n_stopped, ==, 0);
}

/* Only its output shows that it was executed. */
static void test_process_that_has_written(Scene *scene, const void *data) {
        g_autofree char *outputs = g_dir_make_tmp("btd-test-XXXXXX", NULL),
                        *path = g_build_filename(outputs, "test.1-0-1.stdout", NULL);
        g_autoptr(TestLeaf) leaf = NULL;

        g_assert_true(g_file_set_contents(path, "x", 1, NULL));
        leaf_stage_set_durable(scene->stage, outputs);
        scene->gone = true;
        leaf = leaf_stage_recover(scene->stage, leaf_types,
                                  "{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"/bin/true\"], "
                                  "\"stdout\": \"out\" }",
                                  json_tokener_parse("{\"unit\":true}"));
        wait_until(leaf->lost);
        g_assert_cmpuint(scene->n_started, ==, 0);
        g_clear_pointer(&leaf, test_leaf_free);
        g_assert_cmpint(g_rmdir(outputs), ==, 0);
}

static void on_unused(void *userdata) {
        Scene *scene = userdata;

        scene->recorded = scene->heir->memo;
}

/* systemd has not heard of the job, so it is asked for again: a kill before that is recorded must find the unit held.
 */
static void test_held_until_it_is_recorded(Scene *scene, const void *data) {
        Inheritance inheritance = { .n_users = 0, .unused = on_unused, .userdata = scene };
        g_autoptr(TestLeaf) leaf = NULL;

        scene->idle = scene->grudging = true;
        leaf_stage_set_inheritance(scene->stage, &inheritance);
        leaf = scene->heir =
                leaf_stage_recover(scene->stage, leaf_types, START_CAM, json_tokener_parse("{\"heard\":false}"));
        g_assert_cmpuint(inheritance.n_users, ==, 1);
        wait_until(inheritance.n_users == 0);
        g_assert_true(scene->recorded);
}

#define add(name, function) g_test_add(name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("/units-recovered/forgotten-at-once", test_forgotten_at_once);
        add("/units-recovered/status-that-is-a-success", test_status_that_is_a_success);
        add("/units-recovered/stopped-and-started-again", test_stopped_and_started_again);
        add("/units-recovered/stopped-at-its-start", test_stopped_at_its_start);
        add("/units-recovered/reloaded", test_reloaded);
        add("/units-recovered/reloaded-and-gone", test_reloaded_and_gone);
        add("/units-recovered/halted", test_halted);
        add("/units-recovered/stopped-after-it-was-up", test_stopped_after_it_was_up);
        add("/units-recovered/stopped-before-it-was-up", test_stopped_before_it_was_up);
        add("/units-recovered/service-that-has-lasted", test_service_that_has_lasted);
        add("/units-recovered/service-that-has-not-lasted", test_service_that_has_not_lasted);
        add("/units-recovered/service-that-is-restarted", test_service_that_is_restarted);
        add("/units-recovered/restarts-are-awaited", test_restarts_are_awaited);
        add("/units-recovered/job-of-another", test_job_of_another);
        add("/units-recovered/process-not-started-yet", test_process_not_started_yet);
        add("/units-recovered/process-that-has-written", test_process_that_has_written);
        add("/units-recovered/held-until-it-is-recorded", test_held_until_it_is_recorded);

        return g_test_run();
}
