/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the methods that control a run. Each is an operation, so the caller is checked first. */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "runtime/manager-control.h"
#include "service/errors.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/run-control-bus.h"
#include "service/variables-bus.h"

/* The caller frees the result. */
static char *run_id_of(sd_bus_message *message) {
        char *id = NULL;
        int r = sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id);

        g_assert(r >= 0);
        return id;
}

static int reply(sd_bus_message *message, int r, const char *error, sd_bus_error *ret_error) {
        return r < 0 ? error_from_manager(ret_error, r, error) : sd_bus_reply_method_return(message, NULL);
}

static int pause_run(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        int r;

        r = manager_pause(published_manager(userdata), id, who, &error);
        return reply(message, r, error, ret_error);
}

static int resume_run(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        int r;

        r = manager_resume(published_manager(userdata), id, who, &error);
        return reply(message, r, error, ret_error);
}

static int step_run(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        int r;

        r = manager_step(published_manager(userdata), id, who, &error);
        return reply(message, r, error, ret_error);
}

static int set_breakpoint(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        uint32_t node;
        int set, r;

        r = sd_bus_message_read(message, "ub", &node, &set);
        if (r < 0)
                return r;

        r = manager_set_breakpoint(published_manager(userdata), id, node, set, who, &error);
        return reply(message, r, error, ret_error);
}

/* STATUS_IDLE: the word is not an outcome. */
static Status parse_outcome(const char *word) {
        for (Status status = STATUS_SUCCESS; status <= STATUS_SKIPPED; status++)
                if (g_str_equal(status_to_string(status), word))
                        return status;

        return STATUS_IDLE;
}

static int force(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        const char *word;
        uint32_t node;
        Status status;
        int r;

        r = sd_bus_message_read(message, "us", &node, &word);
        if (r < 0)
                return r;

        status = parse_outcome(word);
        if (status == STATUS_IDLE) {
                g_autofree char *shown = excerpt(word, strlen(word));

                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "'%s' is no result of a node; it is success, failure or skipped", shown);
        }

        r = manager_force(published_manager(userdata), id, node, status, who, &error);
        return reply(message, r, error, ret_error);
}

static int set_variables(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        g_autoptr(json_object) values = NULL;
        int r;

        r = variables_bus_read(message, &values, ret_error);
        if (r < 0)
                return r;

        r = manager_set_variables(published_manager(userdata), id, values, who, &error);
        return reply(message, r, error, ret_error);
}

int run_control_method_pause(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_CONTROL, pause_run, ret_error);
}

int run_control_method_resume(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_CONTROL, resume_run, ret_error);
}

int run_control_method_step(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_CONTROL, step_run, ret_error);
}

int run_control_method_set_breakpoint(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_CONTROL, set_breakpoint, ret_error);
}

int run_control_method_force(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_FORCE, force, ret_error);
}

int run_control_method_set_variables(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_SET, set_variables, ret_error);
}
