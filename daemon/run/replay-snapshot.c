/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Restores the run and its leaves from a snapshot at which a replay begins. */

#include "run/replay-state.h"
#include "run/snapshot.h"

static void *make_leaf(NodeId node, Status status, Cause *cause, const LeafReport *report, void *userdata) {
        Replay *replay = userdata;
        ReplayLeaf *leaf = g_new(ReplayLeaf, 1);

        *leaf = (ReplayLeaf){
                .node = node,
                .attempt = report->attempt,
                .status = status,
                .cause = cause ? cause_ref(cause) : NULL,
                .begun = report->begun,
                .halted = report->halted,
                .remembers = report->remembers,
                .memory = json_object_get(report->memory),
                .noted = json_object_get(report->noted),
                .since = report->since,
                .suspended = report->suspended,
                .replay = replay,
                .link.data = leaf,
        };
        g_queue_push_tail_link(&replay->leaves, &leaf->link);
        return leaf;
}

/* Sorts by the time of start; for equal times, by the order of nodes. */
static gint compare_leaves(gconstpointer a, gconstpointer b, gpointer userdata) {
        const ReplayLeaf *x = a, *y = b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;

        return (x->node > y->node) - (x->node < y->node);
}

void replay_restore(Replay *replay, const Record *record, uint64_t now) {
        if (!record->details || !snapshot_restore(replay->progress, record->details, now, make_leaf, replay))
                replay_mismatch(replay, "no run can be like that");

        g_queue_sort(&replay->leaves, compare_leaves, NULL);
}
