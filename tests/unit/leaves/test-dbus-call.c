/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DBusCall on real buses.
 */

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

#define CALL_TO "\"destination\": \"" CAMERA "\", \"path\": \"" CAMERA_PATH "\", \"interface\": \"" CAMERA "\""

static TestLeaf *start_call(CameraStage *stage, const char *rest) {
        g_autofree char *text = g_strconcat(CALL_TO ", ", rest, NULL);

        return camera_stage_start(stage, &dbus_call_type, text);
}

/* Calls, and waits for the result. */
static TestLeaf *run_call(CameraStage *stage, const char *rest, Status expected) {
        TestLeaf *leaf = start_call(stage, rest);

        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(leaf), ==, expected);
        return leaf;
}

static void assert_outputs(const TestLeaf *leaf, const char *expected) {
        g_assert_cmpstr(json_object_to_json_string_ext(leaf->outputs, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static void test_call(CameraStage *stage) {
        g_autoptr(TestLeaf) plain = NULL, all = NULL, some = NULL, echo = NULL;

        plain = run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS);
        g_assert_cmpstr(plain->cause, ==, NULL);
        assert_outputs(plain, "{}");

        all = run_call(stage, "\"member\": \"Start\", \"outputs\": [\"mode\", \"rate\", \"options\"]", STATUS_SUCCESS);
        assert_outputs(all, "{\"mode\":\"preview\",\"rate\":30,\"options\":{\"width\":640}}");

        some = run_call(stage, "\"member\": \"Start\", \"outputs\": [\"\", \"rate\"]", STATUS_SUCCESS);
        assert_outputs(some, "{\"rate\":30}");

        echo = run_call(
                stage,
                "\"member\": \"Echo\", \"signature\": \"a{s(ti)}v\", \"args\": [{\"a\": [18446744073709551615, -1]}, "
                "[1.5]], \"outputs\": [\"x\", \"y\"]",
                STATUS_SUCCESS);
        assert_outputs(echo, "{\"x\":{\"a\":[18446744073709551615,-1]},\"y\":[1.5]}");
}

/* What is as deep as it may be is taken by the bus, too. */
static void test_deep(CameraStage *stage) {
        g_autoptr(GString) rest = g_string_new("\"member\": \"Echo\", \"signature\": \"v\", \"args\": [");

        /* The type says what the text does not. */
        g_string_append(rest, "{\"signature\": \"");
        for (unsigned i = 0; i < 25; i++)
                g_string_append_c(rest, 'a');
        g_string_append(rest, "v\", \"value\": ");
        for (unsigned i = 0; i < 25; i++)
                g_string_append_c(rest, '[');
        g_string_append(rest, "{\"signature\": \"");
        for (unsigned i = 0; i < 32; i++)
                g_string_append_c(rest, 'a');
        g_string_append(rest, "u\", \"value\": []}");
        for (unsigned i = 0; i < 25; i++)
                g_string_append_c(rest, ']');
        g_string_append(rest, "}]");

        test_leaf_free(run_call(stage, rest->str, STATUS_SUCCESS));
        test_leaf_free(run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS));
}

static void test_fails(CameraStage *stage) {
        static const char *const files[] = {
                "\"member\": \"File\"",
                "\"member\": \"Files\"",
                "\"member\": \"Files\", \"outputs\": [\"files\"]",
                "\"member\": \"Files\", \"outputs\": { \"n\": \"#value\" }",
        };
        g_autoptr(TestLeaf) busy = NULL, mute = NULL, nobody = NULL, few = NULL, none = NULL;

        busy = run_call(stage, "\"member\": \"Busy\"", STATUS_FAILURE);
        g_assert_cmpstr(busy->cause, ==, "org.example.Error.Busy: the camera is in use");
        assert_cause(busy->reason, "dbus-error",
                     "{\"name\":\"org.example.Error.Busy\",\"message\":\"the camera is in use\","
                     "\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"member\":\"Busy\"}");

        mute = run_call(stage, "\"member\": \"Mute\"", STATUS_FAILURE);
        g_assert_cmpstr(mute->cause, ==, "org.example.Error.Mute");

        nobody = camera_stage_start(stage, &dbus_call_type,
                                    "\"destination\": \"org.example.Nobody\", \"path\": \"/\", \"member\": \"X\", "
                                    "\"auto_start\": false");
        g_assert_cmpint(test_leaf_wait(nobody), ==, STATUS_FAILURE);
        g_assert_true(g_str_has_prefix(nobody->cause, "org.freedesktop.DBus.Error."));

        few = run_call(stage, "\"member\": \"Start\", \"outputs\": [\"a\", \"b\", \"c\", \"d\"]", STATUS_FAILURE);
        g_assert_cmpstr(few->cause, ==, "the reply has 3 values, but there are 4 outputs");
        assert_cause(few->reason, "failed", "null");
        assert_outputs(few, "{}");

        none = run_call(stage, "\"member\": \"Nothing\", \"outputs\": [\"a\"]", STATUS_FAILURE);
        g_assert_cmpstr(none->cause, ==, "the reply has 0 values, but there is 1 output");

        for (unsigned i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autoptr(TestLeaf) file = run_call(stage, files[i], STATUS_FAILURE);

                g_assert_cmpstr(file->cause, ==,
                                "the reply has a file descriptor, which btd cannot keep; call the method in a program "
                                "that keeps it open, with a Command");
                assert_outputs(file, "{}");
        }
}

/* Arguments that come from the blackboard are only seen at the start: it fails at once, and says why. */
static void test_bad_arguments(CameraStage *stage) {
        g_autoptr(TestLeaf) range = NULL, missing = NULL, name = NULL;

        leaf_stage_set_number(stage->leaves, "n", 300);
        leaf_stage_set_variable(stage->leaves, "name", "No Name");
        range = start_call(stage, "\"member\": \"Echo\", \"signature\": \"sy\", \"args\": [\"a\", \"{n}\"]");
        g_assert_cmpint(range->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(range->cause, ==, "args[1]: expected a whole number from 0 to 255, not 300 (the value of {n})");
        assert_cause(range->reason, "parameter", "null");

        missing = start_call(stage, "\"member\": \"Echo\", \"signature\": \"s\", \"args\": \"{name}\"");
        g_assert_cmpint(missing->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(missing->cause, ==, "args: expected an array, but {name} is \"No Name\"");

        name = start_call(stage, "\"member\": \"{name}\"");
        g_assert_cmpint(name->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(name->cause, ==, "member: 'No Name' is not the name of a method such as \"Start\"");

        wait_round_trip(stage->camera.peer);
        g_assert_cmpuint(stage->camera.n_calls, ==, 0);
}

static void test_describe(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = start_call(stage, "\"member\": \"Hang\"");
        g_autofree char *before = test_leaf_describe(leaf), *after = NULL;

        g_assert_cmpstr(before, ==, "connection to the bus 'test'");

        wait_until(stage->camera.n_calls == 1);
        after = test_leaf_describe(leaf);
        g_assert_cmpstr(after, ==, "reply of org.example.Camera.Hang from org.example.Camera");
}

/* Never answered, and released: nothing is reported any more, and the next call is. */
static void test_halted(CameraStage *stage) {
        TestLeaf *hangs = start_call(stage, "\"member\": \"Hang\"");

        wait_until(stage->camera.n_calls == 1);
        test_leaf_free(hangs);
        test_leaf_free(run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS));
}

/* A method that is never answered does not disturb conditions. */
static void test_hangs_again_and_again(CameraStage *stage) {
        g_autoptr(TestLeaf) looks = camera_stage_look(stage, "Powered", "");

        g_assert_cmpint(test_leaf_wait(looks), ==, STATUS_SUCCESS);
        for (unsigned i = 0; i < 60; i++) {
                TestLeaf *hangs = start_call(stage, "\"member\": \"Hang\"");
                unsigned before = stage->camera.n_calls;

                wait_until(stage->camera.n_calls > before);
                test_leaf_free(hangs);
        }
        test_leaf_free(run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS));
        test_leaf_expect(looks, 1, STATUS_SUCCESS, NULL);
}

static void test_bus_dies(CameraStage *stage) {
        g_autoptr(TestLeaf) hangs = NULL, waits = NULL;

        hangs = start_call(stage, "\"member\": \"Hang\"");
        wait_until(stage->camera.n_calls == 1);
        bus_fixture_kill(stage->bus);
        wait_until(hangs->status == STATUS_FAILURE);
        g_assert_cmpstr(hangs->cause, ==,
                        "org.freedesktop.DBus.Error.Disconnected: the connection to the bus 'test' was lost "
                        "before the reply came");
        g_assert_cmpstr(hangs->reason->kind, ==, "connection-lost");
        g_assert_true(cause_matches(hangs->reason, "org.freedesktop.DBus.Error.Disconnected"));

        waits = start_call(stage, "\"member\": \"Nothing\"");
        camera_close(&stage->camera);
        bus_fixture_start(stage->bus);
        camera_open(&stage->camera, stage->bus, true);
        wait_until(waits->status == STATUS_SUCCESS);
}

/* One that a daemon before this one has made, whose connection was that of the peer. */
static TestLeaf *recover_call(CameraStage *stage, BusPeer *daemon, const char *bus) {
        static const NodeType *const types[] = { &dbus_call_type, NULL };
        json_object *memory = json_object_new_object();
        char text[SD_ID128_STRING_MAX];
        const char *sender;
        sd_id128_t id;

        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(daemon), &sender), >=, 0);
        g_assert_cmpint(sd_bus_get_bus_id(bus_peer_bus(daemon), &id), >=, 0);
        json_object_object_add(memory, "sender", json_object_new_string(sender));
        json_object_object_add(memory, "bus", json_object_new_string(bus ?: sd_id128_to_string(id, text)));
        return leaf_stage_recover(stage->leaves, types,
                                  "{ \"type\": \"DBusCall\", \"member\": \"Nothing\", " CALL_TO " }", memory);
}

/* What comes behind the call is not sent before the bus has let go of the one who has made it. */
static void test_past(CameraStage *stage) {
        BusPeer *daemon = bus_peer_new(stage->bus, "org.example.Daemon");
        g_autoptr(TestLeaf) leaf = recover_call(stage, daemon, NULL), other = NULL, gone = NULL;

        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        test_leaf_free(run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS));
        g_assert_false(leaf->lost);

        /* Another bus has nothing of it. */
        other = recover_call(stage, daemon, "0123456789abcdef0123456789abcdef");
        wait_until(other->lost || other->status == STATUS_IDLE);

        bus_peer_free(daemon);
        wait_until(leaf->lost);

        gone = leaf_stage_recover(stage->leaves, (const NodeType *const[]){ &dbus_call_type, NULL },
                                  "{ \"type\": \"DBusCall\", \"member\": \"Nothing\", " CALL_TO " }", NULL);
        g_assert_cmpint(gone->status, ==, STATUS_IDLE);
}

/* Its memo has the sender and the bus, so that the next btd can tell whether the reply can still come. */
static void test_memo(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;
        json_object *sender;

        leaf_stage_set_durable(stage->leaves, NULL);
        leaf = run_call(stage, "\"member\": \"Nothing\"", STATUS_SUCCESS);
        g_assert_true(json_object_object_get_ex(leaf->memo, "sender", &sender));
        g_assert_true(g_str_has_prefix(json_object_get_string(sender), ":1."));
        g_assert_true(json_object_object_get_ex(leaf->memo, "bus", &sender));
        g_assert_cmpint(json_object_get_string_len(sender), ==, 32);
}

/* Of a call that is good but for these parameters. */
static void assert_problem(const char *parameters, const char *expected) {
        static const NodeType *const types[] = { &dbus_call_type, NULL };
        g_autoptr(json_object) node = json_tokener_parse("{\"type\": \"DBusCall\", \"member\": \"M\", " CALL_TO "}"),
                               given = json_tokener_parse(parameters);
        g_autofree char *problem = NULL;

        json_object_object_foreach(given, name, value) json_object_object_add(node, name, json_object_get(value));
        problem = leaf_stage_check(types, json_object_to_json_string(node));
        g_assert_cmpstr(problem, ==, expected);
}

/* What can be known when the tree is loaded. */
static void test_problems(void) {
        assert_problem("{}", NULL);
        assert_problem("{\"signature\": \"su\", \"args\": [\"a\", 1], \"bus\": \"system\"}", NULL);
        assert_problem("{\"bus\": \"sytem\"}",
                       "bus: 'sytem' is not the name of a bus: expected \"system\", \"session\", \"host:USER@HOST\", "
                       "\"machine:NAME\" or an address such as \"unix:path=/run/my-bus\"; did you mean \"system\"?");
        assert_problem("{\"destination\": \"camera\"}",
                       "destination: 'camera' is not a bus name such as \"org.example.Camera\"");
        assert_problem("{\"path\": \"org/example\"}",
                       "path: 'org/example' is not an object path such as \"/org/example/Camera\"");
        assert_problem("{\"interface\": \"X\"}",
                       "interface: 'X' is not the name of an interface such as \"org.example.Camera\"");
        assert_problem("{\"member\": \"a.b\"}", "member: 'a.b' is not the name of a method such as \"Start\"");
        assert_problem("{\"signature\": \"a\"}", "signature: 'a': an array 'a' needs the type of its elements");
        assert_problem("{\"signature\": \"uh\"}", "signature: 'uh': file descriptors ('h') are not supported");
        assert_problem("{\"signature\": \"u\", \"args\": [-1]}",
                       "args[0]: expected a whole number from 0 to 4294967295, not -1");
        assert_problem("{\"signature\": \"s\"}", "args: signature 's' takes 1 argument, not 0");
        assert_problem("{\"signature\": \"s\", \"args\": \"{args}\"}", NULL);
        assert_problem("{\"signature\": \"sy\", \"args\": [\"{text}\", 256]}",
                       "args[1]: expected a whole number from 0 to 255, not 256");
        assert_problem("{\"signature\": \"a{s(uv)}\", \"args\": [{\"k\": [1, {\"signature\": \"y\", \"value\": -1}]}]}",
                       "args[0].k[1].value: expected a whole number from 0 to 255, not -1");
        assert_problem("{\"outputs\": [\"\", \"a b\"]}",
                       "outputs[1]: 'a b' cannot be the name of a variable (a letter or "
                       "'_', then letters, digits, '_' and '-')");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/dbus-call/problems", test_problems);
        camera_stage_add("dbus-call", "call", test_call);
        camera_stage_add("dbus-call", "deep", test_deep);
        camera_stage_add("dbus-call", "hangs-again-and-again", test_hangs_again_and_again);
        camera_stage_add("dbus-call", "fails", test_fails);
        camera_stage_add("dbus-call", "bad-arguments", test_bad_arguments);
        camera_stage_add("dbus-call", "describe", test_describe);
        camera_stage_add("dbus-call", "halted", test_halted);
        camera_stage_add("dbus-call", "bus-dies", test_bus_dies);
        camera_stage_add("dbus-call", "past", test_past);
        camera_stage_add("dbus-call", "memo", test_memo);
        return g_test_run();
}
