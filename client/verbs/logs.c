/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl logs: prints one timeline of runs: their events, and the journal lines of what they started. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/bus/watch.h"
#include "client/recording/record-files.h"
#include "client/recording/recording.h"
#include "client/verbs/verbs.h"
#include "client/view/run-log.h"
#include "client/view/style.h"
#include "client/view/text.h"

/* As journalctl has them. */
#define LINES_FOLLOWED 10u
#define LINES_AT_END 1000u

/* With --follow: lines that reach the journal later than this after they were written are not shown. */
#define LATE_USEC UINT64_C(5000000)

/* A line of the timeline. */
typedef struct Item {
        uint64_t time;     /* CLOCK_REALTIME µs, by the clock at the start of the run */
        guint order;       /* in which it was read */
        json_object *json; /* with --json */
        GString *text;     /* otherwise */
} Item;

/* From an event on, a node below a ForEach has this label. */
typedef struct Label {
        uint64_t time; /* since the start of the run */
        char *text;
} Label;

/* A run whose timeline is printed. */
typedef struct LoggedRun {
        char *operand;
        Recording *recording; /* NULL: not opened yet */
        bool stale;           /* the recording must be opened again */
        bool unread;          /* its events were not read yet */
        uint64_t n_events;    /* that were printed */
        uint64_t time;        /* of the newest line of the journal, since the start of the run */
        GHashTable *cursors;  /* of printed lines that will be read again: cursor -> time; NULL: not followed */
        GHashTable *labels;   /* NodeId -> GArray of Label, in the order of time */
} LoggedRun;

typedef struct Logs {
        Client *client;
        Watch *watch;          /* NULL: not followed */
        sd_journal *journal;   /* tells when there are new lines; NULL: not followed */
        GPtrArray *runs;       /* of LoggedRun */
        const Recording *now;  /* of the run whose lines are added */
        GHashTable *labels;    /* the same */
        uint64_t since, until; /* CLOCK_REALTIME µs; 0 and UINT64_MAX: all */
        uint64_t n_lines;      /* UINT64_MAX: all */
        bool reverse;
        const char *node;  /* only this one and those below; NULL: all */
        GArray *wanted;    /* of bool for each node of the recording; NULL: all */
        uint64_t n_events; /* events up to this number were printed */
        uint64_t last_event;
        GPtrArray *items;
} Logs;

static void item_free(void *data) {
        Item *item = data;

        json_object_put(item->json);
        if (item->text)
                g_string_free(item->text, true);
        g_free(item);
}

static void label_clear(void *data) {
        g_free(((Label *) data)->text);
}

static void logged_run_free(void *data) {
        LoggedRun *run = data;

        recording_free(run->recording);
        g_clear_pointer(&run->cursors, g_hash_table_unref);
        g_hash_table_unref(run->labels);
        g_free(run->operand);
        g_free(run);
}

static void logs_clear(Logs *logs) {
        g_clear_pointer(&logs->watch, watch_free);
        g_clear_pointer(&logs->journal, sd_journal_close);
        g_clear_pointer(&logs->runs, g_ptr_array_unref);
        g_clear_pointer(&logs->wanted, g_array_unref);
        g_clear_pointer(&logs->items, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Logs, logs_clear)

static bool is_wanted(const Logs *logs, NodeId node, uint64_t time) {
        return time >= logs->since && time <= logs->until &&
               (!logs->wanted || (node != NODE_NONE && g_array_index(logs->wanted, bool, node)));
}

/* "Nov 23 20:14:46.501 boot.3 ": the run only if there are several. */
static char *make_stamp(const Logs *logs, uint64_t time) {
        g_autoptr(GDateTime) local = g_date_time_new_from_unix_local((gint64) (time / G_USEC_PER_SEC));
        g_autofree char *seconds = local ? g_date_time_format(local, "%b %d %H:%M:%S") : g_strdup("?");
        bool several = logs->runs->len > 1;

        return g_strdup_printf("%s.%03u%s%s", seconds, (unsigned) (time % G_USEC_PER_SEC / 1000), several ? " " : "",
                               several ? logs->now->record->header.run : "");
}

static Item *add_item(Logs *logs, uint64_t offset) {
        Item *item = g_new0(Item, 1);

        item->time = logs->now->record->header.started + offset;
        item->order = logs->items->len;
        g_ptr_array_add(logs->items, item);
        return item;
}

static void note_label(GHashTable *labels, const RunEvent *event) {
        void *node = GUINT_TO_POINTER(event->node);
        GArray *own = g_hash_table_lookup(labels, node);

        if (own && g_str_equal(g_array_index(own, Label, own->len - 1).text, event->label))
                return;

        if (!own) {
                own = g_array_new(false, false, sizeof(Label));
                g_array_set_clear_func(own, label_clear);
                g_hash_table_insert(labels, node, own);
        }
        g_array_set_size(own, own->len + 1);
        g_array_index(own, Label, own->len - 1) = (Label){ .time = event->time, .text = g_strdup(event->label) };
}

/* The label that the node had at that time; NULL: it has none. */
static const char *label_at(GHashTable *labels, NodeId node, uint64_t time) {
        const GArray *own = g_hash_table_lookup(labels, GUINT_TO_POINTER(node));
        guint i = own ? own->len : 0;

        while (i > 1 && g_array_index(own, Label, i - 1).time > time)
                i--;
        return i > 0 ? g_array_index(own, Label, i - 1).text : NULL;
}

static void on_event(const RunEvent *event, void *userdata) {
        Logs *logs = userdata;
        const RecordHeader *header = &logs->now->record->header;
        const Tree *tree = definition_tree(logs->now->definition);
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(tree, event->node), *stamp = NULL;
        Item *item;

        if (event->label)
                note_label(logs->labels, event);
        /* The status of a run that continues is no event. */
        if (event->number == 0 && event->node == NODE_NONE)
                return;
        if (event->number > 0)
                logs->last_event = MAX(logs->last_event, event->number);
        if (event->number <= logs->n_events && logs->n_events > 0)
                return;
        if (!is_wanted(logs, event->node, header->started + event->time))
                return;

        item = add_item(logs, event->time);
        if (logs->client->output.json) {
                item->json = event_to_json(header->run, path, item->time, event);
                return;
        }

        stamp = make_stamp(logs, item->time);
        item->text = g_string_new(NULL);
        event_append(&logs->client->output, item->text, stamp, header->run, path, event);
}

static json_object *line_to_json(const Logs *logs, const LogLine *line, const char *path, const char *label,
                                 uint64_t time) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "offset_usec", json_object_new_uint64(line->time));
        json_object_object_add(json, "event", json_object_new_string("journal"));
        json_object_object_add(json, "run", json_object_new_string(logs->now->record->header.run));
        json_object_object_add(json, "node", json_object_new_uint64(line->node));
        json_object_object_add(json, "path", json_object_new_string(path));
        if (label)
                json_object_object_add(json, "label", json_object_new_string(label));
        json_object_object_add(json, "unit", json_object_new_string(line->unit));
        json_object_object_add(json, "identifier", json_object_new_string(line->identifier));
        if (line->pid)
                json_object_object_add(json, "pid", json_object_new_string(line->pid));
        json_object_object_add(json, "priority", json_object_new_int(line->priority));
        json_object_object_add(json, "message", json_object_new_string(line->message));
        json_object_object_add(json, "cursor", json_object_new_string(line->cursor ?: ""));
        json_object_object_add(json, "time_usec", json_object_new_uint64(time));
        return json;
}

static void add_line(Logs *logs, const LoggedRun *run, const LogLine *line) {
        const Output *output = &logs->client->output;
        g_autofree char *path = tree_node_path(definition_tree(logs->now->definition), line->node), *stamp = NULL;
        const char *label = label_at(run->labels, line->node, line->begun ?: line->time);
        Style style = line->priority <= LOG_ERR       ? STYLE_RED
                      : line->priority <= LOG_WARNING ? STYLE_YELLOW
                                                      : STYLE_PLAIN;
        g_auto(GStrv) parts = NULL;
        Item *item;

        if (!is_wanted(logs, line->node, logs->now->record->header.started + line->time))
                return;
        if (run->cursors && (!line->cursor || !g_hash_table_insert(run->cursors, g_strdup(line->cursor),
                                                                   g_memdup2(&line->time, sizeof(line->time)))))
                return;

        item = add_item(logs, line->time);
        if (output->json) {
                item->json = line_to_json(logs, line, path, label, item->time);
                return;
        }

        stamp = make_stamp(logs, item->time);
        item->text = g_string_new(NULL);
        output_append(output, item->text, STYLE_DIM, stamp);
        output_appendf(output, item->text, STYLE_PLAIN, "   %s: ", label ?: path);
        output_appendf(output, item->text, STYLE_DIM, "%s%s%s%s: ", line->identifier, line->pid ? "[" : "",
                       line->pid ?: "", line->pid ? "]" : "");

        /* Further lines of one message are indented. */
        parts = g_strsplit(line->message, "\n", -1);
        for (char **part = parts; *part; part++) {
                if (part != parts)
                        g_string_append(item->text, "\n                      ");
                output_append(output, item->text, style, *part);
        }
}

/* Finds the node and those below it. */
static int choose_nodes(Logs *logs) {
        const Tree *tree = definition_tree(logs->now->definition);
        g_autoptr(GPtrArray) nodes = NULL;
        g_autofree char *error = NULL;
        uint32_t chosen;

        g_clear_pointer(&logs->wanted, g_array_unref);
        if (!logs->node)
                return EXIT_SUCCESS;

        nodes = recording_idle_nodes(logs->now->definition);
        if (!target_choose_node(nodes, logs->node, &chosen, &error))
                return report_error("%s", error);

        logs->wanted = g_array_sized_new(false, true, sizeof(bool), tree->n_nodes);
        g_array_set_size(logs->wanted, tree->n_nodes);
        for (NodeId id = chosen; id < tree->n_nodes; id++) {
                NodeId parent = tree->nodes[id].parent;

                g_array_index(logs->wanted, bool, id) =
                        id == chosen || (parent != NODE_NONE && g_array_index(logs->wanted, bool, parent));
        }

        return EXIT_SUCCESS;
}

static int open_recording(const Logs *logs, LoggedRun *run) {
        g_autoptr(Recording) recording = NULL;
        int status;

        /* Without btd, it would be read from its file, and look as if the run did not continue. */
        if (run->recording && !client_has_daemon(logs->client))
                return EXIT_NO_DAEMON;

        status = recording_open(logs->client, run->operand, &recording);
        if (status != EXIT_SUCCESS)
                return status;

        recording_free(run->recording);
        run->recording = g_steal_pointer(&recording);
        run->stale = false;
        run->unread = true;
        return EXIT_SUCCESS;
}

/* So far back the journal is read again. */
static uint64_t late_begin(const LoggedRun *run) {
        return run->time > LATE_USEC ? run->time - LATE_USEC : 0;
}

static gboolean is_too_old(void *cursor, void *time, void *userdata) {
        return *(const uint64_t *) time < late_begin(userdata);
}

/* Adds the items of a run that were not printed yet. */
static int read_run(Logs *logs, LoggedRun *run, GPtrArray *gaps) {
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func((GDestroyNotify) log_line_free);
        g_autofree char *error = NULL;
        int status = run->stale ? open_recording(logs, run) : EXIT_SUCCESS;

        if (status != EXIT_SUCCESS)
                return status;

        logs->now = run->recording;
        status = choose_nodes(logs);
        if (status != EXIT_SUCCESS)
                return status;

        if (run->unread) {
                logs->labels = run->labels;
                g_hash_table_remove_all(run->labels);
                logs->n_events = logs->last_event = run->n_events;
                if (recording_report(run->recording, UINT64_MAX, on_event, logs, &error) < 0)
                        return report_error("%s: %s", run->recording->name, error);
                run->n_events = logs->last_event;
                run->unread = false;
        }

        run_log_read(logs->client, run->recording, late_begin(run), lines, gaps);
        for (guint i = 0; i < lines->len; i++) {
                const LogLine *line = g_ptr_array_index(lines, i);

                run->time = MAX(run->time, line->time);
                add_line(logs, run, line);
        }
        if (run->cursors)
                g_hash_table_foreach_remove(run->cursors, is_too_old, run);

        return gaps ? recording_report_damage(run->recording) : EXIT_SUCCESS;
}

static gint compare_items(gconstpointer a, gconstpointer b) {
        const Item *first = *(const Item *const *) a, *second = *(const Item *const *) b;

        if (first->time != second->time)
                return first->time < second->time ? -1 : 1;
        return first->order < second->order ? -1 : first->order > second->order;
}

/* Prints the last lines, or all of them. */
static void print_items(Logs *logs, guint64 n_max) {
        guint64 skipped;

        g_ptr_array_sort(logs->items, compare_items);
        skipped = logs->items->len > n_max ? logs->items->len - n_max : 0;
        for (guint i = (guint) skipped; i < logs->items->len; i++) {
                guint index = logs->reverse ? logs->items->len - 1 - (i - (guint) skipped) : i;
                Item *item = g_ptr_array_index(logs->items, index);

                if (item->json)
                        output_print_json_line(g_steal_pointer(&item->json));
                else
                        puts(item->text->str);
        }

        fflush(stdout);
        g_ptr_array_set_size(logs->items, 0);
}

static void add_run(Logs *logs, const char *operand) {
        LoggedRun *run = g_new0(LoggedRun, 1);

        run->labels = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
        run->operand = g_strdup(operand);
        run->cursors = logs->watch ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) : NULL;
        g_ptr_array_add(logs->runs, run);
}

/* Adds the runs of an operand. For a tree, these are its unfinished runs. If there are none, recording_open() finds the
 * newest run. */
static int find_runs(Logs *logs, const char *operand) {
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        Client *client = logs->client;
        bool any = false;
        int status;

        status = target_is_run_id(operand) || strchr(operand, '/') ? EXIT_SUCCESS : record_files_find(client, &files);
        if (status == EXIT_SUCCESS && !files && !target_is_run_id(operand) && !strchr(operand, '/'))
                status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; runs && i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (target_names(operand, run) && !run_info_has_finished(run)) {
                        add_run(logs, run->id);
                        any = true;
                }
        }
        if (!any)
                add_run(logs, operand);

        return EXIT_SUCCESS;
}

static int read_options(Logs *logs) {
        const Options *options = &logs->client->options;
        bool follows = options_has(options, OPTION_FOLLOW);
        int status;

        logs->node = options->values[OPTION_NODE];
        logs->reverse = options_has(options, OPTION_REVERSE);
        if (follows && logs->reverse)
                return report_usage("--follow and --reverse cannot be given together");
        if (follows && options_has(options, OPTION_UNTIL))
                return report_usage("--follow and --until cannot be given together");

        status = options_time(options, OPTION_SINCE, &logs->since);
        if (status == EXIT_SUCCESS)
                status = options_time(options, OPTION_UNTIL, &logs->until);
        if (status == EXIT_SUCCESS)
                status = options_lines(options, &logs->n_lines);
        if (!options_has(options, OPTION_LINES) && follows && !options_has(options, OPTION_SINCE))
                logs->n_lines = LINES_FOLLOWED;
        if (!options_has(options, OPTION_LINES) && options_has(options, OPTION_PAGER_END))
                logs->n_lines = LINES_AT_END;
        return status;
}

/* Prints what is new, and ends when all runs are over. */
static void print_new(void *userdata) {
        bool over = true, was_over = true;
        Logs *logs = userdata;

        for (guint i = 0; i < logs->runs->len; i++) {
                LoggedRun *run = g_ptr_array_index(logs->runs, i);
                int status;

                was_over &= !run->recording->live;
                status = read_run(logs, run, NULL);
                if (status == EXIT_NO_DAEMON)
                        return; /* until it is back */
                if (status != EXIT_SUCCESS) {
                        watch_end(logs->watch, status);
                        return;
                }
                over &= !run->recording->live;
        }

        print_items(logs, UINT64_MAX);
        if (was_over || output_is_lost())
                watch_end(logs->watch, EXIT_SUCCESS);
        else if (over) /* once more, for lines that are late */
                watch_soon(logs->watch, print_new);
}

static void set_stale(Logs *logs, const char *id) {
        for (guint i = 0; i < logs->runs->len; i++) {
                LoggedRun *run = g_ptr_array_index(logs->runs, i);

                if (run->recording && (!id || strcmp(run->recording->record->header.run, id) == 0)) {
                        run->stale = run->recording->live;
                        watch_soon(logs->watch, print_new);
                }
        }
}

static void on_events(sd_bus_message *signal, void *userdata) {
        g_autofree char *id = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(signal), BTD_PATH "/run", &id) > 0)
                set_stale(userdata, id);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        set_stale(userdata, id);
}

static void on_back(const char *how, void *userdata) {
        Logs *logs = userdata;

        if (client_call(logs->client, NULL, BTD_PATH, BTD_MANAGER, "SubscribeEvents", NULL) == EXIT_SUCCESS)
                set_stale(logs, NULL);
}

static void on_journal(void *userdata) {
        Logs *logs = userdata;

        (void) sd_journal_process(logs->journal);
        watch_soon(logs->watch, print_new);
}

/* Watches before anything is read, so that nothing is missed. */
static int begin_to_follow(Logs *logs) {
        static const WatchCallbacks callbacks = {
                .events = on_events,
                .run_finished = on_run_finished,
                .back = on_back,
        };
        int status, fd;

        status = watch_new(logs->client, &callbacks, logs, &logs->watch);
        if (status == EXIT_SUCCESS)
                status = client_call(logs->client, NULL, BTD_PATH, BTD_MANAGER, "SubscribeEvents", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        /* Without a journal, there are only events. */
        if (sd_journal_open(&logs->journal, SD_JOURNAL_LOCAL_ONLY) < 0)
                return EXIT_SUCCESS;
        fd = sd_journal_get_fd(logs->journal);
        if (fd >= 0)
                (void) watch_fd(logs->watch, fd, on_journal);
        return EXIT_SUCCESS;
}

static int follow(Logs *logs) {
        bool over = true;
        int status;

        for (guint i = 0; i < logs->runs->len; i++)
                over &= !((const LoggedRun *) g_ptr_array_index(logs->runs, i))->recording->live;
        if (over || output_is_lost())
                return EXIT_SUCCESS;

        watch_wait_for_restart(logs->watch, true, false);
        status = watch_wait(logs->watch);
        /* Ctrl-C is a normal way to end it. */
        return status == EXIT_SIGNAL + SIGINT ? EXIT_SUCCESS : status;
}

/* Opens the recordings. Two operands can name the same run. */
static int open_recordings(Logs *logs) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        int result = EXIT_SUCCESS;

        for (guint i = 0; i < logs->runs->len;) {
                LoggedRun *run = g_ptr_array_index(logs->runs, i);
                int status = open_recording(logs, run);

                if (result == EXIT_SUCCESS)
                        result = status;
                if (status == EXIT_SUCCESS && g_hash_table_add(seen, run->recording->record->header.run))
                        i++;
                else
                        g_ptr_array_remove_index(logs->runs, i);
        }

        return result;
}

int verb_logs(Client *client, char **operands) {
        g_autoptr(GPtrArray) gaps = g_ptr_array_new_with_free_func(g_free);
        g_auto(Logs) logs = {
                .client = client,
                .runs = g_ptr_array_new_with_free_func(logged_run_free),
                .items = g_ptr_array_new_with_free_func(item_free),
        };
        bool follows = options_has(&client->options, OPTION_FOLLOW);
        int status;

        status = read_options(&logs);
        if (status == EXIT_SUCCESS && follows)
                status = begin_to_follow(&logs);
        for (char **operand = operands; status == EXIT_SUCCESS && *operand; operand++)
                status = find_runs(&logs, *operand);
        if (status != EXIT_SUCCESS)
                return status;

        /* An operand that is wrong does not hide the others. */
        status = open_recordings(&logs);
        for (guint i = 0; i < logs.runs->len; i++) {
                int result = read_run(&logs, g_ptr_array_index(logs.runs, i), gaps);

                if (status == EXIT_SUCCESS)
                        status = result;
        }
        if (status != EXIT_SUCCESS && logs.items->len == 0)
                return status;

        if (logs.items->len == 0 && !follows)
                client_say(client, "no entries");
        print_items(&logs, logs.n_lines);

        /* Several runs may have the same gap. */
        for (guint i = 0, first; i < gaps->len && !client->output.quiet; i++)
                if (g_ptr_array_find_with_equal_func(gaps, gaps->pdata[i], g_str_equal, &first) && first == i)
                        report_error("%s", (const char *) gaps->pdata[i]);

        return status == EXIT_SUCCESS && follows ? follow(&logs) : status;
}
