/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows a run live or, from its run record, at any of its events. What a pane shows is read from btd when the pane is
 * drawn, so a pane that is not open costs nothing. */

#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <syslog.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "basic/span.h"
#include "client/recording/recording.h"
#include "client/view/run-log.h"
#include "client/view/run-view.h"
#include "client/view/style.h"
#include "client/view/text.h"
#include "client/watch/run-screen.h"
#include "client/watch/screen.h"

/* How many events before the opening of a running run are read, and how many are kept. */
#define EVENTS_BEFORE 500u
#define EVENTS_MAX 20000u
/* How long a changed variable is lit up. */
#define LIT_USEC (3 * G_USEC_PER_SEC)
/* How often panes are read again. The log is read from its begin, so for at most this part of the time. */
#define PANE_USEC (G_USEC_PER_SEC / 2)
#define LOG_USEC (2 * G_USEC_PER_SEC)
#define LOG_SHARE 20
/* How long a node that runs or has failed is kept in sight while others change: if many do, nobody can read more. */
#define STAY_USEC (2 * G_USEC_PER_SEC)
/* How many notes about missing lines of the log are shown. */
#define NOTES_MAX 2
/* How often details of nodes are read again that change with time, such as "times out in 3s". */
#define DETAILS_USEC G_USEC_PER_SEC

typedef enum Pane {
        PANE_EVENTS,
        PANE_VARIABLES,
        PANE_CAUSE,
        PANE_LOG,
        PANE_MAX_,
} Pane;

static const char *const pane_names[PANE_MAX_] = { "1 Events", "2 Variables", "3 Cause", "4 Log" };

typedef struct Shown {
        RunEvent event;
        char *path;
} Shown;

struct RunScreen {
        Client *client;
        RunInfo *run;
        TreeRows *rows;
        uint32_t cursor;         /* a node */
        uint32_t top;            /* the first row of the tree that is drawn */
        uint32_t page;           /* how many rows were drawn */
        bool follows;            /* keeps what runs or fails in sight */
        int64_t followed;        /* when the cursor moved to it: CLOCK_MONOTONIC µs */
        bool stale_run;          /* the state of the run has changed */
        bool connected;          /* btd can be asked */
        int64_t details_read;    /* CLOCK_MONOTONIC µs */
        GHashTable *breakpoints; /* of nodes */

        Pane pane;
        unsigned scroll;  /* how many lines the pane is scrolled: of events and the log, back from the end */
        GArray *events;   /* of Shown */
        GPtrArray *lines; /* of the other panes */
        bool stale_pane;
        int64_t pane_read, pane_took;
        uint32_t pane_node; /* the node whose cause the pane has */
        GHashTable *values; /* name of a variable -> its text */
        GHashTable *lit;    /* name -> until when, int64_t */

        Recording *recording; /* NULL: never looked back */
        Replay *replay;       /* NULL: shows the present */
        uint64_t at;          /* the last event that is shown then */
        bool only_past;       /* only the run record is there */
        GArray *stops; /* the last event of each input, uint64_t; the keys for the past go from one to the next */
        int64_t steps; /* how many of them these keys want to go */

        char *sought;
};

static void clear_shown(void *data) {
        Shown *shown = data;

        run_event_clear(&shown->event);
        g_free(shown->path);
}

static int open_past(RunScreen *screen);
static int go_to(RunScreen *screen, uint64_t event);

int run_screen_new(Client *client, const RunInfo *run, RunScreen **ret_screen) {
        g_autoptr(RunScreen) screen = g_new0(RunScreen, 1);
        int status;

        screen->client = client;
        screen->run = g_new0(RunInfo, 1);
        *screen->run = (RunInfo){
                .id = g_strdup(run->id),
                .path = g_strdup(run->path),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .status = g_strdup(run->status),
                .started = run->started,
                .finished = run->finished,
                .cause = g_strdup(run->cause),
                .restart = g_strdup(run->restart ?: ""),
        };
        screen->follows = true;
        screen->stale_pane = true;
        screen->events = g_array_new(false, true, sizeof(Shown));
        g_array_set_clear_func(screen->events, clear_shown);
        screen->lines = g_ptr_array_new_with_free_func(g_free);
        screen->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        screen->lit = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        screen->breakpoints = g_hash_table_new(NULL, NULL);
        screen->stops = g_array_new(false, false, sizeof(uint64_t));
        screen->only_past = !run->path;

        status = screen->only_past ? open_past(screen) : run_screen_read(screen);
        if (status == EXIT_SUCCESS && screen->only_past)
                status = go_to(screen, screen->at);
        if (status != EXIT_SUCCESS)
                return status;

        *ret_screen = g_steal_pointer(&screen);
        return EXIT_SUCCESS;
}

void run_screen_free(RunScreen *screen) {
        if (!screen)
                return;

        run_info_free(screen->run);
        tree_rows_free(screen->rows);
        g_array_unref(screen->events);
        g_ptr_array_unref(screen->lines);
        g_hash_table_unref(screen->values);
        g_hash_table_unref(screen->lit);
        g_hash_table_unref(screen->breakpoints);
        g_array_unref(screen->stops);
        replay_free(screen->replay);
        recording_free(screen->recording);
        g_free(screen->sought);
        g_free(screen);
}

const RunInfo *run_screen_run(const RunScreen *screen) {
        return screen->run;
}

static uint32_t cursor_row(RunScreen *screen) {
        return tree_rows_find(screen->rows, screen->cursor);
}

uint32_t run_screen_node(RunScreen *screen) {
        return tree_rows_node(screen->rows, cursor_row(screen));
}

char *run_screen_node_path(RunScreen *screen) {
        uint32_t node = run_screen_node(screen);

        return node != NODE_INFO_ROOT ? node_info_path(tree_rows_nodes(screen->rows), node) : NULL;
}

static void set_nodes(RunScreen *screen, GPtrArray *nodes) {
        screen->stale_pane = true;
        if (screen->rows && tree_rows_replace(screen->rows, nodes))
                return;

        tree_rows_free(screen->rows);
        screen->rows = tree_rows_new(nodes);
}

bool run_screen_is_back(const RunScreen *screen) {
        return screen->replay && !run_info_has_finished(screen->run);
}

bool run_screen_has_breakpoint(RunScreen *screen) {
        return g_hash_table_contains(screen->breakpoints, GUINT_TO_POINTER(run_screen_node(screen)));
}

void run_screen_refresh(RunScreen *screen) {
        screen->stale_run = true;
        screen->stale_pane = true;
}

void run_screen_take_finished(RunScreen *screen, const char *status, const char *cause) {
        RunInfo *run = screen->run;

        run_screen_refresh(screen);
        if (run_info_has_finished(run))
                return;
        g_free(run->status);
        g_free(run->cause);
        run->status = g_strdup(status);
        run->cause = g_strdup(cause);
        run->finished = (uint64_t) g_get_real_time();
}

void run_screen_resize(RunScreen *screen) {
        screen->stale_pane = true;
}

static void read_breakpoints(RunScreen *screen) {
        g_autoptr(sd_bus_message) reply = NULL;
        const uint32_t *nodes;
        size_t size;

        g_hash_table_remove_all(screen->breakpoints);
        if (sd_bus_get_property(screen->client->bus, BTD_NAME, screen->run->path, BTD_RUN, "Breakpoints", NULL, &reply,
                                "au") < 0 ||
            sd_bus_message_read_array(reply, SD_BUS_TYPE_UINT32, (const void **) &nodes, &size) < 0)
                return;
        for (size_t i = 0; i < size / sizeof(*nodes); i++)
                g_hash_table_add(screen->breakpoints, GUINT_TO_POINTER(nodes[i]));
}

static void read_run(RunScreen *screen) {
        g_autoptr(GPtrArray) runs = NULL;

        screen->stale_run = false;
        if (screen->only_past || run_info_list(screen->client, &runs) != EXIT_SUCCESS)
                return;

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (!g_str_equal(run->id, screen->run->id))
                        continue;
                run_info_free(screen->run);
                screen->run = g_ptr_array_steal_index(runs, i);
                read_breakpoints(screen);
                return;
        }

        /* Shows the end of a run that is not an object any more. */
        screen->only_past = true;
        g_clear_pointer(&screen->run->path, g_free);
        g_hash_table_remove_all(screen->breakpoints);
        if (open_past(screen) == EXIT_SUCCESS)
                (void) go_to(screen, screen->at);
}

int run_screen_read(RunScreen *screen) {
        GPtrArray *nodes;
        int status;

        read_run(screen);
        if (screen->replay || screen->only_past)
                return EXIT_SUCCESS;

        status = node_info_of_run(screen->client, screen->run->path, &nodes);
        if (status == EXIT_SUCCESS)
                set_nodes(screen, nodes);
        return status;
}

static uint64_t last_event(const RunScreen *screen) {
        guint n = screen->events->len;

        return n > 0 ? g_array_index(screen->events, Shown, n - 1).event.number : 0;
}

/* UINT64_MAX: btd does not have the run any more. */
static uint64_t last_event_of_run(const RunScreen *screen) {
        uint64_t last = 0;

        if (screen->only_past || client_try_get(screen->client, screen->run->path, "LastEvent", 't', &last) < 0)
                return UINT64_MAX;

        return last;
}

uint64_t run_screen_first_event(const RunScreen *screen) {
        uint64_t last = last_event_of_run(screen);

        return last == UINT64_MAX ? last : MAX(last_event(screen), last > EVENTS_BEFORE ? last - EVENTS_BEFORE : 0);
}

bool run_screen_lacks_end(const RunScreen *screen) {
        uint64_t last = run_info_has_finished(screen->run) ? last_event_of_run(screen) : UINT64_MAX;

        return last != UINT64_MAX && last > last_event(screen);
}

void run_screen_take_nodes(RunScreen *screen, GPtrArray *nodes) {
        if (screen->replay)
                return;

        tree_rows_merge(screen->rows, nodes);
        screen->stale_pane |= screen->pane == PANE_CAUSE;
}

static void add_event(RunScreen *screen, const char *path, const RunEvent *event) {
        const Shown shown = { .event = run_event_copy(event), .path = g_strdup(path) };

        if (screen->events->len >= EVENTS_MAX) {
                Shown *first;
                RunEvent told;

                /* The first line takes the place of the events that are not kept. */
                g_array_remove_range(screen->events, 0, EVENTS_MAX / 2);
                first = &g_array_index(screen->events, Shown, 0);
                told = (RunEvent){
                        .number = first->event.number,
                        .time = first->event.time,
                        .node = NODE_NONE,
                        .what = "warning",
                        .text = g_strdup_printf("%" PRIu64
                                                " earlier events are not shown here; 'btctl show %s' shows them",
                                                first->event.number, screen->run->id),
                };
                clear_shown(first);
                *first = (Shown){ .event = told };
        }
        g_array_append_val(screen->events, shown);
        screen->scroll += screen->pane == PANE_EVENTS && screen->scroll > 0;
}

void run_screen_take_event(RunScreen *screen, const char *path, const RunEvent *event) {
        /* Events of nodes that change the run, too. */
        static const char *const of_run[] = { "breakpoint", "cleared", "at-breakpoint", NULL };
        uint64_t last = last_event(screen);

        /* The run record may have had it already. */
        if (event->number > 0 && event->number <= last)
                return;

        /* Events that happened while btctl did not read are not read later: the run record has them. */
        if (event->number > last + 1) {
                g_autofree char *text = g_strdup_printf("%" PRIu64 " events are not shown here; Left reads them",
                                                        event->number - last - 1);
                const RunEvent gap = {
                        .number = last,
                        .time = event->time,
                        .node = NODE_NONE,
                        .what = "warning",
                        .text = text,
                };

                add_event(screen, NULL, &gap);
        }
        add_event(screen, path, event);
        if (screen->replay)
                return;
        screen->stale_run |= !path || g_strv_contains(of_run, event->what);
        screen->stale_pane |= screen->pane != PANE_EVENTS;
}

/* Back in time. */

static void on_past_event(const RunEvent *event, void *userdata) {
        RunScreen *screen = userdata;
        g_autofree char *path = event->node == NODE_NONE
                                        ? NULL
                                        : tree_node_path(definition_tree(screen->recording->definition), event->node);

        if (event->number == 0)
                return;
        add_event(screen, path, event);
        screen->at = event->number;
}

/* Reads the run record, all of its events, and the number of the last one. */
static int open_past(RunScreen *screen) {
        g_autofree char *error = NULL;
        int status;

        g_clear_pointer(&screen->replay, replay_free);
        g_clear_pointer(&screen->recording, recording_free);
        screen_note("reading the run record");
        status = recording_open(screen->client, screen->run->id, &screen->recording);
        if (status != EXIT_SUCCESS)
                return status;

        g_array_set_size(screen->events, 0);
        g_array_set_size(screen->stops, 0);
        if (recording_report(screen->recording, UINT64_MAX, on_past_event, screen, &error) < 0)
                return report_error("%s: %s", screen->run->id, error);
        return EXIT_SUCCESS;
}

static uint64_t replayed(const RunScreen *screen) {
        return screen->replay ? run_n_events(replay_run(screen->replay)) : 0;
}

static int begin_replay(RunScreen *screen, uint64_t event) {
        g_autofree char *error = NULL;

        g_clear_pointer(&screen->replay, replay_free);
        if (replay_new_after(screen->recording->record, screen->recording->definition, event, &screen->replay, &error) <
            0)
                return report_error("%s: %s", screen->run->id, error);
        return EXIT_SUCCESS;
}

/* Replays the inputs up to this event; an input can have several. */
static int step_to(RunScreen *screen, uint64_t event) {
        g_autofree char *error = NULL;
        int r = 1;

        while (r > 0 && replayed(screen) < event)
                r = replay_step(screen->replay, &error);
        return r < 0 ? report_error("%s: %s", screen->run->id, error) : EXIT_SUCCESS;
}

static uint64_t past_time(const RunScreen *screen) {
        return run_now(replay_run(screen->replay)) - screen->recording->record->header.start;
}

typedef struct Nearby {
        RunScreen *screen;
        uint64_t until;
} Nearby;

static void on_event_nearby(const RunEvent *event, void *userdata) {
        const Nearby *nearby = userdata;

        if (event->number <= nearby->until)
                on_past_event(event, nearby->screen);
}

/* The screen keeps only a part of the events of a long run. This reads another part, if the time that is shown is in
 * none of them. */
static int read_events_nearby(RunScreen *screen) {
        const Shown *first = screen->events->len > 0 ? &g_array_index(screen->events, Shown, 0) : NULL;
        const uint64_t at = screen->at;
        Nearby nearby = { .screen = screen, .until = at + EVENTS_MAX / 4 };
        g_autofree char *error = NULL;
        guint scroll = screen->scroll;
        int r;

        if (!first || first->event.number == 1 || (at > first->event.number && at <= last_event(screen)))
                return EXIT_SUCCESS;

        g_array_set_size(screen->events, 0);
        r = recording_report(screen->recording, UINT64_MAX, on_event_nearby, &nearby, &error);
        screen->at = at;
        screen->scroll = scroll;
        return r < 0 ? report_error("%s: %s", screen->run->id, error) : EXIT_SUCCESS;
}

static int go_to(RunScreen *screen, uint64_t event) {
        int status = screen->replay && replayed(screen) <= event ? EXIT_SUCCESS : begin_replay(screen, event);

        if (status == EXIT_SUCCESS)
                status = step_to(screen, event);
        if (status != EXIT_SUCCESS)
                return status;

        screen->at = replayed(screen);
        screen->pane_read = 0; /* read it at once */
        set_nodes(screen, recording_nodes_at(screen->recording, screen->replay, past_time(screen)));
        return read_events_nearby(screen);
}

/* Replays everything, once for each time that the past is looked at. */
static int find_stops(RunScreen *screen) {
        int status = begin_replay(screen, 0);
        uint64_t last = 0;

        g_array_set_size(screen->stops, 0);
        while (status == EXIT_SUCCESS) {
                status = step_to(screen, last + 1);
                if (replayed(screen) == last)
                        break;
                last = replayed(screen);
                g_array_append_val(screen->stops, last);
        }
        return status;
}

static void return_to_present(RunScreen *screen) {
        if (screen->only_past || !screen->replay)
                return;

        g_clear_pointer(&screen->replay, replay_free);
        screen->follows = true;
        (void) run_screen_read(screen);
}

static int look_back(RunScreen *screen) {
        int status = screen->replay ? EXIT_SUCCESS : open_past(screen);

        if (status == EXIT_SUCCESS && screen->stops->len == 0)
                status = find_stops(screen);
        return status;
}

/* A key that is held down can ask for more steps than can be drawn, so that all of them are taken at once. */
static void take_steps(RunScreen *screen) {
        int64_t steps = screen->steps, last, shown, to;

        screen->steps = 0;
        if (steps > 0 && !screen->replay)
                (void) report_error("the run is shown as it is now; Left goes back");
        if (steps == 0 || (steps > 0 && !screen->replay))
                return;
        screen->scroll = 0;
        if (look_back(screen) != EXIT_SUCCESS)
                return return_to_present(screen);

        last = (int64_t) screen->stops->len - 1;
        for (shown = last; shown >= 0 && g_array_index(screen->stops, uint64_t, shown) > screen->at;)
                shown--;
        to = shown + steps;
        if (to > last && !screen->only_past)
                return return_to_present(screen);
        if (last >= 0 && go_to(screen, g_array_index(screen->stops, uint64_t, CLAMP(to, 0, last))) != EXIT_SUCCESS)
                return return_to_present(screen);
        if (to < 0)
                (void) report_error("this is the first event that is kept");
        else if (to > last)
                (void) report_error("this is the last event");
}

/* A tenth of the run, for keys that go far. */
static int64_t many_steps(RunScreen *screen) {
        return look_back(screen) == EXIT_SUCCESS ? MAX(screen->stops->len / 10, 1) : 0;
}

/* The panes. */

static json_object *get_variables(RunScreen *screen) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *error = NULL;
        json_object *values;

        if (screen->replay)
                return blackboard_to_json(run_blackboard(replay_run(screen->replay)));
        if (client_call(screen->client, &reply, screen->run->path, BTD_RUN, "GetVariables", NULL) != EXIT_SUCCESS ||
            value_read_variable(reply, NULL, &values, &error) < 0)
                return NULL;

        return values;
}

static void read_variables(RunScreen *screen, int64_t now) {
        g_autoptr(json_object) values = get_variables(screen);
        bool first = g_hash_table_size(screen->values) == 0;

        if (!json_object_is_type(values, json_type_object))
                return;

        json_object_object_foreach(values, name, value) {
                const char *before = g_hash_table_lookup(screen->values, name),
                           *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
                                                                                 JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = excerpt(text, strlen(text));
                g_autoptr(GString) line = g_string_new(NULL);
                const int64_t *until;
                bool lit;

                if (!first && g_strcmp0(before, text) != 0) {
                        int64_t *time = g_new(int64_t, 1);

                        *time = now + LIT_USEC;
                        g_hash_table_insert(screen->lit, g_strdup(name), time);
                }
                g_hash_table_insert(screen->values, g_strdup(name), g_strdup(text));
                until = g_hash_table_lookup(screen->lit, name);
                lit = until && *until > now;

                /* Without colours, the mark says that it has changed. */
                output_appendf(&screen->client->output, line, lit ? STYLE_YELLOW : STYLE_PLAIN, "%s %s=%s",
                               lit ? "*" : " ", name, shown);
                g_ptr_array_add(screen->lines, g_string_free(g_steal_pointer(&line), false));
        }
        if (screen->lines->len == 0)
                g_ptr_array_add(screen->lines, g_strdup("The run has no variables."));
}

static json_object *get_cause(RunScreen *screen, uint32_t node) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *error = NULL;
        json_object *chain;

        if (screen->replay)
                return recording_causes(screen->recording, screen->replay, node);
        if (client_call(screen->client, &reply, screen->run->path, BTD_RUN, "GetCauseChain", "u", node) !=
                    EXIT_SUCCESS ||
            value_read_variable(reply, NULL, &chain, &error) < 0)
                return NULL;

        return chain;
}

static void read_cause(RunScreen *screen) {
        uint32_t node = run_screen_node(screen);
        g_autoptr(json_object) chain = node != NODE_INFO_ROOT ? get_cause(screen, node) : NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;
        gsize length;

        /* "Boot/Load: running, attempt 2 of 5; before: exited with status 3". Its row may be too short for that. */
        if (node != NODE_INFO_ROOT) {
                const NodeInfo *info = g_ptr_array_index(tree_rows_nodes(screen->rows), node);
                g_autofree char *path = run_screen_node_path(screen),
                                *description = g_strconcat(path, ": ", info->status, *info->detail ? ", " : "",
                                                           info->detail, NULL),
                                *clean = text_clean(description, screen->client->output.ascii);

                text_append_wrapped(text, clean, 0, screen_columns());
        }
        length = text->len;
        if (json_object_is_type(chain, json_type_array))
                cause_chain_append(&screen->client->output, text, chain);
        if (text->len == length)
                g_string_append(text, "This node has not failed, and was neither skipped nor halted.");
        lines = g_strsplit(text->str, "\n", -1);
        for (char **line = lines; *line; line++)
                if (**line || line[1])
                        g_ptr_array_add(screen->lines, g_strdup(*line));
}

static gint compare_lines(gconstpointer a, gconstpointer b) {
        const LogLine *first = *(const LogLine *const *) a, *second = *(const LogLine *const *) b;

        return (first->time > second->time) - (first->time < second->time);
}

/* At the end of the log, because the pane shows that first; but not so much that no lines of the log are left there. */
static void add_notes(RunScreen *screen, GPtrArray *gaps) {
        const Output *output = &screen->client->output;

        if (gaps->len > NOTES_MAX) {
                g_autofree char *text =
                        g_strdup_printf("some lines are missing, for %u reasons; 'btctl logs %s' says which", gaps->len,
                                        screen->run->id);

                g_ptr_array_set_size(gaps, 0);
                g_ptr_array_add(gaps, g_steal_pointer(&text));
        }
        for (guint i = 0; i < gaps->len; i++) {
                g_autofree char *clean = text_clean(g_ptr_array_index(gaps, i), output->ascii);
                g_autoptr(GString) wrapped = g_string_new(NULL);
                g_auto(GStrv) lines = NULL;

                text_append_wrapped(wrapped, clean, 0, screen_columns());
                lines = g_strsplit(wrapped->str, "\n", -1);
                for (char **line = lines; *line; line++)
                        if (**line) {
                                g_autoptr(GString) styled = g_string_new(NULL);

                                output_append(output, styled, STYLE_YELLOW, *line);
                                g_ptr_array_add(screen->lines, g_string_free(g_steal_pointer(&styled), false));
                        }
        }
}

static void read_log(RunScreen *screen) {
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func((GDestroyNotify) log_line_free),
                             gaps = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Recording) own = NULL;

        if (!screen->replay && recording_open(screen->client, screen->run->id, &own) != EXIT_SUCCESS)
                return;

        run_log_read(screen->client, screen->replay ? screen->recording : own, 0, lines, gaps);
        g_ptr_array_sort(lines, compare_lines);
        for (guint i = 0; i < lines->len; i++) {
                const LogLine *log = g_ptr_array_index(lines, i);
                g_autoptr(GString) line = g_string_new(NULL);
                g_autofree char *stamp = event_stamp(log->time);

                if (screen->replay && log->time > past_time(screen))
                        break;
                output_append(&screen->client->output, line, STYLE_DIM, stamp);
                output_appendf(&screen->client->output, line, log->priority <= LOG_ERR ? STYLE_RED : STYLE_PLAIN,
                               " %s: %s", log->identifier, log->message);
                g_ptr_array_add(screen->lines, g_string_free(g_steal_pointer(&line), false));
        }
        add_notes(screen, gaps);
        if (screen->lines->len == 0)
                g_ptr_array_add(screen->lines, g_strdup("No unit or process of this run has written to the journal."));
}

static void read_pane(RunScreen *screen) {
        int64_t now = g_get_monotonic_time(),
                pause = screen->pane == PANE_LOG ? MAX(LOG_USEC, screen->pane_took * LOG_SHARE) : PANE_USEC;
        bool moved = screen->pane == PANE_CAUSE && screen->pane_node != run_screen_node(screen),
             /* No signal tells that something was written to the log, or that a variable is not lit any more. */
                changes_silently = (screen->pane == PANE_LOG && !screen->replay && screen->lines->len > 0) ||
                                   (screen->pane == PANE_VARIABLES && g_hash_table_size(screen->lit) > 0);
        guint n = screen->lines->len;

        if (screen->pane == PANE_EVENTS || (!screen->connected && !screen->replay) ||
            (!moved && !(screen->pane_read == 0) &&
             (!(screen->stale_pane || changes_silently) || now - screen->pane_read < pause)))
                return;

        g_ptr_array_set_size(screen->lines, 0);
        screen->stale_pane = false;
        screen->pane_read = now;
        screen->pane_node = run_screen_node(screen);
        if (screen->pane == PANE_VARIABLES)
                read_variables(screen, now);
        else if (screen->pane == PANE_CAUSE)
                read_cause(screen);
        else
                read_log(screen);

        screen->pane_took = g_get_monotonic_time() - now;
        /* If the pane is scrolled, new lines do not move the lines that it shows. */
        if (screen->pane == PANE_LOG && screen->scroll > 0 && n > 0 && screen->lines->len > n)
                screen->scroll += screen->lines->len - n;
}

static bool keeps_end(const RunScreen *screen) {
        return screen->pane == PANE_EVENTS || screen->pane == PANE_LOG;
}

static void draw_pane(RunScreen *screen, unsigned row, unsigned rows) {
        guint n = screen->pane == PANE_EVENTS ? screen->events->len : screen->lines->len, most, first;

        /* In the past, later events do not count. */
        if (screen->pane == PANE_EVENTS && screen->replay)
                while (n > 0 && g_array_index(screen->events, Shown, n - 1).event.number > screen->at)
                        n--;
        most = n > rows ? n - rows : 0;
        screen->scroll = MIN(screen->scroll, most);
        first = keeps_end(screen) ? most - screen->scroll : screen->scroll;
        for (guint i = first; i < n && i < first + rows; i++) {
                if (screen->pane == PANE_EVENTS) {
                        const Shown *shown = &g_array_index(screen->events, Shown, i);
                        g_autofree char *stamp = event_stamp(shown->event.time);
                        g_autoptr(GString) line = g_string_new(NULL);

                        event_append(&screen->client->output, line, stamp, screen->run->id, shown->path, &shown->event);
                        screen_line(row + i - first, line->str, false);
                } else {
                        screen_line(row + i - first, g_ptr_array_index(screen->lines, i), false);
                }
        }
}

/* The tree, and the line above it. */

static void draw_header(RunScreen *screen) {
        const Output *output = &screen->client->output;
        g_autoptr(RunInfo) past =
                screen->replay ? recording_run_at(screen->recording, screen->replay, past_time(screen)) : NULL;
        const RunInfo *run = past ?: screen->run;
        g_autofree char *title = run_info_title(run);
        g_autoptr(GString) line = g_string_new(NULL);

        if (screen->replay) {
                g_autofree char *span = span_format_rounded(past_time(screen));

                output_appendf(output, line, STYLE_YELLOW, "[after %s: event %" PRIu64 " of %" PRIu64 "] ", span,
                               screen->at, last_event(screen));
        }
        if (tree_rows_only_failed(screen->rows))
                output_append(output, line, STYLE_YELLOW, "[only failed] ");
        if (tree_rows_only_changed(screen->rows))
                output_append(output, line, STYLE_YELLOW, "[only changed] ");
        style_append_event(output, line, title, run->status, run_info_duration(run),
                           *run->cause ? run->cause : run->restart);
        screen_line(0, line->str, false);
}

static void keep_in_sight(RunScreen *screen, unsigned rows) {
        uint32_t row, n = tree_rows_count(screen->rows), active = tree_rows_active(screen->rows);
        int64_t now = g_get_monotonic_time();
        bool stays = !screen->replay && tree_rows_is_active(screen->rows, screen->cursor) &&
                     now - screen->followed < STAY_USEC;

        if (screen->follows && active != screen->cursor && !stays) {
                screen->cursor = active;
                screen->followed = now;
        }
        row = cursor_row(screen);
        screen->page = rows;
        if (screen->top > row)
                screen->top = row;
        if (row >= screen->top + rows)
                screen->top = row + 1 - rows;
        screen->top = MIN(screen->top, n > rows ? n - rows : 0);
}

static bool shows_breakpoint(const RunScreen *screen, uint32_t node) {
        const GArray *past = screen->replay ? run_breakpoints(replay_run(screen->replay)) : NULL;

        if (!screen->replay)
                return g_hash_table_contains(screen->breakpoints, GUINT_TO_POINTER(node));
        for (guint i = 0; past && i < past->len; i++)
                if (g_array_index(past, NodeId, i) == node)
                        return true;

        return false;
}

static void draw_tree(RunScreen *screen, unsigned rows) {
        int64_t now = screen->replay ? 0 : g_get_monotonic_time();
        uint32_t n, cursor;

        keep_in_sight(screen, rows);
        if (!screen->replay && screen->connected && now - screen->details_read >= DETAILS_USEC) {
                g_autoptr(GArray) indices = g_array_new(false, false, sizeof(uint32_t));
                g_autoptr(GPtrArray) nodes = NULL;

                tree_rows_details(screen->rows, screen->top, screen->page, indices);
                if (indices->len > 0 &&
                    node_info_of_some(screen->client, screen->run->path, indices, &nodes) == EXIT_SUCCESS)
                        tree_rows_merge(screen->rows, nodes);
                screen->details_read = now;
        }

        n = tree_rows_count(screen->rows);
        cursor = cursor_row(screen);
        for (uint32_t i = screen->top; i < n && i < screen->top + rows; i++) {
                g_autoptr(GString) line = g_string_new(NULL);

                tree_rows_append(screen->rows, &screen->client->output, line, i, now);
                if (shows_breakpoint(screen, tree_rows_node(screen->rows, i)))
                        output_append(&screen->client->output, line, STYLE_YELLOW, " [breakpoint]");
                screen_line(1 + i - screen->top, line->str, i == cursor);
        }
        if (n == 0)
                screen_line(1, tree_rows_only_failed(screen->rows) ? "No node has failed." : "No node has changed.",
                            false);
}

void run_screen_draw(RunScreen *screen, unsigned rows, bool connected) {
        const Output *output = &screen->client->output;
        const char *dashes = output->ascii ? "--" : "──";
        g_autoptr(GString) panes = g_string_new(dashes);
        unsigned pane = MAX(rows / 3, 3), tree = rows > pane + 3 ? rows - pane - 2 : 1;

        screen->connected = connected;
        take_steps(screen);
        if (screen->stale_run && !screen->replay && connected)
                read_run(screen);
        draw_header(screen);
        draw_tree(screen, tree);

        for (Pane it = 0; it < PANE_MAX_; it++) {
                bool open = it == screen->pane;

                output_appendf(output, panes, open ? STYLE_BOLD : STYLE_DIM, open ? "[%s]" : " %s ", pane_names[it]);
                g_string_append(panes, dashes);
        }
        screen_line(tree + 1, panes->str, false);
        read_pane(screen);
        if (rows > tree + 2)
                draw_pane(screen, tree + 2, rows - tree - 2);
}

/* Keys. */

static void open_pane(RunScreen *screen, Pane pane) {
        screen->pane = pane;
        screen->scroll = 0;
        screen->pane_read = 0;
        screen->stale_pane = true;
        g_ptr_array_set_size(screen->lines, 0);
}

static void search(RunScreen *screen, bool backwards) {
        uint32_t node;

        if (!screen->sought)
                (void) report_error("there is no search to repeat; search with /");
        else if (!tree_rows_search(screen->rows, screen->sought, screen->cursor, backwards, &node))
                (void) report_error("no node with '%s'", screen->sought);
        else {
                screen->cursor = node;
                screen->follows = false;
        }
}

void run_screen_search(RunScreen *screen, const char *text) {
        g_free(screen->sought);
        screen->sought = g_strdup(text);
        search(screen, false);
}

static bool key_of_tree(RunScreen *screen, int key) {
        int64_t by = screen_key_rows(key, screen->page), n = tree_rows_count(screen->rows);
        uint32_t row, last;

        if (by != 0) {
                screen->follows = false;
                if (n > 0)
                        screen->cursor = tree_rows_node(screen->rows,
                                                        (uint32_t) CLAMP((int64_t) cursor_row(screen) + by, 0, n - 1));
                return true;
        }

        switch (key) {
        case '\n':
        case ' ':
                if (run_screen_node(screen) == NODE_INFO_ROOT)
                        return true; /* no row is shown */
                screen->cursor = run_screen_node(screen);
                screen->follows = false;
                tree_rows_toggle(screen->rows, screen->cursor);

                /* Scrolls, so that what was unfolded can be seen: as much of it as there is room below the cursor's
                 * row. */
                row = cursor_row(screen);
                last = tree_rows_last_below(screen->rows, row);
                if (last >= screen->top + screen->page)
                        screen->top = MIN(row, last + 1 - screen->page);
                return true;
        case '+':
        case '-':
        case '=':
                tree_rows_fold_all(screen->rows, key == '+'   ? TREE_FOLD_OPEN
                                                 : key == '-' ? TREE_FOLD_CLOSED
                                                              : TREE_FOLD_AUTO);
                return true;
        default:
                return false;
        }
}

bool run_screen_key(RunScreen *screen, int key) {
        if (key_of_tree(screen, key))
                return true;

        switch (key) {
        case KEY_OF_LEFT:
                screen->steps--;
                return true;
        case KEY_OF_RIGHT:
                screen->steps++;
                return true;
        case '<':
                screen->steps -= many_steps(screen);
                return true;
        case '>':
                screen->steps += screen->replay ? many_steps(screen) : 1;
                return true;
        case '\t':
                open_pane(screen, (screen->pane + 1) % PANE_MAX_);
                return true;
        case '1':
        case '2':
        case '3':
        case '4':
                open_pane(screen, (Pane) (key - '1'));
                return true;
        case 'K':
        case 'J':
                /* In a pane that keeps its end in sight, up is back. */
                if ((key == 'K') == keeps_end(screen))
                        screen->scroll++;
                else if (screen->scroll > 0)
                        screen->scroll--;
                return true;
        case 't':
                screen->steps = 0;
                if (screen->only_past)
                        (void) go_to(screen, last_event(screen));
                return_to_present(screen);
                screen->follows = true;
                return true;
        case 'n':
        case 'N':
                search(screen, key == 'N');
                return true;
        case 'f':
                tree_rows_show_failed(screen->rows, !tree_rows_only_failed(screen->rows));
                return true;
        case 'c':
                tree_rows_show_changed(screen->rows, !tree_rows_only_changed(screen->rows));
                return true;
        case 'C':
                tree_rows_forget_changes(screen->rows);
                return true;
        default:
                return false;
        }
}
