/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl replay: shows a run as it was at any time, with the words that btd uses in its status. */

#include <stdio.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "client/recording/recording.h"
#include "client/verbs/replay.h"
#include "client/verbs/verbs.h"
#include "client/view/run-view.h"
#include "definition/definition.h"
#include "run/detail.h"
#include "run/replay.h"

static RunInfo *run_at(const Recording *recording, const Replay *replay, uint64_t time) {
        const Run *run = replay_run(replay);
        const RecordHeader *header = &recording->journal->header;
        const Cause *cause = run_cause_chain(run);
        bool over = run_status(run) != STATUS_RUNNING;
        RunInfo *info = g_new0(RunInfo, 1);

        *info = (RunInfo){
                .id = g_strdup(header->run),
                .tree = g_strdup(header->tree),
                .instance = g_strdup(header->instance),
                .status = g_strdup(run_status_text(run)),
                .started = header->started,
                .ready = run_ready(run),
                .finished = over ? header->started + (run_now(run) - header->start) : 0,
                .as_of = header->started + time,
                .cause =
                        cause ? cause_describe(definition_tree(recording->definition), cause, NODE_NONE) : g_strdup(""),
                .restart = g_strdup(""),
        };
        return info;
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
                const RunLock *lock = &g_array_index(locks, RunLock, i);

                if (lock->node == node && !lock->held)
                        return g_strdup_printf("waits for the lock '%s'", definition_lock(recording->definition, node));
        }

        return NULL;
}

/* A running leaf gives no detail of its own here, because only its run record is known. */
static char *node_detail(const Recording *recording, const Replay *replay, NodeId node, uint64_t now) {
        const Run *run = replay_run(replay);
        uint64_t deadline = run_deadline(run, node), left = UINT64_MAX;
        const ReplayLeaf *leaf = find_leaf(replay, node);
        char *lock;

        if (run_is_at_breakpoint(run, node))
                return g_strdup("paused at a breakpoint");
        if (leaf ? leaf->halted : run_node_is_ending(run, node))
                return g_strdup("ending");

        lock = lock_detail(recording, replay, node);
        if (lock)
                return lock;

        if (deadline != UINT64_MAX && definition_uses_boottime(recording->definition, node)) {
                deadline = run_boottime_deadline(run, node);
                now += run_suspended(run);
        }
        if (deadline != UINT64_MAX)
                left = deadline - MIN(now, deadline);
        return detail_text(definition_tree(recording->definition), run_history(run), node, left);
}

static NodeInfo *node_info(const Recording *recording, const Replay *replay, NodeId id, uint64_t now) {
        const RecordHeader *header = &recording->journal->header;
        const History *history = run_history(replay_run(replay));
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

static GPtrArray *nodes_at(const Recording *recording, const Replay *replay, uint64_t time) {
        GPtrArray *nodes = node_info_array_new();
        uint64_t now = recording->journal->header.start + time;

        for (NodeId id = 0; id < definition_tree(recording->definition)->n_nodes; id++)
                g_ptr_array_add(nodes, node_info(recording, replay, id, now));

        return nodes;
}

static void add_text(json_object *level, const char *key, const char *text) {
        json_object_object_add(level, key, json_object_new_string(text));
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

static json_object *cause_level(const Recording *recording, const Run *run, const Cause *cause) {
        const History *history = run_history(run);
        Status child = cause->because ? history_status(history, cause->because->node) : STATUS_IDLE;
        g_autofree char *text = cause_describe_one(definition_tree(recording->definition), cause, child);
        json_object *level = json_object_new_object();

        if (cause->node == NODE_NONE) {
                add_text(level, "run", recording->journal->header.run);
                add_text(level, "status", run_status_text(run));
        } else {
                add_node(recording, history, level, cause->node);
        }
        add_text(level, "kind", cause->kind);
        add_text(level, "text", text);
        if (cause->facts)
                json_object_object_add(level, "facts", json_object_get(cause->facts));

        return level;
}

static json_object *causes_at(const Recording *recording, const Replay *replay) {
        const Run *run = replay_run(replay);
        json_object *chain = json_object_new_array();

        for (const Cause *cause = run_cause_chain(run); cause; cause = cause->because)
                json_object_array_add(chain, cause_level(recording, run, cause));

        return chain;
}

static int parse_until(const char *text, uint64_t *ret_until) {
        *ret_until = UINT64_MAX;
        if (text && !g_str_equal(text, "end") && span_parse(text, ret_until) < 0)
                return report_usage("--until: '%s' is neither a time span such as '90s' or '1h 30min' nor 'end'", text);

        return EXIT_SUCCESS;
}

static void print(const Client *client, const Recording *recording, const Replay *replay, uint64_t time) {
        g_autoptr(json_object) chain = causes_at(recording, replay);
        g_autoptr(GPtrArray) nodes = nodes_at(recording, replay, time);
        g_autoptr(RunInfo) run = run_at(recording, replay, time);
        g_autoptr(GString) text = g_string_new(NULL);

        if (client->output.json) {
                output_print_json(run_view_to_json(client, run, chain, nodes));
                return;
        }

        run_view_append(client, text, run, chain, nodes);
        fputs(text->str, stdout);
}

static int report_too_early(const Recording *recording) {
        g_autofree char *begin = span_format_rounded(recording_begin(recording));

        return report_error("%s: no events from before %s are kept", recording->name, begin);
}

/* A time after the end of the run shows its end. */
int replay_print(Client *client, const char *operand, uint64_t until) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree char *error = NULL;
        uint64_t start;
        int status;

        status = recording_open(client, operand, &recording);
        if (status != EXIT_SUCCESS)
                return status;

        until = MIN(until, recording_length(recording));
        if (until < recording_begin(recording))
                return report_too_early(recording);

        start = recording->journal->header.start;
        if (replay_new(recording->journal, recording->definition, &replay, &error) < 0 ||
            replay_until(replay, start + until, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        print(client, recording, replay, until);
        return EXIT_SUCCESS;
}

int verb_replay(Client *client, char **operands) {
        uint64_t until;
        int status;

        status = parse_until(client->options.values[OPTION_UNTIL], &until);
        return status != EXIT_SUCCESS ? status : replay_print(client, operands[0], until);
}
