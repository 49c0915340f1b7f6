/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements node-inhibitors.h. */

#include <assert.h>

#include "run/leaf.h"
#include "run/node-inhibitors.h"

struct NodeInhibitors {
        const Run *run;
        const LeafServices *services;
        void (*done)(NodeId node, Cause *refused, void *userdata);
        void *userdata;
        GHashTable *by_node; /* NodeId -> NodeInhibitor */
        unsigned n_lost;
};

typedef struct NodeInhibitor {
        NodeInhibitors *all;
        NodeId node;
        bool lost; /* requested again, and not held yet */
        Inhibitor *inhibitor;
} NodeInhibitor;

static void set_found(NodeInhibitor *own) {
        own->all->n_lost -= own->lost;
        own->lost = false;
}

static void on_done(Cause *refused, void *userdata) {
        NodeInhibitor *own = userdata;

        set_found(own);
        own->all->done(own->node, refused, own->all->userdata);
}

NodeInhibitors *node_inhibitors_new(const Run *run, const LeafServices *services,
                                    void (*done)(NodeId node, Cause *refused, void *userdata), void *userdata) {
        NodeInhibitors *inhibitors = g_new0(NodeInhibitors, 1);

        inhibitors->run = run;
        inhibitors->services = services;
        inhibitors->done = done;
        inhibitors->userdata = userdata;
        inhibitors->by_node = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        return inhibitors;
}

void node_inhibitors_free(NodeInhibitors *inhibitors, bool kept) {
        GHashTableIter iter;
        void *value;

        if (!inhibitors)
                return;

        g_hash_table_iter_init(&iter, inhibitors->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                inhibitors->services->inhibitors->free(((NodeInhibitor *) value)->inhibitor, kept);
        g_hash_table_unref(inhibitors->by_node);
        g_free(inhibitors);
}

void node_inhibitors_take(NodeInhibitors *inhibitors, NodeId node, bool again) {
        const Tree *tree = definition_tree(run_definition(inhibitors->run));
        const InhibitParams *params = tree->nodes[node].params;
        g_autofree char *path = tree_node_path(tree, node), *who = g_strdup_printf("btd: %s", run_id(inhibitors->run));
        const InhibitorRequest request = {
                .what = params->what,
                .who = params->who ?: who,
                .why = params->why ?: path,
                .mode = inhibit_mode_names[params->mode],
        };
        NodeInhibitor *own = g_new(NodeInhibitor, 1);

        *own = (NodeInhibitor){ .all = inhibitors, .node = node, .lost = again };
        inhibitors->n_lost += again;
        g_hash_table_insert(inhibitors->by_node, GUINT_TO_POINTER(node), own);
        own->inhibitor = inhibitors->services->inhibitors->take(inhibitors->services, &request, again, on_done, own);
}

void node_inhibitors_drop(NodeInhibitors *inhibitors, NodeId node) {
        NodeInhibitor *own = g_hash_table_lookup(inhibitors->by_node, GUINT_TO_POINTER(node));

        assert(own);
        set_found(own);
        inhibitors->services->inhibitors->free(own->inhibitor, false);
        g_hash_table_remove(inhibitors->by_node, GUINT_TO_POINTER(node));
}

bool node_inhibitors_are_lost(const NodeInhibitors *inhibitors) {
        return inhibitors && inhibitors->n_lost > 0;
}
