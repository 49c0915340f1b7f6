/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Searches the order of jobs, with one query at a time: the nearest jobs first, each job once. So the result is a
 * shortest path. */

#include "leaves/unit/job-order.h"
#include "basic/cleanup.h"
#include "leaves/unit/systemd.h"

#define JOB_PREFIX "/org/freedesktop/systemd1/job/"
#define NOBODY UINT_MAX

/* A job, and which of those that were found before waits for it. */
typedef struct Step {
        uint32_t id;
        char *unit;
        unsigned waiting;
} Step;

struct JobOrder {
        Connection *connection;
        const char *type; /* of the first job */
        const JobOrderCallbacks *callbacks;
        void *userdata;
        GArray *steps; /* of Step, in the order in which they were found */
        unsigned next; /* whose jobs before it are asked for */
        Call *call;
};

static void on_step_dropped(void *step) {
        g_free(((Step *) step)->unit);
}

static bool is_known(const JobOrder *order, uint32_t id) {
        for (unsigned i = 0; i < order->steps->len; i++)
                if (g_array_index(order->steps, Step, i).id == id)
                        return true;

        return false;
}

static void add(JobOrder *order, uint32_t id, const char *unit, unsigned waiting) {
        Step step = { .id = id, .unit = g_strdup(unit), .waiting = waiting };

        g_array_append_val(order->steps, step);
}

static void tell(JobOrder *order, unsigned last) {
        g_autoptr(GPtrArray) units = g_ptr_array_new();

        for (unsigned i = last; i != NOBODY; i = g_array_index(order->steps, Step, i).waiting)
                g_ptr_array_insert(units, 0, g_array_index(order->steps, Step, i).unit);
        g_ptr_array_add(units, NULL);
        order->callbacks->found((const char *const *) units->pdata, order->userdata);
}

static void ask_next(JobOrder *order);

/* The step of the wanted job, or NOBODY. */
static unsigned read_jobs(JobOrder *order, sd_bus_message *reply, unsigned waiting) {
        const char *unit, *type;
        uint32_t id;

        if (sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssoo)") < 0)
                return NOBODY;

        while (sd_bus_message_read(reply, "(usssoo)", &id, &unit, &type, NULL, NULL, NULL) > 0) {
                if (is_known(order, id))
                        continue;
                add(order, id, unit, waiting);
                if (order->callbacks->is_wanted(unit, type, order->userdata))
                        return order->steps->len - 1;
        }

        return NOBODY;
}

/* No job waits for a job that has ended meanwhile. */
static void on_answered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobOrder *order = userdata;
        unsigned found = reply ? read_jobs(order, reply, order->next) : NOBODY;

        g_clear_pointer(&order->call, call_free);
        if (found == NOBODY && order->next == 0 &&
            order->callbacks->is_wanted(g_array_index(order->steps, Step, 0).unit, order->type, order->userdata))
                found = 0;
        if (found != NOBODY) {
                tell(order, found);
                return;
        }

        order->next++;
        ask_next(order);
}

static void ask_next(JobOrder *order) {
        g_autoptr(sd_bus_message) message = NULL;

        if (order->next >= order->steps->len)
                return;

        message = systemd_message(order->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "GetJobBefore", "u",
                                  g_array_index(order->steps, Step, order->next).id);
        order->call = systemd_query(order->connection, message, on_answered, order);
}

JobOrder *job_order_new(Connection *connection, const char *job, const char *unit, const char *type,
                        const JobOrderCallbacks *callbacks, void *userdata) {
        JobOrder *order = g_new(JobOrder, 1);
        guint64 id = 0;

        *order = (JobOrder){
                .connection = connection,
                .type = type,
                .callbacks = callbacks,
                .userdata = userdata,
                .steps = g_array_new(FALSE, FALSE, sizeof(Step)),
        };
        g_array_set_clear_func(order->steps, on_step_dropped);
        if (g_str_has_prefix(job, JOB_PREFIX) &&
            g_ascii_string_to_unsigned(job + strlen(JOB_PREFIX), 10, 0, UINT32_MAX, &id, NULL)) {
                add(order, (uint32_t) id, unit, NOBODY);
                ask_next(order);
        }

        return order;
}

void job_order_free(JobOrder *order) {
        if (!order)
                return;

        call_free(order->call);
        g_array_unref(order->steps);
        g_free(order);
}
