/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a record says itself is told before it is replayed, what follows from it behind that. Who has halted a node is
 * only clear when all that follows is known, so the events of one record are told together.
 */

#include "story.h"
#include "basic/cause-json.h"

/* What was told of a node last: the how manieth event that was, from 1. */
typedef struct Told {
        unsigned number;
        Status status;
} Told;

struct Story {
        const Recording *recording;
        StoryObserver observer;
        void *userdata;
        Replay *replay;
        GArray *events;   /* of StoryEvent: those of the record that is being replayed */
        GArray *stops;    /* of NodeId: the breakpoints that it stands at */
        json_object *set; /* variables that have got another value, which is not told yet */
        unsigned told;    /* how many of the records */
        Told *nodes;      /* for each */
        unsigned n_changes;
};

static const Tree *tree_of(const Story *story) {
        return definition_tree(story->recording->definition);
}

static uint64_t start_of(const Story *story) {
        return story->recording->journal->header.start;
}

static void add(Story *story, StoryEvent event) {
        g_array_append_val(story->events, event);
}

static void event_clear(void *data) {
        StoryEvent *event = data;

        g_free(event->text);
        json_object_put(event->values);
}

static json_object *detail(const Record *record, const char *name) {
        json_object *value = NULL;

        if (record->details)
                json_object_object_get_ex(record->details, name, &value);

        return value;
}

/* Of what somebody did to the run. */
static char *cause_text(const Record *record) {
        g_autoptr(Cause) cause = cause_from_json(detail(record, "cause"));

        return cause ? g_strdup(cause->text) : NULL;
}

static char *started_text(const Story *story) {
        const JournalHeader *header = &story->recording->journal->header;

        return *header->starter ? g_strdup_printf("by %s", header->starter) : NULL;
}

/* "failure, forced by UID 0 (btctl)" */
static char *forced_text(const Record *record) {
        g_autofree char *cause = cause_text(record);

        return g_strdup_printf("%s%s%s", json_object_get_string(detail(record, "status")) ?: "?", cause ? ", " : "",
                               cause ?: "");
}

/* What a Log has said; other actions remember other things. "warning: part 3", where it is more than usual. */
static char *logged_text(const Record *record) {
        const char *message = json_object_get_string(detail(record, "message")),
                   *level = json_object_get_string(detail(record, "level"));

        if (!message)
                return NULL;

        return level && !g_str_equal(level, "info") ? g_strdup_printf("%s: %s", level, message) : g_strdup(message);
}

static char *lock_text(const Story *story, const Record *record) {
        return g_strdup_printf("'%s'", definition_lock(story->recording->definition, record->node));
}

/* What stands in the record itself, in a word; NULL: there is nothing to tell. */
static const char *word_of(const Record *record) {
        static const char *const words[RECORD_KIND_MAX_] = {
                [RECORD_START] = "started",       [RECORD_HALT] = "halting",  [RECORD_SET] = "set",
                [RECORD_TIMER] = "timer",         [RECORD_LOCKED] = "locked", [RECORD_PAUSE] = "paused",
                [RECORD_RESUME] = "resumed",      [RECORD_STEP] = "stepped",  [RECORD_FORCE] = "forced",
                [RECORD_RECOVERED] = "recovered", [RECORD_RERUN] = "rerun",
        };

        switch (record->kind) {
        case RECORD_AT_ONCE:
                return detail(record, "outputs") ? "set" : NULL;
        case RECORD_NOTE:
                return detail(record, "message") ? "log" : NULL;
        case RECORD_BREAK:
                return json_object_get_boolean(detail(record, "set")) ? "breakpoint" : "cleared";
        default:
                return words[record->kind];
        }
}

/* NULL: none. */
static char *text_of(const Story *story, const Record *record) {
        switch (record->kind) {
        case RECORD_START:
                return started_text(story);
        case RECORD_HALT:
                return cause_text(record);
        case RECORD_LOCKED:
                return lock_text(story, record);
        case RECORD_NOTE:
                return logged_text(record);
        case RECORD_FORCE:
                return forced_text(record);
        default:
                return NULL;
        }
}

/* Borrowed, or NULL: none. */
static json_object *values_of(const Story *story, const Record *record) {
        switch (record->kind) {
        case RECORD_START:
                return story->recording->journal->header.variables;
        case RECORD_SET:
                return record->details;
        case RECORD_AT_ONCE:
                return detail(record, "outputs");
        default:
                return NULL;
        }
}

static void on_set(const char *key, json_object *value, void *userdata) {
        const Story *story = userdata;

        json_object_object_add(story->set, key, json_object_get(value));
}

static void forget_set(Story *story) {
        json_object_put(story->set);
        story->set = json_object_new_object();
}

static void add_record(Story *story, const Record *record) {
        bool cut = record->kind == RECORD_SNAPSHOT && story->told == 0;
        const char *what = cut ? "cut" : word_of(record);
        json_object *values = values_of(story, record);

        if (values)
                forget_set(story);
        if (what)
                add(story, (StoryEvent){
                                   .time = record->time,
                                   .node = record->node,
                                   .what = what,
                                   .text = text_of(story, record),
                                   .values = json_object_get(values),
                           });
}

/* What the world has answered so far. */
static void add_answers(Story *story) {
        const GArray *records = story->recording->journal->records;

        for (; story->told < replay_position(story->replay); story->told++)
                add_record(story, &g_array_index(records, Record, story->told));
}

/* What is set by now without a record that says so was computed by the node: by a Script or a hook, or it handed on a
 * value to another scope. */
static void on_computed(NodeId node, void *userdata) {
        Story *story = userdata;

        add_answers(story);
        if (json_object_object_length(story->set) == 0)
                return;

        add(story, (StoryEvent){
                           .time = progress_now(replay_progress(story->replay)) - start_of(story),
                           .node = node,
                           .what = "set",
                           .values = json_object_get(story->set),
                   });
        forget_set(story);
}

/* A node that is skipped is told of whenever its parent comes by; it is news when that has been started anew. */
static bool is_news(Story *story, NodeId node, Status status) {
        NodeId parent = tree_of(story)->nodes[node].parent;
        Told *told = &story->nodes[node];
        bool again = status == STATUS_SKIPPED && told->status == status && parent != NODE_NONE &&
                     story->nodes[parent].number < told->number;

        *told = (Told){ ++story->n_changes, status };
        return !again;
}

static void on_changed(NodeId node, void *userdata) {
        Story *story = userdata;
        const Progress *progress = replay_progress(story->replay);
        const History *history = progress_history(progress);
        Status status = history_status(history, node);
        const Cause *cause = status == STATUS_RUNNING ? NULL : history_cause(history, node);
        uint64_t now = progress_now(progress);

        add_answers(story);
        if (!is_news(story, node, status))
                return;

        add(story, (StoryEvent){
                           .time = now - start_of(story),
                           .node = node,
                           .what = status_to_string(status),
                           .status = status,
                           .duration = status == STATUS_RUNNING ? 0 : history_duration(history, node, now),
                           .text = cause ? cause_describe(tree_of(story), cause, node) : NULL,
                   });
}

/* Of the nodes that were running when the story begins in the middle. */
static void add_running(Story *story, uint64_t time) {
        const History *history = progress_history(replay_progress(story->replay));

        for (NodeId node = 0; node < tree_of(story)->n_nodes; node++)
                if (history_status(history, node) == STATUS_RUNNING && is_news(story, node, STATUS_RUNNING))
                        add(story, (StoryEvent){
                                           .time = time,
                                           .node = node,
                                           .what = status_to_string(STATUS_RUNNING),
                                           .status = STATUS_RUNNING,
                                   });
}

static bool stands_at(const GArray *stops, NodeId node) {
        for (unsigned i = 0; i < stops->len; i++)
                if (g_array_index(stops, NodeId, i) == node)
                        return true;

        return false;
}

/* The breakpoints that it stands at now and did not before. */
static void add_stops(Story *story, uint64_t time) {
        Progress *progress = replay_progress(story->replay);
        g_autoptr(GArray) before = story->stops;
        const GArray *now = progress_stops(progress);

        story->stops = g_array_new(FALSE, FALSE, sizeof(NodeId));
        if (now)
                g_array_append_vals(story->stops, now->data, now->len);
        for (unsigned i = 0; i < story->stops->len; i++) {
                NodeId node = g_array_index(story->stops, NodeId, i);

                if (!stands_at(before, node))
                        add(story, (StoryEvent){ .time = time, .node = node, .what = "stands" });
        }
}

/* How the run is: at its end, or as far as the story goes. */
static void add_status(Story *story, uint64_t time) {
        const Progress *progress = replay_progress(story->replay);
        const Cause *cause = progress_cause(progress);
        Status status = progress_status(progress);

        add(story, (StoryEvent){
                           .time = time,
                           .node = NODE_NONE,
                           .what = progress_status_text(progress),
                           .status = status,
                           .duration = time,
                           .text = cause ? cause_describe(tree_of(story), cause, NODE_NONE) : NULL,
                   });
}

/* Of a node that has been halted and nothing else since. */
static void complete(const Story *story, StoryEvent *event) {
        const Progress *progress = replay_progress(story->replay);
        g_autoptr(Cause) cause = NULL;

        if (event->node == NODE_NONE || event->status != STATUS_HALTED || event->text ||
            history_status(progress_history(progress), event->node) != STATUS_HALTED)
                return;

        cause = progress_node_cause(progress, event->node);
        event->text = cause ? g_strdup(cause->text) : NULL;
}

static void tell(Story *story) {
        for (unsigned i = 0; i < story->events->len; i++) {
                StoryEvent *event = &g_array_index(story->events, StoryEvent, i);

                complete(story, event);
                story->observer(event, story->userdata);
        }

        g_array_set_size(story->events, 0);
}

static int tell_record(Story *story, const Record *record, char **ret_error) {
        int r;

        add_record(story, record);
        story->told++;
        r = replay_step(story->replay, ret_error);
        if (r < 0)
                return r;

        add_answers(story);
        forget_set(story);
        if (record->kind == RECORD_SNAPSHOT && story->told == 1)
                add_running(story, record->time);
        add_stops(story, record->time);
        if (record->kind == RECORD_FINISHED)
                add_status(story, record->time);
        tell(story);
        return 0;
}

int story_tell(Story *story, uint64_t until, char **ret_error) {
        const GArray *records = story->recording->journal->records;
        bool over = false;

        while (story->told < records->len) {
                const Record *record = &g_array_index(records, Record, story->told);
                int r;

                if (record->time > until)
                        break;

                over = record->kind == RECORD_FINISHED;
                r = tell_record(story, record, ret_error);
                if (r < 0)
                        return r;
        }

        if (!over) {
                add_status(story, MIN(until, recording_length(story->recording)));
                tell(story);
        }

        return 0;
}

static const ProgressObserver progress_observer = {
        .changed = on_changed,
        .computed = on_computed,
};

int story_new(const Recording *recording, StoryObserver observer, void *userdata, Story **ret_story, char **ret_error) {
        g_autoptr(Story) story = g_new0(Story, 1);
        int r;

        *story = (Story){
                .recording = recording,
                .observer = observer,
                .userdata = userdata,
                .events = g_array_new(FALSE, FALSE, sizeof(StoryEvent)),
                .stops = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                .set = json_object_new_object(),
                .nodes = g_new0(Told, definition_tree(recording->definition)->n_nodes),
        };
        g_array_set_clear_func(story->events, event_clear);

        r = replay_new(recording->journal, recording->definition, &story->replay, ret_error);
        if (r < 0)
                return r;

        progress_observe(replay_progress(story->replay), &progress_observer, story);
        blackboard_observe(variables_outermost(progress_variables(replay_progress(story->replay))), on_set, story);
        *ret_story = g_steal_pointer(&story);
        return 0;
}

void story_free(Story *story) {
        if (!story)
                return;

        replay_free(story->replay);
        g_array_unref(story->events);
        g_array_unref(story->stops);
        json_object_put(story->set);
        g_free(story->nodes);
        g_free(story);
}
