/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements node-locks.h. Few nodes have a lock at a time, so they are in a table. */

#include <assert.h>

#include "leaf-types/leaf-types.h"
#include "run/node-locks.h"
#include "run/run-state.h"

struct NodeLocks {
        const Run *run;
        const RunServices *services;
        void (*changed)(NodeId node, Cause *refused, void *userdata);
        void *userdata;
        LockParty *party;    /* NULL until a node takes a lock of btd */
        GHashTable *by_node; /* of NodeLock */
        unsigned n_lost;
        bool ending, left;
};

/* Has one of the three, or none: a connection that was lost with the previous btd. */
typedef struct NodeLock {
        NodeLocks *all;
        NodeId node;
        bool lost; /* an inhibitor lock that is requested again, and not held yet */
        LockRequest *request;
        Inhibitor *inhibitor;
        OwnConnection *connection;
} NodeLock;

static void set_found(NodeLock *lock) {
        lock->all->n_lost -= lock->lost;
        lock->lost = false;
}

static void node_lock_free(void *data) {
        NodeLock *lock = data;
        const LeafServices *services = lock->all->services->leaves;

        set_found(lock);
        lock_request_free(lock->request);
        if (lock->inhibitor)
                services->inhibitors->free(lock->inhibitor, lock->all->left);
        if (lock->connection)
                services->own_connections->free(lock->connection);
        g_free(lock);
}

NodeLocks *node_locks_new(const Run *run, const RunServices *services,
                          void (*changed)(NodeId node, Cause *refused, void *userdata), void *userdata) {
        NodeLocks *locks = g_new(NodeLocks, 1);

        *locks = (NodeLocks){
                .run = run,
                .services = services,
                .changed = changed,
                .userdata = userdata,
                .by_node = g_hash_table_new_full(NULL, NULL, NULL, node_lock_free),
        };
        return locks;
}

/* While the table is freed, one node's release may grant the lock to another node of it; ending suppresses the
 * callback. */
void node_locks_free(NodeLocks *locks, bool left) {
        if (!locks)
                return;

        locks->ending = true;
        locks->left = left;
        g_hash_table_unref(locks->by_node);
        lock_party_free(locks->party);
        g_free(locks);
}

static void on_changed(Cause *refused, void *userdata) {
        NodeLock *lock = userdata;

        set_found(lock);
        if (!lock->all->ending)
                lock->all->changed(lock->node, refused, lock->all->userdata);
}

static void on_granted(void *userdata) {
        on_changed(NULL, userdata);
}

static const Node *node_of(const NodeLocks *locks, NodeId node) {
        return &definition_tree(run_definition(locks->run))->nodes[node];
}

bool node_locks_is_free(const NodeLocks *locks, NodeId node) {
        const LeafServices *services = locks->services->leaves;

        if (run_is_inhibitor(locks->run, node))
                return !services->inhibitors;
        if (run_is_connection(locks->run, node))
                return !services->own_connections;
        return locks_is_free(locks->services->locks, definition_lock(run_definition(locks->run), node));
}

static const char *bus_of(const NodeLocks *locks, NodeId node) {
        return ((const OwnConnectionParams *) node_of(locks, node)->params)->bus;
}

bool node_locks_take(NodeLocks *locks, NodeId node, bool again) {
        const LeafServices *services = locks->services->leaves;
        bool inhibits = run_is_inhibitor(locks->run, node), connects = run_is_connection(locks->run, node);
        NodeLock *lock;

        if ((inhibits && !services->inhibitors) || (connects && !services->own_connections))
                return true;

        lock = g_new(NodeLock, 1);
        *lock = (NodeLock){ .all = locks, .node = node, .lost = inhibits && again };
        locks->n_lost += lock->lost;
        g_hash_table_insert(locks->by_node, GUINT_TO_POINTER(node), lock);
        if (inhibits) {
                const InhibitParams *params = node_of(locks, node)->params;
                g_autofree char *path = tree_node_path(definition_tree(run_definition(locks->run)), node),
                                *who = g_strdup_printf("btd: %s", run_id(locks->run));
                const InhibitorRequest wanted = {
                        .what = params->what,
                        .who = params->who ?: who,
                        .why = params->why ?: path,
                        .mode = inhibit_mode_names[params->mode],
                };

                lock->inhibitor = services->inhibitors->take(services, &wanted, again, on_changed, lock);
        } else if (!connects) {
                const Definition *definition = run_definition(locks->run);
                const char *run = run_id(locks->run), *own = tree_node_name(definition_tree(definition), node);
                /* In btctl simulate, there is only one run, without a name. */
                g_autofree char *name = *run ? g_strdup_printf("%s (%s)", run, own) : g_strdup(own);
                LockOwner owner = { .name = name, .begin = node, .end = node_of(locks, node)->end };

                locks->party = locks->party ?: lock_party_new(locks->services->locks);
                lock->request =
                        lock_request_new(locks->party, definition_lock(definition, node), &owner, on_granted, lock);
        } else if (!again)
                lock->connection = services->own_connections->make(services, bus_of(locks, node), on_changed, lock);
        return lock->request && lock_request_is_held(lock->request);
}

void node_locks_drop(NodeLocks *locks, NodeId node) {
        g_hash_table_remove(locks->by_node, GUINT_TO_POINTER(node));
}

static const NodeLock *find(const NodeLocks *locks, NodeId node) {
        return g_hash_table_lookup(locks->by_node, GUINT_TO_POINTER(node));
}

bool node_locks_has(const NodeLocks *locks, NodeId node) {
        const NodeLock *lock = find(locks, node);

        return lock && (!lock->request || lock_request_is_held(lock->request));
}

bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node) {
        const NodeLock *lock = find(locks, node);

        return lock && lock->request && lock_request_is_deadlocked(lock->request);
}

char *node_locks_describe(const NodeLocks *locks, NodeId node) {
        const NodeLock *lock = find(locks, node);

        return lock && lock->request ? lock_request_describe(lock->request) : NULL;
}

bool node_locks_are_lost(const NodeLocks *locks) {
        return locks->n_lost > 0;
}

bool node_locks_find_connection(const NodeLocks *locks, NodeId node, const char *bus, Connection **ret_connection) {
        const LeafServices *services = locks->services->leaves;

        if (!services->own_connections)
                return false;

        for (NodeId id = node_of(locks, node)->parent; id != NODE_NONE; id = node_of(locks, id)->parent) {
                const NodeLock *lock;

                if (!run_is_connection(locks->run, id) ||
                    !services->own_connections->is_same_bus(services, bus, bus_of(locks, id)))
                        continue;

                lock = find(locks, id);
                *ret_connection =
                        lock && lock->connection ? services->own_connections->connection(lock->connection) : NULL;
                return true;
        }
        return false;
}

const char *node_locks_connection_name(const NodeLocks *locks, NodeId node) {
        const NodeLock *lock = find(locks, node);

        return lock && lock->connection ? locks->services->leaves->own_connections->name(lock->connection) : NULL;
}
