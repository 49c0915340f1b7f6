/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds and removes the units that remain of ended processes. Such a unit stays active, or failed, until it is stopped
 * or reset. That request is lost if systemd re-executes at that moment, or the bus is lost: so this is done each time
 * that systemd is back.
 */

#include <glib/gstdio.h>

#include "basic/cleanup.h"
#include "leaves/spawn/spawn-sweep.h"
#include "leaves/spawn/spawn-unit.h"
#include "leaves/unit/systemd.h"

struct SpawnSweep {
        Connection *connection;
        Follower systemd;
        SpawnAwaited awaited;
        void *userdata;
        Call *call;
};

/* A leaf that repeats its program waits for the last one only, which is watched. */
static bool is_left(const SpawnSweep *sweep, const char *text, const char *prefix, const char *suffix) {
        g_auto(SpawnName) name = {};

        return spawn_name_parse(text, prefix, suffix, &name) && !spawn_unit_is_watched(text) &&
               (name.repetition > 0 || !sweep->awaited(&name, sweep->userdata));
}

static void sweep_outputs(const SpawnSweep *sweep, const char *outputs) {
        g_autoptr(GDir) directory = g_dir_open(outputs, 0, NULL);
        const char *file;

        while (directory && (file = g_dir_read_name(directory)))
                if (is_left(sweep, file, "", ".stdout") || is_left(sweep, file, "", ".stderr")) {
                        g_autofree char *path = g_build_filename(outputs, file, NULL);

                        g_unlink(path);
                }
}

static void sweep_unit(const SpawnSweep *sweep, const char *unit, bool failed) {
        g_autoptr(sd_bus_message) message =
                failed ? systemd_message(sweep->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ResetFailedUnit",
                                         "s", unit)
                       : systemd_message(sweep->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "StopUnit", "ss",
                                         unit, "replace");

        if (is_left(sweep, unit, SPAWN_UNIT_PREFIX, SPAWN_UNIT_SUFFIX))
                systemd_send(sweep->connection, message);
}

static void on_listed(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const SpawnSweep *sweep = userdata;
        const char *unit, *active, *sub;

        if (!reply || sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(ssssssouso)") < 0)
                return;

        while (sd_bus_message_read(reply, "(ssssssouso)", &unit, NULL, NULL, &active, &sub, NULL, NULL, NULL, NULL,
                                   NULL) > 0) {
                bool failed = g_str_equal(active, "failed");

                if (failed || g_str_equal(sub, "exited"))
                        sweep_unit(sweep, unit, failed);
        }
}

static void sweep_units(void *userdata) {
        SpawnSweep *sweep = userdata;
        g_autoptr(sd_bus_message) message =
                systemd_message(sweep->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ListUnitsByPatterns", "asas",
                                0, 1, SPAWN_UNIT_PREFIX "*" SPAWN_UNIT_SUFFIX);

        call_free(sweep->call);
        sweep->call = systemd_query(sweep->connection, message, on_listed, sweep);
}

SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata) {
        SpawnSweep *sweep = g_new(SpawnSweep, 1);

        *sweep = (SpawnSweep){
                .connection = connection,
                .systemd = { .changed = sweep_units, .userdata = sweep },
                .awaited = awaited,
                .userdata = userdata,
        };
        if (outputs)
                sweep_outputs(sweep, outputs);
        systemd_follow(connection, &sweep->systemd);
        sweep_units(sweep);
        return sweep;
}

void spawn_sweep_free(SpawnSweep *sweep) {
        if (!sweep)
                return;

        systemd_unfollow(sweep->connection, &sweep->systemd);
        call_free(sweep->call);
        g_free(sweep);
}
