/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the control of a run by users: pause, step, breakpoints, force. A paused run gets its inputs, but no tick,
 * so it starts nothing new. A halt takes precedence: a halting run gets its ticks even if it is paused.
 */

#include "run/progress-state.h"

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

void progress_stop_at(Progress *progress, NodeId node) {
        add_node(&progress->stops, node);
        progress->paused = true;
        progress->moved = true;
}

void progress_leave_stop(Progress *progress, NodeId node) {
        progress->moved |= remove_node(&progress->stops, node);
}

bool progress_stands_at(const Progress *progress, NodeId node) {
        return has_node(progress->stops, node, NULL);
}

void progress_pass_breakpoints(Progress *progress) {
        g_autoptr(GArray) stops = g_steal_pointer(&progress->stops);

        if (!stops)
                return;

        progress->moved = true;
        for (unsigned i = 0; i < stops->len; i++)
                machine_pass_breakpoint(progress->machine, g_array_index(stops, NodeId, i));
}

bool progress_take_moved(Progress *progress) {
        bool moved = progress->moved;

        progress->moved = false;
        return moved;
}

void progress_pause(Progress *progress, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_PAUSE, NODE_NONE);
        progress->paused = progress->moved = true;
        progress_end(progress);
}

void progress_resume(Progress *progress, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_RESUME, NODE_NONE);
        progress_pass_breakpoints(progress);
        progress->paused = false;
        progress->moved = true;
        progress_end(progress);
}

void progress_step(Progress *progress, uint64_t now) {
        progress_begin(progress, now);
        progress_note(progress, RECORD_STEP, NODE_NONE);
        progress_pass_breakpoints(progress);
        progress_end(progress);
}

void progress_set_breakpoint(Progress *progress, NodeId node, bool set, uint64_t now) {
        if (set == has_node(progress->breakpoints, node, NULL))
                return;

        progress_begin(progress, now);
        progress_note_breakpoint(progress, node, set);
        if (set)
                add_node(&progress->breakpoints, node);
        else
                remove_node(&progress->breakpoints, node);
        progress->moved = true;
        machine_set_breakpoint(progress->machine, node, set);
        progress_end(progress);
}

bool progress_force(Progress *progress, NodeId node, Status status, Cause *why, uint64_t now) {
        bool runs;

        progress_begin(progress, now);
        progress_note_status(progress, RECORD_FORCE, node, status, why);
        causes_set(&progress->forced, node, why);
        runs = machine_force(progress->machine, node, status);
        progress_end(progress);
        return runs;
}

bool progress_is_paused(const Progress *progress) {
        return progress->paused;
}

const GArray *progress_breakpoints(const Progress *progress) {
        return progress->breakpoints;
}

const GArray *progress_stops(const Progress *progress) {
        return progress->stops;
}
