/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes events to D-Bus messages, and reads them from run records, or the state of the run after one of them. A worker
 * reads and replays the record, since that takes long. The record of a live run may end in the middle of an input, so
 * only events up to the number that the run had when the worker was started are in the answer.
 */

#include <errno.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "run/replay.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/events-bus.h"
#include "service/history-bus.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/variables-bus.h"

/* How many events one answer has at most. One with fewer than ANSWER_LEAST is complete: org.btd1(5) promises that. */
#define ANSWER_MAX 8192u
#define ANSWER_LEAST 1000u
/* Bytes of texts and variables in one message, about. A run can set megabytes with every event, and a bus closes the
 * connection of a sender whose message is too large: 32 MiB for a dbus-daemon. */
#define ROOM_MAX ((size_t) 4 << 20)
/* The options of GetNodes. */
#define NODES_OPTIONS(ret_first) ((const CallOption[]){ { "first", "u", (ret_first) }, {} })
/* What a variable takes besides its name and value. */
#define VARIABLE_OVERHEAD 32u

/* The parts of an event that can be large, as they are sent. */
typedef struct Contents {
        char *label;            /* NULL: none */
        char *text;             /* NULL: none */
        json_object *variables; /* NULL: none */
        json_object *longs;     /* of strings: the beginnings of long values; NULL: none */
        uint32_t n_more;        /* variables that are left out */
} Contents;

static void contents_clear(Contents *contents) {
        g_free(contents->label);
        g_free(contents->text);
        json_object_put(contents->variables);
        json_object_put(contents->longs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Contents, contents_clear)

static bool take_room(size_t *room, size_t bytes) {
        if (bytes > *room)
                return false;

        *room -= bytes;
        return true;
}

/* A long text is cut if there is no room for it. */
static char *make_text(const char *text, size_t *room) {
        g_autofree char *whole = g_utf8_make_valid(text, -1);
        size_t length = strlen(whole), end = VALUE_MAX;

        if (take_room(room, length) || length <= VALUE_MAX)
                return g_steal_pointer(&whole);

        while (((unsigned char) whole[end] & 0xc0) == 0x80)
                end--;
        whole[end] = '\0';
        *room -= MIN(*room, end);
        return g_strconcat(whole, "...", NULL);
}

/* Long values are only sent shortened. */
static void add_variable(Contents *contents, const char *name, json_object *value, size_t *room) {
        uint64_t bytes = blackboard_bytes_of(value);
        size_t overhead = strlen(name) + VARIABLE_OVERHEAD;
        g_autofree char *shown = NULL;

        if (bytes <= VALUE_MAX && take_room(room, overhead + bytes)) {
                json_object_object_add(contents->variables, name, json_object_get(value));
                return;
        }

        shown = *room > overhead ? variables_bus_shorten(value) : NULL;
        if (!shown || !take_room(room, overhead + strlen(shown))) {
                contents->n_more++;
                return;
        }

        contents->longs = contents->longs ?: json_object_new_object();
        json_object_object_add(contents->longs, name, json_object_new_string(shown));
}

static void contents_init(Contents *contents, const RunEvent *event, size_t *room) {
        *contents = (Contents){
                .label = g_strdup(event->label),
                .text = event->text ? make_text(event->text, room) : NULL,
                .variables = event->values ? json_object_new_object() : NULL,
        };
        if (!event->values)
                return;

        json_object_object_foreach(event->values, name, value) {
                add_variable(contents, name, value, room);
        }
}

static int append_longs(sd_bus_message *message, json_object *longs) {
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", "long_variables");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{ss}");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{ss}");
        json_object_object_foreach(longs, name, shown) {
                if (r >= 0)
                        r = sd_bus_message_append(message, "{ss}", name, json_object_get_string(shown));
        }
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);

        return r;
}

static int append_variables(sd_bus_message *message, json_object *variables) {
        Answer answer = { .reply = message, .writer = variable_writer_new(variables, true) };
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", "variables");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{sv}");
        while (r >= 0 && (r = variables_bus_append(&answer, NULL)) > 0)
                ;
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                r = sd_bus_message_close_container(message);

        variable_writer_free(answer.writer);
        return r;
}

static int append_event(sd_bus_message *message, const Tree *tree, uint64_t started, const RunEvent *event,
                        const Contents *contents) {
        g_autofree char *full = event->node == NODE_NONE ? NULL : tree_node_path(tree, event->node),
                        *path = full ? text_cut(full, VALUE_MAX) : NULL;
        int r = sd_bus_message_open_container(message, 'a', "{sv}");

        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}{sv}{sv}{sv}", "number", "t", event->number, "time", "t",
                                          started + event->time, "offset", "t", event->time, "event", "s", event->what);
        if (r >= 0 && path)
                r = sd_bus_message_append(message, "{sv}{sv}", "node", "u", event->node, "path", "s", path);
        if (r >= 0 && contents->label)
                r = sd_bus_message_append(message, "{sv}", "label", "s", contents->label);
        if (r >= 0 && event->status != STATUS_IDLE)
                r = sd_bus_message_append(message, "{sv}", "status", "s", event->what);
        if (r >= 0 && event->duration > 0)
                r = sd_bus_message_append(message, "{sv}", "duration", "t", event->duration);
        if (r >= 0 && event->waited > 0)
                r = sd_bus_message_append(message, "{sv}", "waited", "t", event->waited);
        if (r >= 0 && contents->text)
                r = sd_bus_message_append(message, "{sv}", "text", "s", contents->text);
        if (r >= 0 && contents->variables)
                r = append_variables(message, contents->variables);
        if (r >= 0 && contents->longs)
                r = append_longs(message, contents->longs);
        if (r >= 0 && contents->n_more > 0)
                r = sd_bus_message_append(message, "{sv}", "more_variables", "u", contents->n_more);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

void events_bus_tell(sd_bus *bus, const char *destination, const Run *run, const RunEvent *events, unsigned n,
                     uint64_t last) {
        g_autofree char *path = object_path_of_run(run_id(run));
        g_autoptr(sd_bus_message) signal = NULL;
        size_t room = ROOM_MAX;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, path, RUN_INTERFACE, "Events");
        if (r >= 0)
                r = sd_bus_message_set_destination(signal, destination);
        if (r >= 0)
                r = sd_bus_message_append(signal, "t", last);
        if (r >= 0)
                r = sd_bus_message_open_container(signal, 'a', "a{sv}");
        for (unsigned i = 0; r >= 0 && i < n; i++) {
                g_auto(Contents) contents = {};

                contents_init(&contents, &events[i], &room);
                r = append_event(signal, definition_tree(run_definition(run)), run_started(run), &events[i], &contents);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(signal);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                log_message(LOG_DEBUG, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                            "a signal could not be sent: %s", g_strerror(-r));
}

/* An event of an answer. */
typedef struct ReadEvent {
        RunEvent event; /* without the members that contents has */
        Contents contents;
} ReadEvent;

/* One call that reads a run record. Its members below the blank lines are the result. */
typedef struct Reading {
        AnswerWork work; /* must be the first member */
        const NodeType *const *const *tables;
        RecordRead *read;
        int (*replay)(struct Reading *reading, const RunRecord *record, Replay *it, Work *work, char **ret_error);
        bool in_parts;        /* of nodes: the caller wants a part */
        NodeId first;         /* of the part */
        uint64_t after, last; /* of events: the wanted numbers are above after, up to last; of a state: after this
                               * event, or after the last one */

        int r;
        char *error;
        uint64_t started; /* of the run */
        Definition *definition;

        GArray *events; /* of ReadEvent */
        size_t room;

        GArray *nodes; /* of NodeReport; or NULL */
        json_object *variables;
        uint64_t number, offset; /* of the last event that the state includes */
        const char *status;      /* of the run */
        char *cause;             /* of the run, or NULL */
} Reading;

static void clear_event(void *event) {
        contents_clear(&((ReadEvent *) event)->contents);
}

static bool is_full(const Reading *reading) {
        return reading->events->len >= (reading->room < VALUE_MAX ? ANSWER_LEAST : ANSWER_MAX);
}

static void on_event(const RunEvent *event, void *userdata) {
        Reading *reading = userdata;
        ReadEvent copy = { .event = *event };

        if (event->number <= reading->after || event->number > reading->last || is_full(reading))
                return;

        copy.event.label = NULL;
        copy.event.text = NULL;
        copy.event.values = NULL;
        contents_init(&copy.contents, event, &reading->room);
        g_array_append_val(reading->events, copy);
}

/* Replays until there are enough events. */
static int replay_events(Reading *reading, const RunRecord *record, Replay *it, Work *work, char **ret_error) {
        int r;

        run_observe_events(replay_run(it), on_event, reading, UINT_MAX);
        do
                r = replay_step(it, ret_error);
        while (r > 0 && !is_full(reading) && run_n_events(replay_run(it)) < reading->last && !work_is_dropped(work));
        run_observe_events(replay_run(it), NULL, NULL, 0);

        return r;
}

/* Replays whole inputs, up to the one with the event. Event 0 is before the first input. If the beginning of the record
 * was removed, its first entry is a snapshot, which gives the run the events that are missing. */
static int replay_moment(Reading *reading, const RunRecord *record, Replay *it, Work *work, char **ret_error) {
        const Run *run = replay_run(it);
        const GArray *entries = record->entries;
        bool cut = entries->len > 0 && g_array_index(entries, Entry, 0).kind == ENTRY_SNAPSHOT;
        uint64_t event = MIN(reading->after, reading->last);
        int r = event > 0 || cut ? replay_step(it, ret_error) : 0;

        if (r >= 0 && cut && run_n_events(run) > event) {
                reading->error =
                        g_strdup_printf("the events of %s up to number %" PRIu64 " are not kept; give the number "
                                        "of this event or of a later one",
                                        record->header.run, run_n_events(run));
                return -EINVAL;
        }
        while (r > 0 && run_n_events(run) < event && !work_is_dropped(work))
                r = replay_step(it, ret_error);
        if (r < 0)
                return r;

        reading->number = run_n_events(run);
        reading->offset = run_now(run) - record->header.start;
        reading->status = run_status_text(run);
        reading->cause = g_strdup(run_cause(run));
        return 0;
}

static int replay_nodes(Reading *reading, const RunRecord *record, Replay *it, Work *work, char **ret_error) {
        NodeId n_nodes = definition_tree(reading->definition)->n_nodes;
        int r = replay_moment(reading, record, it, work, ret_error);

        if (r < 0)
                return r;

        reading->nodes = g_array_sized_new(FALSE, FALSE, sizeof(NodeReport), n_nodes);
        g_array_set_clear_func(reading->nodes, (GDestroyNotify) node_report_clear);
        for (NodeId node = 0; node < n_nodes; node++) {
                NodeReport report;

                replay_node_report(it, node, run_now(replay_run(it)), &report);
                g_array_append_val(reading->nodes, report);
        }
        return r;
}

static int replay_variables(Reading *reading, const RunRecord *record, Replay *it, Work *work, char **ret_error) {
        int r = replay_moment(reading, record, it, work, ret_error);

        if (r >= 0)
                reading->variables = blackboard_to_json(run_blackboard(replay_run(it)));
        return r;
}

/* The record is freed here, since it can be long, and many answers can wait. */
static void run_reading(Work *work, void *data) {
        Reading *reading = data;
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(Replay) it = NULL;
        g_autofree char *error = NULL;

        reading->r = record_read_all(reading->read, work, &record, &reading->error);
        if (reading->r < 0)
                return;

        reading->started = record->header.started;
        reading->r = record_definition_new(&record->header, reading->tables, &reading->definition, &error);
        if (reading->r >= 0)
                reading->r = replay_new_after(record, reading->definition, reading->after, &it, &error);
        if (reading->r >= 0)
                reading->r = reading->replay(reading, record, it, work, &error);
        if (reading->r >= 0 || reading->error)
                return;

        reading->r = -EIO;
        reading->error = g_strdup_printf("the run record of %s cannot be read: %s", record->header.run, error);
}

static void reading_free(void *data) {
        Reading *reading = data;

        record_read_free(reading->read);
        definition_unref(reading->definition);
        g_array_unref(reading->events);
        if (reading->nodes)
                g_array_unref(reading->nodes);
        json_object_put(reading->variables);
        g_free(reading->cause);
        g_free(reading->error);
        g_free(reading);
}

static int begin_reading(Answer *answer, int (*replay)(Reading *reading, const RunRecord *record, Replay *it,
                                                       Work *work, char **ret_error)) {
        static const WorkKind kind = {
                .what = "a caller",
                .run = run_reading,
                .done = answer_work_done,
                .free = answer_work_free,
        };
        Published *published = answer->userdata;
        Manager *manager = published->manager;
        Reading *reading;
        const char *id;
        const Run *run;
        uint64_t after;
        int r;

        r = sd_bus_message_read(answer->question, "st", &id, &after);
        if (r < 0)
                return r;

        run = runs_get(manager->runs, id);
        reading = g_new(Reading, 1);
        *reading = (Reading){
                .work = { .answers = published->answers, .free = reading_free },
                .tables = manager->tables,
                .read = record_read_new(manager->records, id, 0, 0),
                .replay = replay,
                .after = after,
                .last = run ? run_n_events(run) : UINT64_MAX,
                .events = g_array_new(FALSE, FALSE, sizeof(ReadEvent)),
                .room = ROOM_MAX,
        };
        g_array_set_clear_func(reading->events, clear_event);
        answer->run = g_strdup(id);
        answer->data = reading;
        reading->work.work = workers_start(published->replayers, &kind, reading, NULL);
        return 0;
}

static int begin_events(Answer *answer, sd_bus_error *ret_error) {
        return begin_reading(answer, replay_events);
}

/* The options were checked when the call came. */
static int begin_nodes(Answer *answer, sd_bus_error *ret_error) {
        Reading *reading;
        uint32_t first = UINT32_MAX;
        int r = begin_reading(answer, replay_nodes);

        if (r >= 0)
                r = arguments_read_options(answer->question, NODES_OPTIONS(&first), ret_error);
        if (r < 0)
                return r;

        reading = answer->data;
        reading->in_parts = first != UINT32_MAX;
        answer->next = reading->first = reading->in_parts ? first : 0;
        return 0;
}

static int begin_variables(Answer *answer, sd_bus_error *ret_error) {
        return begin_reading(answer, replay_variables);
}

/* 0: the record was read; or what AnswerKind.append() returns. */
static int check_read(const Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        const Reading *reading = answer->data;

        if (reading->work.work)
                return ANSWER_WAITS;
        if (reading->r < 0)
                return history_bus_refuse(manager, answer->run, reading->r, reading->error, ret_error);

        return 0;
}

static int append_next_event(Answer *answer, sd_bus_error *ret_error) {
        const Reading *reading = answer->data;
        const ReadEvent *it;
        int r = check_read(answer, ret_error);

        if (r != 0)
                return r;
        if (answer->next == reading->events->len)
                return 0;

        it = &g_array_index(reading->events, ReadEvent, answer->next++);
        r = append_event(answer->reply, definition_tree(reading->definition), reading->started, &it->event,
                         &it->contents);
        return r < 0 ? r : 1;
}

/* The nodes, then the state of the run: "moment". */
static int append_next_node(Answer *answer, sd_bus_error *ret_error) {
        const Reading *reading = answer->data;
        NodeId node = (NodeId) answer->next;
        g_autofree char *title = NULL;
        int r = check_read(answer, ret_error);

        if (r != 0)
                return r;
        if (!answer->begun) {
                answer->begun = true;
                r = sd_bus_message_open_container(answer->reply, 'a', RUN_NODE_SIGNATURE);
        }
        if (r < 0)
                return r;
        if (node >= reading->nodes->len ||
            (reading->in_parts && answer->size >= ANSWER_PART_SIZE && node - reading->first >= ANSWER_PART_LEAST)) {
                r = sd_bus_message_close_container(answer->reply);
                if (r >= 0)
                        r = sd_bus_message_append(answer->reply, "a{sv}", 5, "number", "t", reading->number, "time",
                                                  "t", reading->started + reading->offset, "offset", "t",
                                                  reading->offset, "status", "s", reading->status, "cause", "s",
                                                  reading->cause);
                return MIN(r, 0);
        }

        answer->next++;
        title = definition_title(reading->definition, node);
        r = run_bus_append_node(answer->reply, definition_tree(reading->definition), node,
                                &g_array_index(reading->nodes, NodeReport, node), title);
        if (r < 0)
                return r;

        answer->size += (size_t) r;
        return 1;
}

static int append_next_variable(Answer *answer, sd_bus_error *ret_error) {
        const Reading *reading = answer->data;
        int r = check_read(answer, ret_error);

        if (r != 0)
                return r;

        answer->writer = answer->writer ?: variable_writer_new(reading->variables, true);
        return variables_bus_append(answer, ret_error);
}

int events_bus_get(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = {
                .array = "a{sv}",
                .begin = begin_events,
                .append = append_next_event,
                .end = answer_work_end,
        };

        if (arguments_are_long(message))
                return history_bus_refuse_name(message, ret_error);

        return published_answer(userdata, message, &kind, ret_error);
}

/* The options are checked at once, like the length: the call may wait for long. */
static int get_after_event(sd_bus_message *message, void *userdata, const AnswerKind *kind, const CallOption *options,
                           sd_bus_error *ret_error) {
        int r;

        if (arguments_are_long(message))
                return history_bus_refuse_name(message, ret_error);

        r = error_from_message(ret_error, sd_bus_message_skip(message, "st"));
        if (r >= 0)
                r = arguments_read_options(message, options, ret_error);
        if (r >= 0)
                r = sd_bus_message_rewind(message, true);
        return r < 0 ? r : published_answer(userdata, message, kind, ret_error);
}

int events_bus_get_nodes(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = {
                .instead = "GetNodes(first)", .begin = begin_nodes, .append = append_next_node, .end = answer_work_end
        };
        uint32_t first;

        return get_after_event(message, userdata, &kind, NODES_OPTIONS(&first), ret_error);
}

int events_bus_get_variables(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = { .instead = "GetVariable",
                                         .begin = begin_variables,
                                         .append = append_next_variable,
                                         .end = answer_work_end };

        return get_after_event(message, userdata, &kind, &(CallOption){}, ret_error);
}
