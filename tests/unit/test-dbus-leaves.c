/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DBusCall and DBusProperty on real buses, with a runtime that only notes what the leaves report.
 */

#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/span.h"
#include "bus-fixture.h"
#include "bus/buses.h"
#include "camera.h"
#include "engine/tree.h"
#include "leaves/leaf.h"
#include "leaves/registry.h"

/* A leaf and what it has reported. */
typedef struct Stage {
        Leaf leaf;
        json_object *given; /* its parameters as the user wrote them */
        Status result;      /* RUNNING: nothing yet */
        unsigned n_results;
        Cause *reason;
        const char *cause; /* its text */
        json_object *outputs;
} Stage;

void leaf_end(Leaf *leaf, Status status) {
        Stage *stage = leaf->owner;

        g_assert_cmpuint(stage->n_results, ==, 0);
        stage->result = status;
        stage->n_results++;
}

void leaf_set_value(Leaf *leaf, Status value) {
        Stage *stage = leaf->owner;

        g_assert_true(value != STATUS_IDLE && value != STATUS_SKIPPED);
        stage->result = value;
        stage->n_results++;
}

void leaf_value_changed(Leaf *leaf) {
        g_assert_not_reached();
}

void leaf_give_cause(Leaf *leaf, Cause *cause) {
        Stage *stage = leaf->owner;

        cause_unref(stage->reason);
        stage->reason = cause;
        stage->cause = cause->text;
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        json_object_object_add(((Stage *) leaf->owner)->outputs, key, value);
}

void leaf_remember(Leaf *leaf, json_object *memory) {
        json_object_put(memory);
}

/* Fills one field of the parameters, as the loader would. */
static void fill_param(const Param *param, json_object *value, void *params) {
        void *field = (char *) params + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                *(bool *) field = json_object_get_boolean(value);
                break;
        case PARAM_ENUM:
                for (int i = 0; !g_str_equal(param->values[i], json_object_get_string(value)); i++)
                        *(int *) field = i + 1;
                break;
        case PARAM_STRING:
                *(const char **) field = json_object_get_string(value);
                break;
        case PARAM_SPAN:
                g_assert_cmpint(span_parse(json_object_get_string(value), field), >=, 0);
                break;
        case PARAM_JSON:
                *(json_object **) field = value;
                break;
        case PARAM_STRINGS: {
                size_t n = json_object_array_length(value);
                const char **strings = g_new0(const char *, n + 1);

                for (size_t i = 0; i < n; i++)
                        strings[i] = json_object_get_string(json_object_array_get_idx(value, i));
                *(const char ***) field = strings;
                break;
        }
        case PARAM_EXPRESSIONS: /* the other form of "outputs" */
                break;
        default:
                g_assert_not_reached();
        }
}

static void stage_open(Stage *stage, const NodeType *type, const LeafServices *services, const char *text) {
        g_autofree char *object = g_strdup_printf("{%s}", text);
        void *params = g_malloc0(type->params_size);

        *stage = (Stage){ .given = json_tokener_parse(object), .outputs = json_object_new_object() };
        g_assert_nonnull(stage->given);
        for (const Param *param = type->params; param->name; param++) {
                json_object *value = NULL;

                if (!json_object_object_get_ex(stage->given, param->name, &value) && param->fallback) {
                        value = json_tokener_parse(param->fallback);
                        json_object_object_add(stage->given, param->name, value);
                }
                if (value)
                        fill_param(param, value, params);
        }

        stage->leaf = (Leaf){
                .type = type,
                .params = params,
                .op = g_malloc0(type->leaf->op_size),
                .services = services,
                .owner = stage,
        };
}

static void stage_start(Stage *stage, const NodeType *type, const LeafServices *services, const char *text) {
        stage_open(stage, type, services, text);
        stage->result = type->leaf->start(&stage->leaf);
        g_assert_cmpuint(stage->n_results, ==, 0);
}

static void stage_clear(Stage *stage) {
        const NodeType *type = stage->leaf.type;

        if (!type)
                return;

        type->leaf->release(&stage->leaf);
        for (const Param *param = type->params; param->name; param++)
                if (param->kind == PARAM_STRINGS)
                        g_free(*(char ***) ((char *) stage->leaf.params + param->offset));
        g_free((void *) stage->leaf.params);
        g_free(stage->leaf.op);
        cause_unref(stage->reason);
        json_object_put(stage->outputs);
        json_object_put(stage->given);
        *stage = (Stage){ 0 };
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Stage, stage_clear)

typedef struct Fixture {
        BusFixture *bus;
        Buses *buses;
        LeafServices services;
        Camera camera;
} Fixture;

static void fixture_set_up(Fixture *fixture, gconstpointer data) {
        BusKind kind = *(const BusKind *) data;

        if (!bus_kind_available(kind)) {
                g_test_skip("the bus is not installed");
                return;
        }

        fixture->bus = bus_fixture_new(kind, NULL);
        bus_fixture_start(fixture->bus);
        fixture->buses = buses_new(NULL, "session", bus_fixture_address(fixture->bus));
        fixture->services = (LeafServices){ .buses = fixture->buses };
        camera_open(&fixture->camera, fixture->bus, true);
}

static void fixture_tear_down(Fixture *fixture, gconstpointer data) {
        buses_free(fixture->buses);
        camera_close(&fixture->camera);
        bus_fixture_free(fixture->bus);
}

#define CALL_TO "\"destination\": \"" CAMERA "\", \"path\": \"" CAMERA_PATH "\", \"interface\": \"" CAMERA "\""

static void start_call(Fixture *fixture, Stage *stage, const char *rest) {
        g_autofree char *text = g_strconcat(CALL_TO ", ", rest, NULL);

        stage_start(stage, &dbus_call_type, &fixture->services, text);
}

/* Calls, and waits for the result. */
static void run_call(Fixture *fixture, Stage *stage, const char *rest, Status expected) {
        start_call(fixture, stage, rest);
        g_assert_cmpint(stage->result, ==, STATUS_RUNNING);
        wait_until(stage->result != STATUS_RUNNING);
        g_assert_cmpint(stage->result, ==, expected);
}

static void assert_outputs(Stage *stage, const char *expected) {
        g_assert_cmpstr(json_object_to_json_string_ext(stage->outputs, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static void test_call(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) plain = { 0 }, all = { 0 }, some = { 0 }, echo = { 0 };

        if (!fixture->bus)
                return;

        run_call(fixture, &plain, "\"member\": \"Nothing\"", STATUS_SUCCESS);
        g_assert_cmpstr(plain.cause, ==, NULL);
        assert_outputs(&plain, "{}");

        run_call(fixture, &all, "\"member\": \"Start\", \"outputs\": [\"mode\", \"rate\", \"options\"]",
                 STATUS_SUCCESS);
        assert_outputs(&all, "{\"mode\":\"preview\",\"rate\":30,\"options\":{\"width\":640}}");

        run_call(fixture, &some, "\"member\": \"Start\", \"outputs\": [\"\", \"rate\"]", STATUS_SUCCESS);
        assert_outputs(&some, "{\"rate\":30}");

        run_call(fixture, &echo,
                 "\"member\": \"Echo\", \"signature\": \"a{s(ti)}v\", \"args\": [{\"a\": [18446744073709551615, -1]}, "
                 "[1.5]], \"outputs\": [\"x\", \"y\"]",
                 STATUS_SUCCESS);
        assert_outputs(&echo, "{\"x\":{\"a\":[18446744073709551615,-1]},\"y\":[1.5]}");
}

/* What is as deep as it may be is taken by the bus, too. */
static void test_call_deep(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) deep = { 0 }, after = { 0 };
        g_autoptr(GString) rest = g_string_new("\"member\": \"Echo\", \"signature\": \"v\", \"args\": [");

        if (!fixture->bus)
                return;

        /* The parser of this test stops at 32 levels itself, so the type says what the text does not. */
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

        run_call(fixture, &deep, rest->str, STATUS_SUCCESS);
        run_call(fixture, &after, "\"member\": \"Nothing\"", STATUS_SUCCESS);
}

static void test_call_fails(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) busy = { 0 }, mute = { 0 }, nobody = { 0 }, few = { 0 }, none = { 0 }, file = { 0 };

        if (!fixture->bus)
                return;

        run_call(fixture, &busy, "\"member\": \"Busy\"", STATUS_FAILURE);
        g_assert_cmpstr(busy.cause, ==, "org.example.Error.Busy: the camera is in use");
        assert_cause(busy.reason, "dbus-error",
                     "{\"name\":\"org.example.Error.Busy\",\"message\":\"the camera is in use\","
                     "\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"member\":\"Busy\"}");

        run_call(fixture, &mute, "\"member\": \"Mute\"", STATUS_FAILURE);
        g_assert_cmpstr(mute.cause, ==, "org.example.Error.Mute");

        run_call(fixture, &nobody, "\"member\": \"X\", \"destination\": \"org.example.Nobody\", \"auto_start\": false",
                 STATUS_FAILURE);
        g_assert_true(g_str_has_prefix(nobody.cause, "org.freedesktop.DBus.Error."));

        run_call(fixture, &few, "\"member\": \"Start\", \"outputs\": [\"a\", \"b\", \"c\", \"d\"]", STATUS_FAILURE);
        g_assert_cmpstr(few.cause, ==, "the reply has 3 values, but there are 4 outputs");
        assert_cause(few.reason, "failed", "null");
        assert_outputs(&few, "{}");

        run_call(fixture, &none, "\"member\": \"Nothing\", \"outputs\": [\"a\"]", STATUS_FAILURE);
        g_assert_cmpstr(none.cause, ==, "the reply has 0 values, but there is 1 output");

        run_call(fixture, &file, "\"member\": \"File\", \"outputs\": [\"a\"]", STATUS_FAILURE);
        g_assert_cmpstr(file.cause, ==,
                        "the reply cannot go to the outputs: it has a file descriptor, which cannot be carried");
}

/* Arguments that come from the blackboard are only seen at the start: it fails at once, and says why. */
static void test_call_bad_arguments(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) range = { 0 }, missing = { 0 }, name = { 0 };

        if (!fixture->bus)
                return;

        start_call(fixture, &range, "\"member\": \"Echo\", \"signature\": \"sy\", \"args\": [\"a\", 300]");
        g_assert_cmpint(range.result, ==, STATUS_FAILURE);
        g_assert_cmpstr(range.cause, ==, "args: argument 2: expected a whole number from 0 to 255, not 300");
        assert_cause(range.reason, "parameter", "null");

        start_call(fixture, &missing, "\"member\": \"Echo\", \"signature\": \"s\"");
        g_assert_cmpint(missing.result, ==, STATUS_FAILURE);
        g_assert_cmpstr(missing.cause, ==, "args: signature 's' takes 1 argument, not 0");

        start_call(fixture, &name, "\"member\": \"No Name\"");
        g_assert_cmpint(name.result, ==, STATUS_FAILURE);
        g_assert_cmpstr(name.cause, ==, "member: 'No Name' is not the name of a method");

        wait_round_trip(fixture->camera.peer);
        g_assert_cmpuint(fixture->camera.n_calls, ==, 0);
}

static void test_call_describe(Fixture *fixture, gconstpointer data) {
        g_autoptr(GString) before = g_string_new(NULL), after = g_string_new(NULL);
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        start_call(fixture, &stage, "\"member\": \"Hang\"");
        dbus_call_type.leaf->describe(&stage.leaf, before);
        g_assert_cmpstr(before->str, ==, "connection to the bus 'session'");

        wait_until(fixture->camera.n_calls == 1);
        dbus_call_type.leaf->describe(&stage.leaf, after);
        g_assert_cmpstr(after->str, ==, "reply of org.example.Camera.Hang from org.example.Camera");
}

/* Never answered, and released: nothing is reported any more, and the next call is. */
static void test_call_halted(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) hangs = { 0 }, next = { 0 };

        if (!fixture->bus)
                return;

        start_call(fixture, &hangs, "\"member\": \"Hang\"");
        wait_until(fixture->camera.n_calls == 1);
        stage_clear(&hangs);
        run_call(fixture, &next, "\"member\": \"Nothing\"", STATUS_SUCCESS);
}

static void test_call_bus_dies(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) hangs = { 0 }, waits = { 0 };

        if (!fixture->bus)
                return;

        start_call(fixture, &hangs, "\"member\": \"Hang\"");
        wait_until(fixture->camera.n_calls == 1);
        bus_fixture_kill(fixture->bus);
        wait_until(hangs.result == STATUS_FAILURE);
        g_assert_cmpstr(hangs.cause, ==,
                        "org.freedesktop.DBus.Error.Disconnected: the connection to the bus 'session' was lost "
                        "before the reply came");
        g_assert_cmpstr(hangs.reason->kind, ==, "connection-lost");
        g_assert_true(cause_matches(hangs.reason, "org.freedesktop.DBus.Error.Disconnected"));

        start_call(fixture, &waits, "\"member\": \"Nothing\"");
        camera_close(&fixture->camera);
        bus_fixture_start(fixture->bus);
        camera_open(&fixture->camera, fixture->bus, true);
        wait_until(waits.result == STATUS_SUCCESS);
}

static void start_property(Fixture *fixture, Stage *stage, const char *property, const char *rest) {
        g_autofree char *text = g_strdup_printf(CALL_TO ", \"property\": \"%s\"%s", property, rest);

        stage_start(stage, &dbus_property_type, &fixture->services, text);
        g_assert_cmpint(stage->result, ==, STATUS_RUNNING);
}

/* Waits until the condition has reported so often, and has this value now. */
static void wait_for_value(Stage *stage, unsigned n_results, Status value, const char *cause) {
        wait_until(stage->n_results == n_results);
        g_assert_cmpint(stage->result, ==, value);
        if (cause)
                g_assert_cmpstr(stage->cause, ==, cause);
}

static void test_property_values(Fixture *fixture, gconstpointer data) {
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

        if (!fixture->bus)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Stage) stage = { 0 };

                start_property(fixture, &stage, cases[i].property, cases[i].rest);
                wait_for_value(&stage, 1, cases[i].status, cases[i].cause);
        }
}

static void test_property_facts(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) count = { 0 }, odd = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &count, "Count", ", \"one_of\": [1, 2]");
        wait_for_value(&count, 1, STATUS_FAILURE, NULL);
        assert_cause(count.reason, "condition",
                     "{\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"property\":\"Count\","
                     "\"seen\":3,\"wanted\":[1,2]}");

        start_property(fixture, &odd, "Odd", "");
        wait_for_value(&odd, 1, STATUS_FAILURE, NULL);
        assert_cause(odd.reason, "dbus-error",
                     "{\"name\":\"org.freedesktop.DBus.Error.UnknownProperty\",\"message\":\"no property Odd\","
                     "\"destination\":\"org.example.Camera\",\"path\":\"/org/example/Camera\",\"property\":\"Odd\","
                     "\"seen\":null,\"wanted\":true}");
}

static void test_property_changes(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &stage, "Powered", "");
        wait_for_value(&stage, 1, STATUS_SUCCESS, NULL);

        /* A signal with the value needs no Get; the same value again is no news. */
        say_powered(fixture->camera.peer, false);
        wait_for_value(&stage, 2, STATUS_FAILURE, "Powered is false, not true");
        say_powered(fixture->camera.peer, false);
        say_powered(fixture->camera.peer, true);
        wait_for_value(&stage, 3, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);

        /* A signal without it needs one. */
        fixture->camera.powered = false;
        camera_invalidate(&fixture->camera);
        wait_for_value(&stage, 4, STATUS_FAILURE, "Powered is false, not true");
        g_assert_cmpuint(fixture->camera.n_gets, ==, 2);
}

/* The value of a signal is not overtaken by the older one of a Get that was on its way. */
static void test_property_signal_first(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        fixture->camera.late = true;
        start_property(fixture, &stage, "Powered", "");
        wait_until(fixture->camera.get);

        say_powered(fixture->camera.peer, true);
        camera_answer(&fixture->camera, false);
        wait_for_value(&stage, 1, STATUS_SUCCESS, NULL);

        /* Nor does the value that was on its way count when it was invalidated meanwhile. */
        camera_invalidate(&fixture->camera);
        wait_until(fixture->camera.get);
        camera_invalidate(&fixture->camera);
        camera_answer(&fixture->camera, false);
        wait_until(fixture->camera.get);
        g_assert_cmpuint(stage.n_results, ==, 1);
        camera_answer(&fixture->camera, true);

        /* But one that changes all the time is known, too. */
        camera_invalidate(&fixture->camera);
        wait_until(fixture->camera.get);
        for (unsigned i = 0; stage.n_results == 1; i++) {
                camera_invalidate(&fixture->camera);
                camera_answer(&fixture->camera, false);
                wait_until(fixture->camera.get);
                g_assert_cmpuint(i, <, 3);
        }
        wait_for_value(&stage, 2, STATUS_FAILURE, "Powered is false, not true");
        camera_answer(&fixture->camera, true);
        wait_for_value(&stage, 3, STATUS_SUCCESS, NULL);
}

/* What another sender says of an object of the same path is not believed, though it reaches the connection. */
static void test_property_other_sender(Fixture *fixture, gconstpointer data) {
        g_autoptr(BusPeer) other = NULL;
        g_auto(Stage) stage = { 0 }, decoy = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &stage, "Powered", "");
        start_property(fixture, &decoy, "Powered", ", \"destination\": \"org.example.Other\"");
        wait_for_value(&stage, 1, STATUS_SUCCESS, NULL);
        wait_for_value(&decoy, 1, STATUS_FAILURE, "org.example.Other is not on the bus");

        other = bus_peer_new(fixture->bus, "org.example.Other");
        say_powered(other, false);
        wait_until(strstr(decoy.cause, "cannot be read") || strstr(decoy.cause, "is false"));
        say_powered(other, true);
        wait_for_value(&decoy, 2, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage.n_results, ==, 1);
}

static void test_property_service_restarts(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        camera_close(&fixture->camera);
        start_property(fixture, &stage, "Powered", "");
        wait_for_value(&stage, 1, STATUS_FAILURE, "org.example.Camera is not on the bus");

        camera_open(&fixture->camera, fixture->bus, true);
        wait_for_value(&stage, 2, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);

        camera_close(&fixture->camera);
        wait_for_value(&stage, 3, STATUS_FAILURE, "org.example.Camera is not on the bus");

        camera_open(&fixture->camera, fixture->bus, true);
        wait_for_value(&stage, 4, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);
}

/* The service goes while it is asked. */
static void test_property_service_goes(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        fixture->camera.late = true;
        start_property(fixture, &stage, "Powered", "");
        wait_until(fixture->camera.get);
        camera_close(&fixture->camera);
        wait_until(stage.cause && g_str_equal(stage.cause, "org.example.Camera is not on the bus"));
        g_assert_cmpint(stage.result, ==, STATUS_FAILURE);

        camera_open(&fixture->camera, fixture->bus, true);
        wait_until(stage.result == STATUS_SUCCESS);
}

static void test_property_object_goes(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &stage, "Powered", "");
        wait_for_value(&stage, 1, STATUS_SUCCESS, NULL);

        camera_remove_object(&fixture->camera);
        wait_for_value(&stage, 2, STATUS_FAILURE, "org.example.Camera of /org/example/Camera is gone");
        camera_add_object(&fixture->camera);
        wait_for_value(&stage, 3, STATUS_SUCCESS, NULL);
}

static void test_property_bus_dies(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &stage, "Powered", "");
        wait_for_value(&stage, 1, STATUS_SUCCESS, NULL);

        bus_fixture_kill(fixture->bus);
        wait_for_value(&stage, 2, STATUS_FAILURE, "the connection to the bus 'session' was lost");

        camera_close(&fixture->camera);
        bus_fixture_start(fixture->bus);
        camera_open(&fixture->camera, fixture->bus, true);
        wait_until(stage.result == STATUS_SUCCESS);
        say_powered(fixture->camera.peer, false);
        wait_until(stage.result == STATUS_FAILURE);
        g_assert_cmpstr(stage.cause, ==, "Powered is false, not true");
}

/* Released in all states: before the bus has answered, and while it is asked. */
static void test_property_released(Fixture *fixture, gconstpointer data) {
        g_auto(Stage) early = { 0 }, asked = { 0 };

        if (!fixture->bus)
                return;

        start_property(fixture, &early, "Powered", "");
        stage_clear(&early);

        fixture->camera.late = true;
        start_property(fixture, &asked, "Powered", "");
        wait_until(fixture->camera.get);
        stage_clear(&asked);
        say_powered(fixture->camera.peer, true);
        camera_answer(&fixture->camera, true);
        wait_round_trip(fixture->camera.peer);
}

static void test_property_describe(Fixture *fixture, gconstpointer data) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;

        fixture->camera.late = true;
        start_property(fixture, &stage, "Powered", "");
        wait_until(fixture->camera.get);
        dbus_property_type.leaf->describe(&stage.leaf, text);
        g_assert_cmpstr(text->str, ==, "value of org.example.Camera.Powered from org.example.Camera");
}

static void assert_problem(const NodeType *type, const char *text, const char *expected) {
        Node node = { .type = type };
        Tree tree = { .nodes = &node, .n_nodes = 1 };
        g_autofree char *problem = NULL;
        g_auto(Stage) stage = { 0 };
        bool is_error = false;

        stage_open(&stage, type, NULL, text);
        node.params = stage.leaf.params;
        problem = type->check(&tree, 0, &is_error);
        g_assert_cmpstr(problem, ==, expected);
        g_assert_true(!expected || is_error);
}

/* What can be known when the tree is loaded; parameters that are not known are not given. */
static void test_check(void) {
        assert_problem(&dbus_call_type, "", NULL);
        assert_problem(&dbus_call_type,
                       CALL_TO
                       ", \"member\": \"Start\", \"signature\": \"su\", \"args\": [\"a\", 1], \"bus\": \"system\"",
                       NULL);
        assert_problem(&dbus_call_type, "\"bus\": \"sytem\"",
                       "bus: 'sytem' is not the name of a bus: expected \"system\", \"session\", \"host:USER@HOST\", "
                       "\"machine:NAME\" or an address such as \"unix:path=/run/my-bus\"");
        assert_problem(&dbus_call_type, "\"destination\": \"camera\"", "destination: 'camera' is not a bus name");
        assert_problem(&dbus_call_type, "\"path\": \"org/example\"", "path: 'org/example' is not an object path");
        assert_problem(&dbus_call_type, "\"interface\": \"X\"", "interface: 'X' is not the name of an interface");
        assert_problem(&dbus_call_type, "\"member\": \"a.b\"", "member: 'a.b' is not the name of a method");
        assert_problem(&dbus_call_type, "\"signature\": \"a\"",
                       "signature 'a': an array 'a' needs the type of its elements");
        assert_problem(&dbus_call_type, "\"signature\": \"uh\"",
                       "signature 'uh': file descriptors ('h') cannot be carried");
        assert_problem(&dbus_call_type, "\"signature\": \"u\", \"args\": [-1]",
                       "args: argument 1: expected a whole number from 0 to 4294967295, not -1");
        assert_problem(&dbus_call_type, "\"outputs\": [\"\", \"a b\"]", "outputs: 'a b' is not the name of a variable");

        assert_problem(&dbus_property_type, CALL_TO ", \"property\": \"Powered\"", NULL);
        assert_problem(&dbus_property_type, "\"property\": \"a b\"", "property: 'a b' is not the name of a property");
        assert_problem(&dbus_property_type, "\"one_of\": true", "one_of: expected an array of values, not true");
        assert_problem(&dbus_property_type, "\"one_of\": [], \"equals\": 1", "give equals or one_of, not both");
}

static void test_buses(void) {
        static const char *const good[] = { "system",
                                            "session",
                                            "unix:path=/run/x",
                                            "host:pi",
                                            "host:me@pi",
                                            "host:me@[::1]:22",
                                            "host:pi:2222/inner",
                                            "machine:box",
                                            "tcp:host=pi,port=1" };
        static const struct {
                const char *name, *error;
        } bad[] = {
                { "host:", "'host:' is not the name of a bus: expected \"host:[USER@]HOST[:PORT][/MACHINE]\"" },
                { "host:-oProxyCommand=x",
                  "'host:-oProxyCommand=x' is not the name of a bus: expected \"host:[USER@]HOST[:PORT][/MACHINE]\"" },
                { "host:-x@pi",
                  "'host:-x@pi' is not the name of a bus: expected \"host:[USER@]HOST[:PORT][/MACHINE]\"" },
                { "host:a,b", "'host:a,b' is not the name of a bus: expected \"host:[USER@]HOST[:PORT][/MACHINE]\"" },
                { "machine:a;b", "'machine:a;b' is not the name of a bus: expected \"machine:NAME\" with the name of a "
                                 "local container" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(buses_check_name(good[i], &error), ==, 0);
                g_assert_cmpstr(error, ==, NULL);
        }

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(buses_check_name(bad[i].name, &error), <, 0);
                g_assert_cmpstr(error, ==, bad[i].error);
        }
}

/* One connection for each name; the default one by either of its names. */
static void test_buses_shared(void) {
        g_autoptr(Buses) buses = buses_new(NULL, "system", "unix:path=/nowhere");
        Connection *unnamed = NULL, *named = NULL, *other = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(buses_get(buses, NULL, &unnamed, &error), ==, 0);
        g_assert_cmpint(buses_get(buses, "system", &named, &error), ==, 0);
        g_assert_cmpint(buses_get(buses, "unix:path=/elsewhere", &other, &error), ==, 0);
        g_assert_true(unnamed == named && other != named);
        g_assert_cmpstr(connection_name(unnamed), ==, "system");

        g_unsetenv("DBUS_SESSION_BUS_ADDRESS");
        g_unsetenv("XDG_RUNTIME_DIR");
        g_assert_cmpint(buses_get(buses, "session", &other, &error), <, 0);
        g_assert_cmpstr(error, ==, "there is no session bus here: set DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR");
}

/* With an ssh of our own that connects to the bus of the test, and notes how it was called. */
static void test_buses_host(Fixture *fixture, gconstpointer data) {
        g_autofree char *bridge = g_find_program_in_path("systemd-stdio-bridge");
        g_autofree char *directory = NULL, *ssh = NULL, *notes = NULL, *script = NULL;
        g_autofree char *path = NULL, *search = NULL, *noted = NULL;
        g_auto(Stage) stage = { 0 };

        if (!fixture->bus)
                return;
        if (!bridge) {
                g_test_skip("systemd-stdio-bridge is not installed");
                return;
        }

        directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        ssh = g_build_filename(directory, "ssh", NULL);
        notes = g_build_filename(directory, "notes", NULL);
        script = g_strdup_printf("#!/bin/sh\necho \"$@\" >%s\nexec %s --bus-path=%s\n", notes, bridge,
                                 bus_fixture_address(fixture->bus));
        g_assert_true(g_file_set_contents(ssh, script, -1, NULL));
        g_assert_cmpint(g_chmod(ssh, 0700), ==, 0);
        path = g_strdup(g_getenv("PATH"));
        search = g_strdup_printf("%s:%s", directory, path);
        g_setenv("PATH", search, TRUE);

        run_call(fixture, &stage, "\"member\": \"Nothing\", \"bus\": \"host:me@[::1]:2222/inner\"", STATUS_SUCCESS);
        g_assert_true(g_file_get_contents(notes, &noted, NULL, NULL));
        g_assert_cmpstr(noted, ==, "-xT -oBatchMode=yes -p 2222 -- me@::1 systemd-stdio-bridge --machine=inner\n");

        g_setenv("PATH", path, TRUE);
        g_unlink(ssh);
        g_unlink(notes);
        g_rmdir(directory);
}

static void add(const char *name, const BusKind *kind, void (*test)(Fixture *, gconstpointer)) {
        g_autofree char *path = g_strdup_printf("/dbus-leaves/%s/%s", bus_kind_name(*kind), name);

        g_test_add(path, Fixture, kind, fixture_set_up, test, fixture_tear_down);
}

int main(int argc, char **argv) {
        static const BusKind kinds[] = { BUS_DAEMON, BUS_BROKER };

        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/dbus-leaves/check", test_check);
        g_test_add_func("/dbus-leaves/buses", test_buses);
        g_test_add_func("/dbus-leaves/buses-shared", test_buses_shared);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                add("call", &kinds[i], test_call);
                add("call-deep", &kinds[i], test_call_deep);
                add("call-fails", &kinds[i], test_call_fails);
                add("call-bad-arguments", &kinds[i], test_call_bad_arguments);
                add("call-describe", &kinds[i], test_call_describe);
                add("call-halted", &kinds[i], test_call_halted);
                add("call-bus-dies", &kinds[i], test_call_bus_dies);
                add("buses-host", &kinds[i], test_buses_host);
                add("property-values", &kinds[i], test_property_values);
                add("property-facts", &kinds[i], test_property_facts);
                add("property-changes", &kinds[i], test_property_changes);
                add("property-signal-first", &kinds[i], test_property_signal_first);
                add("property-other-sender", &kinds[i], test_property_other_sender);
                add("property-service-restarts", &kinds[i], test_property_service_restarts);
                add("property-service-goes", &kinds[i], test_property_service_goes);
                add("property-object-goes", &kinds[i], test_property_object_goes);
                add("property-bus-dies", &kinds[i], test_property_bus_dies);
                add("property-released", &kinds[i], test_property_released);
                add("property-describe", &kinds[i], test_property_describe);
        }
        return g_test_run();
}
