/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DBusProperty on real buses: what runs share that look at the same, and services that flap, hand over, answer with the
 * wrong type and say what nobody understands.
 */

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "camera.h"
#include "leaf-stage.h"
#include "leaves/registry.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define N_MANY 1000u

typedef struct Fixture {
        BusFixture *bus;
        LeafStage *stage;
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
        fixture->stage = leaf_stage_new(bus_fixture_address(fixture->bus));
        camera_open(&fixture->camera, fixture->bus, true);
}

static void fixture_tear_down(Fixture *fixture, gconstpointer data) {
        if (!fixture->bus)
                return;

        leaf_stage_free(fixture->stage);
        camera_close(&fixture->camera);
        bus_fixture_free(fixture->bus);
}

static Actor *start_at(Fixture *fixture, const char *path, const char *property, const char *rest) {
        static const NodeType *const types[] = { &dbus_property_type, NULL };
        g_autofree char *node = g_strdup_printf("{ \"type\": \"DBusProperty\", \"destination\": \"" CAMERA "\", "
                                                "\"path\": \"%s\", \"interface\": \"" CAMERA "\", "
                                                "\"property\": \"%s\"%s }",
                                                path, property, rest);

        return leaf_stage_start(fixture->stage, types, node);
}

static Actor *start(Fixture *fixture, const char *property, const char *rest) {
        return start_at(fixture, CAMERA_PATH, property, rest);
}

/* Says Powered of another object below. */
static void say_powered_of(BusPeer *peer, const char *path, bool powered) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(peer), path, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                                           CAMERA, 1, "Powered", "b", powered, 0),
                        >=, 0);
}

/* However many look at it, it is asked for once; who comes later knows it at once. */
static void test_shared(Fixture *fixture, gconstpointer data) {
        Actor *actors[N_MANY];

        if (!fixture->bus)
                return;

        for (unsigned i = 0; i < N_MANY; i++) {
                actors[i] = start(fixture, "Powered", i % 2 ? "" : ", \"equals\": false");
                g_assert_cmpint(actors[i]->status, ==, STATUS_RUNNING);
        }
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(actor_wait(actors[i]), ==, i % 2 ? STATUS_SUCCESS : STATUS_FAILURE);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);

        say_powered(fixture->camera.peer, false);
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(actor_wait_reports(actors[i], 2), ==, i % 2 ? STATUS_FAILURE : STATUS_SUCCESS);

        for (unsigned i = 0; i < N_MANY - 1; i++)
                actor_free(actors[i]);
        actors[0] = start(fixture, "Powered", "");
        g_assert_cmpint(actors[0]->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(actors[0]->cause, ==, "Powered is false, not true");
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);

        /* Nothing is kept of what nobody looks at. */
        actor_free(actors[0]);
        actor_free(actors[N_MANY - 1]);
        actors[0] = start(fixture, "Powered", "");
        g_assert_cmpint(actors[0]->status, ==, STATUS_RUNNING);
        g_assert_cmpint(actor_wait(actors[0]), ==, STATUS_SUCCESS);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 2);
        actor_free(actors[0]);
}

/* Properties of one object have values of their own. */
static void test_siblings(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) powered = NULL, count = NULL;

        if (!fixture->bus)
                return;

        powered = start(fixture, "Powered", "");
        count = start(fixture, "Count", ", \"equals\": 4");
        g_assert_cmpint(actor_wait(powered), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait(count), ==, STATUS_FAILURE);

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fixture->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 2, "Count", "u", 4, "Powered", "b",
                                           false, 0),
                        >=, 0);
        g_assert_cmpint(actor_wait_reports(count, 2), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait_reports(powered, 2), ==, STATUS_FAILURE);
}

/* More objects than a dbus-daemon takes rules from one connection; each hears its own. */
static void test_many_objects(Fixture *fixture, gconstpointer data) {
        Actor *actors[N_MANY];

        if (!fixture->bus)
                return;

        for (unsigned i = 0; i < N_MANY; i++) {
                g_autofree char *path = g_strdup_printf(CAMERA_PATH "/%u", i);

                actors[i] = start_at(fixture, path, "Powered", "");
        }
        for (unsigned i = 0; i < N_MANY; i++)
                g_assert_cmpint(actor_wait(actors[i]), ==, STATUS_SUCCESS);
        g_assert_cmpuint(fixture->camera.n_gets, ==, N_MANY);

        say_powered_of(fixture->camera.peer, CAMERA_PATH "/nobody", false);
        say_powered_of(fixture->camera.peer, CAMERA_PATH "/999", false);
        g_assert_cmpint(actor_wait_reports(actors[N_MANY - 1], 2), ==, STATUS_FAILURE);
        for (unsigned i = 0; i < N_MANY; i++) {
                g_assert_cmpuint(actors[i]->n_reports, ==, i == N_MANY - 1 ? 2 : 1);
                actor_free(actors[i]);
        }
}

static void test_unknown(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) failure = NULL, success = NULL, running = NULL;

        if (!fixture->bus)
                return;

        failure = start(fixture, "Powered", ", \"unknown\": \"failure\"");
        success = start(fixture, "Powered", ", \"unknown\": \"success\", \"equals\": false");
        running = start(fixture, "Powered", ", \"unknown\": \"running\"");
        g_assert_cmpint(actor_wait(failure), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait(success), ==, STATUS_FAILURE);
        g_assert_cmpint(actor_wait(running), ==, STATUS_SUCCESS);

        camera_close(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(failure, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "org.example.Camera is not on the bus");
        g_assert_cmpint(actor_wait_reports(success, 2), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait_reports(running, 2), ==, STATUS_RUNNING);

        camera_open(&fixture->camera, fixture->bus, true);
        g_assert_cmpint(actor_wait_reports(failure, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait_reports(success, 3), ==, STATUS_FAILURE);
        g_assert_cmpint(actor_wait_reports(running, 3), ==, STATUS_SUCCESS);

        camera_remove_object(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(running, 4), ==, STATUS_RUNNING);
        camera_add_object(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(running, 5), ==, STATUS_SUCCESS);

        bus_fixture_kill(fixture->bus);
        g_assert_cmpint(actor_wait_reports(failure, 6), ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "the connection to the bus 'test' was lost");
        g_assert_cmpstr(failure->reason->kind, ==, "connection-lost");
        g_assert_cmpint(actor_wait_reports(success, 6), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait_reports(running, 6), ==, STATUS_RUNNING);
}

static void test_field(Fixture *fixture, gconstpointer data) {
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

        if (!fixture->bus)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Actor) actor = start(fixture, "Config", cases[i].rest);

                g_assert_cmpint(actor_wait(actor), ==, cases[i].status);
                g_assert_cmpstr(actor->cause, ==, cases[i].cause);
        }
}

static void test_expression(Fixture *fixture, gconstpointer data) {
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

        if (!fixture->bus)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Actor) actor = start(fixture, cases[i].property, cases[i].rest);

                g_assert_cmpint(actor_wait(actor), ==, cases[i].status);
                g_assert_cmpstr(actor->cause, ==, cases[i].cause);
        }
}

/* Either side may change; while the value is not known, the variables do not matter. */
static void test_expression_lives(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;

        if (!fixture->bus)
                return;

        leaf_stage_set_variable(fixture->stage, "wanted", "auto");
        leaf_stage_set_variable(fixture->stage, "other", "x");
        actor = start(fixture, "Mode", ", \"test\": \"value == wanted\"");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);

        leaf_stage_set_variable(fixture->stage, "other", "y");
        g_assert_cmpuint(actor->n_reports, ==, 1);
        leaf_stage_set_variable(fixture->stage, "wanted", "manual");
        g_assert_cmpuint(actor->n_reports, ==, 2);
        g_assert_cmpint(dbus_property_type.leaf->look(&actor->leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "value == wanted is false (wanted is \"manual\", value is \"auto\")");

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fixture->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Mode", "s", "manual", 0),
                        >=, 0);
        g_assert_cmpint(actor_wait_reports(actor, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(dbus_property_type.leaf->look(&actor->leaf), ==, STATUS_SUCCESS);

        camera_close(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(actor, 4), ==, STATUS_FAILURE);
        leaf_stage_set_variable(fixture->stage, "wanted", "auto");
        g_assert_cmpint(dbus_property_type.leaf->look(&actor->leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "org.example.Camera is not on the bus");

        camera_open(&fixture->camera, fixture->bus, true);
        wait_until(dbus_property_type.leaf->look(&actor->leaf) == STATUS_SUCCESS);
}

/* What is no answer is no value, and the next one counts. */
static void test_wrong_type(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;

        if (!fixture->bus)
                return;

        fixture->camera.odd = true;
        actor = start(fixture, "Powered", "");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "Powered cannot be read: the reply is of type \"s\", not \"v\"");

        fixture->camera.odd = false;
        camera_invalidate(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_SUCCESS);

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fixture->camera.peer), CAMERA_PATH, PROPERTIES,
                                           "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Powered", "s", "no", 0),
                        >=, 0);
        wait_until(fixture->camera.n_gets == 2 && g_strcmp0(actor->cause, "Powered is \"no\", not true") != 0);
        g_assert_cmpint(actor->status, ==, STATUS_SUCCESS);
}

/* A signal that cannot be read tells at least that something has changed. */
static void test_malformed(Fixture *fixture, gconstpointer data) {
        sd_bus *bus;
        g_autoptr(Actor) powered = NULL, count = NULL;

        if (!fixture->bus)
                return;

        bus = bus_peer_bus(fixture->camera.peer);
        powered = start(fixture, "Powered", "");
        count = start(fixture, "Count", "");
        g_assert_cmpint(actor_wait(powered), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait(count), ==, STATUS_SUCCESS);

        fixture->camera.powered = false;
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, PROPERTIES, "PropertiesChanged", "su", CAMERA, 1), >=, 0);
        g_assert_cmpint(actor_wait_reports(powered, 2), ==, STATUS_FAILURE);

        /* Behind a value that cannot be carried there may be others. */
        fixture->camera.powered = true;
        g_assert_cmpint(sd_bus_emit_signal(bus, CAMERA_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", CAMERA, 2,
                                           "Count", "h", 0, "Powered", "b", true, 0),
                        >=, 0);
        g_assert_cmpint(actor_wait_reports(powered, 3), ==, STATUS_SUCCESS);
        g_assert_cmpint(actor_wait_reports(count, 3), ==, STATUS_SUCCESS);
        g_assert_cmpstr(count->cause, ==, "Count cannot be read: it has a file descriptor, which cannot be carried");
}

/* From one owner to another without a gap: the value is the new one's, whatever the old one says. */
static void test_handover(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;
        Camera other;

        if (!fixture->bus)
                return;

        camera_open_unnamed(&other, fixture->bus, false);
        actor = start(fixture, "Powered", "");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);

        g_assert_cmpint(sd_bus_request_name(bus_peer_bus(other.peer), CAMERA, SD_BUS_NAME_QUEUE), >=, 0);
        g_assert_cmpint(sd_bus_release_name(bus_peer_bus(fixture->camera.peer), CAMERA), >=, 0);
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "Powered is false, not true");

        say_powered(fixture->camera.peer, true);
        wait_round_trip(fixture->camera.peer);
        say_powered(other.peer, false);
        say_powered(other.peer, true);
        g_assert_cmpint(actor_wait_reports(actor, 3), ==, STATUS_SUCCESS);
        g_assert_cmpuint(other.n_gets, ==, 1);
        camera_close(&other);
}

/* A service that comes and goes, each time with another value and another unique name. */
static void test_flaps(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;

        if (!fixture->bus)
                return;

        actor = start(fixture, "Powered", "");
        for (unsigned i = 0; i < 30; i++) {
                camera_close(&fixture->camera);
                camera_open(&fixture->camera, fixture->bus, i % 2);
                if (i % 3 == 0)
                        say_powered(fixture->camera.peer, i % 2);
                if (i % 4 == 0)
                        wait_round_trip(fixture->camera.peer);
        }
        wait_until(actor->status == STATUS_SUCCESS);

        fixture->camera.powered = false;
        say_powered(fixture->camera.peer, false);
        wait_until(actor->status == STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "Powered is false, not true");
}

/* Many changes at once: the last value is the one that counts. */
static void test_flood(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;

        if (!fixture->bus)
                return;

        actor = start(fixture, "Count", ", \"equals\": 10000");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        for (unsigned i = 1; i <= 10000; i++)
                g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fixture->camera.peer), CAMERA_PATH, PROPERTIES,
                                                   "PropertiesChanged", "sa{sv}as", CAMERA, 1, "Count", "u", i, 0),
                                >=, 0);
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_SUCCESS);
        g_assert_cmpuint(fixture->camera.n_gets, ==, 1);
}

/* The same of a service that only says that there is another value: one question at a time, whatever its number. */
static void test_flood_invalidated(Fixture *fixture, gconstpointer data) {
        g_autoptr(Actor) actor = NULL;

        if (!fixture->bus)
                return;

        actor = start(fixture, "Powered", "");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        for (unsigned i = 0; i < 10000; i++)
                camera_invalidate(&fixture->camera);
        fixture->camera.powered = false;
        camera_invalidate(&fixture->camera);
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_FAILURE);
        wait_round_trip(fixture->camera.peer);
        g_assert_cmpuint(fixture->camera.n_gets, <, 10000);
}

static void test_problems(void) {
        static const struct {
                const char *rest, *error;
        } cases[] = {
                { "\"field\": \"a\"", "field: expected an array of keys and indices, not \"a\"" },
                { "\"field\": [\"a\", -1]", "field: expected a key or an index from 0, not -1" },
                { "\"field\": [1.5]", "field: expected a key or an index from 0, not 1.5" },
                { "\"equals\": 1, \"one_of\": [1]", "give equals or one_of, not both" },
                { "\"one_of\": 1", "one_of: expected an array of values, not 1" },
                { "\"equals\": 1, \"test\": \"value\"", "give equals or one_of, or test, not both" },
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

static void add(const char *name, const BusKind *kind, void (*test)(Fixture *, gconstpointer)) {
        g_autofree char *path = g_strdup_printf("/dbus-property/%s/%s", bus_kind_name(*kind), name);

        g_test_add(path, Fixture, kind, fixture_set_up, test, fixture_tear_down);
}

int main(int argc, char **argv) {
        static const BusKind kinds[] = { BUS_DAEMON, BUS_BROKER };

        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/dbus-property/problems", test_problems);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                add("shared", &kinds[i], test_shared);
                add("siblings", &kinds[i], test_siblings);
                add("many-objects", &kinds[i], test_many_objects);
                add("unknown", &kinds[i], test_unknown);
                add("field", &kinds[i], test_field);
                add("expression", &kinds[i], test_expression);
                add("expression-lives", &kinds[i], test_expression_lives);
                add("wrong-type", &kinds[i], test_wrong_type);
                add("malformed", &kinds[i], test_malformed);
                add("handover", &kinds[i], test_handover);
                add("flaps", &kinds[i], test_flaps);
                add("flood", &kinds[i], test_flood);
                add("flood-invalidated", &kinds[i], test_flood_invalidated);
        }
        return g_test_run();
}
