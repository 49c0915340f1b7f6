/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the armed timers of a run, in a table that is created with the first timer: few nodes have one at a time. */

#include "run/node-timers.h"

typedef struct NodeTimer {
        NodeTimers *timers;
        NodeId node;
        Timer *timer;
} NodeTimer;

struct NodeTimers {
        Timers *timers;
        void (*expired)(NodeId node, void *userdata);
        void *userdata;
        GHashTable *by_node; /* NULL until the first timer is armed */
};

static void node_timer_free(NodeTimer *timer) {
        timer_free(timer->timer);
        g_free(timer);
}

NodeTimers *node_timers_new(Timers *timers, void (*expired)(NodeId node, void *userdata), void *userdata) {
        NodeTimers *node_timers = g_new0(NodeTimers, 1);

        node_timers->timers = timers;
        node_timers->expired = expired;
        node_timers->userdata = userdata;
        return node_timers;
}

void node_timers_free(NodeTimers *timers) {
        if (!timers)
                return;

        if (timers->by_node)
                g_hash_table_unref(timers->by_node);
        g_free(timers);
}

static void on_timer(void *userdata) {
        NodeTimer *timer = userdata;
        NodeTimers *timers = timer->timers;
        NodeId node = timer->node;

        node_timers_drop(timers, node);
        timers->expired(node, timers->userdata);
}

void node_timers_arm(NodeTimers *timers, NodeId node, TimerClock clock, uint64_t deadline) {
        NodeTimer *timer = g_new(NodeTimer, 1);

        if (!timers->by_node)
                timers->by_node = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) node_timer_free);

        *timer = (NodeTimer){
                .timers = timers,
                .node = node,
                .timer = timer_new_on(timers->timers, clock, deadline, on_timer, timer),
        };
        g_hash_table_replace(timers->by_node, GUINT_TO_POINTER(node), timer);
}

void node_timers_drop(NodeTimers *timers, NodeId node) {
        if (timers->by_node)
                g_hash_table_remove(timers->by_node, GUINT_TO_POINTER(node));
}
