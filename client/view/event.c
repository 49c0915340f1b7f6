/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes events of runs as text and JSON, for all verbs that print events: the same event is the same line in each. */

#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/excerpt.h"
#include "client/view/event.h"
#include "client/view/style.h"

/* The words for events that are not a change of status. */
static const struct {
        const char *what, *words;
} phrases[] = {
        { "started", "started" },
        { "cut", "earlier events are not kept" },
        { "set", "set" },
        { "timer", "its timer has expired" },
        { "suspended", "the machine was suspended for " },
        { "resumed", "resumed" },
        { "stepped", "stepped by one tick" },
        { "breakpoint", "breakpoint set" },
        { "cleared", "breakpoint removed" },
        { "stands", "paused at its breakpoint" },
        { "forced", "outcome set to " },
        { "locked", "got the lock " },
        { "recovered", "recovered after btd was restarted" },
        { "rerun", "started again after btd was restarted" },
};

static const char *words_of(const char *what) {
        for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++)
                if (g_str_equal(phrases[i].what, what))
                        return phrases[i].words;

        return NULL;
}

/* "who="eth0", n=3". Long values, such as the output of a program, are shortened. */
static void append_values(const Output *output, GString *line, json_object *values) {
        const char *separator = " ";

        json_object_object_foreach(values, key, value) {
                const char *text =
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = excerpt(text, strlen(text));

                output_appendf(output, line, STYLE_PLAIN, "%s%s=%s", separator, key, shown);
                separator = ", ";
        }
}

static void append_phrase(const Output *output, GString *line, const Event *event, const char *words) {
        style_append_symbol(output, line, event->what);
        output_appendf(output, line, STYLE_PLAIN, " %s: %s", event->title, words);
        if (event->text)
                output_appendf(output, line, STYLE_PLAIN, "%s%s", g_str_has_suffix(words, " ") ? "" : " ", event->text);
}

void event_append(const Output *output, GString *line, const char *stamp, const Event *event) {
        const char *words = words_of(event->what);

        if (*stamp) {
                output_append(output, line, STYLE_DIM, stamp);
                g_string_append_c(line, ' ');
        }
        if (words)
                append_phrase(output, line, event, words);
        else
                style_append_event(output, line, event->title, event->what, event->duration, event->text ?: "");
        if (event->values && json_object_object_length(event->values) > 0) {
                if (event->text)
                        g_string_append_c(line, ',');
                output_append(output, line, STYLE_PLAIN, g_str_equal(event->what, "started") ? " with" : "");
                append_values(output, line, event->values);
        }
}

char *event_stamp(uint64_t offset) {
        return g_strdup_printf("%8.3fs", (double) offset / G_USEC_PER_SEC);
}

static void print_event(const Output *output, const char *stamp, const Event *event) {
        g_autoptr(GString) line = g_string_new(NULL);

        event_append(output, line, stamp, event);
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
                print_event(output, stamp, &(Event){ .title = run, .what = "started" });
}

void event_print_ready(const Output *output, const char *stamp, const char *run) {
        if (output->json)
                output_print_json_line(json_new("run-ready", run));
        else
                print_event(output, stamp, &(Event){ .title = run, .what = "ready" });
}

void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause) {
        json_object *json;

        if (!output->json) {
                print_event(output, stamp,
                            &(Event){ .title = run, .what = status, .duration = duration, .text = cause });
                return;
        }

        json = json_new("run-finished", run);
        json_object_object_add(json, "status", json_object_new_string(status));
        json_object_object_add(json, "cause", json_object_new_string(cause));
        output_print_json_line(json);
}

/* A node that has just started, and one that was halted, may still wait for something: that is no part of the event.
 * The cause of a halt is. */
static void print_node(const Output *output, const char *stamp, const NodeInfo *node, const GPtrArray *known) {
        g_autofree char *path = node_info_path(known, node->index);
        bool running = strcmp(node->status, "running") == 0, halted = strcmp(node->status, "halted") == 0;
        Event event = { .title = path, .what = node->status };

        if (!running) {
                event.duration = node->duration;
                event.text = halted ? node->halt_cause : node->detail;
        }
        print_event(output, stamp, &event);
}

static bool any_halted(const GPtrArray *nodes) {
        for (guint i = 0; i < nodes->len; i++)
                if (strcmp(((const NodeInfo *) g_ptr_array_index(nodes, i))->status, "halted") == 0)
                        return true;

        return false;
}

void event_print_nodes(Client *client, const char *stamp, const char *run, const char *run_path,
                       const GPtrArray *changed, const GPtrArray *known) {
        if (!client->output.json && any_halted(changed))
                node_info_get_halt_causes(client, run_path, changed);

        for (guint i = 0; i < changed->len; i++) {
                const NodeInfo *node = g_ptr_array_index(changed, i);

                if (client->output.json) {
                        json_object *json = json_new("node-changed", run);

                        json_object_object_add(json, "node", node_info_to_json(node, known));
                        output_print_json_line(json);
                } else {
                        print_node(&client->output, stamp, node, known);
                }
        }
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
