/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A run by hand. While it is paused its machine gets its inputs, but no tick, so nothing new is started. To halt it
 * comes first: then it gets its ticks whatever else was said.
 */

#include <json-c/linkhash.h>

#include "runtime/request.h"
#include "runtime/run-control.h"
#include "runtime/run-state.h"

static bool is_controllable(const Run *run) {
        return run->status == STATUS_RUNNING && !run->halting;
}

bool run_paused(const Run *run) {
        return run->paused && is_controllable(run);
}

void run_pause(Run *run) {
        if (!is_controllable(run) || run->paused)
                return;

        run->paused = true;
        ticker_remove(run->services->ticker, &run->turn);
        run->callbacks->state_changed(run, run->userdata);
}

static int compare_nodes(const void *a, const void *b) {
        NodeId x = *(const NodeId *) a, y = *(const NodeId *) b;

        return (x > y) - (x < y);
}

static bool has_node(GArray *nodes, NodeId node, unsigned *ret_index) {
        return nodes && g_array_binary_search(nodes, &node, compare_nodes, ret_index);
}

static void add_node(GArray **nodes, NodeId node) {
        *nodes = *nodes ?: g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_array_append_val(*nodes, node);
        g_array_sort(*nodes, compare_nodes);
}

static bool remove_node(GArray **nodes, NodeId node) {
        unsigned i;

        if (!has_node(*nodes, node, &i))
                return false;

        g_array_remove_index(*nodes, i);
        if ((*nodes)->len == 0)
                g_clear_pointer(nodes, g_array_unref);
        return true;
}

void run_stop_at(Run *run, NodeId node) {
        add_node(&run->stops, node);
        run->paused = true;
        run->moved = true;
}

void run_leave_stop(Run *run, NodeId node) {
        run->moved |= remove_node(&run->stops, node);
}

bool run_stands_at(const Run *run, NodeId node) {
        return has_node(run->stops, node, NULL);
}

void run_pass_breakpoints(Run *run) {
        g_autoptr(GArray) stops = g_steal_pointer(&run->stops);

        if (!stops)
                return;

        run_begin(run);
        run->moved = true;
        for (unsigned i = 0; i < stops->len; i++)
                machine_pass_breakpoint(run->machine, g_array_index(stops, NodeId, i));
        run_end(run);
}

void run_tell_moved(Run *run) {
        if (!run->moved)
                return;

        run->moved = false;
        run->callbacks->state_changed(run, run->userdata);
}

void run_resume(Run *run) {
        if (!run_paused(run))
                return;

        run_pass_breakpoints(run);
        run->paused = false;
        run->moved = true;
        run_wake(run);
        run_tell_moved(run);
}

bool run_step(Run *run) {
        if (!run_paused(run))
                return false;

        run_pass_breakpoints(run);
        run_tell_moved(run);
        if (!machine_wants_tick(run->machine))
                return false;

        ticker_queue(run->services->ticker, &run->turn);
        return true;
}

void run_set_breakpoint(Run *run, NodeId node, bool set) {
        if (!is_controllable(run) || set == has_node(run->breakpoints, node, NULL))
                return;

        if (set)
                add_node(&run->breakpoints, node);
        else
                remove_node(&run->breakpoints, node);

        run_begin(run);
        machine_set_breakpoint(run->machine, node, set);
        run_end(run);
        run->callbacks->state_changed(run, run->userdata);
}

const GArray *run_breakpoints(const Run *run) {
        return run->breakpoints;
}

const GArray *run_stops(const Run *run) {
        return run->stops;
}

bool run_force(Run *run, NodeId node, Status status) {
        bool runs;

        if (!is_controllable(run))
                return false;

        run_begin(run);
        runs = machine_force(run->machine, node, status);
        run_end(run);
        run_wake(run);
        return runs;
}

static int check_values(const Run *run, json_object *values, char **ret_error) {
        const Declaration *inputs = definition_scope_info(run->definition, 0)->inputs;
        int r = request_check("", values, ret_error);

        if (r < 0)
                return r;

        json_object_object_foreach(values, key, value) {
                const Declaration *input = declaration_find(inputs, key);

                r = input ? declaration_check(input, value, ret_error) : 0;
                if (r < 0)
                        return r;
        }

        return 0;
}

int run_set_values(Run *run, json_object *values, char **ret_error) {
        Blackboard *blackboard = variables_outermost(run->variables);
        uint64_t version = blackboard_version(blackboard);
        int r = check_values(run, values, ret_error);

        if (r < 0)
                return r;

        json_object_object_foreach(values, key, value) blackboard_set(blackboard, key, json_object_get(value));
        if (run->machine && blackboard_version(blackboard) != version)
                run_variable_changed(run);

        return 0;
}
