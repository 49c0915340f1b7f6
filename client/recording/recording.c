/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opens the recording that an operand names, from a file or from btd: reads the run record and the tree in it. Finds
 * its begin and end, and describes the run at any time of its replay. */

#include <errno.h>
#include <string.h>
#include <systemd/sd-id128.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/recording/recording.h"
#include "record/run-record.h"
#include "run/replay.h"

#define TRIES_MAX 3u

void recording_free(Recording *recording) {
        if (!recording)
                return;

        g_free(recording->name);
        g_free(recording->damage);
        run_record_free(recording->record);
        definition_unref(recording->definition);
        g_free(recording);
}

int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error) {
        g_autoptr(Recording) recording = g_new0(Recording, 1);
        int r;

        recording->name = g_strdup(name);
        r = run_record_read_until_damage(text, length, &recording->record, &recording->damage, ret_error);
        if (r >= 0)
                r = record_definition_new(&recording->record->header, tables, &recording->definition, ret_error);
        if (r < 0)
                return r;

        *ret_recording = g_steal_pointer(&recording);
        return 0;
}

static int open_file(const char *path, Recording **ret_recording) {
        g_autofree char *text = NULL, *why = NULL;
        size_t length;
        int r;

        r = file_read(path, &text, &length);
        if (r < 0)
                return report_error("%s cannot be read: %s", path, g_strerror(-r));
        if (recording_new(path, text, length, node_type_tables, ret_recording, &why) < 0)
                return report_error("%s: %s", path, why);

        return EXIT_SUCCESS;
}

int recording_read_part(Client *client, const char *id, const char *const *expected, GByteArray *text,
                        size_t *ret_size) {
        g_autoptr(sd_bus_message) reply = NULL;
        const void *part;
        int status, r;

        *ret_size = 0;
        status = client_call_expecting(client, expected, &reply, BTD_PATH, BTD_MANAGER, "GetRecord", "st", id,
                                       (uint64_t) text->len);
        if (status != EXIT_SUCCESS || !reply)
                return status;

        r = sd_bus_message_read_array(reply, 'y', &part, ret_size);
        if (r < 0)
                return client_bad_message(r);

        g_byte_array_append(text, part, (guint) *ret_size);
        return EXIT_SUCCESS;
}

/* btd may cut off the beginning of a run record between two parts. Then the parts do not match, and they are read
 * again. */
static int open_run(Client *client, const char *id, Recording **ret_recording) {
        g_autoptr(GByteArray) text = g_byte_array_new();
        g_autofree char *error = NULL;

        for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
                size_t size = 0;

                g_byte_array_set_size(text, 0);
                do {
                        int status = recording_read_part(client, id, NULL, text, &size);

                        if (status != EXIT_SUCCESS)
                                return status;
                } while (size > 0);

                g_clear_pointer(&error, g_free);
                g_clear_pointer(ret_recording, recording_free);
                if (recording_new(id, (const char *) text->data, text->len, node_type_tables, ret_recording, &error) >=
                            0 &&
                    !(*ret_recording)->damage)
                        return EXIT_SUCCESS;
        }

        if (*ret_recording)
                return EXIT_SUCCESS;

        (void) report_error("%s: %s", id, error);
        return EXIT_FAILURE;
}

/* The last entry of a finished run says that, so nothing follows it. */
static bool is_whole(const GByteArray *text) {
        const char *start = (const char *) text->data, *end, *line;

        if (text->len == 0 || start[text->len - 1] != '\n')
                return false;

        end = start + text->len - 1;
        line = memrchr(start, '\n', (size_t) (end - start));
        line = line ? memchr(line, ' ', (size_t) (end - line)) : NULL;
        return line && g_str_has_prefix(line, " finished ");
}

int recording_read(Client *client, const RecordFiles *files, const char *id, GByteArray **ret_text, char **ret_error) {
        static const char *const expected[] = { BTD_NO_SUCH_RUN, NULL };
        g_autoptr(GByteArray) text = g_byte_array_new();
        size_t size = 0;

        if (files) {
                g_autofree char *path = record_files_path(files, id), *own = NULL;
                g_autoptr(GError) error = NULL;
                gsize length;

                if (path && g_file_get_contents(path, &own, &length, &error))
                        *ret_text = g_byte_array_new_take((guint8 *) g_steal_pointer(&own), length);
                else if (path && !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        *ret_error = g_strdup(error->message);
                return EXIT_SUCCESS;
        }

        do {
                int status = recording_read_part(client, id, expected, text, &size);

                if (status != EXIT_SUCCESS)
                        return status;
        } while (size > 0 && !is_whole(text));

        if (text->len > 0)
                *ret_text = g_steal_pointer(&text);
        return EXIT_SUCCESS;
}

/* open: the run may not have finished. If it has, the last entry says so. */
static void note_end(Recording *recording, bool open, bool *ret_goes_on) {
        const GArray *entries = recording->record->entries;
        bool ends = entries->len > 0 && g_array_index(entries, Entry, entries->len - 1).kind == ENTRY_FINISHED;

        *ret_goes_on = open && !ends;
        if (!open && !recording->damage && !ends)
                recording->damage = g_strdup(RECORD_END_MISSING);
}

/* Finds the newest run that btd lists, or else the newest in the history. The tree may no longer exist. */
static int find_newest(Client *client, const char *operand, char **ret_id) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL, past = NULL;
        const RunInfo *newest;
        int status;

        target_split(operand, &tree, &instance);
        status = run_info_list(client, &runs);
        if (status == EXIT_SUCCESS)
                status = run_info_list_past(client, tree, &past);
        if (status != EXIT_SUCCESS)
                return status;

        newest = target_choose_run(runs, operand) ?: target_choose_run(past, operand);
        if (newest) {
                *ret_id = g_strdup(newest->id);
                return EXIT_SUCCESS;
        }

        status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", tree);
        return status != EXIT_SUCCESS ? status : report_error("'%s' has not run yet", operand);
}

int recording_open(Client *client, const char *operand, Recording **ret_recording) {
        static const char *const expected[] = { BTD_NO_SUCH_RUN, NULL };
        g_autofree char *id = NULL, *path = NULL;
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(sd_bus_message) reply = NULL; /* btd still has the run, and not only its record */
        int status;

        if (strchr(operand, '/') || g_str_has_suffix(operand, RECORD_SUFFIX))
                return open_file(operand, ret_recording);

        status = record_files_find(client, &files);
        if (status != EXIT_SUCCESS)
                return status;
        if (files) {
                record_files_tell(client, files);
                status = record_files_choose(files, operand, &path);
                if (status == EXIT_SUCCESS)
                        status = open_file(path, ret_recording);
                if (status == EXIT_SUCCESS)
                        note_end(*ret_recording, record_files_left(files, path), &(*ret_recording)->left);
                return status;
        }

        if (target_is_run_id(operand))
                id = g_strdup(operand);
        else {
                status = find_newest(client, operand, &id);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        status = client_call_expecting(client, expected, &reply, BTD_PATH, BTD_MANAGER, "GetRun", "s", id);
        if (status == EXIT_SUCCESS)
                status = open_run(client, id, ret_recording);
        if (status == EXIT_SUCCESS)
                note_end(*ret_recording, reply, &(*ret_recording)->live);
        return status;
}

int recording_report_damage(const Recording *recording) {
        if (recording->damage)
                return report_error("%s: %s; only what happened before is shown", recording->name, recording->damage);
        if (recording->record->torn && !recording->live)
                (void) report_error("%s: its last entry is incomplete; what happened before is shown", recording->name);

        return EXIT_SUCCESS;
}

uint64_t recording_begin(const Recording *recording) {
        const GArray *entries = recording->record->entries;
        const Entry *first = entries->len > 0 ? &g_array_index(entries, Entry, 0) : NULL;

        return first && first->kind == ENTRY_SNAPSHOT ? first->time : 0;
}

uint64_t recording_length(const Recording *recording) {
        const RecordHeader *header = &recording->record->header;
        const GArray *entries = recording->record->entries;
        uint64_t known = entries->len > 0 ? g_array_index(entries, Entry, entries->len - 1).time : 0, start, now;
        sd_id128_t boot, own;
        bool of_this_boot;

        if (!recording->live)
                return known;

        /* By CLOCK_MONOTONIC, which nobody sets, unless the run is on another machine. */
        of_this_boot = sd_id128_from_string(header->boot, &boot) >= 0 && sd_id128_get_boot(&own) >= 0 &&
                       sd_id128_equal(boot, own);
        start = of_this_boot ? header->start : header->started;
        now = (uint64_t) (of_this_boot ? g_get_monotonic_time() : g_get_real_time());
        return MAX(known, now > start ? now - start : 0);
}

int recording_report(const Recording *recording, uint64_t until, RunEventObserver observer, void *userdata,
                     char **ret_error) {
        uint64_t start = recording->record->header.start;
        g_autoptr(Replay) replay = NULL;
        const Run *run;
        int r;

        r = replay_new(recording->record, recording->definition, &replay, ret_error);
        if (r < 0)
                return r;

        run_observe_events(replay_run(replay), observer, userdata, UINT_MAX);
        r = replay_until(replay, until < UINT64_MAX - start ? start + until : UINT64_MAX, ret_error);
        if (r < 0)
                return r;

        /* The status at the end of the events that were reported. */
        run = replay_run(replay);
        if (run_status(run) == STATUS_RUNNING) {
                const Cause *cause = run_cause_chain(run);
                g_autofree char *text =
                        cause ? cause_describe(definition_tree(recording->definition), cause, NODE_NONE) : NULL;
                uint64_t time = MIN(until, recording_length(recording));

                observer(
                        &(RunEvent){
                                .time = time,
                                .node = NODE_NONE,
                                .what = run_status_text(run),
                                .status = STATUS_RUNNING,
                                .duration = time,
                                .text = text,
                        },
                        userdata);
        }
        return 0;
}

RunInfo *recording_run_at(const Recording *recording, const Replay *replay, uint64_t time) {
        const Run *run = replay_run(replay);
        const RecordHeader *header = &recording->record->header;
        const Cause *cause = run_cause_chain(run);
        bool over = run_status(run) != STATUS_RUNNING,
             left = recording->left && !over && time >= recording_length(recording);
        RunInfo *info = g_new0(RunInfo, 1);
        uint32_t n_more;

        *info = (RunInfo){
                .id = g_strdup(header->run),
                .tree = g_strdup(header->tree),
                .instance = g_strdup(header->instance),
                .status = g_strdup(left ? "unfinished" : run_status_text(run)),
                .started = header->started,
                .ready = run_ready(run),
                .finished = over ? header->started + (run_now(run) - header->start) : 0,
                .as_of = header->started + time,
                .cause =
                        cause ? cause_describe(definition_tree(recording->definition), cause, NODE_NONE) : g_strdup(""),
                .restart = g_strdup(left ? "btd is not running" : ""),
                .outputs = run_outputs(run, &n_more),
                .is_counted = true,
                .counts = *run_counts(run),
        };
        return info;
}

GPtrArray *recording_idle_nodes(const Definition *definition) {
        const Tree *tree = definition_tree(definition);
        GPtrArray *nodes = node_info_array_new();

        for (NodeId id = 0; id < tree->n_nodes; id++) {
                NodeInfo *node = g_new(NodeInfo, 1);

                *node = (NodeInfo){
                        .index = id,
                        .parent = tree->nodes[id].parent,
                        .type = g_strdup(tree->nodes[id].type->name),
                        .name = g_strdup(tree_node_name(tree, id)),
                        .title = definition_title(definition, id),
                        .status = g_strdup("idle"),
                        .detail = g_strdup(""),
                };
                g_ptr_array_add(nodes, node);
        }

        return nodes;
}

GPtrArray *recording_nodes_at(const Recording *recording, const Replay *replay, uint64_t time) {
        GPtrArray *nodes = recording_idle_nodes(recording->definition);
        uint64_t now = recording->record->header.start + time;

        PTRS_FOREACH(NodeInfo, node, nodes) {
                NodeReport report;

                replay_node_report(replay, node->index, now, &report);
                g_free(node->status);
                node->status = g_strdup(report.state);
                node->element = report.element;
                node->since = report.since;
                node->duration = report.duration;
                if (report.detail) {
                        g_free(node->detail);
                        node->detail = report.detail;
                }
        }

        return nodes;
}

static void add_text(json_object *level, const char *key, const char *text) {
        json_object_object_add(level, key, json_object_new_string(text));
}

static json_object *cause_level(const Recording *recording, const Run *run, const Cause *cause) {
        const Tree *tree = definition_tree(recording->definition);
        Status child = cause->because ? node_history_status(run_node_history(run), cause->because->node) : STATUS_IDLE;
        g_autofree char *text = cause_describe_one(tree, cause, child);
        json_object *level = json_object_new_object();

        if (cause->node == NODE_NONE) {
                add_text(level, "run", recording->record->header.run);
                add_text(level, "status", run_status_text(run));
        } else {
                NodeId node = cause->node;
                g_autofree char *path = tree_node_path(tree, node),
                                *title = definition_title(recording->definition, node);
                const char *element = run_cause_element(run, cause);

                json_object_object_add(level, "node", json_object_new_uint64(node));
                add_text(level, "path", path);
                add_text(level, "name", tree_node_name(tree, node));
                add_text(level, "type", tree->nodes[node].type->name);
                if (title)
                        add_text(level, "title", title);
                if (element)
                        add_text(level, "element", element);
                add_text(level, "status", node_history_state(run_node_history(run), node));
        }
        add_text(level, "kind", cause->kind);
        add_text(level, "text", text);
        if (cause->facts)
                json_object_object_add(level, "facts", json_object_get(cause->facts));

        return level;
}

json_object *recording_causes(const Recording *recording, const Replay *replay, NodeId node) {
        const Run *run = replay_run(replay);
        const Cause *first = node == NODE_NONE ? run_cause_chain(run) : node_history_cause(run_node_history(run), node);
        json_object *chain = json_object_new_array();

        for (const Cause *cause = first; cause; cause = cause->because)
                json_object_array_add(chain, cause_level(recording, run, cause));

        return chain;
}
