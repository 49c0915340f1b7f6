/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Jobs for units with a service manager that does what a real one does only by chance: signals that overtake replies,
 * a bus that dies while a job is queued, a manager that comes late and goes.
 */

#include <systemd/sd-daemon.h>

#include "assert-cause.h"
#include "fake-systemd.h"

/* Wherever this runs, so that a process can be a unit. */
int sd_booted(void) {
        return 1;
}

static void test_done(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;
        g_autofree char *text = NULL;

        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        text = test_leaf_describe(leaf);
        g_assert_cmpstr(text, ==, "connection to the bus 'test'");

        wait_until(scene->fake.n_started == 1);
        fake_remove_job(&scene->fake, MANAGER_PATH "/job/6", "failed");
        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);

        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_referenced, ==, 1);
        g_assert_cmpuint(scene->fake.n_unreferenced, ==, 0);
        g_clear_pointer(&leaf, test_leaf_free);
        wait_until(scene->fake.n_unreferenced == 1);
}

/* Who may not hold a unit starts it without; what systemd has forgotten then is known only if it has no conditions. */
static void test_not_held(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = scene->fake.grudging = scene->fake.fresh = scene->fake.unmet = true;
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        test_leaf_free(leaf);

        scene->fake.conditional = true;
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "systemd refused btd a reference to cam.service and has forgotten it since, so its result is "
                        "not known");
        g_assert_cmpstr(leaf->reason->kind, ==, "lost");
        g_assert_cmpuint(scene->fake.n_unreferenced, ==, 0);
}

/* It is held only if it was asked for. */
static void test_halt_while_it_is_asked(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        test_leaf_halt(leaf);
        g_clear_pointer(&leaf, test_leaf_free);
        wait_until(scene->fake.n_unreferenced == 1);
        g_assert_cmpuint(scene->fake.n_referenced, ==, 1);
}

static void test_signal_first(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

static void test_refused(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.error = "Not today.";
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cannot start cam.service: Not today");
        assert_cause(leaf->reason, "dbus-error",
                     "{\"name\":\"org.freedesktop.systemd1.Failed\",\"message\":\"Not today.\","
                     "\"unit\":\"cam.service\"}");
}

/* The leaf holds a reference from before it requests the job until it has verified the unit. */
static void test_unmet_condition(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = scene->fake.unmet = true;
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service was not started: its ConditionPathExists=!/x was not met");
        assert_cause(
                leaf->reason, "unit-result",
                "{\"unit\":\"cam.service\",\"job_result\":\"done\",\"result\":\"success\",\"load_state\":\"loaded\","
                "\"active_state\":\"inactive\",\"sub_state\":\"exited\","
                "\"unmet_condition\":\"ConditionPathExists=!/x\","
                "\"invocation_id\":\"0102030405060708090a0b0c0d0e0fff\"}");
        g_assert_cmpuint(scene->fake.n_referenced, ==, 1);
}

static void assert_failed(Scene *scene, const char *cause, const char *result) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, START_CAM);

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, cause);
        g_assert_cmpstr(leaf->reason->kind, ==, "unit-result");
        g_assert_cmpstr(json_object_get_string(json_object_object_get(leaf->reason->facts, "result")), ==, result);
}

/* systemd leaves the result of a unit that it refuses to start as it was. */
static void test_start_limit(Scene *scene, const void *data) {
        static const char limit[] = "cam.service failed: it was started too often in a short time (result "
                                    "'start-limit-hit'); to start it at once, call 'systemctl reset-failed "
                                    "cam.service' first";

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.result = scene->fake.active_state = "failed";
        scene->fake.unit_result = "exit-code";
        assert_failed(scene, "cam.service failed: one of its commands failed (result 'exit-code')", "exit-code");
        scene->fake.limited = true;
        assert_failed(scene, limit, "start-limit-hit");
        scene->fake.unit_result = "start-limit-hit";
        assert_failed(scene, limit, "start-limit-hit");
        scene->fake.unit_result = "resources";
        assert_failed(
                scene,
                "cam.service failed: a resource that it needs was not available, see its journal (result 'resources')",
                "resources");
}

static void assert_dependency(Scene *scene, const FakeUnit *others, const char *cause, const char *required) {
        g_autoptr(TestLeaf) leaf = NULL;

        scene->fake.others = others;
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, cause);
        g_assert_cmpstr(json_object_get_string(json_object_object_get(leaf->reason->facts, "failed_required")), ==,
                        required);
}

/* Which unit it was that failed is found out, through those that were not started for it. */
static void test_dependency(Scene *scene, const void *data) {
        static const FakeUnit near[] = { { "net.service", "failed", "failed", NULL }, {} },
                              far[] = { { "net.service", "inactive", "dead", "link.service" },
                                        { "link.service", "activating", "auto-restart", NULL },
                                        {} },
                              around[] = { { "net.service", "inactive", "dead", "link.service" },
                                           { "link.service", "inactive", "dead", "net.service" },
                                           {} };

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.result = "dependency";
        assert_dependency(scene, near,
                          "cam.service was not started: a unit that it requires failed (result 'dependency')", NULL);
        scene->fake.requires = "net.service";
        assert_dependency(scene, near,
                          "cam.service was not started: net.service, which it requires, failed (result 'dependency')",
                          "net.service");
        assert_dependency(scene, far,
                          "cam.service was not started: link.service, which it requires, failed (result 'dependency')",
                          "link.service");
        assert_dependency(scene, around,
                          "cam.service was not started: a unit that it requires failed (result 'dependency')", NULL);
}

/* systemd forgets a unit of a process that it has not started, with its properties; those of the node are known. */
static void test_dependency_of_a_process(Scene *scene, const void *data) {
        static const struct {
                const char *properties, *unit, *state, *result, *cause;
        } rows[] = {
                { "{ \"Requires\": [\"dbus.socket\", \"net.service\"] }", "net.service", "failed", "dependency",
                  "net.service, which it requires, failed (result 'dependency')" },
                { "{ \"BindsTo\": { \"signature\": \"as\", \"value\": [\"net.service\"] } }", "net.service", "failed",
                  "dependency", "net.service, which it requires, failed (result 'dependency')" },
                { "{ \"Requisite\": \"net.service\" }", "net.service", "inactive", "dependency",
                  "net.service, which it requires, failed (result 'dependency')" },
                { "{ \"RequiresMountsFor\": \"/srv/a/b\" }", "srv-a.mount", "failed", "dependency",
                  "srv-a.mount, which it requires, failed (result 'dependency')" },
                { "{ \"Conflicts\": \"net.service\" }", "net.service", "active", "canceled",
                  "net.service, which conflicts with it, was started (result 'canceled')" },
                { "{ \"After\": \"net.service\" }", "net.service", "failed", "dependency",
                  "a unit that it requires failed (result 'dependency')" },
        };

        fake_come(scene);
        scene->fake.signal_first = scene->fake.transient = true;
        scene->fake.active_state = "failed";
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                const FakeUnit others[] = { { rows[i].unit, rows[i].state, "failed", NULL }, {} };
                g_autofree char *text =
                        g_strdup_printf("{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"true\"], "
                                        "\"properties\": %s }",
                                        rows[i].properties);
                g_autoptr(TestLeaf) leaf = NULL;

                scene->fake.others = others;
                scene->fake.result = rows[i].result;
                leaf = scene_start(scene, text);
                g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
                g_assert_true(g_str_has_suffix(leaf->cause, rows[i].cause));
        }
}

/* As long as it says that it is active, a oneshot is believed at once, anything simple after a while. */
static void test_simple_settles(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;
        int64_t before = g_get_monotonic_time();

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.type = "simple";
        leaf = scene_start(scene, START_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpint(g_get_monotonic_time() - before, >=, 100 * 1000);
}

/* systemd stops it when the other one has ended. */
static void test_bound_to_a_unit_that_ends(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.requires = "net.service";
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        scene->fake.active_state = "deactivating";
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cam.service was started, but now it is deactivating (exited)");
}

#define STOP_CAM "{ \"type\": \"StopUnit\", \"unit\": \"cam.service\" }"

/* A unit that was up long ago does nothing while it is frozen; nor does one that was reloaded, or is up as soon as it
 * has a process. */
static void test_frozen(Scene *scene, const void *data) {
        static const struct {
                const char *node, *type;
                bool new;
        } rows[] = {
                { START_CAM, "notify", false },
                { START_CAM, "simple", true },
                { "{ \"type\": \"RestartUnit\", \"unit\": \"cam.service\" }", "idle", true },
                { "{ \"type\": \"ReloadUnit\", \"unit\": \"cam.service\" }", "simple", false },
        };
        static const struct {
                const char *frozen, *cause;
        } ways[] = {
                { "cam.service", "cam.service is up, but frozen; thaw it first, see 'systemctl thaw'" },
                { "a-b.slice", "cam.service is up, but a-b.slice is frozen; thaw that first, see 'systemctl thaw'" },
                { "a.slice", "cam.service is up, but a.slice is frozen; thaw that first, see 'systemctl thaw'" },
                { "b.slice", NULL },
                { NULL, NULL },
        };

        fake_come(scene);
        scene->fake.signal_first = true;
        for (size_t i = 0; i < G_N_ELEMENTS(rows) * G_N_ELEMENTS(ways); i++) {
                size_t row = i / G_N_ELEMENTS(ways), way = i % G_N_ELEMENTS(ways);
                g_autoptr(TestLeaf) leaf = NULL;

                scene->fake.type = rows[row].type;
                scene->fake.became_active = rows[row].new ? (uint64_t) g_get_monotonic_time() : 1;
                scene->fake.frozen = ways[way].frozen;
                leaf = scene_start(scene, rows[row].node);
                g_assert_cmpint(test_leaf_wait(leaf), ==, ways[way].cause ? STATUS_FAILURE : STATUS_SUCCESS);
                g_assert_cmpstr(leaf->cause, ==, ways[way].cause);
        }
}

static bool waits_for(TestLeaf *leaf, const char *what) {
        g_autofree char *text = test_leaf_describe(leaf);

        return g_strcmp0(text, what) == 0;
}

/* A job that lasts says what it waits for, and so does its failure; not once it is thawed. */
static void test_frozen_while_it_starts(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.frozen = "a.slice";
        leaf = scene_start(scene, START_CAM);
        wait_until(waits_for(leaf, "a.slice to be thawed, see 'systemctl thaw'"));
        scene->fake.active_state = "failed";
        scene->fake.unit_result = "timeout";
        fake_remove_job(&scene->fake, JOB_PATH, "failed");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service failed: it took longer than its time limits allow (result 'timeout'); a.slice is "
                        "frozen, see 'systemctl thaw'");
}

/* systemd waits until the program is executed. */
static void test_frozen_while_a_process_starts(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.transient = true;
        scene->fake.frozen = "a.slice";
        leaf = scene_start(scene, "{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"true\"] }");
        wait_until(waits_for(leaf, "unit btd-test.1-0-1.service; a.slice is frozen, see 'systemctl thaw'"));
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        wait_until(waits_for(leaf, "unit btd-test.1-0-1.service"));
}

static void test_frozen_while_it_stops(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.frozen = "cam.service";
        leaf = scene_start(scene, STOP_CAM);
        wait_until(waits_for(leaf, "cam.service to be thawed, see 'systemctl thaw'"));
        scene->fake.active_state = "failed";
        scene->fake.unit_result = "timeout";
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service is stopped, but it has failed: it took longer than its time limits allow (result "
                        "'timeout'); cam.service is frozen, see 'systemctl thaw'");
}

/* As systemctl says, too. */
static void test_restarted_with_old_files(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = scene->fake.outdated = true;
        leaf = scene_start(scene, "{ \"type\": \"RestartUnit\", \"unit\": \"cam.service\" }");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service was restarted, but its files have changed since systemd has read them, see "
                        "'systemctl daemon-reload'");
}

/* What can start it again is named, whether it has done so or not. */
static void test_stopped_with_a_trigger(Scene *scene, const void *data) {
        static const FakeUnit socket[] = { { "cam.socket", "active", "listening", NULL }, {} };
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.trigger = "cam.socket";
        scene->fake.others = socket;
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, STOP_CAM);
        wait_until(waits_for(leaf, "cam.service to show that it is down"));
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==, "cam.service is stopped, but cam.socket can start it again");
        test_leaf_free(leaf);

        scene->fake.active_state = "activating";
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service was stopped, but now it is activating (exited): cam.socket can start it again");
}

/* What the end of the unit starts may start it again, through a command of its own. */
static void test_stopped_with_a_successor(Scene *scene, const void *data) {
        static const FakeUnit starting[] = { { "again.service", "activating", "start", NULL }, {} },
                              ended[] = { { "again.service", "inactive", "dead", NULL }, {} };
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.successor = "again.service";
        scene->fake.others = ended;
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==, NULL);
        test_leaf_free(leaf);

        scene->fake.others = starting;
        leaf = scene_start(scene, STOP_CAM);
        wait_until(scene->fake.n_listed == 3);
        scene->fake.active_state = "activating";
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service was stopped, but now it is activating (exited): its OnSuccess= setting starts "
                        "again.service");
}

/* The bus starts it when somebody calls it. This bus has no such name but its own. */
static void test_stopped_with_a_name(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.bus_name = "org.example.Cam";
        scene->fake.active_state = "inactive";
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==, NULL);
        test_leaf_free(leaf);

        scene->fake.bus_name = "org.freedesktop.DBus";
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service is stopped, but a call to org.freedesktop.DBus can start it again");
}

/* It is down, but not as its unit file wants it. */
static void test_stopped_and_failed(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.signal_first = true;
        scene->fake.active_state = "failed";
        scene->fake.unit_result = "timeout";
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service is stopped, but it has failed: it took longer than its time limits allow (result "
                        "'timeout')");
        test_leaf_free(leaf);

        scene->fake.limited = true; /* it had failed before */
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==, NULL);
        test_leaf_free(leaf);

        scene->fake.left = true;
        leaf = scene_start(scene, STOP_CAM);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==,
                        "cam.service is stopped, but processes of it still run, see KillMode= in systemd.kill(5)");
}

/* systemd makes the reload a part of the start, and reloads nothing. */
static void test_reload_of_a_unit_that_starts(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        scene->fake.type = "simple";
        scene->fake.early = true;
        leaf = scene_start(scene, "{ \"type\": \"ReloadUnit\", \"unit\": \"cam.service\" }");
        wait_until(scene->fake.n_started == 1);
        scene->fake.became_active = (uint64_t) g_get_monotonic_time();
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        wait_until(scene->fake.n_started == 2);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

/* The same node for the bus by its address, which may be that of another machine. To be freed. */
static char *at_address(const Scene *scene, const char *type) {
        return g_strdup_printf("{ \"type\": \"%s\", \"unit\": \"cam.service\", \"bus\": \"%s\" }", type,
                               bus_fixture_address(scene->bus));
}

/* The times of another machine tell nothing; but the unit had a job before. */
static void test_reload_of_a_unit_that_starts_elsewhere(Scene *scene, const void *data) {
        g_autofree char *text = at_address(scene, "ReloadUnit");

        fake_come(scene);
        scene->fake.type = "simple";
        for (unsigned before = 0; before < 2; before++) {
                g_autoptr(TestLeaf) leaf = NULL;

                scene->fake.joined = before;
                scene->fake.n_started = 0;
                leaf = scene_start(scene, text);
                for (unsigned i = 0; i <= before; i++) {
                        wait_until(scene->fake.n_started == i + 1);
                        wait_round_trip(scene->fake.peer);
                        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
                        fake_remove_job(&scene->fake, JOB_PATH, "done");
                }
                g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
                g_assert_cmpuint(scene->fake.n_started, ==, before + 1);
        }
}

/* Halts a leaf whose job is in the queue. */
static void assert_halt(Scene *scene, unsigned n_cancelled) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, n_cancelled);
}

static void test_halt(Scene *scene, const void *data) {
        assert_halt(scene, 1);
}

/* The job is the boot's, or an administrator's: it was there before. */
static void test_halt_of_a_job_of_others(Scene *scene, const void *data) {
        scene->fake.joined = true;
        assert_halt(scene, 0);
}

/* It is the leaf's own, although the unit had another job before. */
static void test_halt_of_a_job_that_replaced_another(Scene *scene, const void *data) {
        scene->fake.replaced = true;
        assert_halt(scene, 1);
}

/* Another unit waits for it. */
static void test_halt_of_a_job_that_others_need(Scene *scene, const void *data) {
        scene->fake.followed = true;
        assert_halt(scene, 0);
}

/* It ends by itself, and cancelling it would stop nothing. */
static void test_halt_of_a_job_that_runs(Scene *scene, const void *data) {
        scene->fake.running = true;
        assert_halt(scene, 0);
}

static void test_halt_while_the_machine_goes_down(Scene *scene, const void *data) {
        scene->fake.stopping = true;
        assert_halt(scene, 0);
}

/* An administrator has requested a restart of the unit, which systemd has merged into it. */
static void test_halt_of_a_job_that_is_a_restart_now(Scene *scene, const void *data) {
        scene->fake.merged = true;
        assert_halt(scene, 0);
}

/* An administrator has requested it, too: the request was merged into it, and it waits still. */
static void test_halt_of_a_job_that_others_have_joined(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_join_job(&scene->fake);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpstr(json_object_to_json_string(json_object_object_get(leaf->memo, "own")), ==, "null");
        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, 0);
}

/* Another leaf has requested it, too, and does not know yet that it gets the same one. */
static void test_halt_of_a_job_that_is_requested_again(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) first = NULL, second = NULL;

        fake_come(scene);
        first = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        scene->fake.mute = true;
        second = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 2);
        test_leaf_halt(first);
        g_assert_true(first->halted);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, 0);
}

static void test_halt_before_it_is_asked(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = scene_start(scene, START_CAM);

        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
}

/* The request waits until systemd has reloaded. Then nobody wants it any more. */
static void test_halt_before_it_is_sent(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) watch = NULL, leaf = NULL;

        fake_come(scene);
        watch = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(watch), ==, STATUS_SUCCESS);
        fake_reload(&scene->fake, true);
        wait_round_trip(scene->fake.peer);
        leaf = scene_start(scene, START_CAM);
        wait_round_trip(scene->fake.peer);

        g_assert_true(leaf->leaf.kind->halt(&leaf->leaf));
        fake_reload(&scene->fake, false);
        wait_round_trip(scene->fake.peer);
        wait_round_trip(scene->fake.peer);
        g_assert_cmpuint(scene->fake.n_started, ==, 0);
}

/* Two wait for one job: the first to be halted leaves it to the other. */
static void test_shared_job(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) first = NULL, second = NULL;

        fake_come(scene);
        first = scene_start(scene, START_CAM);
        second = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 2);
        wait_round_trip(scene->fake.peer);

        test_leaf_halt(first);
        g_assert_true(first->halted);
        g_assert_cmpuint(scene->fake.n_cancelled, ==, 0);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(second), ==, STATUS_SUCCESS);
}

static void test_bus_lost(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);

        bus_fixture_kill(scene->bus);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "cannot start cam.service: the connection to the bus 'test' was lost before the job had ended");
        g_assert_cmpstr(leaf->reason->kind, ==, "connection-lost");
}

/* systemd is executed anew while the job is in the queue. */
static TestLeaf *start_text_and_come_again(Scene *scene, const char *text, bool forgetful) {
        TestLeaf *leaf;

        fake_come(scene);
        leaf = scene_start(scene, text);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);
        scene->fake.forgetful = forgetful;
        fake_come(scene);
        return leaf;
}

static TestLeaf *start_and_come_again(Scene *scene, bool forgetful) {
        return start_text_and_come_again(scene, START_CAM, forgetful);
}

static void test_job_outlasts_systemd(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = start_and_come_again(scene, false);

        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

/* Of another bus nobody knows whether it comes again. */
static void test_job_ends_unheard(Scene *scene, const void *data) {
        g_autofree char *text = at_address(scene, "StartUnit");
        g_autoptr(TestLeaf) leaf = start_text_and_come_again(scene, text, true);

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(
                leaf->cause, ==,
                "cannot start cam.service: systemd was re-executed meanwhile, so the result of the job is not known");
        g_assert_cmpstr(leaf->reason->kind, ==, "connection-lost");
}

/* It is known what the unit was like before, also where no daemon recovers the run. */
static void test_unheard_is_found_out(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        if (data)
                leaf_stage_set_durable(scene->stage, NULL);
        leaf = start_and_come_again(scene, true);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_started, ==, 1);
}

static void test_bus_lost_is_found_out(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_go(scene);
        bus_fixture_kill(scene->bus);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_started, ==, 1);
}

/* One that was there will come back: what is asked for meanwhile waits, and its timeout counts. */
static void test_systemd_is_away(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) first = NULL, leaf = NULL, process = NULL;
        g_autofree char *waits = NULL;

        fake_come(scene);
        first = scene_start(scene, CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(first), ==, STATUS_SUCCESS);
        fake_go(scene);
        g_assert_cmpint(test_leaf_wait_reports(first, 2), ==, STATUS_FAILURE);

        leaf = scene_start(scene, START_CAM);
        process = scene_start(scene, "{ \"type\": \"Spawn\", \"argv\": [\"true\"] }");
        for (unsigned i = 0; i < 10; i++)
                wait_turn();
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        g_assert_cmpint(process->status, ==, STATUS_RUNNING);
        waits = test_leaf_describe(process);
        g_assert_true(g_str_has_prefix(waits, "unit btd-"));

        fake_come(scene);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(process), ==, STATUS_FAILURE); /* the fake one knows nothing of such units */
}

/* btd ignores what systemd answers while it reloads; with data, also on the bus of an address. */
static void test_job_while_reloading(Scene *scene, const void *data) {
        g_autofree char *state = data ? at_address(scene, "UnitState") : NULL,
                        *start = data ? at_address(scene, "StartUnit") : NULL;
        g_autoptr(TestLeaf) watch = NULL, leaf = NULL;

        fake_come(scene);
        watch = scene_start(scene, state ?: CAM_IS_ACTIVE);
        g_assert_cmpint(test_leaf_wait(watch), ==, STATUS_SUCCESS);
        leaf = scene_start(scene, start ?: START_CAM);
        wait_until(scene->fake.n_started == 1);
        wait_round_trip(scene->fake.peer);

        fake_reload(&scene->fake, true);
        fake_remove_unit(&scene->fake);
        fake_go(scene);
        scene->fake.active_state = "inactive";
        scene->fake.unmet = true;
        fake_come(scene);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        wait_round_trip(scene->fake.peer);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        scene->fake.active_state = "active";
        scene->fake.unmet = false;
        fake_reload(&scene->fake, false);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpuint(scene->fake.n_started, ==, 1);
        g_assert_cmpuint(watch->n_reports, ==, 1);
}

/* It was not read by systemd, so it is asked for again. */
static void test_unread_is_asked_again(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        scene->fake.mute = scene->fake.fresh = true;
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        fake_go(scene);
        scene->fake.mute = false;
        fake_come(scene);
        wait_until(scene->fake.n_started == 2);
        wait_round_trip(scene->fake.peer);
        fake_remove_job(&scene->fake, JOB_PATH, "done");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
}

/* The bus may have brought it to systemd or not. */
static void test_unit_is_forgotten(Scene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;

        leaf_stage_set_durable(scene->stage, NULL);
        fake_come(scene);
        scene->fake.mute = scene->fake.fresh = true;
        leaf = scene_start(scene, START_CAM);
        wait_until(scene->fake.n_started == 1);
        bus_fixture_kill(scene->bus);
        fake_go(scene);
        bus_fixture_start(scene->bus);
        fake_come(scene);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "the connection to systemd was lost meanwhile, and systemd has forgotten cam.service since, so "
                        "its result is not known");
        g_assert_cmpstr(leaf->reason->kind, ==, "lost");
}

static void test_no_systemd(Scene *scene, const void *data) {
        g_autoptr(TestLeaf)
                leaf = scene_start(scene, START_CAM),
                process = scene_start(scene, "{ \"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"true\"] }");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "cannot start cam.service: there is no systemd on this bus");
        g_assert_cmpint(test_leaf_wait(process), ==, STATUS_FAILURE);
        g_assert_cmpstr(process->cause, ==, "cannot create a unit: there is no systemd on this bus");
}

#define add(name, function) g_test_add("/units/" name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("done", test_done);
        add("signal-first", test_signal_first);
        add("refused", test_refused);
        add("unmet-condition", test_unmet_condition);
        add("start-limit", test_start_limit);
        add("dependency", test_dependency);
        add("dependency-of-a-process", test_dependency_of_a_process);
        add("simple-settles", test_simple_settles);
        add("stopped-with-a-trigger", test_stopped_with_a_trigger);
        add("bound-to-a-unit-that-ends", test_bound_to_a_unit_that_ends);
        add("frozen", test_frozen);
        add("frozen-while-it-starts", test_frozen_while_it_starts);
        add("frozen-while-a-process-starts", test_frozen_while_a_process_starts);
        add("frozen-while-it-stops", test_frozen_while_it_stops);
        add("restarted-with-old-files", test_restarted_with_old_files);
        add("stopped-with-a-successor", test_stopped_with_a_successor);
        add("stopped-with-a-name", test_stopped_with_a_name);
        add("stopped-and-failed", test_stopped_and_failed);
        add("reload-of-a-unit-that-starts", test_reload_of_a_unit_that_starts);
        add("reload-of-a-unit-that-starts-elsewhere", test_reload_of_a_unit_that_starts_elsewhere);
        add("not-held", test_not_held);
        add("halt", test_halt);
        add("halt-of-a-job-of-others", test_halt_of_a_job_of_others);
        add("halt-of-a-job-that-replaced-another", test_halt_of_a_job_that_replaced_another);
        add("halt-of-a-job-that-others-need", test_halt_of_a_job_that_others_need);
        add("halt-of-a-job-that-runs", test_halt_of_a_job_that_runs);
        add("halt-while-the-machine-goes-down", test_halt_while_the_machine_goes_down);
        add("halt-of-a-job-that-is-a-restart-now", test_halt_of_a_job_that_is_a_restart_now);
        add("halt-of-a-job-that-others-have-joined", test_halt_of_a_job_that_others_have_joined);
        add("halt-of-a-job-that-is-requested-again", test_halt_of_a_job_that_is_requested_again);
        add("halt-while-it-is-asked", test_halt_while_it_is_asked);
        add("halt-before-it-is-sent", test_halt_before_it_is_sent);
        add("halt-before-it-is-asked", test_halt_before_it_is_asked);
        add("shared-job", test_shared_job);
        add("bus-lost", test_bus_lost);
        add("job-outlasts-systemd", test_job_outlasts_systemd);
        add("job-ends-unheard", test_job_ends_unheard);
        add("unheard-is-found-out", test_unheard_is_found_out);
        g_test_add("/units/unheard-is-found-out-by-the-durable", Scene, "durable", scene_open,
                   test_unheard_is_found_out, scene_close);
        add("bus-lost-is-found-out", test_bus_lost_is_found_out);
        add("unread-is-asked-again", test_unread_is_asked_again);
        add("unit-is-forgotten", test_unit_is_forgotten);
        add("systemd-is-away", test_systemd_is_away);
        add("job-while-reloading", test_job_while_reloading);
        g_test_add("/units/job-while-reloading-elsewhere", Scene, "elsewhere", scene_open, test_job_while_reloading,
                   scene_close);
        add("no-systemd", test_no_systemd);

        return g_test_run();
}
