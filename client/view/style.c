/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the symbols, colours and words of statuses and events, and the formats of times, for all verbs: the same event
 * is the same line in each. */

#include <glib.h>
#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/span.h"
#include "client/view/style.h"

typedef struct StatusStyle {
        const char *status;
        Style style;
        const char *symbol, *ascii;
} StatusStyle;

static const StatusStyle status_styles[] = {
        { "idle", STYLE_DIM, "○", "-" },          { "running", STYLE_CYAN, "●", "*" },
        { "success", STYLE_GREEN, "✓", "+" },     { "failure", STYLE_RED, "✗", "x" },
        { "skipped", STYLE_DIM, "↷", "~" },       { "halted", STYLE_MAGENTA, "■", "#" },
        { "halting", STYLE_MAGENTA, "●", "*" },   { "paused", STYLE_YELLOW, "‖", "=" },
        { "error", STYLE_RED, "!", "!" },         { "ok", STYLE_GREEN, "✓", "+" },
        { "broken", STYLE_YELLOW, "!", "!" },     { "failed", STYLE_RED, "✗", "x" },
        { "stopping", STYLE_MAGENTA, "●", "*" },  { "log", STYLE_PLAIN, "»", ">" },
        { "warning", STYLE_YELLOW, "!", "!" },    { "waiting", STYLE_YELLOW, "●", "*" },
        { "started", STYLE_CYAN, "»", ">" },      { "cut", STYLE_DIM, "·", "." },
        { "resumed", STYLE_CYAN, "»", ">" },      { "stepped", STYLE_CYAN, "»", ">" },
        { "set", STYLE_CYAN, "»", ">" },          { "breakpoint", STYLE_YELLOW, "‖", "=" },
        { "cleared", STYLE_YELLOW, "‖", "=" },    { "at-breakpoint", STYLE_YELLOW, "‖", "=" },
        { "forced", STYLE_YELLOW, "!", "!" },     { "timer", STYLE_DIM, "·", "." },
        { "locked", STYLE_DIM, "·", "." },        { "recovered", STYLE_CYAN, "»", ">" },
        { "connected", STYLE_DIM, "·", "." },     { "rerun", STYLE_CYAN, "»", ">" },
        { "ready", STYLE_GREEN, "»", ">" },       { "suspended", STYLE_DIM, "·", "." },
        { "unfinished", STYLE_YELLOW, "●", "*" }, { "damaged", STYLE_RED, "!", "!" },
        { "no file", STYLE_PLAIN, "○", "-" },     { "lost", STYLE_RED, "!", "!" },
        { "queued", STYLE_CYAN, "»", ">" },       { "missed", STYLE_YELLOW, "!", "!" },
};

static const StatusStyle unknown_style = { NULL, STYLE_PLAIN, "?", "?" };

static const StatusStyle *find_style(const char *status) {
        for (size_t i = 0; i < G_N_ELEMENTS(status_styles); i++)
                if (strcmp(status_styles[i].status, status) == 0)
                        return &status_styles[i];

        return &unknown_style;
}

void style_append_symbol(const Output *output, GString *line, const char *status) {
        const StatusStyle *style = find_style(status);

        output_append(output, line, style->style, output->ascii ? style->ascii : style->symbol);
}

void style_append_word(const Output *output, GString *line, const char *status) {
        output_append(output, line, find_style(status)->style, status);
}

void style_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                          const char *detail) {
        bool going_on = strcmp(status, "running") == 0 || strcmp(status, "waiting") == 0 ||
                        strcmp(status, "halting") == 0 || strcmp(status, "paused") == 0;

        if (duration > 0) {
                g_autofree char *span = span_format_rounded(duration);

                output_appendf(output, line, STYLE_DIM, " %s %s", going_on ? "for" : "after", span);
        }

        /* The cause of a halted run is "halted by ...", so "halted" is not repeated. */
        if (*detail && g_str_has_prefix(detail, status) && detail[strlen(status)] == ' ')
                output_append(output, line, STYLE_PLAIN, detail + strlen(status));
        else if (*detail)
                output_appendf(output, line, STYLE_PLAIN, "%s%s", going_on ? ", " : ": ", detail);
}

void style_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                        const char *detail) {
        style_append_symbol(output, line, status);
        output_appendf(output, line, STYLE_PLAIN, " %s: ", title);
        style_append_word(output, line, status);
        if (duration > 0 && (strcmp(status, "paused") == 0 || strcmp(status, "halting") == 0)) {
                g_autofree char *span = span_format_rounded(duration);

                output_appendf(output, line, STYLE_DIM, ", started %s ago", span);
                duration = 0;
        }
        style_append_outcome(output, line, status, duration, detail);
}

static char *format_local(uint64_t time, const char *format) {
        g_autoptr(GDateTime) local = g_date_time_new_from_unix_local(time / G_USEC_PER_SEC);

        return local ? g_date_time_format(local, format) : g_strdup("?");
}

char *time_format_date(uint64_t time) {
        return format_local(time, "%Y-%m-%d %H:%M:%S");
}

char *time_format_point(uint64_t time) {
        g_autofree char *date = format_local(time, "%a %Y-%m-%d %H:%M:%S %Z");
        uint64_t now = g_get_real_time();
        g_autofree char *ago = span_format_rounded(now > time ? now - time : 0);

        return g_strdup_printf("%s; %s ago", date, ago);
}

/* The words for events that are not a change of status. */
static const struct {
        const char *what, *words;
} phrases[] = {
        { "started", "started" },
        { "cut", "earlier events are not kept" },
        { "set", "set" },
        { "timer", "its timer has expired" },
        { "suspended", "the machine was suspended for " },
        { "paused", "paused" },
        { "resumed", "resumed" },
        { "stepped", "stepped by one tick" },
        { "breakpoint", "breakpoint set" },
        { "cleared", "breakpoint removed" },
        { "at-breakpoint", "paused at a breakpoint" },
        { "forced", "outcome set to " },
        { "locked", "got the lock " },
        { "connected", "got a connection of its own to " },
        { "queued", "a signal is kept for its next execution" },
        { "missed", "missed " },
        { "recovered", "recovered after btd was restarted" },
        { "rerun", "started again after btd was restarted" },
};

void event_append(const Output *output, GString *line, const char *stamp, const char *run, const char *path,
                  const RunEvent *event) {
        const char *words = NULL, *title = event->label ?: path ?: run;

        for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++)
                if (g_str_equal(phrases[i].what, event->what))
                        words = phrases[i].words;

        if (*stamp) {
                output_append(output, line, STYLE_DIM, stamp);
                g_string_append_c(line, ' ');
        }
        /* With a duration, "paused" is the state in which a record ends. */
        if (words && event->duration == 0) {
                style_append_symbol(output, line, event->what);
                output_appendf(output, line, STYLE_PLAIN, " %s: %s", title, words);
                if (event->text)
                        output_appendf(output, line, STYLE_PLAIN, "%s%s", g_str_has_suffix(words, " ") ? "" : " ",
                                       event->text);
        } else if (g_str_equal(event->what, "waiting")) { /* "A: waiting for the lock 'disk'" */
                style_append_event(output, line, title, event->what, 0, "");
                if (event->text)
                        output_appendf(output, line, STYLE_PLAIN, " %s", event->text);
        } else if (event->waited > 0) { /* "A: running, waited 2s" */
                g_autofree char *span = span_format_rounded(event->waited);

                style_append_event(output, line, title, event->what, 0, "");
                output_appendf(output, line, STYLE_PLAIN, ", waited %s", span);
        } else
                style_append_event(output, line, title, event->what, event->duration, event->text ?: "");
        if (event->values && json_object_object_length(event->values) > 0) {
                const char *separator = " ";

                if (event->text || event->duration > 0)
                        g_string_append_c(line, ',');
                output_append(output, line, STYLE_PLAIN, g_str_equal(event->what, "started") ? " with" : "");

                /* "who="eth0", n=3". Long values, such as the output of a program, are shortened. */
                json_object_object_foreach(event->values, key, value) {
                        const char *text = json_object_to_json_string_ext(
                                value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
                        g_autofree char *shown = excerpt(text, strlen(text));

                        output_appendf(output, line, STYLE_PLAIN, "%s%s=%s", separator, key, shown);
                        separator = ", ";
                }
        }
}

char *event_stamp(uint64_t offset) {
        return g_strdup_printf("%8.3fs", (double) offset / G_USEC_PER_SEC);
}

static void add_text(json_object *json, const char *key, const char *text) {
        json_object_object_add(json, key, json_object_new_string(text));
}

json_object *event_to_json(const char *run, const char *path, uint64_t time, const RunEvent *event) {
        json_object *json = json_object_new_object();

        if (event->number > 0)
                json_object_object_add(json, "number", json_object_new_uint64(event->number));
        if (time > 0)
                json_object_object_add(json, "time_usec", json_object_new_uint64(time));
        json_object_object_add(json, "offset_usec", json_object_new_uint64(event->time));
        add_text(json, "event", event->what);
        add_text(json, "run", run);
        if (path) {
                json_object_object_add(json, "node", json_object_new_uint64(event->node));
                add_text(json, "path", path);
                if (event->label)
                        add_text(json, "label", event->label);
        }
        if (event->duration > 0)
                json_object_object_add(json, "duration_usec", json_object_new_uint64(event->duration));
        if (event->waited > 0)
                json_object_object_add(json, "waited_usec", json_object_new_uint64(event->waited));
        if (event->text)
                add_text(json, "text", event->text);
        if (event->values)
                json_object_object_add(json, "variables", json_object_get(event->values));

        return json;
}

static void print_event(const Output *output, const char *stamp, const char *run, const RunEvent *event) {
        g_autoptr(GString) line = g_string_new(NULL);

        event_append(output, line, stamp, run, NULL, event);
        output_print_line(output, line);
        fflush(stdout);
}

static json_object *json_new(const char *event, const char *run) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "time_usec", json_object_new_int64(g_get_real_time()));
        json_object_object_add(json, "event", json_object_new_string(event));
        if (run)
                json_object_object_add(json, "run", json_object_new_string(run));

        return json;
}

void event_print_started(const Output *output, const char *stamp, const char *run) {
        if (output->json)
                output_print_json_line(json_new("run-new", run));
        else
                print_event(output, stamp, run, &(RunEvent){ .node = NODE_NONE, .what = "started" });
}

void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause) {
        json_object *json;

        if (!output->json) {
                print_event(output, stamp, run,
                            &(RunEvent){
                                    .node = NODE_NONE,
                                    .what = status,
                                    .duration = duration,
                                    .text = (char *) cause,
                            });
                return;
        }

        json = json_new("run-finished", run);
        json_object_object_add(json, "status", json_object_new_string(status));
        json_object_object_add(json, "cause", json_object_new_string(cause));
        output_print_json_line(json);
}

void event_print_reloaded(const Output *output, const char *stamp, char **errors) {
        g_autoptr(GString) line = g_string_new(NULL);

        if (output->json) {
                json_object *json = json_new("reloaded", NULL);

                json_object_object_add(json, "errors", output_strings_to_json(errors));
                return output_print_json_line(json);
        }

        output_append(output, line, STYLE_DIM, stamp);
        output_append(output, line, STYLE_PLAIN, *errors ? " trees reloaded, with errors:" : " trees reloaded");
        output_print_line(output, line);
        for (char **error = errors; *error; error++) {
                output_append(output, line, STYLE_PLAIN, *error);
                output_print_line(output, line);
        }
        fflush(stdout);
}
