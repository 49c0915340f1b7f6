/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The unit leaves with a service manager that does what a real one does only by chance: signals that overtake replies,
 * a bus that dies while a job is queued, a manager that comes late and goes.
 */

#include <string.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaf-stage.h"
#include "leaves/registry.h"

#define MANAGER "org.freedesktop.systemd1.Manager"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit/cam_2eservice"
#define JOB_PATH MANAGER_PATH "/job/7"
#define START_CAM "{ \"type\": \"StartUnit\", \"unit\": \"cam.service\" }"
#define CAM_IS_ACTIVE "{ \"type\": \"UnitState\", \"unit\": \"cam.service\" }"

/* What the manager says, and what it has been asked. */
typedef struct Fake {
        BusPeer *peer;
        const char *active_state, *type, *load_state;
        bool conditional, unmet;
        bool signal_first; /* JobRemoved before the reply to StartUnit */
        const char *error; /* to StartUnit */
        bool mute;         /* it does not answer StartUnit at all */
        bool fresh;        /* the unit has never been started */
        bool forgetful;    /* there is no such job any more */
        unsigned n_started, n_cancelled, n_referenced, n_unreferenced, n_subscribed, n_loaded, n_read;
} Fake;

typedef struct Scene {
        BusFixture *bus;
        LeafStage *stage;
        Fake fake;
} Scene;

static void job_removed(Fake *fake, const char *path, const char *result) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), MANAGER_PATH, MANAGER, "JobRemoved", "uoss", 7,
                                           path, "cam.service", result),
                        >=, 0);
}

static int reply_property(Fake *fake, sd_bus_message *message, const char *name) {
        if (strcmp(name, "Conditions") == 0 && fake->conditional)
                return sd_bus_reply_method_return(message, "v", "a(sbbsi)", 1, "ConditionPathExists", false, false,
                                                  "/x", 0);
        if (strcmp(name, "Conditions") == 0)
                return sd_bus_reply_method_return(message, "v", "a(sbbsi)", 0);
        if (strcmp(name, "ExecCondition") == 0)
                return sd_bus_reply_method_return(message, "v", "a(sasbttttuii)", 0);

        return sd_bus_reply_method_return(message, "v", "s",
                                          strcmp(name, "ActiveState") == 0 ? fake->active_state : fake->type);
}

static int reply_all(Fake *fake, sd_bus_message *message) {
        fake->n_read++;
        if (fake->fresh)
                return sd_bus_reply_method_return(message, "a{sv}", 2, "LoadState", "s", "loaded", "ActiveState", "s",
                                                  "inactive");

        return sd_bus_reply_method_return(message, "a{sv}", 7, "InvocationID", "ay", 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                          11, 12, 13, 14, 15, 255, "LoadState", "s", fake->load_state, "ActiveState",
                                          "s", fake->active_state, "SubState", "s", "some", "Result", "s", "success",
                                          "ConditionResult", "b", !fake->unmet, "Conditions", "a(sbbsi)", 1,
                                          "ConditionPathExists", false, true, "/x", fake->unmet ? -1 : 1);
}

static int reply_start(Fake *fake, sd_bus_message *message) {
        fake->n_started++;
        if (fake->mute)
                return 1;
        if (fake->error)
                return sd_bus_reply_method_errorf(message, "org.freedesktop.systemd1.Failed", "%s", fake->error);

        if (fake->signal_first)
                job_removed(fake, JOB_PATH, "done");
        return sd_bus_reply_method_return(message, "o", JOB_PATH);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *member = sd_bus_message_get_member(message), *name;
        Fake *fake = userdata;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;

        if (strcmp(member, "StartUnit") == 0)
                return reply_start(fake, message);
        if (strcmp(member, "Get") == 0) {
                g_assert_cmpint(sd_bus_message_read(message, "ss", NULL, &name), >, 0);
                if (fake->forgetful && strcmp(name, "State") == 0)
                        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT, "No such job.");
                return reply_property(fake, message, name);
        }
        if (strcmp(member, "GetAll") == 0)
                return reply_all(fake, message);
        fake->n_loaded += strcmp(member, "LoadUnit") == 0;
        if (strcmp(member, "LoadUnit") == 0)
                return sd_bus_reply_method_return(message, "o", UNIT_PATH);
        if (strcmp(member, "RefUnit") == 0)
                fake->n_referenced += fake->n_started == 0;
        if (strcmp(member, "UnrefUnit") == 0)
                fake->n_unreferenced++;
        if (strcmp(member, "Subscribe") == 0)
                fake->n_subscribed++;
        if (strcmp(member, "Unsubscribe") == 0)
                fake->n_subscribed--;
        if (strcmp(member, "Cancel") == 0) {
                fake->n_cancelled++;
                g_assert_cmpstr(sd_bus_message_get_path(message), ==, JOB_PATH);
                (void) sd_bus_reply_method_return(message, NULL);
                job_removed(fake, JOB_PATH, "canceled");
                return 1;
        }

        return sd_bus_reply_method_return(message, NULL);
}

static void fake_come(Scene *scene) {
        Fake *fake = &scene->fake;

        fake->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(fake->peer), NULL, on_message, fake), >=, 0);
}

static void fake_go(Scene *scene) {
        g_clear_pointer(&scene->fake.peer, bus_peer_free);
}

static void scene_open(Scene *scene, const void *data) {
        scene->bus = bus_fixture_new(BUS_DAEMON, NULL);
        bus_fixture_start(scene->bus);
        scene->fake = (Fake){ .active_state = "active", .type = "oneshot", .load_state = "loaded" };
        scene->stage = leaf_stage_new(bus_fixture_address(scene->bus));
}

static void scene_close(Scene *scene, const void *data) {
        leaf_stage_free(scene->stage);
        fake_go(scene);
        bus_fixture_free(scene->bus);
}

static Actor *start(Scene *scene, const char *node) {
        return leaf_stage_start(scene->stage, leaf_types, node);
}

static void test_done(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;
        g_autofree char *text = NULL;

        fake_come(scene);
        actor = start(scene, START_CAM);
        text = actor_describe(actor);
        g_assert_cmpstr(text, ==, "job for cam.service");

        wait_until(scene->fake.n_started == 1);
        job_removed(&scene->fake, MANAGER_PATH "/job/6", "failed");
        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(actor->status, ==, STATUS_RUNNING);

        job_removed(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_referenced, ==, 0);
}

static void test_signal_first(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        actor = start(scene, START_CAM);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
}

static void test_refused(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        scene->fake.error = "Not today.";
        actor = start(scene, START_CAM);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cannot start cam.service: Not today");
        assert_cause(actor->reason, "dbus-error",
                     "{\"name\":\"org.freedesktop.systemd1.Failed\",\"message\":\"Not today.\","
                     "\"unit\":\"cam.service\"}");
}

/* A unit with conditions is kept from being unloaded before its job is asked for, until it was looked at. */
static void test_unmet_condition(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        scene->fake.signal_first = scene->fake.conditional = scene->fake.unmet = true;
        scene->fake.active_state = "inactive";
        actor = start(scene, START_CAM);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cam.service was not started: its ConditionPathExists=!/x was not met");
        assert_cause(
                actor->reason, "unit-result",
                "{\"unit\":\"cam.service\",\"job_result\":\"done\",\"result\":\"success\",\"load_state\":\"loaded\","
                "\"active_state\":\"inactive\",\"sub_state\":\"some\","
                "\"unmet_condition\":\"ConditionPathExists=!/x\","
                "\"invocation_id\":\"0102030405060708090a0b0c0d0e0fff\"}");
        g_assert_cmpuint(scene->fake.n_referenced, ==, 1);
        wait_until(scene->fake.n_unreferenced == 1);
}

/* As long as it says that it is active, a oneshot is believed at once, anything simple after a while. */
static void test_simple_settles(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;
        int64_t before = g_get_monotonic_time();

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.type = "simple";
        actor = start(scene, START_CAM);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        g_assert_cmpint(g_get_monotonic_time() - before, >=, 100 * 1000);
}

static void test_halt(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        actor_halt(actor);
        g_assert_true(actor->halted);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, 1);
}

static void test_halt_before_it_is_asked(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = start(scene, START_CAM);

        actor_halt(actor);
        g_assert_true(actor->halted);
        g_assert_cmpint(actor->status, ==, STATUS_RUNNING);
}

/* Two wait for one job: the first to be halted leaves it to the other. */
static void test_shared_job(Scene *scene, const void *data) {
        g_autoptr(Actor) first = NULL, second = NULL;

        fake_come(scene);
        first = start(scene, START_CAM);
        second = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 2);
        wait_round_trip(scene->fake.peer);

        actor_halt(first);
        g_assert_true(first->halted);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, 0);
        job_removed(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(actor_wait(second), ==, STATUS_SUCCESS);
}

static void test_bus_lost(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);

        bus_fixture_kill(scene->bus);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==,
                        "cannot start cam.service: the connection to the bus 'test' was lost before the job had ended");
        g_assert_cmpstr(actor->reason->kind, ==, "connection-lost");
}

/* systemd is executed anew while the job is in the queue. */
static Actor *start_and_come_again(Scene *scene, bool forgetful) {
        Actor *actor;

        fake_come(scene);
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);
        scene->fake.forgetful = forgetful;
        fake_come(scene);
        return actor;
}

static void test_job_outlasts_systemd(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = start_and_come_again(scene, false);

        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(actor->status, ==, STATUS_RUNNING);
        job_removed(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
}

static void test_job_ends_unheard(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = start_and_come_again(scene, true);

        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==,
                        "cannot start cam.service: systemd was executed anew, and the job ended unheard");
        g_assert_cmpstr(actor->reason->kind, ==, "connection-lost");
}

/* Of a daemon that may be restarted, too, it is known what the unit was like before. */
static void test_unheard_is_found_out(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        actor = start_and_come_again(scene, true);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_started, ==, 1);
}

static void test_bus_lost_is_found_out(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);
        bus_fixture_kill(scene->bus);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_started, ==, 1);
}

/* It was not read by systemd, so it is asked for again. */
static void test_unread_is_asked_again(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        scene->fake.mute = scene->fake.fresh = true;
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        fake_go(scene);
        scene->fake.mute = false;
        fake_come(scene);
        wait_until(scene->fake.n_started == 2);
        wait_round_trip(scene->fake.peer);
        job_removed(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
}

/* The bus may have brought it to systemd or not. */
static void test_unit_is_forgotten(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        scene->fake.mute = scene->fake.fresh = true;
        actor = start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        bus_fixture_kill(scene->bus);
        fake_go(scene);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==,
                        "the connection to systemd was lost meanwhile, and systemd has forgotten cam.service since, so "
                        "what became of it is not known");
        g_assert_cmpstr(actor->reason->kind, ==, "lost");
}

static void test_no_systemd(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = start(scene, START_CAM),
                         process = start(scene, "{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"true\"] }");

        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cannot start cam.service: there is no systemd on this bus");
        g_assert_cmpint(actor_wait(process), ==, STATUS_FAILURE);
        g_assert_cmpstr(process->cause, ==, "cannot make a unit: there is no systemd on this bus");
}

static void properties_changed(Fake *fake, const char *state) {
        fake->active_state = state;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), UNIT_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 2,
                                           "ActiveState", "s", state, "SubState", "s", "some", 0),
                        >=, 0);
}

static void test_state(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        properties_changed(&scene->fake, "failed");
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cam.service is failed (some), not active");
        assert_cause(actor->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":\"active\"},\"seen\":{\"load_state\":\"loaded\","
                     "\"state\":\"failed\",\"sub_state\":\"some\",\"result\":\"success\"}}");
        properties_changed(&scene->fake, "active");
        g_assert_cmpint(actor_wait_reports(actor, 3), ==, STATUS_SUCCESS);

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->fake.peer), MANAGER_PATH, MANAGER, "UnitRemoved", "so",
                                           "cam.service", UNIT_PATH),
                        >=, 0);
        g_assert_cmpint(actor_wait_reports(actor, 4), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cam.service is inactive (dead), not active");

        g_clear_pointer(&actor, actor_free);
        wait_until(scene->fake.n_subscribed == 0);
}

static void test_state_reloaded(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        scene->fake.load_state = "not-found";
        scene->fake.active_state = "inactive";
        actor = start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"load_state\": \"loaded\" }");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cam.service is not-found, not loaded");

        scene->fake.load_state = "loaded";
        g_assert_cmpint(
                sd_bus_emit_signal(bus_peer_bus(scene->fake.peer), MANAGER_PATH, MANAGER, "Reloading", "b", false), >=,
                0);
        g_assert_cmpint(actor_wait_reports(actor, 2), ==, STATUS_SUCCESS);
}

static void wait_status(Actor *actor, Status status) {
        while (actor->status != status)
                actor_wait_reports(actor, actor->n_reports + 1);
}

static void test_state_without_systemd(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = start(scene, CAM_IS_ACTIVE), late = NULL;

        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_true(g_str_has_prefix(actor->cause, "the state of cam.service is not known: "));
        assert_cause(actor->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":\"active\"},\"seen\":null}");
        late = start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(late->status, ==, STATUS_FAILURE);

        fake_come(scene);
        wait_status(actor, STATUS_SUCCESS);
        wait_status(late, STATUS_SUCCESS);
        fake_go(scene);
        wait_status(actor, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "the state of cam.service is not known: systemd has left the bus");
}

/* What it is while nothing is known. */
static void test_state_unknown(Scene *scene, const void *data) {
        g_autoptr(Actor)
                running = start(scene,
                                "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"unknown\": \"running\" }"),
                success = start(scene,
                                "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"unknown\": \"success\" }");
        g_autofree char *before = actor_describe(running), *after = NULL;

        g_assert_cmpstr(before, ==, "state of cam.service");
        wait_status(success, STATUS_SUCCESS);
        g_assert_cmpint(running->status, ==, STATUS_RUNNING);
        after = actor_describe(running);
        g_assert_true(g_str_has_prefix(after, "state of cam.service: "));

        scene->fake.active_state = "failed";
        fake_come(scene);
        wait_status(running, STATUS_FAILURE);
        wait_status(success, STATUS_FAILURE);
        fake_go(scene);
        wait_status(running, STATUS_RUNNING);
        wait_status(success, STATUS_SUCCESS);
}

static void test_state_lists(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene,
                      "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": [\"active\", \"reloading\"], "
                      "\"sub_state\": \"some\", \"result\": [\"success\"] }");
        wait_status(actor, STATUS_SUCCESS);
        properties_changed(&scene->fake, "failed");
        wait_status(actor, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "cam.service is failed (some), not active or reloading");
        assert_cause(actor->reason, "condition",
                     "{\"unit\":\"cam.service\",\"wanted\":{\"state\":[\"active\",\"reloading\"],"
                     "\"sub_state\":\"some\",\"result\":\"success\"},\"seen\":{\"load_state\":\"loaded\","
                     "\"state\":\"failed\",\"sub_state\":\"some\",\"result\":\"success\"}}");
        properties_changed(&scene->fake, "reloading");
        wait_status(actor, STATUS_SUCCESS);
}

/* An expression that is evaluated again when the unit or a variable has changed. */
static void test_state_test(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        leaf_stage_set_variable(scene->stage, "wanted", "failed");
        fake_come(scene);
        actor = start(scene, "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", "
                             "\"test\": \"value.active_state == wanted and value.result == 'success'\" }");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==,
                        "value.active_state == wanted and value.result == 'success' is false (wanted is \"failed\", "
                        "value is {\"active_state\":\"active\",\"sub_state\":\"some\",\"result\":\"succes...)");
        properties_changed(&scene->fake, "failed");
        wait_status(actor, STATUS_SUCCESS);
        g_assert_cmpint(actor_look(actor), ==, STATUS_SUCCESS);

        leaf_stage_set_variable(scene->stage, "wanted", "active");
        g_assert_cmpint(actor_look(actor), ==, STATUS_FAILURE);
        properties_changed(&scene->fake, "active");
        wait_status(actor, STATUS_SUCCESS);
}

static void test_state_test_fails(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene,
                      "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"test\": \"value.result + 1 > 0\" }");
        g_assert_cmpint(actor_wait(actor), ==, STATUS_ERROR);
        g_assert_cmpstr(actor->cause, ==, "value.result + 1 > 0: attempt to add a 'string' with a 'number'");
        assert_cause(actor->reason, "expression", "{\"expression\":\"value.result + 1 > 0\"}");
}

/* However many look at a unit, systemd is asked but once, and one that comes later need not wait. */
static void test_state_shared(Scene *scene, const void *data) {
        g_autoptr(GPtrArray) actors = g_ptr_array_new_with_free_func((GDestroyNotify) actor_free);
        g_autoptr(Actor) late = NULL;

        fake_come(scene);
        for (unsigned i = 0; i < 1000; i++)
                g_ptr_array_add(actors, start(scene, CAM_IS_ACTIVE));
        for (unsigned i = 0; i < actors->len; i++)
                wait_status(g_ptr_array_index(actors, i), STATUS_SUCCESS);
        late = start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(late->status, ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_loaded, ==, 1);
        g_assert_cmpuint(scene->fake.n_read, ==, 1);

        properties_changed(&scene->fake, "failed");
        for (unsigned i = 0; i < actors->len; i++)
                wait_status(g_ptr_array_index(actors, i), STATUS_FAILURE);
        wait_status(late, STATUS_FAILURE);

        g_ptr_array_set_size(actors, 0);
        g_clear_pointer(&late, actor_free);
        wait_until(scene->fake.n_subscribed == 0);
}

static void test_state_bus_lost(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        fake_come(scene);
        actor = start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(actor_wait(actor), ==, STATUS_SUCCESS);
        fake_go(scene);
        wait_status(actor, STATUS_FAILURE);

        bus_fixture_kill(scene->bus);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        while (actor->status != STATUS_SUCCESS)
                wait_turn();
}

#define add(name, function) g_test_add(name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("/units/done", test_done);
        add("/units/signal-first", test_signal_first);
        add("/units/refused", test_refused);
        add("/units/unmet-condition", test_unmet_condition);
        add("/units/simple-settles", test_simple_settles);
        add("/units/halt", test_halt);
        add("/units/halt-before-it-is-asked", test_halt_before_it_is_asked);
        add("/units/shared-job", test_shared_job);
        add("/units/bus-lost", test_bus_lost);
        add("/units/job-outlasts-systemd", test_job_outlasts_systemd);
        add("/units/job-ends-unheard", test_job_ends_unheard);
        add("/units/unheard-is-found-out", test_unheard_is_found_out);
        add("/units/bus-lost-is-found-out", test_bus_lost_is_found_out);
        add("/units/unread-is-asked-again", test_unread_is_asked_again);
        add("/units/unit-is-forgotten", test_unit_is_forgotten);
        add("/units/no-systemd", test_no_systemd);
        add("/units/state", test_state);
        add("/units/state-reloaded", test_state_reloaded);
        add("/units/state-without-systemd", test_state_without_systemd);
        add("/units/state-unknown", test_state_unknown);
        add("/units/state-lists", test_state_lists);
        add("/units/state-test", test_state_test);
        add("/units/state-test-fails", test_state_test_fails);
        add("/units/state-shared", test_state_shared);
        add("/units/state-bus-lost", test_state_bus_lost);

        return g_test_run();
}
