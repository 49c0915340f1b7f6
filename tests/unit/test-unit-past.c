/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What has become of a job of which the daemon before had not heard: with a service manager that says what a test
 * wants. */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaves/unit-past.h"

#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit/cam_2eservice"
#define JOB_PATH MANAGER_PATH "/job/7"
#define BEFORE "0000000000000000000000000000000b"

/* What it says of the unit. */
typedef struct Unit {
        const char *load_state, *active_state;
        uint8_t invocation; /* the last byte of it, 0: none */
        uint64_t changed;
        uint32_t job;
} Unit;

typedef struct Scene {
        BusFixture *bus;
        BusPeer *peer;
        Connection *connection;
        Unit unit;
        unsigned n_read, n_cancelled;
        int verdict; /* -1: not known yet */
        char *error;
} Scene;

static int reply_all(const Unit *unit, sd_bus_message *message) {
        return sd_bus_reply_method_return(message, "a{sv}", 5, "LoadState", "s", unit->load_state, "ActiveState", "s",
                                          unit->active_state, "InvocationID", "ay", 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                          0, 0, 0, 0, unit->invocation, "StateChangeTimestampMonotonic", "t",
                                          unit->changed, "Job", "(uo)", unit->job, unit->job > 0 ? JOB_PATH : "/");
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *member = sd_bus_message_get_member(message);
        Scene *scene = userdata;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;
        if (strcmp(member, "GetAll") == 0) {
                scene->n_read++;
                return reply_all(&scene->unit, message);
        }
        if (strcmp(member, "Cancel") == 0) {
                g_assert_cmpstr(sd_bus_message_get_path(message), ==, JOB_PATH);
                scene->n_cancelled++;
        }

        return sd_bus_reply_method_return(message, NULL);
}

static void on_known(UnitPastVerdict verdict, UnitFacts *facts, void *userdata) {
        Scene *scene = userdata;

        g_assert_cmpint(scene->verdict, ==, -1);
        g_assert_cmpstr(facts->active_state, ==, scene->unit.active_state);
        scene->verdict = verdict;
}

static void on_failed(const sd_bus_error *error, void *userdata) {
        Scene *scene = userdata;

        g_free(scene->error);
        scene->error = g_strdup(error->name);
}

static const UnitPastCallbacks callbacks = { .known = on_known, .failed = on_failed };

static void scene_open(Scene *scene, const void *data) {
        scene->bus = bus_fixture_new(BUS_DAEMON, NULL);
        bus_fixture_start(scene->bus);
        scene->connection = connection_new(NULL, "test", bus_fixture_address(scene->bus));
        scene->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->peer), NULL, on_message, scene), >=, 0);
        scene->verdict = -1;
}

static void scene_close(Scene *scene, const void *data) {
        connection_free(scene->connection);
        bus_peer_free(scene->peer);
        bus_fixture_free(scene->bus);
        g_free(scene->error);
}

static UnitPast *look(Scene *scene, UnitVerb verb, const UnitRequest *request, bool conditional) {
        const UnitFacts before = { .invocation_id = (char *) BEFORE, .changed = 5 };
        g_autoptr(json_object) memory = unit_past_remember(&before, conditional, request);

        return unit_past_new(scene->connection, UNIT_PATH, verb, memory, &callbacks, scene);
}

static UnitPast *look_for_start(Scene *scene) {
        return look(scene, UNIT_START, &(UnitRequest){ .sent = true, .heard = true }, false);
}

typedef struct Case {
        UnitVerb verb;
        bool sent, heard, conditional;
        Unit unit;
        UnitPastVerdict verdict;
} Case;

#define SENT .sent = true, .heard = true
#define OLD .invocation = 0xb, .changed = 5
#define NEW .invocation = 0xc, .changed = 6

static const Case cases[] = {
        /* It is up, however that came. */
        { UNIT_START, .unit = { "loaded", "active", OLD }, .verdict = UNIT_PAST_DONE },
        { UNIT_START, SENT, .unit = { "loaded", "active", NEW }, .verdict = UNIT_PAST_DONE },
        /* It has been, and failed or came to its end. */
        { UNIT_START, SENT, .unit = { "loaded", "failed", NEW }, .verdict = UNIT_PAST_DONE },
        { UNIT_START, SENT, .unit = { "loaded", "inactive", NEW }, .verdict = UNIT_PAST_DONE },
        /* It was not started. */
        { UNIT_START, .unit = { "loaded", "inactive", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_START, SENT, .unit = { "loaded", "failed", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_START, SENT, .unit = { "not-found", "inactive" }, .verdict = UNIT_PAST_TO_DO },
        /* It is forgotten. */
        { UNIT_START, .unit = { "loaded", "inactive" }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_START, SENT, .unit = { "loaded", "inactive" }, .verdict = UNIT_PAST_DONE },
        { UNIT_START, .sent = true, .unit = { "loaded", "inactive" }, .verdict = UNIT_PAST_UNKNOWN },
        { UNIT_START, SENT, .conditional = true, .unit = { "loaded", "inactive" }, .verdict = UNIT_PAST_UNKNOWN },
        /* Up is not enough here. */
        { UNIT_RESTART, SENT, .unit = { "loaded", "active", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_RESTART, SENT, .unit = { "loaded", "active", NEW }, .verdict = UNIT_PAST_DONE },
        { UNIT_STOP, .unit = { "loaded", "active", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_STOP, SENT, .unit = { "loaded", "active", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_STOP, SENT, .unit = { "loaded", "inactive", OLD }, .verdict = UNIT_PAST_DONE },
        { UNIT_STOP, SENT, .unit = { "loaded", "failed", OLD }, .verdict = UNIT_PAST_DONE },
        /* Somebody has started it since. */
        { UNIT_STOP, SENT, .unit = { "loaded", "active", NEW }, .verdict = UNIT_PAST_DONE },
        { UNIT_RELOAD, SENT, .unit = { "loaded", "active", OLD }, .verdict = UNIT_PAST_TO_DO },
        { UNIT_RELOAD, SENT, .unit = { "loaded", "active", .invocation = 0xb, .changed = 6 },
          .verdict = UNIT_PAST_DONE },
        { UNIT_RELOAD, .unit = { "loaded", "active", .invocation = 0xb, .changed = 6 }, .verdict = UNIT_PAST_TO_DO },
};

/* What was not about to be sent is not looked for; what became of it is as good as noted. */
static void test_search(Scene *scene, const void *data) {
        const UnitRequest request = { .name = ":1.7", .serial = 12 }, sent = { .sent = true };
        const UnitFacts before = { .invocation_id = (char *) BEFORE };
        g_autoptr(json_object) doubtful = unit_past_remember(&before, true, &request),
                               clear = unit_past_remember(&before, true, &sent),
                               heard = unit_past_settle(doubtful, JOB_WAS_HEARD),
                               never_sent = unit_past_settle(doubtful, JOB_NEVER_SENT);
        g_autoptr(JobReplies) replies = job_replies_new(scene->connection, NULL, NULL);

        g_assert_false(unit_past_is_open(NULL));
        g_assert_false(unit_past_is_open(clear));
        g_assert_true(unit_past_is_open(doubtful));
        g_assert_null(unit_past_search(doubtful, NULL, NULL, NULL));
        g_assert_null(unit_past_search(doubtful, replies, NULL, NULL));
        g_assert_cmpstr(json_object_to_json_string_ext(heard, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"invocation\":\"" BEFORE "\",\"conditional\":true,\"sent\":true,\"heard\":true}");
        g_assert_cmpstr(json_object_to_json_string_ext(never_sent, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"invocation\":\"" BEFORE "\",\"conditional\":true,\"sent\":false,\"heard\":false}");
}

static void test_verdicts(Scene *scene, const void *data) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Case *c = &cases[i];
                g_autoptr(UnitPast) past = NULL;

                scene->unit = c->unit;
                scene->verdict = -1;
                past = look(scene, c->verb, &(UnitRequest){ .sent = c->sent, .heard = c->heard }, c->conditional);
                wait_until(scene->verdict >= 0);
                g_test_message("case %zu", i);
                g_assert_cmpint(scene->verdict, ==, c->verdict);
        }
}

static UnitPastVerdict verdict_of_sent(Scene *scene, const char *manager, const char *bus) {
        g_autoptr(UnitPast) past = NULL;

        scene->verdict = -1;
        past = look(scene, UNIT_START, &(UnitRequest){ .sent = true, .manager = manager, .bus = bus }, false);
        wait_until(scene->verdict >= 0);
        return (UnitPastVerdict) scene->verdict;
}

/* Without an answer, the request was heard if the systemd that it was sent to has stayed, and the bus: on another one,
 * the name may be that of the same one again. */
static void test_manager(Scene *scene, const void *data) {
        g_autofree char *bus = NULL;
        const char *name = NULL;

        scene->unit = (Unit){ "loaded", "inactive" };
        wait_until(connection_is_ready(scene->connection));
        bus = connection_bus_id(scene->connection);
        g_assert_cmpuint(strlen(bus), ==, 32);
        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(scene->peer), &name), >=, 0);
        g_assert_cmpint(verdict_of_sent(scene, name, bus), ==, UNIT_PAST_DONE);
        g_assert_cmpint(verdict_of_sent(scene, ":1.99", bus), ==, UNIT_PAST_UNKNOWN);
        g_assert_cmpint(verdict_of_sent(scene, NULL, bus), ==, UNIT_PAST_UNKNOWN);
        g_assert_cmpint(verdict_of_sent(scene, name, "0123456789abcdef0123456789abcdef"), ==, UNIT_PAST_UNKNOWN);
        g_assert_cmpint(verdict_of_sent(scene, name, NULL), ==, UNIT_PAST_UNKNOWN);
}

static void tell(Scene *scene, uint32_t job, const char *state) {
        scene->unit.active_state = state;
        scene->unit.job = job;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), UNIT_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 3, "Job",
                                           "(uo)", job, job > 0 ? JOB_PATH : "/", "ActiveState", "s", state,
                                           "InvocationID", "ay", 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc,
                                           0),
                        >=, 0);
}

/* A job that is under way is waited for. */
static void test_job(Scene *scene, const void *data) {
        g_autoptr(UnitPast) past = NULL;

        scene->unit = (Unit){ "loaded", "activating", NEW, .job = 7 };
        past = look_for_start(scene);
        wait_until(scene->n_read > 0);
        tell(scene, 7, "activating");
        wait_round_trip(scene->peer);
        g_assert_cmpint(scene->verdict, ==, -1);
        tell(scene, 0, "active");
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_PAST_DONE);
}

static void test_cancel(Scene *scene, const void *data) {
        g_autoptr(UnitPast) past = NULL;

        scene->unit = (Unit){ "loaded", "inactive", OLD, .job = 7 };
        past = look_for_start(scene);
        unit_past_cancel(past);
        wait_until(scene->n_cancelled == 1);
        tell(scene, 0, "inactive");
        wait_until(scene->verdict >= 0);
}

/* The bus comes again. */
static void test_bus_lost(Scene *scene, const void *data) {
        g_autoptr(UnitPast) past = NULL;

        scene->unit = (Unit){ "loaded", "active", NEW, .job = 7 };
        past = look_for_start(scene);
        wait_until(scene->n_read > 0);
        g_clear_pointer(&scene->peer, bus_peer_free);
        bus_fixture_kill(scene->bus);

        scene->unit.job = 0;
        bus_fixture_start(scene->bus);
        scene->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->peer), NULL, on_message, scene), >=, 0);
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_PAST_DONE);
        g_assert_cmpstr(scene->error, ==, NULL);
}

#define add(name, function) g_test_add(name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        add("/unit-past/verdicts", test_verdicts);
        add("/unit-past/search", test_search);
        add("/unit-past/manager", test_manager);
        add("/unit-past/job", test_job);
        add("/unit-past/cancel", test_cancel);
        add("/unit-past/bus-lost", test_bus_lost);
        return g_test_run();
}
