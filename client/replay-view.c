/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The words are those that the daemon has for the same. */

#include "replay-view.h"
#include "basic/cleanup.h"
#include "definition/title.h"
#include "journal/detail.h"

RunInfo *replay_view_run(const Recording *recording, const Replay *replay, uint64_t time) {
        const Progress *progress = replay_progress(replay);
        const JournalHeader *header = &recording->journal->header;
        const Cause *cause = progress_cause(progress);
        bool over = progress_status(progress) != STATUS_RUNNING;
        RunInfo *run = g_new0(RunInfo, 1);

        *run = (RunInfo){
                .id = g_strdup(header->run),
                .tree = g_strdup(header->tree),
                .instance = g_strdup(header->instance),
                .status = g_strdup(progress_status_text(progress)),
                .started = header->started,
                .finished = over ? header->started + (progress_now(progress) - header->start) : 0,
                .seen = header->started + time,
                .cause =
                        cause ? cause_describe(definition_tree(recording->definition), cause, NODE_NONE) : g_strdup(""),
                .restart = g_strdup(""),
        };
        return run;
}

static const ReplayLeaf *find_leaf(const Replay *replay, NodeId node) {
        for (const GList *link = replay_leaves(replay)->head; link; link = link->next) {
                const ReplayLeaf *leaf = link->data;

                if (leaf->node == node)
                        return leaf;
        }

        return NULL;
}

static char *lock_detail(const Recording *recording, const Replay *replay, NodeId node) {
        const GArray *locks = replay_locks(replay);

        for (unsigned i = 0; i < locks->len; i++) {
                const ProgressLock *lock = &g_array_index(locks, ProgressLock, i);

                if (lock->node == node && !lock->held)
                        return g_strdup_printf("waits for the lock '%s'", definition_lock(recording->definition, node));
        }

        return NULL;
}

/* Of a leaf that runs only its journal is here, so it says nothing of itself. */
static char *node_detail(const Recording *recording, const Replay *replay, NodeId node, uint64_t now) {
        const Progress *progress = replay_progress(replay);
        uint64_t deadline = progress_deadline(progress, node), left = UINT64_MAX;
        const ReplayLeaf *leaf = find_leaf(replay, node);
        char *lock;

        if (progress_stands_at(progress, node))
                return g_strdup("stands at its breakpoint");
        if (leaf && leaf->halted)
                return g_strdup("ending");

        lock = lock_detail(recording, replay, node);
        if (lock)
                return lock;

        if (deadline != UINT64_MAX)
                left = deadline - MIN(now, deadline);
        return detail_text(definition_tree(recording->definition), progress_history(progress), node, left);
}

static NodeInfo *node_info(const Recording *recording, const Replay *replay, NodeId id, uint64_t now) {
        const JournalHeader *header = &recording->journal->header;
        const History *history = progress_history(replay_progress(replay));
        const Tree *tree = definition_tree(recording->definition);
        uint64_t since = history_since(history, id);
        char *detail = node_detail(recording, replay, id, now);
        NodeInfo *node = g_new(NodeInfo, 1);

        *node = (NodeInfo){
                .index = id,
                .parent = tree->nodes[id].parent,
                .type = g_strdup(tree->nodes[id].type->name),
                .name = g_strdup(tree_node_name(tree, id)),
                .title = definition_title(recording->definition, id),
                .status = g_strdup(status_to_string(history_status(history, id))),
                .since = since > 0 ? header->started + (since - header->start) : 0,
                .duration = history_duration(history, id, now),
                .detail = detail ?: g_strdup(""),
        };
        return node;
}

GPtrArray *replay_view_nodes(const Recording *recording, const Replay *replay, uint64_t time) {
        GPtrArray *nodes = node_info_array_new();
        uint64_t now = recording->journal->header.start + time;

        for (NodeId id = 0; id < definition_tree(recording->definition)->n_nodes; id++)
                g_ptr_array_add(nodes, node_info(recording, replay, id, now));

        return nodes;
}

static void add_text(json_object *level, const char *key, const char *text) {
        json_object_object_add(level, key, json_object_new_string(text));
}

static char *describe_child(const Tree *tree, const History *history, const Cause *child) {
        const char *name = tree_node_name(tree, child->node);

        switch (history_status(history, child->node)) {
        case STATUS_SKIPPED:
                return g_strdup_printf("%s was skipped", name);
        case STATUS_ERROR:
                return g_strdup_printf("%s is in error", name);
        default:
                return g_strdup_printf("%s failed", name);
        }
}

static void add_node(const Recording *recording, const History *history, json_object *level, NodeId node) {
        const Tree *tree = definition_tree(recording->definition);
        g_autofree char *path = tree_node_path(tree, node), *title = definition_title(recording->definition, node);

        json_object_object_add(level, "node", json_object_new_uint64(node));
        add_text(level, "path", path);
        add_text(level, "name", tree_node_name(tree, node));
        add_text(level, "type", tree->nodes[node].type->name);
        if (title)
                add_text(level, "title", title);
        add_text(level, "status", status_to_string(history_status(history, node)));
}

static json_object *cause_level(const Recording *recording, const Progress *progress, const Cause *cause) {
        const Tree *tree = definition_tree(recording->definition);
        const History *history = progress_history(progress);
        json_object *level = json_object_new_object();
        g_autofree char *child = cause->text ? NULL : describe_child(tree, history, cause->because);

        if (cause->node == NODE_NONE) {
                add_text(level, "run", recording->journal->header.run);
                add_text(level, "status", progress_status_text(progress));
        } else {
                add_node(recording, history, level, cause->node);
        }
        add_text(level, "kind", cause->kind);
        add_text(level, "text", cause->text ?: child);
        if (cause->facts)
                json_object_object_add(level, "facts", json_object_get(cause->facts));

        return level;
}

json_object *replay_view_causes(const Recording *recording, const Replay *replay) {
        const Progress *progress = replay_progress(replay);
        json_object *chain = json_object_new_array();

        for (const Cause *cause = progress_cause(progress); cause; cause = cause->because)
                json_object_array_add(chain, cause_level(recording, progress, cause));

        return chain;
}
