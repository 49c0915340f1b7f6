/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how the name of a bus becomes a connection. */

#include <glib/gstdio.h>

#include "basic/bus-address.h"
#include "basic/log.h"
#include "bus/buses.h"
#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

static void test_names(void) {
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

                g_assert_cmpint(bus_address_check(good[i], &error), ==, 0);
                g_assert_cmpstr(error, ==, NULL);
        }

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(bus_address_check(bad[i].name, &error), <, 0);
                g_assert_cmpstr(error, ==, bad[i].error);
        }
}

/* One connection for each name; the default one by either of its names. */
static void test_shared(void) {
        g_autoptr(Buses) buses = buses_new(NULL, "system", "unix:path=/nowhere");
        Connection *unnamed = NULL, *named = NULL, *other = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(buses_get(buses, NULL, NULL, &unnamed, &error), ==, 0);
        g_assert_cmpint(buses_get(buses, "system", "system", &named, &error), ==, 0);
        g_assert_cmpint(buses_get(buses, "unix:path=/elsewhere", "elsewhere", &other, &error), ==, 0);
        g_assert_true(unnamed == named && other != named);
        g_assert_cmpstr(connection_name(unnamed), ==, "system");

        g_unsetenv("DBUS_SESSION_BUS_ADDRESS");
        g_unsetenv("XDG_RUNTIME_DIR");
        g_assert_cmpint(buses_get(buses, "session", "session", &other, &error), <, 0);
        g_assert_cmpstr(error, ==, "there is no session bus: set DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR");
}

/* With an ssh of our own that connects to the bus of the test, and notes how it was called. */
static void test_host(CameraStage *stage) {
        g_autofree char *bridge = g_find_program_in_path("systemd-stdio-bridge");
        g_autofree char *directory = NULL, *ssh = NULL, *notes = NULL, *script = NULL;
        g_autofree char *path = NULL, *search = NULL, *arguments = NULL;
        g_autoptr(TestLeaf) leaf = NULL;

        if (!bridge) {
                g_test_skip("systemd-stdio-bridge is not installed");
                return;
        }

        directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        ssh = g_build_filename(directory, "ssh", NULL);
        notes = g_build_filename(directory, "notes", NULL);
        script = g_strdup_printf("#!/bin/sh\necho \"$@\" >%s\nexec %s --bus-path=%s\n", notes, bridge,
                                 bus_fixture_address(stage->bus));
        g_assert_true(g_file_set_contents(ssh, script, -1, NULL));
        g_assert_cmpint(g_chmod(ssh, 0700), ==, 0);
        path = g_strdup(g_getenv("PATH"));
        search = g_strdup_printf("%s:%s", directory, path);
        g_setenv("PATH", search, TRUE);

        leaf = camera_stage_start(stage, &dbus_call_type,
                                  "\"bus\": \"host:me@[::1]:2222/inner\", \"destination\": \"" CAMERA
                                  "\", \"path\": \"" CAMERA_PATH "\", \"member\": \"Nothing\"");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_true(g_file_get_contents(notes, &arguments, NULL, NULL));
        g_assert_cmpstr(arguments, ==, "-xT -oBatchMode=yes -p 2222 -- me@::1 systemd-stdio-bridge --machine=inner\n");

        g_setenv("PATH", path, TRUE);
        g_unlink(ssh);
        g_unlink(notes);
        g_rmdir(directory);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/buses/names", test_names);
        g_test_add_func("/buses/shared", test_shared);
        camera_stage_add("buses", "host", test_host);
        return g_test_run();
}
