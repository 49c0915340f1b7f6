/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * StartUnit, StopUnit, RestartUnit, ReloadUnit: a job for a unit, and a look behind it.
 *
 * A job that starts a unit is "done" also when a condition of the unit was not met, and as soon as the process of a
 * Type=simple service was forked. So two properties are read then, and of a service that says it is active its
 * type: if systemd cannot know whether it could be executed, it gets a moment to show it. Everything else that
 * people would want to know is read only when something went wrong.
 *
 * A unit that nobody needs is unloaded when its job has ended, and with it goes what could be seen. So there is a
 * reference to it from before the job until it has been looked at.
 */

#include "basic/cleanup.h"
#include "basic/timers.h"
#include "bus/buses.h"
#include "engine/tree.h"
#include "leaves/leaf.h"
#include "leaves/registry.h"
#include "leaves/systemd-job.h"
#include "leaves/systemd.h"
#include "leaves/unit-cause.h"
#include "leaves/unit-name.h"

/* How long a Type=simple service must last to count as started. */
#define SETTLE_USEC (100 * 1000u)

typedef struct UnitJobParams {
        const char *unit;
        int mode;
        uint64_t timeout;
        const char *bus;
} UnitJobParams;

typedef struct UnitJob {
        UnitVerb verb;
        char *unit, *path;
        Connection *connection;
        Job *job;
        char *result;   /* of the job, once it has ended */
        Call *calls[2]; /* looking behind it */
        unsigned n_awaited;
        Timer *settling;
        UnitFacts facts;
} UnitJob;

static const char *const modes[] = {
        "replace", "fail", "isolate", "ignore-dependencies", "ignore-requirements", "replace-irreversibly", NULL,
};

static UnitVerb leaf_verb(const Leaf *leaf) {
        if (leaf->type == &start_unit_type)
                return UNIT_START;
        if (leaf->type == &stop_unit_type)
                return UNIT_STOP;

        return leaf->type == &restart_unit_type ? UNIT_RESTART : UNIT_RELOAD;
}

static void unit_job_fail(Leaf *leaf) {
        UnitJob *op = leaf->op;
        g_autofree char *cause = unit_cause(op->unit, op->verb, op->result, &op->facts);

        leaf_set_cause(leaf, "%s", cause);
        leaf_end(leaf, STATUS_FAILURE);
}

static void unit_job_fail_with(Leaf *leaf, const sd_bus_error *error) {
        UnitJob *op = leaf->op;
        g_autofree char *cause = unit_cause_of_error(op->unit, op->verb, error);

        leaf_set_cause(leaf, "%s", cause);
        leaf_end(leaf, STATUS_FAILURE);
}

/* Also where it could not be read, the little that is known is better than nothing. */
static void on_details(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        if (reply)
                (void) unit_facts_read(&op->facts, reply);
        unit_job_fail(leaf);
}

static void unit_job_read_details(Leaf *leaf) {
        UnitJob *op = leaf->op;

        call_free(op->calls[0]);
        op->calls[0] = systemd_get_all(op->connection, op->path, "", on_details, leaf);
}

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static void on_settled_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        const char *state;

        if (error) {
                unit_job_fail_with(leaf, error);
                return;
        }

        if (sd_bus_message_read(reply, "v", "s", &state) >= 0)
                unit_facts_set(&op->facts.active_state, state);

        /* By now it may also have done all that it had to do. */
        if (is(op->facts.active_state, "active") || is(op->facts.active_state, "inactive"))
                leaf_end(leaf, STATUS_SUCCESS);
        else
                unit_job_read_details(leaf);
}

static void on_settled(void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        call_free(op->calls[0]);
        op->calls[0] = systemd_get(op->connection, op->path, SYSTEMD_UNIT, "ActiveState", on_settled_state, leaf);
}

static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        const char *type;

        if (error) {
                unit_job_fail_with(leaf, error);
                return;
        }

        if (sd_bus_message_read(reply, "v", "s", &type) >= 0 && (is(type, "simple") || is(type, "idle")))
                op->settling = timer_new(leaf->services->timers, SETTLE_USEC, on_settled, leaf);
        else
                leaf_end(leaf, STATUS_SUCCESS);
}

static void unit_job_judge(Leaf *leaf) {
        UnitJob *op = leaf->op;
        const char *state = op->facts.active_state;

        if (!op->facts.condition_result) {
                unit_job_read_details(leaf);
        } else if (is(state, "active") && g_str_has_suffix(op->unit, ".service")) {
                call_free(op->calls[0]);
                op->calls[0] = systemd_get(op->connection, op->path, SYSTEMD_SERVICE, "Type", on_type, leaf);
        } else if (is(state, "active") || is(state, "reloading") || is(state, "inactive")) {
                /* A oneshot service is inactive when it has done its work. */
                leaf_end(leaf, STATUS_SUCCESS);
        } else {
                unit_job_read_details(leaf);
        }
}

static void unit_job_read(Leaf *leaf, const sd_bus_error *error, int r) {
        UnitJob *op = leaf->op;

        if (error)
                unit_job_fail_with(leaf, error);
        else if (r < 0)
                unit_job_read_details(leaf);
        else if (--op->n_awaited == 0)
                unit_job_judge(leaf);
}

static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        const char *state = NULL;
        int r = reply ? sd_bus_message_read(reply, "v", "s", &state) : 0;

        unit_facts_set(&op->facts.active_state, state);
        unit_job_read(leaf, error, r);
}

static void on_condition(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;
        int r = reply ? sd_bus_message_read(reply, "v", "b", &op->facts.condition_result) : 0;

        unit_job_read(leaf, error, r);
}

static void unit_job_look_behind(Leaf *leaf) {
        UnitJob *op = leaf->op;

        op->n_awaited = 2;
        op->calls[0] = systemd_get(op->connection, op->path, SYSTEMD_UNIT, "ActiveState", on_state, leaf);
        op->calls[1] = systemd_get(op->connection, op->path, SYSTEMD_UNIT, "ConditionResult", on_condition, leaf);
}

static void on_job_done(const char *result, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitJob *op = leaf->op;

        if (error) {
                unit_job_fail_with(leaf, error);
                return;
        }

        op->result = g_strdup(result);
        if (!is(result, "done"))
                unit_job_read_details(leaf);
        else if (op->verb == UNIT_START || op->verb == UNIT_RESTART)
                unit_job_look_behind(leaf);
        else
                leaf_end(leaf, STATUS_SUCCESS);
}

static sd_bus_message *unit_message(UnitJob *op, const char *method) {
        return systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, method, "s", op->unit);
}

static Status unit_job_start(Leaf *leaf) {
        static const char *const methods[] = {
                [UNIT_START] = "StartUnit",
                [UNIT_STOP] = "StopUnit",
                [UNIT_RESTART] = "RestartUnit",
                [UNIT_RELOAD] = "ReloadUnit",
        };
        const UnitJobParams *params = leaf->params;
        UnitJob *op = leaf->op;
        g_autoptr(sd_bus_message) request = NULL, reference = NULL;
        g_autofree char *error = NULL;

        op->verb = leaf_verb(leaf);
        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            buses_get(leaf->services->buses, params->bus, &op->connection, &error) < 0) {
                leaf_set_cause(leaf, "%s", error);
                return STATUS_FAILURE;
        }

        op->path = unit_name_path(op->unit);
        request = systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, methods[op->verb], "ss",
                                  op->unit, modes[params->mode]);
        reference = unit_message(op, "RefUnit");
        op->job = job_new(op->connection, reference, request, on_job_done, leaf);
        return STATUS_RUNNING;
}

/* What has been started stays as it is; only a job that is still in the queue is taken out of it. */
static bool unit_job_halt(Leaf *leaf) {
        UnitJob *op = leaf->op;

        return op->result || job_cancel(op->job);
}

static void unit_job_release(Leaf *leaf) {
        UnitJob *op = leaf->op;

        if (op->job) {
                g_autoptr(sd_bus_message) message = unit_message(op, "UnrefUnit");

                systemd_send(op->connection, message);
        }

        job_free(op->job);
        call_free(op->calls[0]);
        call_free(op->calls[1]);
        timer_free(op->settling);
        unit_facts_clear(&op->facts);
        g_free(op->result);
        g_free(op->unit);
        g_free(op->path);
}

static void unit_job_describe(Leaf *leaf, GString *text) {
        UnitJob *op = leaf->op;

        if (!op->result)
                g_string_append_printf(text, "job for %s", op->unit);
        else
                g_string_append_printf(text, "%s to show that it is up", op->unit);
}

static char *unit_job_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const UnitJobParams *params = tree->nodes[node].params;

        *ret_is_error = true;
        return unit_name_check(params->unit);
}

static const Param unit_job_params[] = {
        {
                .name = "unit",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitJobParams, unit),
                .required = true,
                .doc = "Name of the unit; without a suffix a service is meant",
        },
        {
                .name = "mode",
                .kind = PARAM_ENUM,
                .offset = offsetof(UnitJobParams, mode),
                .fallback = "\"replace\"",
                .values = modes,
                .doc = "What becomes of jobs that are in the way, see systemctl(1) under --job-mode=",
        },
        {
                .name = "timeout",
                .kind = PARAM_SPAN,
                .offset = offsetof(UnitJobParams, timeout),
                .fallback = "\"infinity\"",
                .doc = "How long it may take; then the job is cancelled and the node fails",
        },
        {
                .name = "bus",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitJobParams, bus),
                .doc = "Bus of the service manager; by default that of the daemon",
        },
        {},
};

static const LeafKind unit_job_kind = {
        .op_size = sizeof(UnitJob),
        .has_timeout = true,
        .timeout_offset = offsetof(UnitJobParams, timeout),
        .start = unit_job_start,
        .halt = unit_job_halt,
        .release = unit_job_release,
        .describe = unit_job_describe,
};

#define UNIT_JOB_TYPE(n, s, d)                                                                                         \
        {                                                                                                              \
                .name = n, .class = NODE_ACTION, .params = unit_job_params, .params_size = sizeof(UnitJobParams),      \
                .summary = s, .doc = d, .check = unit_job_check, .leaf = &unit_job_kind                                \
        }

#define HALT_DOC                                                                                                       \
        "When it is halted, a job that has not ended is cancelled; what the unit has begun it goes on with, and a "    \
        "unit that was started stays."

const NodeType start_unit_type = UNIT_JOB_TYPE(
        "StartUnit", "Starts a systemd unit and waits until it is up",
        "Fails when the unit fails, when a condition of it is not met and when a unit that it requires fails. systemd "
        "cannot know whether the program of a Type=simple service could be executed: such a service must last 100ms "
        "to count as started; Type=exec and Type=notify need no such wait. " HALT_DOC);

const NodeType stop_unit_type =
        UNIT_JOB_TYPE("StopUnit", "Stops a systemd unit and waits until it is down",
                      "Succeeds also when the unit is not running; fails when there is no such unit. " HALT_DOC);

const NodeType restart_unit_type =
        UNIT_JOB_TYPE("RestartUnit", "Stops a systemd unit if it is running, starts it, and waits until it is up",
                      "Fails as StartUnit does. " HALT_DOC);

const NodeType reload_unit_type =
        UNIT_JOB_TYPE("ReloadUnit", "Makes a running systemd unit read its configuration again, and waits until it has",
                      "Fails when the unit is not running and when it cannot reload. " HALT_DOC);
