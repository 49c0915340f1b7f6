/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints events of runs as text or JSON, for start, halt and monitor. */

#include <stdio.h>
#include <string.h>

#include "client/view/event.h"
#include "client/view/style.h"

static GString *line_new(const Output *output, const char *stamp) {
        GString *line = g_string_new(NULL);

        output_append(output, line, STYLE_DIM, stamp);
        if (*stamp)
                g_string_append_c(line, ' ');

        return line;
}

static void print_now(const Output *output, GString *line) {
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
        g_autoptr(GString) line = line_new(output, stamp);

        if (output->json)
                return output_print_json_line(json_new("run-new", run));

        style_append_event(output, line, run, "running", 0, "");
        print_now(output, line);
}

void event_print_ready(const Output *output, const char *stamp, const char *run) {
        g_autoptr(GString) line = line_new(output, stamp);

        if (output->json)
                return output_print_json_line(json_new("run-ready", run));

        style_append_event(output, line, run, "ready", 0, "");
        print_now(output, line);
}

void event_print_finished(const Output *output, const char *stamp, const char *run, const char *status,
                          uint64_t duration, const char *cause) {
        g_autoptr(GString) line = line_new(output, stamp);

        if (output->json) {
                json_object *json = json_new("run-finished", run);

                json_object_object_add(json, "status", json_object_new_string(status));
                json_object_object_add(json, "cause", json_object_new_string(cause));
                return output_print_json_line(json);
        }

        style_append_event(output, line, run, status, duration, cause);
        print_now(output, line);
}

static void print_node(const Output *output, const char *stamp, const char *run, const NodeInfo *node,
                       const GPtrArray *known) {
        g_autofree char *path = node_info_path(known, node->index);
        g_autoptr(GString) line = line_new(output, stamp);
        bool running = strcmp(node->status, "running") == 0; /* it has just started */

        if (output->json) {
                json_object *json = json_new("node-changed", run);

                json_object_object_add(json, "node", node_info_to_json(node, known));
                return output_print_json_line(json);
        }

        style_append_event(output, line, path, node->status, running ? 0 : node->duration, node->detail);
        print_now(output, line);
}

void event_print_nodes(const Output *output, const char *stamp, const char *run, const GPtrArray *changed,
                       const GPtrArray *known) {
        for (guint i = 0; i < changed->len; i++)
                print_node(output, stamp, run, g_ptr_array_index(changed, i), known);
}

void event_print_reloaded(const Output *output, const char *stamp, char **errors) {
        g_autoptr(GString) line = line_new(output, stamp);

        if (output->json) {
                json_object *json = json_new("reloaded", NULL);

                json_object_object_add(json, "errors", output_strings_to_json(errors));
                return output_print_json_line(json);
        }

        output_append(output, line, STYLE_PLAIN, *errors ? "trees reloaded, with errors:" : "trees reloaded");
        print_now(output, line);
        for (char **error = errors; *error; error++) {
                output_append(output, line, STYLE_PLAIN, *error);
                print_now(output, line);
        }
}
