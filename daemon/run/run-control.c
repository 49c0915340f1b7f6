/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the control of a live run by hand, with the checks that the run can do itself. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "engine/machine.h"
#include "record/halt-request.h"
#include "run/instance.h"
#include "run/run-state.h"

void run_pause(Run *run, const char *by) {
        if (!live_run_is_controllable(run) || run_paused(run))
                return;

        input_pause(run, by, live_run_clock(run));
        ticker_remove(run->services->ticker, &run->turn);
        live_run_tell_moved(run);
}

void run_resume(Run *run, const char *by) {
        if (!run_paused(run))
                return;

        input_resume(run, by, live_run_clock(run));
        live_run_settle(run);
        live_run_tell_moved(run);
}

bool run_step(Run *run, const char *by) {
        /* A step that is refused leaves no entry in the run record. */
        if (!run_paused(run) || (!machine_wants_tick(run->machine) && !run_stops(run)))
                return false;

        input_step(run, by, live_run_clock(run));
        live_run_tell_moved(run);
        if (!machine_wants_tick(run->machine))
                return false;

        ticker_queue(run->services->ticker, &run->turn);
        return true;
}

void run_set_breakpoint(Run *run, NodeId node, bool set, const char *by) {
        if (!live_run_is_controllable(run))
                return;

        input_breakpoint(run, node, set, by, live_run_clock(run));
        live_run_tell_moved(run);
}

bool run_force(Run *run, NodeId node, Status status, Cause *why) {
        bool runs;

        if (!live_run_is_controllable(run)) {
                cause_unref(why);
                return false;
        }

        runs = input_force(run, node, status, why, live_run_clock(run));
        live_run_settle(run);
        return runs;
}

int run_check_start(const char *instance, json_object *variables, char **ret_error) {
        int r = instance_check(instance, ret_error);

        if (r < 0 || !variables)
                return r;

        json_object_object_foreach(variables, key, value) {
                g_autofree char *shown = NULL;

                (void) value;
                if (blackboard_key_valid(key))
                        continue;

                shown = excerpt(key, strlen(key));
                *ret_error = g_strdup_printf(
                        "'%s' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
                        "and '-', 255 at most)",
                        shown);
                return -EINVAL;
        }

        return 0;
}

int run_check_token(const char *token, char **ret_error) {
        g_autofree char *shown = NULL;

        if (token_valid(token))
                return 0;

        shown = excerpt(token, strlen(token));
        *ret_error = g_strdup_printf("'%s' cannot be a token; it consists of letters, digits, '_', '.' and '-', %u at "
                                     "most",
                                     shown, TOKEN_MAX);
        return -EINVAL;
}

int run_set_values(Run *run, json_object *values, const char *by, char **ret_error) {
        const Blackboard *blackboard = run_blackboard(run);
        int r = run_check_start("", values, ret_error);
        int64_t growth = 0;

        if (r >= 0)
                r = definition_check_set(run->definition, values, ret_error);
        if (r < 0)
                return r;

        json_object_object_foreach(values, key, value) growth += blackboard_growth(blackboard, key, value);
        if (!blackboard_has_room(blackboard, growth)) {
                *ret_error = blackboard_lack_text(blackboard, growth);
                return -EDQUOT;
        }
        if (run_status(run) != STATUS_RUNNING)
                return 0;

        input_variables(run, values, by, live_run_clock(run));
        live_run_settle(run);
        return 0;
}
