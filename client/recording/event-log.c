/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Replays a recording and reports its events, for btctl show and plot.
 *
 * A record's own event is reported before the record is replayed, and its consequences after it. Who has halted a node
 * is only clear when all consequences are known, so the events of one record are reported together.
 */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/excerpt.h"
#include "basic/span.h"
#include "client/recording/event-log.h"
#include "client/view/event.h"

/* The last reported status of a node, and the number of that event, from 1. */
typedef struct Reported {
        unsigned number;
        Status status;
} Reported;

struct EventLog {
        const Recording *recording;
        EventLogObserver observer;
        void *userdata;
        Replay *replay;
        GArray *events;      /* of LogEvent: the events of the record that is replayed now */
        GArray *breakpoints; /* of NodeId: the breakpoints that the run is paused at */
        json_object *set;    /* changed variables that are not reported yet */
        unsigned n_reported; /* records */
        Reported *nodes;     /* for each */
        unsigned n_changes;
};

static const Tree *tree_of(const EventLog *log) {
        return definition_tree(log->recording->definition);
}

static uint64_t start_of(const EventLog *log) {
        return log->recording->journal->header.start;
}

static void add(EventLog *log, LogEvent event) {
        g_array_append_val(log->events, event);
}

static void event_clear(void *data) {
        LogEvent *event = data;

        g_free(event->text);
        json_object_put(event->values);
}

static json_object *detail(const Entry *record, const char *name) {
        json_object *value = NULL;

        if (record->details)
                json_object_object_get_ex(record->details, name, &value);

        return value;
}

/* The cause of an action on the run. */
static char *cause_text(const Entry *record) {
        g_autoptr(Cause) cause = cause_from_json(detail(record, "cause"));

        return cause ? g_strdup(cause->text) : NULL;
}

static char *started_text(const EventLog *log) {
        const RecordHeader *header = &log->recording->journal->header;

        return *header->starter ? g_strdup_printf("by %s", header->starter) : NULL;
}

/* "failure, forced by UID 0 (btctl)" */
static char *forced_text(const Entry *record) {
        g_autofree char *cause = cause_text(record);

        return g_strdup_printf("%s%s%s", json_object_get_string(detail(record, "status")) ?: "?", cause ? ", " : "",
                               cause ?: "");
}

/* The message of a Log node, with its level unless that is "info": "warning: part 3". Notes of other actions have no
 * message. */
static char *logged_text(const Entry *record) {
        const char *message = json_object_get_string(detail(record, "message")),
                   *level = json_object_get_string(detail(record, "level"));

        if (!message)
                return NULL;

        return level && !g_str_equal(level, "info") ? g_strdup_printf("%s: %s", level, message) : g_strdup(message);
}

static char *lock_text(const EventLog *log, const Entry *record) {
        return g_strdup_printf("'%s'", definition_lock(log->recording->definition, record->node));
}

/* How long the machine was suspended since the last such record: "8h". */
static char *suspended_text(const EventLog *log, const Entry *record) {
        uint64_t before = run_suspended(replay_run(log->replay)), usec = json_object_get_uint64(detail(record, "usec"));

        return span_format_rounded(usec - MIN(before, usec));
}

/* The name of the record's event; NULL: none. */
static const char *word_of(const Entry *record) {
        static const char *const words[ENTRY_KIND_MAX_] = {
                [ENTRY_START] = "started",       [ENTRY_HALT] = "halting",  [ENTRY_SET] = "set",
                [ENTRY_TIMER] = "timer",         [ENTRY_LOCKED] = "locked", [ENTRY_PAUSE] = "paused",
                [ENTRY_RESUME] = "resumed",      [ENTRY_STEP] = "stepped",  [ENTRY_FORCE] = "forced",
                [ENTRY_RECOVERED] = "recovered", [ENTRY_RERUN] = "rerun",   [ENTRY_SUSPENDED] = "suspended",
        };

        switch (record->kind) {
        case ENTRY_AT_ONCE:
                return detail(record, "outputs") ? "set" : NULL;
        case ENTRY_NOTE:
                return detail(record, "message") ? "log" : NULL;
        case ENTRY_BREAK:
                return json_object_get_boolean(detail(record, "set")) ? "breakpoint" : "cleared";
        default:
                return words[record->kind];
        }
}

/* NULL: none. */
static char *text_of(const EventLog *log, const Entry *record) {
        switch (record->kind) {
        case ENTRY_START:
                return started_text(log);
        case ENTRY_HALT:
                return cause_text(record);
        case ENTRY_LOCKED:
                return lock_text(log, record);
        case ENTRY_NOTE:
                return logged_text(record);
        case ENTRY_FORCE:
                return forced_text(record);
        case ENTRY_SUSPENDED:
                return suspended_text(log, record);
        default:
                return NULL;
        }
}

/* Borrowed, or NULL: none. */
static json_object *values_of(const EventLog *log, const Entry *record) {
        switch (record->kind) {
        case ENTRY_START:
                return log->recording->journal->header.variables;
        case ENTRY_SET:
                return record->details;
        case ENTRY_AT_ONCE:
                return detail(record, "outputs");
        default:
                return NULL;
        }
}

static void on_set(const char *key, json_object *value, void *userdata) {
        const EventLog *log = userdata;

        json_object_object_add(log->set, key, json_object_get(value));
}

static void clear_set(EventLog *log) {
        json_object_put(log->set);
        log->set = json_object_new_object();
}

static void add_record(EventLog *log, const Entry *record) {
        bool cut = record->kind == ENTRY_SNAPSHOT && log->n_reported == 0;
        const char *what = cut ? "cut" : word_of(record);
        json_object *values = values_of(log, record);

        if (values)
                clear_set(log);
        if (what)
                add(log, (LogEvent){
                                 .time = record->time,
                                 .node = record->node,
                                 .what = what,
                                 .text = text_of(log, record),
                                 .values = json_object_get(values),
                         });
}

/* Adds the records that the replay has used so far: the answers of leaves and timers. */
static void add_records(EventLog *log) {
        const GArray *records = log->recording->journal->entries;

        for (; log->n_reported < replay_position(log->replay); log->n_reported++)
                add_record(log, &g_array_index(records, Entry, log->n_reported));
}

/* Variables that changed without a record were computed by the node: by a Script, by a hook, or by passing a value to
 * another scope. */
static void on_computed(NodeId node, void *userdata) {
        EventLog *log = userdata;

        add_records(log);
        if (json_object_object_length(log->set) == 0)
                return;

        add(log, (LogEvent){
                         .time = run_now(replay_run(log->replay)) - start_of(log),
                         .node = node,
                         .what = "set",
                         .values = json_object_get(log->set),
                 });
        clear_set(log);
}

/* A parent that ticks again skips its child again. That is reported only if the parent was started again. */
static bool is_news(EventLog *log, NodeId node, Status status) {
        NodeId parent = tree_of(log)->nodes[node].parent;
        Reported *last = &log->nodes[node];
        bool again = status == STATUS_SKIPPED && last->status == status && parent != NODE_NONE &&
                     log->nodes[parent].number < last->number;

        *last = (Reported){ ++log->n_changes, status };
        return !again;
}

static void on_changed(NodeId node, void *userdata) {
        EventLog *log = userdata;
        const Run *run = replay_run(log->replay);
        const History *history = run_history(run);
        Status status = history_status(history, node);
        const Cause *cause = status == STATUS_RUNNING ? NULL : history_cause(history, node);
        uint64_t now = run_now(run);

        add_records(log);
        if (!is_news(log, node, status))
                return;

        add(log, (LogEvent){
                         .time = now - start_of(log),
                         .node = node,
                         .what = status_to_string(status),
                         .status = status,
                         .duration = status == STATUS_RUNNING ? 0 : history_duration(history, node, now),
                         .text = cause ? cause_describe(tree_of(log), cause, node) : NULL,
                 });
}

/* Adds the nodes that were running when the kept part of the log begins. */
static void add_running(EventLog *log, uint64_t time) {
        const History *history = run_history(replay_run(log->replay));

        for (NodeId node = 0; node < tree_of(log)->n_nodes; node++)
                if (history_status(history, node) == STATUS_RUNNING && is_news(log, node, STATUS_RUNNING))
                        add(log, (LogEvent){
                                         .time = time,
                                         .node = node,
                                         .what = status_to_string(STATUS_RUNNING),
                                         .status = STATUS_RUNNING,
                                 });
}

static bool contains_node(const GArray *breakpoints, NodeId node) {
        for (unsigned i = 0; i < breakpoints->len; i++)
                if (g_array_index(breakpoints, NodeId, i) == node)
                        return true;

        return false;
}

/* Adds the breakpoints that the run has just reached. */
static void add_breakpoints(EventLog *log, uint64_t time) {
        Run *run = replay_run(log->replay);
        g_autoptr(GArray) before = log->breakpoints;
        const GArray *now = run_stops(run);

        log->breakpoints = g_array_new(FALSE, FALSE, sizeof(NodeId));
        if (now)
                g_array_append_vals(log->breakpoints, now->data, now->len);
        for (unsigned i = 0; i < log->breakpoints->len; i++) {
                NodeId node = g_array_index(log->breakpoints, NodeId, i);

                if (!contains_node(before, node))
                        add(log, (LogEvent){ .time = time, .node = node, .what = "stands" });
        }
}

/* Adds the status of the run, at its end or at the end of the log. */
static void add_status(EventLog *log, uint64_t time) {
        const Run *run = replay_run(log->replay);
        const Cause *cause = run_cause_chain(run);
        Status status = run_status(run);

        add(log, (LogEvent){
                         .time = time,
                         .node = NODE_NONE,
                         .what = run_status_text(run),
                         .status = status,
                         .duration = time,
                         .text = cause ? cause_describe(tree_of(log), cause, NODE_NONE) : NULL,
                 });
}

/* Adds the cause of a halt, which is known only after the whole record. */
static void complete(const EventLog *log, LogEvent *event) {
        const Run *run = replay_run(log->replay);
        g_autoptr(Cause) cause = NULL;

        if (event->node == NODE_NONE || event->status != STATUS_HALTED || event->text ||
            history_status(run_history(run), event->node) != STATUS_HALTED)
                return;

        cause = run_node_cause(run, event->node);
        event->text = cause ? g_strdup(cause->text) : NULL;
}

static void report(EventLog *log) {
        for (unsigned i = 0; i < log->events->len; i++) {
                LogEvent *event = &g_array_index(log->events, LogEvent, i);

                complete(log, event);
                log->observer(event, log->userdata);
        }

        g_array_set_size(log->events, 0);
}

static int report_record(EventLog *log, const Entry *record, char **ret_error) {
        int r;

        add_record(log, record);
        log->n_reported++;
        r = replay_step(log->replay, ret_error);
        if (r < 0)
                return r;

        add_records(log);
        clear_set(log);
        if (record->kind == ENTRY_SNAPSHOT && log->n_reported == 1)
                add_running(log, record->time);
        add_breakpoints(log, record->time);
        if (record->kind == ENTRY_FINISHED)
                add_status(log, record->time);
        report(log);
        return 0;
}

int event_log_report(EventLog *log, uint64_t until, char **ret_error) {
        const GArray *records = log->recording->journal->entries;
        bool over = false;

        while (log->n_reported < records->len) {
                const Entry *record = &g_array_index(records, Entry, log->n_reported);
                int r;

                if (record->time > until)
                        break;

                over = record->kind == ENTRY_FINISHED;
                r = report_record(log, record, ret_error);
                if (r < 0)
                        return r;
        }

        if (!over) {
                add_status(log, MIN(until, recording_length(log->recording)));
                report(log);
        }

        return 0;
}

static void on_ready(void *userdata) {
        EventLog *log = userdata;

        add_records(log);
        add(log, (LogEvent){
                         .time = run_now(replay_run(log->replay)) - start_of(log),
                         .node = NODE_NONE,
                         .what = "ready",
                 });
}

static const RunObserver run_observer = {
        .changed = on_changed,
        .computed = on_computed,
        .ready = on_ready,
};

int event_log_new(const Recording *recording, EventLogObserver observer, void *userdata, EventLog **ret_log,
                  char **ret_error) {
        g_autoptr(EventLog) log = g_new0(EventLog, 1);
        int r;

        *log = (EventLog){
                .recording = recording,
                .observer = observer,
                .userdata = userdata,
                .events = g_array_new(FALSE, FALSE, sizeof(LogEvent)),
                .breakpoints = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                .set = json_object_new_object(),
                .nodes = g_new0(Reported, definition_tree(recording->definition)->n_nodes),
        };
        g_array_set_clear_func(log->events, event_clear);

        r = replay_new(recording->journal, recording->definition, &log->replay, ret_error);
        if (r < 0)
                return r;

        run_observe(replay_run(log->replay), &run_observer, log);
        blackboard_observe(variables_outermost(run_variables(replay_run(log->replay))), on_set, log);
        *ret_log = g_steal_pointer(&log);
        return 0;
}

void event_log_free(EventLog *log) {
        if (!log)
                return;

        replay_free(log->replay);
        g_array_unref(log->events);
        g_array_unref(log->breakpoints);
        json_object_put(log->set);
        g_free(log->nodes);
        g_free(log);
}

void log_event_append(const Output *output, GString *line, const Recording *recording, const LogEvent *event) {
        g_autofree char *stamp = event_stamp(event->time),
                        *path = event->node == NODE_NONE
                                        ? NULL
                                        : tree_node_path(definition_tree(recording->definition), event->node);

        const Event shown = {
                .title = path ?: recording->journal->header.run,
                .what = event->what,
                .duration = event->duration,
                .text = event->text,
                .values = event->values,
        };

        event_append(output, line, stamp, &shown);
}

static void add_text(json_object *json, const char *key, const char *text) {
        json_object_object_add(json, key, json_object_new_string(text));
}

json_object *log_event_to_json(const Recording *recording, const LogEvent *event) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "offset_usec", json_object_new_uint64(event->time));
        add_text(json, "event", event->what);
        add_text(json, "run", recording->journal->header.run);
        if (event->node != NODE_NONE) {
                g_autofree char *path = tree_node_path(definition_tree(recording->definition), event->node);

                json_object_object_add(json, "node", json_object_new_uint64(event->node));
                add_text(json, "path", path);
        }
        if (event->duration > 0)
                json_object_object_add(json, "duration_usec", json_object_new_uint64(event->duration));
        if (event->text)
                add_text(json, "text", event->text);
        if (event->values)
                json_object_object_add(json, "variables", json_object_get(event->values));

        return json;
}
