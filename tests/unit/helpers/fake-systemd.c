/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-systemd.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit.h"

void fake_remove_job(Fake *fake, const char *path, const char *result) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), MANAGER_PATH, MANAGER, "JobRemoved", "uoss", 7,
                                           path, "cam.service", result),
                        >=, 0);
}

void fake_join_job(Fake *fake) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), JOB_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Job", 1, "State",
                                           "s", "waiting", 0),
                        >=, 0);
}

void fake_reload(Fake *fake, bool begins) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), MANAGER_PATH, MANAGER, "Reloading", "b", begins),
                        >=, 0);
}

void fake_remove_unit(Fake *fake) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), MANAGER_PATH, MANAGER, "UnitRemoved", "so",
                                           "cam.service", UNIT_PATH),
                        >=, 0);
}

static int reply_property(Fake *fake, sd_bus_message *message, const char *name) {
        if (strcmp(name, "ConditionResult") == 0)
                return sd_bus_reply_method_return(message, "v", "b", !fake->unmet);
        if (strcmp(name, "Job") == 0 && fake->replaced)
                return sd_bus_reply_method_return(message, "v", "(uo)", 6, MANAGER_PATH "/job/6");
        if (strcmp(name, "Job") == 0 && (fake->joined || (fake->n_started > 0 && !fake->signal_first)))
                return sd_bus_reply_method_return(message, "v", "(uo)", 7, JOB_PATH);
        if (strcmp(name, "Job") == 0)
                return sd_bus_reply_method_return(message, "v", "(uo)", 0, "/");
        if (strcmp(name, "ActiveEnterTimestampMonotonic") == 0)
                return sd_bus_reply_method_return(message, "v", "t", fake->became_active);
        if (strcmp(name, "StopWhenUnneeded") == 0 || strcmp(name, "RemainAfterExit") == 0)
                return sd_bus_reply_method_return(message, "v", "b", false);
        if (strcmp(name, "TriggeredBy") == 0)
                return sd_bus_reply_method_return(message, "v", "as", fake->trigger ? 1 : 0, fake->trigger);
        if (strcmp(name, "OnSuccess") == 0)
                return sd_bus_reply_method_return(message, "v", "as", fake->successor ? 1 : 0, fake->successor);
        if (strcmp(name, "OnFailure") == 0)
                return sd_bus_reply_method_return(message, "v", "as", 0);
        if (strcmp(name, "BindsTo") == 0)
                return sd_bus_reply_method_return(message, "v", "as", fake->requires ? 1 : 0, fake->requires);
        if (strcmp(name, "Slice") == 0)
                return sd_bus_reply_method_return(message, "v", "s", "a-b.slice");
        if (strcmp(name, "FreezerState") == 0) {
                g_autofree char *path = fake->frozen ? unit_name_path(fake->frozen) : NULL;

                return sd_bus_reply_method_return(message, "v", "s",
                                                  g_strcmp0(path, sd_bus_message_get_path(message)) == 0 ? "frozen"
                                                                                                         : "running");
        }
        if (strcmp(name, "NeedDaemonReload") == 0)
                return sd_bus_reply_method_return(message, "v", "b", fake->outdated);
        if (strcmp(name, "ControlGroup") == 0)
                return sd_bus_reply_method_return(message, "v", "s", fake->left ? "/system.slice/cam.service" : "");
        if (strcmp(name, "BusName") == 0)
                return sd_bus_reply_method_return(message, "v", "s", fake->bus_name ?: "");
        if (strcmp(name, "UpheldBy") == 0)
                return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_PROPERTY, "Unknown property UpheldBy.");
        if (strcmp(name, "Result") == 0)
                return sd_bus_reply_method_return(message, "v", "s", "success");
        if (strcmp(name, "SystemState") == 0)
                return sd_bus_reply_method_return(message, "v", "s", fake->stopping ? "stopping" : "degraded");
        if (strcmp(name, "State") == 0)
                return sd_bus_reply_method_return(message, "v", "s", fake->running ? "running" : "waiting");
        if (strcmp(name, "JobType") == 0)
                return sd_bus_reply_method_return(message, "v", "s", fake->merged ? "restart" : "start");

        return sd_bus_reply_method_return(message, "v", "s",
                                          strcmp(name, "ActiveState") == 0 ? fake->active_state : fake->type);
}

static const FakeUnit *find_other(const Fake *fake, const char *name) {
        const FakeUnit *unit = fake->others;

        while (unit && unit->name && strcmp(unit->name, name) != 0)
                unit++;

        return unit && unit->name ? unit : NULL;
}

static const char *required_by_path(const Fake *fake, const char *path) {
        char *name = NULL;
        const FakeUnit *unit;

        if (strcmp(path, UNIT_PATH) == 0)
        return fake->requires;

        g_assert_cmpint(sd_bus_path_decode(path, MANAGER_PATH "/unit", &name), >, 0);
        unit = find_other(fake, name);
        free(name);
        return unit->requires;
}

static int reply_requirements(Fake *fake, sd_bus_message *message) {
        const char *required = required_by_path(fake, sd_bus_message_get_path(message));

        if (!required)
                return sd_bus_reply_method_return(message, "a{sv}", 2, "Id", "s", "x", "Requires", "as", 0);

        return sd_bus_reply_method_return(message, "a{sv}", 3, "Id", "s", "x", "Requires", "as", 1, "sysinit.target",
                                          "BindsTo", "as", 1, required);
}

static int append_unit(sd_bus_message *reply, const char *name, const char *active_state, const char *sub_state) {
        return sd_bus_message_append(reply, "(ssssssouso)", name, "", "loaded", active_state, sub_state, "", "/", 0, "",
                                     "/");
}

static int reply_units(Fake *fake, sd_bus_message *message) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *name;

        fake->n_listed++;
        g_assert_cmpint(sd_bus_message_new_method_return(message, &reply), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(reply, 'a', "(ssssssouso)"), >=, 0);
        g_assert_cmpint(sd_bus_message_enter_container(message, 'a', "s"), >=, 0);
        while (sd_bus_message_read(message, "s", &name) > 0) {
                const FakeUnit *unit = find_other(fake, name);

                g_assert_cmpint(append_unit(reply, name, unit ? unit->active_state : "active",
                                            unit ? unit->sub_state : "running"),
                                >=, 0);
        }
        g_assert_cmpint(sd_bus_message_close_container(reply), >=, 0);
        return sd_bus_send(NULL, reply, NULL);
}

static int reply_all(Fake *fake, sd_bus_message *message) {
        bool failed = strcmp(fake->active_state, "failed") == 0;
        uint64_t now = (uint64_t) g_get_monotonic_time(), left = fake->limited || fake->early ? 1 : now,
                 became = fake->limited ? 2
                          : failed      ? now
                                        : 0;
        const char *interface;

        g_assert_cmpint(sd_bus_message_read(message, "s", &interface), >, 0);
        if (*interface)
                return reply_requirements(fake, message);

        fake->n_read++;
        if (fake->fresh)
                return sd_bus_reply_method_return(message, "a{sv}", 4, "LoadState", "s", "loaded", "ActiveState", "s",
                                                  "inactive", "CollectMode", "s", "inactive", "Conditions", "a(sbbsi)",
                                                  fake->conditional ? 1 : 0, "ConditionPathExists", false, true, "/x",
                                                  0);

        return sd_bus_reply_method_return(
                message, "a{sv}", fake->trigger ? 12 : 11, "InvocationID", "ay", 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                12, 13, 14, 15, 255, "LoadState", "s", fake->load_state, "ActiveState", "s", fake->active_state,
                "SubState", "s", "exited", "Result", "s", fake->unit_result, "ConditionResult", "b", !fake->unmet,
                "ConditionTimestampMonotonic", "t", now, "InactiveExitTimestampMonotonic", "t", left,
                "InactiveEnterTimestampMonotonic", "t", became, "ActiveEnterTimestampMonotonic", "t",
                fake->became_active, "Conditions", "a(sbbsi)", 1, "ConditionPathExists", false, true, "/x",
                fake->unmet ? -1 : 1, "TriggeredBy", "as", 1, fake->trigger);
}

static int reply_start(Fake *fake, sd_bus_message *message) {
        g_assert_true(fake->n_referenced > 0 || fake->grudging ||
                      !sd_bus_message_is_method_call(message, NULL, "StartUnit"));
        fake->n_started++;
        if (fake->mute)
                return 1;
        if (fake->error)
                return sd_bus_reply_method_errorf(message, "org.freedesktop.systemd1.Failed", "%s", fake->error);

        if (fake->signal_first)
                fake_remove_job(fake, JOB_PATH, fake->result);
        return sd_bus_reply_method_return(message, "o", JOB_PATH);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *member = sd_bus_message_get_member(message), *name;
        Fake *fake = userdata;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;

        if (strcmp(member, "StartUnit") == 0 || strcmp(member, "StopUnit") == 0 || strcmp(member, "ReloadUnit") == 0 ||
            strcmp(member, "RestartUnit") == 0 || (fake->transient && strcmp(member, "StartTransientUnit") == 0))
                return reply_start(fake, message);
        if (strcmp(member, "Get") == 0) {
                g_assert_cmpint(sd_bus_message_read(message, "ss", NULL, &name), >, 0);
                if (fake->forgetful && strcmp(name, "State") == 0)
                        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT, "No such job.");
                return reply_property(fake, message, name);
        }
        if (strcmp(member, "GetAll") == 0)
                return reply_all(fake, message);
        if (strcmp(member, "ListUnitsByNames") == 0)
                return reply_units(fake, message);
        if (strcmp(member, "GetJobAfter") == 0)
                return fake->followed ? sd_bus_reply_method_return(message, "a(usssoo)", 1, 8, "app.service", "start",
                                                                   "waiting", "/8", "/app")
                                      : sd_bus_reply_method_return(message, "a(usssoo)", 0);
        fake->n_loaded += strcmp(member, "LoadUnit") == 0;
        if (strcmp(member, "LoadUnit") == 0)
                return sd_bus_reply_method_return(message, "o", UNIT_PATH);
        if (strcmp(member, "Ref") == 0 && fake->grudging)
                return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                                                  "Interactive authentication required.");
        if (strcmp(member, "Ref") == 0)
                fake->n_referenced++;
        if (strcmp(member, "Unref") == 0)
                fake->n_unreferenced++;
        if (strcmp(member, "Subscribe") == 0)
                fake->n_subscribed++;
        if (strcmp(member, "Unsubscribe") == 0)
                fake->n_subscribed--;
        if (strcmp(member, "Cancel") == 0) {
                fake->n_cancelled++;
                g_assert_cmpstr(sd_bus_message_get_path(message), ==, JOB_PATH);
                (void) sd_bus_reply_method_return(message, NULL);
                fake_remove_job(fake, JOB_PATH, "canceled");
                return 1;
        }

        return sd_bus_reply_method_return(message, NULL);
}

void fake_come(Scene *scene) {
        Fake *fake = &scene->fake;

        fake->peer = bus_peer_new(scene->bus, "org.freedesktop.systemd1");
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(fake->peer), NULL, on_message, fake), >=, 0);
}

void fake_go(Scene *scene) {
        g_clear_pointer(&scene->fake.peer, bus_peer_free);
}

void scene_open(Scene *scene, const void *data) {
        scene->bus = bus_fixture_new(BUS_DAEMON, NULL);
        bus_fixture_start(scene->bus);
        scene->fake = (Fake){ .active_state = "active",
                              .type = "oneshot",
                              .load_state = "loaded",
                              .result = "done",
                              .unit_result = "success" };
        scene->stage = leaf_stage_new(bus_fixture_address(scene->bus));
}

void scene_close(Scene *scene, const void *data) {
        leaf_stage_free(scene->stage);
        fake_go(scene);
        bus_fixture_free(scene->bus);
}

TestLeaf *scene_start(Scene *scene, const char *node) {
        return leaf_stage_start(scene->stage, leaf_types, node);
}

void fake_change(Fake *fake, const char *state) {
        fake->active_state = state;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(fake->peer), UNIT_PATH, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Unit", 2,
                                           "ActiveState", "s", state, "SubState", "s", "exited", 0),
                        >=, 0);
}
