/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements node-resources.h. Few nodes have a timer or a lock at a time, so they are in tables, which are made with
 * the first of them. */

#include "run/node-resources.h"

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

typedef struct NodeRequest {
        NodeLocks *locks;
        NodeId node;
        LockRequest *lock;
} NodeRequest;

struct NodeLocks {
        Locks *locks;
        const Definition *definition;
        const char *run;
        void (*granted)(NodeId node, void *userdata);
        void *userdata;
        LockParty *party;    /* NULL until a node takes a lock */
        GHashTable *by_node; /* likewise */
        bool ending;
};

static void node_request_free(NodeRequest *request) {
        lock_request_free(request->lock);
        g_free(request);
}

NodeLocks *node_locks_new(Locks *locks, const Definition *definition, const char *run,
                          void (*granted)(NodeId node, void *userdata), void *userdata) {
        NodeLocks *node_locks = g_new0(NodeLocks, 1);

        node_locks->locks = locks;
        node_locks->definition = definition;
        node_locks->run = run;
        node_locks->granted = granted;
        node_locks->userdata = userdata;
        return node_locks;
}

/* While the table is freed, one node's release may grant the lock to another node of it; ending suppresses the
 * callback. */
void node_locks_free(NodeLocks *locks) {
        if (!locks)
                return;

        locks->ending = true;
        g_clear_pointer(&locks->by_node, g_hash_table_unref);
        lock_party_free(locks->party);
        g_free(locks);
}

static const NodeRequest *get(const NodeLocks *locks, NodeId node) {
        return locks->by_node ? g_hash_table_lookup(locks->by_node, GUINT_TO_POINTER(node)) : NULL;
}

static void on_granted(void *userdata) {
        const NodeRequest *request = userdata;

        if (!request->locks->ending)
                request->locks->granted(request->node, request->locks->userdata);
}

static void begin(NodeLocks *locks) {
        if (locks->party)
                return;

        locks->party = lock_party_new(locks->locks);
        locks->by_node = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) node_request_free);
}

bool node_locks_is_free(const NodeLocks *locks, NodeId node) {
        return locks_is_free(locks->locks, definition_lock(locks->definition, node));
}

bool node_locks_take(NodeLocks *locks, NodeId node) {
        const Tree *tree = definition_tree(locks->definition);
        const char *node_name = tree_node_name(tree, node);
        g_autofree char *name = *locks->run ? g_strdup_printf("%s (%s)", locks->run, node_name) : g_strdup(node_name);
        LockOwner owner = { .name = name, .begin = node, .end = tree->nodes[node].end };
        NodeRequest *request = g_new(NodeRequest, 1);

        begin(locks);
        *request = (NodeRequest){
                .locks = locks,
                .node = node,
                .lock = lock_request_new(locks->party, definition_lock(locks->definition, node), &owner, on_granted,
                                         request),
        };
        g_hash_table_insert(locks->by_node, GUINT_TO_POINTER(node), request);
        return lock_request_is_held(request->lock);
}

void node_locks_drop(NodeLocks *locks, NodeId node) {
        g_hash_table_remove(locks->by_node, GUINT_TO_POINTER(node));
}

bool node_locks_has(const NodeLocks *locks, NodeId node) {
        const NodeRequest *request = get(locks, node);

        return request && lock_request_is_held(request->lock);
}

char *node_locks_describe(const NodeLocks *locks, NodeId node) {
        const NodeRequest *request = get(locks, node);

        return request ? lock_request_describe(request->lock) : NULL;
}

bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node) {
        const NodeRequest *request = get(locks, node);

        return request && lock_request_is_deadlocked(request->lock);
}
