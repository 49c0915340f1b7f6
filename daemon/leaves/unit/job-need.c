/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks, in this order, for the state of the system, the jobs that are ordered after the job, its state, and its type.
 */

#include "leaves/unit/job-need.h"
#include "basic/cleanup.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"

struct JobNeed {
        Connection *connection;
        char *path;
        const char *method;
        Call *call;
        bool deadlocked;
        JobNeedKnown known;
        void *userdata;
};

/* A restart is a start when it has stopped the unit. */
static bool is_plain(const char *type, const char *method) {
        if (g_str_equal(method, "RestartUnit"))
                return g_str_equal(type, "restart") || g_str_equal(type, "start");

        return g_str_equal(type, g_str_equal(method, "ReloadUnit") ? "reload" : "start");
}

static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *type;
        bool plain = reply && sd_bus_message_read(reply, "v", "s", &type) >= 0 && is_plain(type, need->method);

        need->known(!plain, need->userdata);
}

/* A job that runs ends by itself, unless it is deadlocked, and cancelling it stops nothing that it has begun: a restart
 * would be left half done. */
static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *state;

        if (!reply || sd_bus_message_read(reply, "v", "s", &state) < 0 ||
            (!need->deadlocked && g_str_equal(state, "running"))) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_get(need->connection, need->path, SYSTEMD_JOB, "JobType", on_type, need);
}

static void on_followers(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;

        if (!reply || sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssoo)") < 0 ||
            sd_bus_message_at_end(reply, false) <= 0) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_get(need->connection, need->path, SYSTEMD_JOB, "State", on_state, need);
}

/* All jobs are those of the shutdown then, or have given way to them. */
static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *state;

        if (!reply || sd_bus_message_read(reply, "v", "s", &state) < 0 || g_str_equal(state, "stopping")) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_ask(need->connection, on_followers, need, "GetJobAfter", "u", job_id(need->path));
}

JobNeed *job_need_new(Connection *connection, const char *path, const char *method, bool deadlocked, JobNeedKnown known,
                      void *userdata) {
        JobNeed *need = g_new(JobNeed, 1);

        *need = (JobNeed){
                .connection = connection,
                .path = g_strdup(path),
                .method = method,
                .deadlocked = deadlocked,
                .known = known,
                .userdata = userdata,
        };
        need->call =
                systemd_get(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", on_system_state, need);
        return need;
}

void job_need_free(JobNeed *need) {
        if (!need)
                return;

        call_free(need->call);
        g_free(need->path);
        g_free(need);
}
