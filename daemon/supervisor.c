/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Waits for systemd's name on the bus, like for any other name. */

#include "supervisor.h"
#include "basic/log.h"
#include "bus/names.h"
#include "leaves/unit/systemd.h"

/* Enough, because the bus is running already. */
#define PATIENCE_USEC (5 * UINT64_C(1000) * 1000)

struct Supervisor {
        Connection *connection;
        NameUse name;
        Timer *patience;
        void (*done)(void *userdata);
        void *userdata;
};

static void finish(Supervisor *supervisor) {
        name_leave(&supervisor->name);
        g_clear_pointer(&supervisor->patience, timer_free);
        supervisor->done(supervisor->userdata);
}

static void on_name_changed(void *userdata) {
        Supervisor *supervisor = userdata;

        if (name_state(&supervisor->name) == NAME_OWNED)
                finish(supervisor);
}

static void on_patience_lost(void *userdata) {
        Supervisor *supervisor = userdata;

        log_warning("systemd has started this, but is not on the bus '%s': trees cannot use units there yet",
                    connection_name(supervisor->connection));
        finish(supervisor);
}

Supervisor *supervisor_await(Connection *connection, Timers *timers, void (*done)(void *userdata), void *userdata) {
        Supervisor *supervisor = g_new0(Supervisor, 1);

        supervisor->connection = connection;
        supervisor->done = done;
        supervisor->userdata = userdata;
        supervisor->patience = timer_new(timers, PATIENCE_USEC, on_patience_lost, supervisor);
        supervisor->name.follower = (Follower){ .changed = on_name_changed, .userdata = supervisor };
        name_use(connection_names(connection), &supervisor->name, SYSTEMD_NAME);
        on_name_changed(supervisor);
        return supervisor;
}

void supervisor_free(Supervisor *supervisor) {
        if (!supervisor)
                return;

        name_leave(&supervisor->name);
        timer_free(supervisor->patience);
        g_free(supervisor);
}
