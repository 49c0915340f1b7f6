/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how the result of a job is found out afterwards, with a fake service manager. */

#include <stdarg.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaves/unit/unit-recovery.h"

#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit/cam_2eservice"
#define JOB_PATH MANAGER_PATH "/job/7"
#define HOLDER ":1.99"
#define BEGUN 10 /* when the leaf began, of the times below */

/* What it says of the unit. */
typedef struct Unit {
        const char *load_state, *active_state;
        uint64_t left, became; /* when it last began to start, and when it last ended */
        uint64_t tested;       /* when its conditions and assertions last were */
        uint64_t reloaded;     /* when systemd read it again, if that looks like a change of its state */
        bool unmet, assert_failed;
        bool conditional, remains, unneeded;
        const char *collect_mode, *reload_result;
        uint32_t job;
        bool held; /* by the connection of before */
} Unit;

typedef struct Scene {
        BusFixture *bus;
        BusPeer *peer;
        Connection *connection;
        Unit unit;
        bool others;   /* wait for the job, too: the daemon did not create it */
        bool merged;   /* a restart was merged into it */
        bool followed; /* another job is ordered after it */
        unsigned n_read, n_cancelled, n_subscribed, n_kept, n_queued;
        int verdict; /* -1: not known yet */
        char *result, *error;
} Scene;

static void append_property(sd_bus_message *reply, const char *name, const char *types, ...) {
        va_list arguments;

        va_start(arguments, types);
        g_assert_cmpint(sd_bus_message_open_container(reply, 'e', "sv"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(reply, "s", name), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(reply, 'v', types), >=, 0);
        g_assert_cmpint(sd_bus_message_appendv(reply, types, arguments), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(reply), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(reply), >=, 0);
        va_end(arguments);
}

static int reply_all(const Unit *unit, sd_bus_message *message) {
        bool tested = unit->tested > 0;
        g_autoptr(sd_bus_message) reply = NULL;

        g_assert_cmpint(sd_bus_message_new_method_return(message, &reply), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(reply, 'a', "{sv}"), >=, 0);
        append_property(reply, "LoadState", "s", unit->load_state);
        append_property(reply, "ActiveState", "s", unit->active_state);
        append_property(reply, "CollectMode", "s", unit->collect_mode ?: "inactive");
        append_property(reply, "StateChangeTimestampMonotonic", "t",
                        MAX(MAX(unit->left, unit->became), unit->reloaded));
        append_property(reply, "InactiveExitTimestampMonotonic", "t", unit->left);
        append_property(reply, "InactiveEnterTimestampMonotonic", "t", unit->became);
        append_property(reply, "ConditionTimestampMonotonic", "t", unit->tested);
        append_property(reply, "AssertTimestampMonotonic", "t", unit->tested);
        append_property(reply, "ConditionResult", "b", tested && !unit->unmet);
        append_property(reply, "AssertResult", "b", tested && !unit->assert_failed);
        if (unit->conditional)
                append_property(reply, "ExecCondition", "a(sasbttttuii)", 1, "/bin/x", 1, "x", false, UINT64_C(0),
                                UINT64_C(0), UINT64_C(0), UINT64_C(0), 0, 0, 0);
        append_property(reply, "RemainAfterExit", "b", unit->remains);
        append_property(reply, "StopWhenUnneeded", "b", unit->unneeded);
        append_property(reply, "ReloadResult", "s", unit->reload_result ?: "success");
        append_property(reply, "Job", "(uo)", unit->job, unit->job > 0 ? JOB_PATH : "/");
        append_property(reply, "Refs", "as", 2, ":1.5", unit->held ? HOLDER : ":1.6");
        g_assert_cmpint(sd_bus_message_close_container(reply), >=, 0);
        return sd_bus_send(NULL, reply, NULL);
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
        scene->n_subscribed += strcmp(member, "Subscribe") == 0;
        if (strcmp(member, "Get") == 0)
                return sd_bus_reply_method_return(message, "v", "s", scene->merged ? "restart" : "start");
        if (strcmp(member, "GetJobAfter") == 0)
                return scene->followed ? sd_bus_reply_method_return(message, "a(usssoo)", 1, 8, "app.service", "start",
                                                                    "waiting", "/8", "/app")
                                       : sd_bus_reply_method_return(message, "a(usssoo)", 0);
        if (strcmp(member, "Cancel") == 0) {
                g_assert_cmpstr(sd_bus_message_get_path(message), ==, JOB_PATH);
                scene->n_cancelled++;
        }

        return sd_bus_reply_method_return(message, NULL);
}

static void on_kept(void *userdata) {
        ((Scene *) userdata)->n_kept++;
}

static void on_known(UnitRecoveryVerdict verdict, const char *result, UnitFacts *facts, void *userdata) {
        Scene *scene = userdata;

        g_assert_cmpint(scene->verdict, ==, -1);
        g_assert_cmpstr(facts->active_state, ==, scene->unit.active_state);
        scene->verdict = verdict;
        g_free(scene->result);
        scene->result = g_strdup(result);
}

static void on_failed(const sd_bus_error *error, void *userdata) {
        Scene *scene = userdata;

        g_free(scene->error);
        scene->error = g_strdup(error->name);
}

static void on_queued(void *userdata) {
        ((Scene *) userdata)->n_queued++;
}

static const UnitRecoveryCallbacks callbacks = {
        .kept = on_kept,
        .queued = on_queued,
        .known = on_known,
        .failed = on_failed,
};

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
        g_free(scene->result);
}

static UnitRecovery *recover_over(Scene *scene, UnitVerb verb, bool heard, const char *asker, const char *bus) {
        g_autoptr(json_object) memory = NULL;
        g_autofree char *id = NULL;

        wait_until(connection_is_ready(scene->connection));
        id = connection_bus_id(scene->connection);
        g_assert_cmpuint(strlen(id), ==, 32);
        memory = unit_recovery_memo(&(UnitRequest){
                .bus = bus ?: id, .asker = asker, .holder = HOLDER, .heard = heard, .job = 7, .own = !scene->others });
        return unit_recovery_new(scene->connection, UNIT_PATH, verb, BEGUN, memory, &callbacks, scene);
}

static UnitRecovery *recover(Scene *scene, UnitVerb verb, bool heard) {
        return recover_over(scene, verb, heard, ":1.98", NULL);
}

static UnitRecovery *recover_start(Scene *scene) {
        return recover(scene, UNIT_START, true);
}

typedef struct Case {
        UnitVerb verb;
        bool heard;
        Unit unit;
        UnitRecoveryVerdict verdict;
        const char *result; /* or NULL */
} Case;

#define OLD .left = 5
#define NEW .left = 11
#define SAME .left = BEGUN
#define OVER(time) .left = 5, .became = (time)
#define HEARD .heard = true

static const Case cases[] = {
        /* It is up, however that came. */
        { UNIT_START, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_ENDED, "done" },
        { UNIT_START, HEARD, .unit = { "loaded", "active", NEW }, .verdict = UNIT_RECOVERY_ENDED, "done" },
        /* It has been, and failed or came to its end. */
        { UNIT_START, .unit = { "loaded", "failed", NEW, 12 }, .verdict = UNIT_RECOVERY_ENDED, "failed" },
        { UNIT_START, .unit = { "loaded", "inactive", NEW, 12 }, .verdict = UNIT_RECOVERY_ENDED, "done" },
        { UNIT_START, .unit = { "loaded", "inactive", .tested = 11, .unmet = true }, .verdict = UNIT_RECOVERY_ENDED,
          "done" },
        { UNIT_START, .unit = { "loaded", "inactive", .tested = 11, .assert_failed = true },
          .verdict = UNIT_RECOVERY_ENDED, "assert" },
        /* It was not started: systemd was not asked, */
        { UNIT_START, .unit = { "loaded", "inactive", OVER(9) }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_START, .unit = { "loaded", "inactive", .held = true }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_START, .unit = { "loaded", "inactive", .held = true, .tested = 9, .unmet = true },
          .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_START, .unit = { "not-found", "inactive" }, .verdict = UNIT_RECOVERY_TO_DO },
        /* the job of another for it came to its end, */
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", OVER(11) }, .verdict = UNIT_RECOVERY_ENDED, "done" },
        { UNIT_START, .unit = { "loaded", "inactive", OVER(11) }, .verdict = UNIT_RECOVERY_TO_DO },
        /* or the job was dropped. */
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", OVER(9) }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_START, HEARD, .unit = { "loaded", "failed", OVER(9) }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", .held = true }, .verdict = UNIT_RECOVERY_DROPPED },
        /* It is forgotten: it may have succeeded, or failed and been reset. */
        { UNIT_START, .unit = { "loaded", "inactive" }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive" }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, HEARD, .unit = { "not-found", "inactive" }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", .conditional = true }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", .collect_mode = "inactive-or-failed" },
          .verdict = UNIT_RECOVERY_UNKNOWN },
        /* It would be active or failed if it had been started, unless systemd stopped it. */
        { UNIT_START, .unit = { "loaded", "inactive", .remains = true }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RESTART, .unit = { "loaded", "inactive", .remains = true }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_START, .unit = { "loaded", "inactive", .remains = true, .collect_mode = "inactive-or-failed" },
          .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, .unit = { "loaded", "inactive", .remains = true, .unneeded = true },
          .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, .unit = { "loaded", "failed", NEW, 12, .remains = true }, .verdict = UNIT_RECOVERY_ENDED,
          "failed" },
        /* A reload since then makes no difference to that; one from before shows that it was not forgotten. */
        { UNIT_START, .unit = { "loaded", "inactive", .reloaded = 11 }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", .reloaded = 11 }, .verdict = UNIT_RECOVERY_UNKNOWN },
        { UNIT_START, .unit = { "loaded", "inactive", .reloaded = 9 }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_START, HEARD, .unit = { "loaded", "inactive", .reloaded = 9 }, .verdict = UNIT_RECOVERY_DROPPED },
        /* Up is not enough here. */
        { UNIT_RESTART, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RESTART, HEARD, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_RESTART, .unit = { "loaded", "active", NEW }, .verdict = UNIT_RECOVERY_ENDED, "done" },
        { UNIT_RESTART, HEARD, .unit = { "loaded", "inactive", OVER(11) }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_STOP, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_STOP, HEARD, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_STOP, .unit = { "loaded", "inactive" }, .verdict = UNIT_RECOVERY_SUCCEEDED },
        { UNIT_STOP, .unit = { "not-found", "inactive" }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_STOP, HEARD, .unit = { "loaded", "failed", OVER(11) }, .verdict = UNIT_RECOVERY_SUCCEEDED },
        /* Somebody has started it since. */
        { UNIT_STOP, .unit = { "loaded", "active", .left = 12, .became = 11 }, .verdict = UNIT_RECOVERY_SUCCEEDED },
        { UNIT_RELOAD, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RELOAD, HEARD, .unit = { "loaded", "active", OLD }, .verdict = UNIT_RECOVERY_DROPPED },
        /* In the moment in which the leaf began, the one before it may have ended. */
        { UNIT_RELOAD, .unit = { "loaded", "active", SAME }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RESTART, .unit = { "loaded", "active", SAME }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RELOAD, .unit = { "loaded", "active", NEW }, .verdict = UNIT_RECOVERY_SUCCEEDED },
        { UNIT_RELOAD, .unit = { "loaded", "active", NEW, .reload_result = "exit-code" },
          .verdict = UNIT_RECOVERY_ENDED, "failed" },
        { UNIT_RELOAD, .unit = { "loaded", "inactive", OVER(11) }, .verdict = UNIT_RECOVERY_TO_DO },
        { UNIT_RELOAD, HEARD, .unit = { "loaded", "inactive", OVER(11) }, .verdict = UNIT_RECOVERY_DROPPED },
        { UNIT_RELOAD, HEARD, .unit = { "loaded", "inactive" }, .verdict = UNIT_RECOVERY_UNKNOWN },
};

static void test_verdicts(Scene *scene, const void *data) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Case *c = &cases[i];
                g_autoptr(UnitRecovery) recovery = NULL;

                scene->unit = c->unit;
                scene->verdict = -1;
                recovery = recover(scene, c->verb, c->heard);
                wait_until(scene->verdict >= 0);
                g_test_message("case %zu", i);
                g_assert_cmpint(scene->verdict, ==, c->verdict);
                if (c->result)
                        g_assert_cmpstr(scene->result, ==, c->result);
        }
}

/* Names of another bus say nothing on this one. */
static void test_other_bus(Scene *scene, const void *data) {
        g_autoptr(UnitRecovery) recovery = NULL;

        scene->unit = (Unit){ "loaded", "inactive", .held = true };
        recovery =
                recover_over(scene, UNIT_START, false, "org.freedesktop.systemd1", "0123456789abcdef0123456789abcdef");
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_RECOVERY_UNKNOWN);
        g_assert_cmpuint(scene->n_kept, ==, 0);
}

/* As long as the one who asked is on the bus, the request may be on its way. */
static void test_asker(Scene *scene, const void *data) {
        BusPeer *asker = bus_peer_new(scene->bus, "org.example.Asker");
        g_autoptr(UnitRecovery) recovery = NULL;
        const char *name = NULL;

        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(asker), &name), >=, 0);
        scene->unit = (Unit){ "loaded", "inactive", .held = true };
        recovery = recover_over(scene, UNIT_START, false, name, NULL);
        wait_until(scene->n_subscribed > 0);
        wait_round_trip(scene->peer);
        g_assert_cmpuint(scene->n_read, ==, 0);
        scene->unit.left = BEGUN + 1;
        bus_peer_free(asker);
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_RECOVERY_ENDED);
}

static void tell(Scene *scene, uint32_t job, const char *state) {
        scene->unit.active_state = state;
        scene->unit.job = job;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->peer), UNIT_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 2, "Job",
                                           "(uo)", job, job > 0 ? JOB_PATH : "/", "ActiveState", "s", state, 0),
                        >=, 0);
}

/* A job that is under way is waited for. */
static void test_job(Scene *scene, const void *data) {
        g_autoptr(UnitRecovery) recovery = NULL;

        scene->unit = (Unit){ "loaded", "activating", NEW, .job = 7 };
        recovery = recover_start(scene);
        wait_until(scene->n_kept == 1);
        g_assert_cmpstr(unit_recovery_job(recovery), ==, JOB_PATH);
        tell(scene, 7, "activating");
        wait_round_trip(scene->peer);
        g_assert_cmpint(scene->verdict, ==, -1);
        g_assert_cmpuint(scene->n_queued, ==, 1);
        tell(scene, 0, "active");
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_RECOVERY_ENDED);
        g_assert_cmpuint(scene->n_kept, ==, 1);
        g_assert_null(unit_recovery_job(recovery));
}

static void test_cancel(Scene *scene, const void *data) {
        g_autoptr(UnitRecovery) recovery = NULL;

        scene->unit = (Unit){ "loaded", "inactive", OLD, .job = 7 };
        recovery = recover_start(scene);
        g_assert_false(unit_recovery_cancel(recovery, false));
        wait_until(scene->n_cancelled == 1);
        tell(scene, 0, "inactive");
        wait_until(scene->verdict >= 0);
}

/* The job of others stays, whether it is known yet or not. */
static void test_cancel_the_job_of_others(Scene *scene, const void *data) {
        for (unsigned i = 0; i < 6; i++) {
                g_autoptr(UnitRecovery) recovery = NULL, second = NULL;

                scene->unit = (Unit){ "loaded", "inactive", OLD, .job = 7 };
                scene->others = i < 2;
                scene->followed = i == 3;
                scene->merged = i == 5;
                scene->verdict = -1;
                scene->n_kept = 0;
                recovery = recover_start(scene);
                if (i > 0)
                        wait_until(scene->n_kept == 1);
                if (i == 2 || i == 4)
                        second = recover_start(scene);
                if (i == 2)
                        wait_until(scene->n_kept == 2);
                if (!unit_recovery_cancel(recovery, false))
                        wait_until(scene->verdict >= 0);
                wait_round_trip(scene->peer);
                g_assert_cmpuint(scene->n_cancelled, ==, 0);
        }
}

/* The bus comes again. */
static void test_bus_lost(Scene *scene, const void *data) {
        g_autoptr(UnitRecovery) recovery = NULL;

        scene->unit = (Unit){ "loaded", "active", NEW, .job = 7 };
        recovery = recover_start(scene);
        wait_until(scene->n_read > 0);
        g_clear_pointer(&scene->peer, bus_peer_free);
        bus_fixture_kill(scene->bus);

        scene->unit.job = 0;
        bus_fixture_start(scene->bus);
        scene->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->peer), NULL, on_message, scene), >=, 0);
        wait_until(scene->verdict >= 0);
        g_assert_cmpint(scene->verdict, ==, UNIT_RECOVERY_ENDED);
        g_assert_cmpstr(scene->error, ==, NULL);
}

#define add(name, function) g_test_add(name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        add("/unit-recovery/verdicts", test_verdicts);
        add("/unit-recovery/other-bus", test_other_bus);
        add("/unit-recovery/asker", test_asker);
        add("/unit-recovery/job", test_job);
        add("/unit-recovery/cancel", test_cancel);
        add("/unit-recovery/cancel-the-job-of-others", test_cancel_the_job_of_others);
        add("/unit-recovery/bus-lost", test_bus_lost);
        return g_test_run();
}
