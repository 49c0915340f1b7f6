/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* StartUnit, StopUnit, RestartUnit, ReloadUnit. */

#include "leaves/registry.h"
#include "leaves/unit-job.h"
#include "leaves/unit-name.h"

const char *const unit_job_modes[] = {
        "replace", "fail", "isolate", "ignore-dependencies", "ignore-requirements", "replace-irreversibly", NULL,
};

UnitVerb unit_job_verb(const NodeType *type) {
        if (type == &start_unit_type)
                return UNIT_START;
        if (type == &stop_unit_type)
                return UNIT_STOP;

        return type == &restart_unit_type ? UNIT_RESTART : UNIT_RELOAD;
}

static const Param unit_job_params[] = {
        {
                .name = "unit",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitJobParams, unit),
                .required = true,
                .title = true,
                .check = unit_name_check,
                .doc = "Name of the unit, with its suffix, such as .service",
        },
        {
                .name = "mode",
                .kind = PARAM_ENUM,
                .offset = offsetof(UnitJobParams, mode),
                .fallback = "\"replace\"",
                .values = unit_job_modes,
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

#define UNIT_JOB_TYPE(n, s, d)                                                                                         \
        {                                                                                                              \
                .name = n, .class = NODE_ACTION, .params = unit_job_params, .params_size = sizeof(UnitJobParams),      \
                .summary = s, .doc = d, .leaf = &unit_job_kind                                                         \
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
