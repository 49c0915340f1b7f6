/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the control of a run by hand, with the checks that the run can do itself. */

#include <errno.h>
#include <json-c/linkhash.h>

#include "run/run-control.h"
#include "run/run-state.h"
#include "run/start-check.h"

static bool is_controllable(const Run *run) {
        return run_status(run) == STATUS_RUNNING && !progress_is_halting(run->progress);
}

bool run_paused(const Run *run) {
        return progress_is_paused(run->progress) && is_controllable(run);
}

void run_tell_moved(Run *run) {
        if (progress_take_moved(run->progress))
                run->callbacks->state_changed(run, run->userdata);
}

void run_pause(Run *run) {
        if (!is_controllable(run) || run_paused(run))
                return;

        progress_pause(run->progress, run_now());
        ticker_remove(run->services->ticker, &run->turn);
        run_tell_moved(run);
}

void run_resume(Run *run) {
        if (!run_paused(run))
                return;

        progress_resume(run->progress, run_now());
        run_settle(run);
        run_tell_moved(run);
}

bool run_step(Run *run) {
        if (!run_paused(run))
                return false;

        progress_step(run->progress, run_now());
        run_tell_moved(run);
        if (!machine_wants_tick(progress_machine(run->progress)))
                return false;

        ticker_queue(run->services->ticker, &run->turn);
        return true;
}

void run_set_breakpoint(Run *run, NodeId node, bool set) {
        if (!is_controllable(run))
                return;

        progress_set_breakpoint(run->progress, node, set, run_now());
        run_tell_moved(run);
}

const GArray *run_breakpoints(const Run *run) {
        return progress_breakpoints(run->progress);
}

const GArray *run_stops(const Run *run) {
        return progress_stops(run->progress);
}

bool run_force(Run *run, NodeId node, Status status, Cause *why) {
        bool runs;

        if (!is_controllable(run)) {
                cause_unref(why);
                return false;
        }

        runs = progress_force(run->progress, node, status, why, run_now());
        run_settle(run);
        return runs;
}

static int check_values(const Run *run, json_object *values, char **ret_error) {
        int r = start_check("", values, ret_error);

        return r < 0 ? r : definition_check_set(run_definition(run), values, ret_error);
}

static int check_room(Run *run, json_object *values, char **ret_error) {
        const Blackboard *blackboard = run_blackboard(run);
        int64_t growth = 0;

        json_object_object_foreach(values, key, value) growth += blackboard_growth(blackboard, key, value);
        if (blackboard_has_room(blackboard, growth))
                return 0;

        *ret_error = blackboard_full_text();
        return -EDQUOT;
}

int run_set_values(Run *run, json_object *values, char **ret_error) {
        int r = check_values(run, values, ret_error);

        if (r >= 0)
                r = check_room(run, values, ret_error);
        if (r < 0)
                return r;
        if (run_status(run) != STATUS_RUNNING)
                return 0;

        progress_set_variables(run->progress, values, run_now());
        run_settle(run);
        return 0;
}
