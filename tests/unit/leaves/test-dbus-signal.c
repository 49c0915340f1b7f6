/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DBusSignal, DBusEmit and DBusName on real buses.
 */

#include <dlfcn.h>
#include <errno.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/log.h"
#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

static const NodeType *const types[] = { &dbus_signal_type, &dbus_emit_type, &dbus_name_type, &dbus_call_type, NULL };

typedef int (*CallAsync)(sd_bus *bus, sd_bus_slot **ret_slot, sd_bus_message *message, sd_bus_message_handler_t done,
                         void *userdata, uint64_t usec);

static bool question_is_lost; /* the next one of DBusEmit */

/* In place of the one of sd-bus. */
int sd_bus_call_async(sd_bus *bus, sd_bus_slot **ret_slot, sd_bus_message *message, sd_bus_message_handler_t done,
                      void *userdata, uint64_t usec) {
        if (question_is_lost && sd_bus_message_is_method_call(message, NULL, "GetId") > 0) {
                question_is_lost = false;
                return -ECONNRESET;
        }

        return ((CallAsync) dlsym(RTLD_NEXT, "sd_bus_call_async"))(bus, ret_slot, message, done, userdata, usec);
}

static int on_done(sd_bus_message *signal, void *userdata, sd_bus_error *ret_error) {
        ++*(unsigned *) userdata;
        return 0;
}

static TestLeaf *start(CameraStage *stage, const char *type, const char *rest) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"%s\", %s }", type, rest);

        return leaf_stage_start(stage->leaves, types, node);
}

/* What was started before is in place when a call that was sent later is answered. */
static void wait_for_calls(CameraStage *stage) {
        g_autoptr(TestLeaf) call = start(stage, "DBusCall",
                                         "\"destination\": \"org.freedesktop.DBus\", \"path\": \"/\", "
                                         "\"interface\": \"org.freedesktop.DBus.Peer\", \"member\": \"Ping\"");

        g_assert_cmpint(test_leaf_wait(call), ==, STATUS_SUCCESS);
}

static void emit(BusPeer *peer, const char *text, const char *path, unsigned number) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(peer), CAMERA_PATH, CAMERA, "Moved", "sou", text, path, number),
                        >=, 0);
}

/* Each waits for the one signal, among others, that fits. */
static void test_args(CameraStage *stage) {
        static const struct {
                const char *args;
                bool fits;
        } cases[] = {
                { "[]", true },
                { "[\"left\"]", true },
                { "[\"left\", \"/a/b\", 7]", true },
                { "[null, \"/a/b\"]", true },
                { "[null, null, 7.0]", true },
                { "[\"right\"]", false },
                { "[\"left\", \"/a\"]", false },
                { "[\"left\", \"/\"]", false },
                { "[null, null, 8]", false },
                { "[null, null, \"7\"]", false },
                { "[\"left\", \"/a/b\", 7, null]", false },
                { "[\"it's\"]", false },
        };
        TestLeaf *leaves[G_N_ELEMENTS(cases)];

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *rest =
                        g_strdup_printf("\"sender\": \"" CAMERA "\", \"path\": \"" CAMERA_PATH
                                        "\", \"interface\": \"" CAMERA "\", \"member\": \"Moved\", \"args\": %s",
                                        cases[i].args);

                leaves[i] = start(stage, "DBusSignal", rest);
                g_assert_cmpint(leaves[i]->status, ==, STATUS_RUNNING);
        }

        wait_for_calls(stage);
        emit(stage->camera.peer, "left", "/a/b", 7);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                if (cases[i].fits)
                        g_assert_cmpint(test_leaf_wait(leaves[i]), ==, STATUS_SUCCESS);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].args);
                g_assert_cmpint(leaves[i]->status, ==, cases[i].fits ? STATUS_SUCCESS : STATUS_RUNNING);
        }

        emit(stage->camera.peer, "it's", "/a", 8);
        g_assert_cmpint(test_leaf_wait(leaves[G_N_ELEMENTS(cases) - 1]), ==, STATUS_SUCCESS);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                test_leaf_free(leaves[i]);
}

/* A text is only compared with strings and paths, also with those in a variant; which type a value has depends on its
 * place. The bus cannot look for this second text. */
static void test_types_of_args(CameraStage *stage) {
        sd_bus *bus = bus_peer_bus(stage->camera.peer);
        g_autoptr(TestLeaf) leaf = NULL, first = NULL, last = NULL;

        leaf = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [\"left\", \"it's\"]");
        first = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [\"/in/here\", \"it's\"]");
        last = start(stage, "DBusSignal", "\"member\": \"Moved\"");
        wait_for_calls(stage);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "say", "left", 4, 'i', 't', '\'', 's'),
                        >=, 0);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "vv", "u", 1, "s", "it's"), >=, 0);
        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(last), ==, STATUS_SUCCESS);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);

        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "vs", "v", "s", "left", "it's"), >=, 0);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpint(first->status, ==, STATUS_RUNNING);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "vv", "o", "/in/here", "s", "it's"), >=,
                        0);
        g_assert_cmpint(test_leaf_wait(first), ==, STATUS_SUCCESS);
}

/* Signals for which the test is false, or cannot be evaluated, are skipped. */
static void test_test(CameraStage *stage) {
        sd_bus *bus = bus_peer_bus(stage->camera.peer);
        g_autoptr(TestLeaf) leaf = NULL, second = NULL, bare = NULL;

        leaf_stage_set_number(stage->leaves, "limit", 5);
        leaf = start(stage, "DBusSignal", "\"member\": \"Turned\", \"test\": \"value > limit\", \"outputs\": [\"n\"]");
        second = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [8], \"test\": \"args[2] == 'left'\"");
        bare = start(stage, "DBusSignal", "\"member\": \"Turned\", \"test\": \"args[1] == nil\"");
        wait_for_calls(stage);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "us", 5, "left"), >=, 0);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "s", "much"), >=, 0);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "h", 0), >=, 0);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "us", 8, "right"), >=, 0);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(leaf, "n"), ==, "8");
        g_assert_cmpint(second->status, ==, STATUS_RUNNING);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "us", 8, "left"), >=, 0);
        g_assert_cmpint(test_leaf_wait(second), ==, STATUS_SUCCESS);
        g_assert_cmpint(bare->status, ==, STATUS_RUNNING);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", NULL), >=, 0);
        g_assert_cmpint(test_leaf_wait(bare), ==, STATUS_SUCCESS);
}

/* Only as much as could match is read; a variant and an array of bytes can match, too. */
static void test_size_of_args(CameraStage *stage) {
        sd_bus *bus = bus_peer_bus(stage->camera.peer);
        g_autoptr(TestLeaf)
                number = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, 7]"),
                truth = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, true]"),
                bytes = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, [1, 2, 3]]"),
                mixed = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, [1, \"x\", []]]");

        wait_for_calls(stage);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "sv", "left", "i", 7), >=, 0);
        g_assert_cmpint(test_leaf_wait(number), ==, STATUS_SUCCESS);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "sv", "left", "b", 1), >=, 0);
        g_assert_cmpint(test_leaf_wait(truth), ==, STATUS_SUCCESS);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "say", "left", 3, 1, 2, 3), >=, 0);
        g_assert_cmpint(test_leaf_wait(bytes), ==, STATUS_SUCCESS);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "sav", "left", 3, "v", "u", 1, "s", "x",
                                           "ay", 0),
                        >=, 0);
        g_assert_cmpint(test_leaf_wait(mixed), ==, STATUS_SUCCESS);
}

/* A list of any length may be the last argument, since nobody has to skip it; before another one, it does not match. */
static void test_long_list(CameraStage *stage) {
        g_autoptr(TestLeaf) last = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [\"left\", null]"),
                            before = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, null, 7]");
        g_autoptr(sd_bus_message) signal = NULL;

        wait_for_calls(stage);
        g_assert_cmpint(
                sd_bus_message_new_signal(bus_peer_bus(stage->camera.peer), &signal, CAMERA_PATH, CAMERA, "Turned"), >=,
                0);
        g_assert_cmpint(sd_bus_message_append(signal, "s", "left"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(signal, 'a', "s"), >=, 0);
        for (unsigned i = 0; i <= VALUE_SKIPPED_MAX; i++)
                g_assert_cmpint(sd_bus_message_append(signal, "s", "x"), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(signal), >=, 0);
        g_assert_cmpint(sd_bus_message_append(signal, "u", 7), >=, 0);
        g_assert_cmpint(sd_bus_send(bus_peer_bus(stage->camera.peer), signal, NULL), >=, 0);
        g_assert_cmpint(test_leaf_wait(last), ==, STATUS_SUCCESS);
        wait_round_trip(stage->camera.peer);
        g_assert_cmpint(before->status, ==, STATUS_RUNNING);
}

/* dbus-broker does not look at a text that follows a number. */
static void test_text_after_a_number(CameraStage *stage) {
        sd_bus *bus = bus_peer_bus(stage->camera.peer);
        g_autoptr(TestLeaf) leaf = start(stage, "DBusSignal", "\"member\": \"Turned\", \"args\": [null, \"left\"]"),
                            last = start(stage, "DBusSignal", "\"member\": \"Moved\"");

        wait_for_calls(stage);
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "us", 1, "right"), >=, 0);
        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(last), ==, STATUS_SUCCESS);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);

        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, CAMERA, "Turned", "us", 1, "left"), >=, 0);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

static void test_outputs(CameraStage *stage) {
        g_autoptr(TestLeaf) some = NULL, all = NULL, many = NULL, file = NULL;

        some = start(stage, "DBusSignal", "\"member\": \"Moved\", \"outputs\": [\"\", \"where\"]");
        all = start(stage, "DBusSignal", "\"member\": \"Moved\", \"outputs\": [\"a\", \"b\", \"c\"]");
        many = start(stage, "DBusSignal", "\"member\": \"Moved\", \"outputs\": [\"a\", \"b\", \"c\", \"d\"]");
        file = start(stage, "DBusSignal", "\"member\": \"Opened\", \"outputs\": [\"a\"]");
        wait_for_calls(stage);
        emit(stage->camera.peer, "left", "/a/b", 7);
        g_assert_cmpint(test_leaf_wait(some), ==, STATUS_SUCCESS);
        g_assert_cmpstr(json_object_to_json_string_ext(some->outputs, JSON_C_TO_STRING_NOSLASHESCAPE), ==,
                        "{\"where\":\"/a/b\"}");
        g_assert_cmpint(test_leaf_wait(all), ==, STATUS_SUCCESS);
        g_assert_cmpstr(json_object_to_json_string_ext(all->outputs, JSON_C_TO_STRING_NOSLASHESCAPE), ==,
                        "{\"a\":\"left\",\"b\":\"/a/b\",\"c\":7}");
        g_assert_cmpint(test_leaf_wait(many), ==, STATUS_FAILURE);
        g_assert_cmpstr(many->cause, ==, "the signal has 3 values, but there are 4 outputs");

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(stage->camera.peer), "/", CAMERA, "Opened", "h", 0), >=, 0);
        g_assert_cmpint(test_leaf_wait(file), ==, STATUS_FAILURE);
        g_assert_cmpstr(file->cause, ==,
                        "the signal cannot go to the outputs: it has a file descriptor, which is not supported");
}

static void test_expressions(CameraStage *stage) {
        g_autoptr(TestLeaf) signal = NULL, call = NULL, wrong = NULL;
        const char *called = "\"destination\": \"" CAMERA "\", \"path\": \"" CAMERA_PATH "\", \"member\": \"Start\"";
        g_autofree char *outputs = g_strdup_printf("%s, \"outputs\": { \"mode\": \"value .. '!'\", \"twice\": "
                                                   "\"reply[2] * 2\", \"width\": \"reply[3].width\" }",
                                                   called);
        g_autofree char *nowhere = g_strdup_printf("%s, \"outputs\": { \"mode\": \"value\", \"b\": "
                                                   "\"reply[4].width\" }",
                                                   called);

        signal = start(stage, "DBusSignal",
                       "\"member\": \"Moved\", \"outputs\": { \"where\": \"args[2]\", \"n\": \"#args\" }");
        call = start(stage, "DBusCall", outputs);
        g_assert_cmpint(test_leaf_wait(call), ==, STATUS_SUCCESS);
        g_assert_cmpstr(json_object_to_json_string(call->outputs), ==,
                        "{ \"mode\": \"preview!\", \"twice\": 60, \"width\": 640 }");

        emit(stage->camera.peer, "left", "/a/b", 7);
        g_assert_cmpint(test_leaf_wait(signal), ==, STATUS_SUCCESS);
        g_assert_cmpstr(json_object_to_json_string_ext(signal->outputs, JSON_C_TO_STRING_NOSLASHESCAPE), ==,
                        "{\"n\":3,\"where\":\"/a/b\"}");

        wrong = start(stage, "DBusCall", nowhere);
        g_assert_cmpint(test_leaf_wait(wrong), ==, STATUS_FAILURE);
        g_assert_cmpstr(wrong->cause, ==, "the output 'b': reply[4].width: attempt to index a nil value");
        g_assert_cmpstr(wrong->reason->kind, ==, "expression");
        g_assert_cmpint(json_object_object_length(wrong->outputs), ==, 0);
}

/* Others say the same; only the owner of the name counts, and only since it has it. */
static void test_sender(CameraStage *stage) {
        g_autoptr(TestLeaf) named = NULL, anybody = NULL;
        g_autoptr(BusPeer) other = NULL;

        other = bus_peer_new(stage->bus, NULL);
        named = start(stage, "DBusSignal", "\"sender\": \"" CAMERA "\", \"member\": \"Moved\"");
        anybody = start(stage, "DBusSignal", "\"member\": \"Moved\"");
        wait_for_calls(stage);
        emit(other, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(anybody), ==, STATUS_SUCCESS);
        g_assert_cmpint(named->status, ==, STATUS_RUNNING);

        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(named), ==, STATUS_SUCCESS);
}

/* The signal that a call brings about is not missed by who was started before the call was sent. */
static void test_before_call(CameraStage *stage) {
        for (unsigned i = 0; i < 20; i++) {
                g_autofree char *rest = g_strdup_printf("\"sender\": \"" CAMERA "\", \"interface\": \"" CAMERA
                                                        "\", \"member\": \"Called\", \"path\": \"/of/%u\"",
                                                        i);
                g_autofree char *text = g_strdup_printf("\"destination\": \"" CAMERA "\", \"path\": \"" CAMERA_PATH
                                                        "\", \"member\": \"Say\", \"signature\": \"o\", "
                                                        "\"args\": [\"/of/%u\"]",
                                                        i);
                g_autoptr(TestLeaf) signal = start(stage, "DBusSignal", rest), call = start(stage, "DBusCall", text);

                g_assert_cmpint(test_leaf_wait(call), ==, STATUS_SUCCESS);
                g_assert_cmpint(signal->status, ==, STATUS_SUCCESS);
        }
}

/* A bus that is lost is waited for, and so is what comes then. */
static void test_bus_dies(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;
        g_autofree char *before = NULL, *after = NULL;

        leaf = start(stage, "DBusSignal",
                     "\"sender\": \"" CAMERA "\", \"interface\": \"" CAMERA "\", \"member\": \"Moved\", "
                     "\"on_owner_lost\": \"wait\"");
        before = test_leaf_describe(leaf);
        g_assert_cmpstr(before, ==, "connection to the bus 'test'");
        wait_for_calls(stage);
        after = test_leaf_describe(leaf);
        g_assert_cmpstr(after, ==, "signal org.example.Camera.Moved from org.example.Camera");

        bus_fixture_kill(stage->bus);
        camera_close(&stage->camera);
        bus_fixture_start(stage->bus);
        camera_open(&stage->camera, stage->bus, true);
        wait_for_calls(stage);
        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

#define FROM_CAMERA "\"sender\": \"" CAMERA "\", \"interface\": \"" CAMERA "\", \"member\": \"Moved\""

static void expect_lost(TestLeaf *leaf) {
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        assert_cause(leaf->reason, "dbus-error",
                     "{\"name\":\"org.freedesktop.DBus.Error.NameHasNoOwner\",\"destination\":\"org.example.Camera\"}");
        g_assert_cmpstr(leaf->cause, ==, "org.example.Camera has left the bus, and had not sent the signal Moved");
}

/* A sender that is not there yet is waited for; one that was there, and has gone, sends nothing more. */
static void test_owner_lost(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL, early = NULL, waits = NULL;

        leaf = start(stage, "DBusSignal", FROM_CAMERA);
        waits = start(stage, "DBusSignal", FROM_CAMERA ", \"on_owner_lost\": \"wait\"");
        wait_for_calls(stage);
        camera_close(&stage->camera);
        expect_lost(leaf);

        early = start(stage, "DBusSignal", FROM_CAMERA);
        wait_for_calls(stage);
        camera_open(&stage->camera, stage->bus, true);
        wait_for_calls(stage);
        g_assert_cmpint(early->status, ==, STATUS_RUNNING);
        camera_close(&stage->camera);
        expect_lost(early);

        g_assert_cmpint(waits->status, ==, STATUS_RUNNING);
        camera_open(&stage->camera, stage->bus, true);
        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(waits), ==, STATUS_SUCCESS);
}

static TestLeaf *recover(CameraStage *stage, const char *rest, json_object *memo) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"DBusSignal\", %s }", rest);

        return leaf_stage_recover(stage->leaves, types, node, json_object_get(memo));
}

/* The next btd knows which sender was there. */
static void test_recovered(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL, next = NULL, last = NULL, lost = NULL;
        g_autoptr(json_object) memo = NULL;

        leaf_stage_set_durable(stage->leaves, NULL);
        leaf = start(stage, "DBusSignal", FROM_CAMERA);
        wait_until(leaf->memo);
        memo = json_object_get(leaf->memo);
        g_clear_pointer(&leaf, test_leaf_free);

        next = recover(stage, FROM_CAMERA, memo);
        lost = recover(stage, FROM_CAMERA ", \"on_recover\": \"fail\"", memo);
        wait_for_calls(stage);
        g_assert_cmpint(lost->status, ==, STATUS_IDLE);
        emit(stage->camera.peer, "left", "/", 1);
        g_assert_cmpint(test_leaf_wait(next), ==, STATUS_SUCCESS);

        camera_close(&stage->camera);
        camera_open(&stage->camera, stage->bus, true);
        last = recover(stage, FROM_CAMERA, memo);
        expect_lost(last);
}

static void test_signal_halted(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf = start(stage, "DBusSignal", "\"member\": \"Moved\"");
        wait_for_calls(stage);
        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        g_clear_pointer(&leaf, test_leaf_free);
        emit(stage->camera.peer, "left", "/", 1);
        wait_for_calls(stage);
}

static void test_emit(CameraStage *stage) {
        g_autoptr(TestLeaf) early = NULL, heard = NULL, late = NULL, again = NULL;
        g_autofree char *text = NULL;
        const char *heard_by = "\"interface\": \"org.example.Done\", \"member\": \"Done\", \"outputs\": [\"n\", \"d\"]";
        const char *emitted = "\"interface\": \"org.example.Done\", \"member\": \"Done\", \"path\": \"/org/example\", "
                              "\"signature\": \"ua{sv}\", \"args\": [3, { \"ok\": true }]";

        /* The bus is not there yet. */
        heard = start(stage, "DBusSignal", heard_by);
        early = start(stage, "DBusEmit", emitted);
        g_assert_cmpint(early->status, ==, STATUS_RUNNING);
        text = test_leaf_describe(early);
        g_assert_cmpstr(text, ==, "connection to the bus 'test'");
        g_assert_cmpint(test_leaf_wait(early), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(heard), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(heard, "n"), ==, "3");
        g_assert_cmpstr(test_leaf_output(heard, "d"), ==, "{ \"ok\": true }");

        again = start(stage, "DBusSignal", heard_by);
        late = start(stage, "DBusEmit", emitted);
        g_assert_cmpint(late->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(late), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(again), ==, STATUS_SUCCESS);
}

/* The bus is lost between the signal and the question that follows it: only the question is repeated. */
static void test_emit_question_lost(CameraStage *stage) {
        g_autoptr(TestLeaf) leaf = NULL;
        unsigned n_heard = 0;

        g_assert_cmpint(sd_bus_match_signal(bus_peer_bus(stage->camera.peer), NULL, NULL, NULL, "org.example.Done",
                                            "Done", on_done, &n_heard),
                        >=, 0);
        wait_for_calls(stage);
        question_is_lost = true;
        leaf = start(stage, "DBusEmit", "\"interface\": \"org.example.Done\", \"member\": \"Done\", \"path\": \"/\"");
        wait_until(!question_is_lost);
        wait_for_calls(stage);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        wait_round_trip(stage->camera.peer);
        g_assert_cmpuint(n_heard, ==, 1);
}

static void test_emit_fails(CameraStage *stage) {
        g_autoptr(TestLeaf) missing = NULL, range = NULL;

        leaf_stage_set_variable(stage->leaves, "n", "much");
        missing = start(
                stage, "DBusEmit",
                "\"interface\": \"a.b\", \"member\": \"M\", \"path\": \"/\", \"signature\": \"s\", \"args\": \"{n}\"");
        g_assert_cmpint(missing->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(missing->cause, ==, "args: expected an array, but {n} is \"much\"");
        g_assert_cmpstr(missing->reason->kind, ==, "parameter");

        range = start(stage, "DBusEmit",
                      "\"interface\": \"a.b\", \"member\": \"M\", \"path\": \"/\", "
                      "\"signature\": \"y\", \"args\": [\"{n}\"]");
        g_assert_cmpint(range->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(range->cause, ==,
                        "args[0]: expected a whole number from 0 to 255, not \"much\" (the value of {n})");
}

static void test_name(CameraStage *stage) {
        g_autoptr(TestLeaf) owned = NULL, absent = NULL, late = NULL, success = NULL, running = NULL;
        g_autofree char *before = NULL;

        owned = start(stage, "DBusName", "\"name\": \"" CAMERA "\"");
        absent = start(stage, "DBusName", "\"name\": \"org.example.Absent\"");
        g_assert_cmpint(owned->status, ==, STATUS_RUNNING);
        before = test_leaf_describe(owned);
        g_assert_cmpstr(before, ==, "connection to the bus 'test'");
        g_assert_cmpint(test_leaf_wait(owned), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(absent), ==, STATUS_FAILURE);
        g_assert_cmpstr(absent->cause, ==, "org.example.Absent is not on the bus");
        assert_cause(absent->reason, "condition",
                     "{\"destination\":\"org.example.Absent\",\"seen\":false,\"wanted\":true}");

        /* Who comes later knows it at once. */
        late = start(stage, "DBusName", "\"name\": \"" CAMERA "\"");
        success = start(stage, "DBusName", "\"name\": \"" CAMERA "\", \"unknown\": \"success\"");
        running = start(stage, "DBusName", "\"name\": \"" CAMERA "\", \"unknown\": \"running\"");
        g_assert_cmpint(late->status, ==, STATUS_SUCCESS);

        camera_close(&stage->camera);
        g_assert_cmpint(test_leaf_wait_reports(owned, 2), ==, STATUS_FAILURE);
        camera_open(&stage->camera, stage->bus, true);
        g_assert_cmpint(test_leaf_wait_reports(owned, 3), ==, STATUS_SUCCESS);

        bus_fixture_kill(stage->bus);
        g_assert_cmpint(test_leaf_wait_reports(owned, 4), ==, STATUS_FAILURE);
        g_assert_cmpstr(owned->cause, ==, "the connection to the bus 'test' was lost");
        assert_cause(owned->reason, "connection-lost",
                     "{\"destination\":\"org.example.Camera\",\"seen\":null,\"wanted\":true}");
        g_assert_cmpint(test_leaf_wait_reports(success, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait_reports(running, 3), ==, STATUS_RUNNING);

        camera_close(&stage->camera);
        bus_fixture_start(stage->bus);
        camera_open(&stage->camera, stage->bus, true);
        wait_until(running->status == STATUS_SUCCESS && owned->status == STATUS_SUCCESS);
}

/* What can be known when the tree is loaded. */
static void test_problems(void) {
        static const struct {
                const char *node, *error;
        } cases[] = {
                { "\"DBusSignal\", \"member\": \"a.b\"",
                  "member: 'a.b' is not the name of a signal such as \"Started\"" },
                { "\"DBusSignal\", \"member\": \"A\", \"sender\": \"x\"",
                  "sender: 'x' is not a bus name such as \"org.example.Camera\"" },
                { "\"DBusSignal\", \"member\": \"A\", \"path\": \"x\"",
                  "path: 'x' is not an object path such as \"/org/example/Camera\"" },
                { "\"DBusSignal\", \"member\": \"A\", \"interface\": \"x\"",
                  "interface: 'x' is not the name of an interface such as \"org.example.Camera\"" },
                { "\"DBusSignal\", \"member\": \"A\", \"args\": 1", "args: expected an array, not 1; write [1]" },
                { "\"DBusSignal\", \"member\": \"A\", \"outputs\": [\"a b\"]",
                  "outputs[0]: 'a b' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and "
                  "'-')" },
                { "\"DBusEmit\", \"path\": \"/\", \"interface\": \"a.b\", \"member\": \"a.b\"",
                  "member: 'a.b' is not the name of a signal such as \"Started\"" },
                { "\"DBusEmit\", \"path\": \"x\", \"interface\": \"a.b\", \"member\": \"M\"",
                  "path: 'x' is not an object path such as \"/org/example/Camera\"" },
                { "\"DBusEmit\", \"path\": \"/\", \"interface\": \"x\", \"member\": \"M\"",
                  "interface: 'x' is not the name of an interface such as \"org.example.Camera\"" },
                { "\"DBusEmit\", \"path\": \"/\", \"interface\": \"a.b\", \"member\": \"M\", \"signature\": \"a\"",
                  "signature: 'a': an array 'a' needs the type of its elements" },
                { "\"DBusEmit\", \"path\": \"/\", \"interface\": \"a.b\", \"member\": \"M\", \"signature\": \"u\", "
                  "\"args\": [-1]",
                  "args[0]: expected a whole number from 0 to 4294967295, not -1" },
                { "\"DBusName\", \"name\": \"x\"", "name: 'x' is not a bus name such as \"org.example.Camera\"" },
                { "\"DBusName\", \"name\": \"a.b\", \"bus\": \"x:\"",
                  "bus: 'x:' is not the name of a bus: expected \"system\", \"session\", \"host:USER@HOST\", "
                  "\"machine:NAME\" or an address such as \"unix:path=/run/my-bus\"" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *node = g_strdup_printf("{ \"type\": %s }", cases[i].node);
                g_autofree char *error = leaf_stage_check(types, node);

                g_assert_cmpstr(error, ==, cases[i].error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/dbus-signal/problems", test_problems);
        camera_stage_add("dbus-signal", "args", test_args);
        camera_stage_add("dbus-signal", "types-of-args", test_types_of_args);
        camera_stage_add("dbus-signal", "size-of-args", test_size_of_args);
        camera_stage_add("dbus-signal", "long-list", test_long_list);
        camera_stage_add("dbus-signal", "text-after-a-number", test_text_after_a_number);
        camera_stage_add("dbus-signal", "test", test_test);
        camera_stage_add("dbus-signal", "outputs", test_outputs);
        camera_stage_add("dbus-signal", "expressions", test_expressions);
        camera_stage_add("dbus-signal", "sender", test_sender);
        camera_stage_add("dbus-signal", "before-call", test_before_call);
        camera_stage_add("dbus-signal", "bus-dies", test_bus_dies);
        camera_stage_add("dbus-signal", "owner-lost", test_owner_lost);
        camera_stage_add("dbus-signal", "recovered", test_recovered);
        camera_stage_add("dbus-signal", "halted", test_signal_halted);
        camera_stage_add("dbus-signal", "emit", test_emit);
        camera_stage_add("dbus-signal", "emit-question-lost", test_emit_question_lost);
        camera_stage_add("dbus-signal", "emit-fails", test_emit_fails);
        camera_stage_add("dbus-signal", "name", test_name);
        return g_test_run();
}
