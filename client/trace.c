/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One line an event. */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "look.h"
#include "trace.h"

/* Seconds with as many digits as it takes. */
static json_object *time_to_json(uint64_t usec) {
        g_autofree char *digits =
                g_strdup_printf("%" PRIu64 ".%06" PRIu64, usec / G_USEC_PER_SEC, usec % G_USEC_PER_SEC);
        size_t length = strlen(digits);

        while (digits[length - 1] == '0')
                digits[--length] = 0;
        if (digits[length - 1] == '.')
                digits[--length] = 0;

        return json_object_new_double_s((double) usec / G_USEC_PER_SEC, digits);
}

static void add_string(json_object *json, const char *key, const char *value) {
        json_object_object_add(json, key, json_object_new_string(value));
}

static json_object *node_event_to_json(const Trace *trace, const SimulationEvent *event) {
        g_autofree char *path = tree_node_path(trace->tree, event->node);
        bool said = g_str_equal(event->what, "log") || g_str_equal(event->what, "warning");
        json_object *json = json_object_new_object();

        json_object_object_add(json, "t", time_to_json(event->time));
        add_string(json, "path", path);
        add_string(json, "event", event->what);
        if (event->text)
                add_string(json, said ? "message" : "cause", event->text);

        return json;
}

static json_object *run_event_to_json(const SimulationEvent *event) {
        bool halting = g_str_equal(event->what, "halting"), left = g_str_equal(event->what, "running");
        json_object *json = json_object_new_object();

        json_object_object_add(json, "t", time_to_json(event->time));
        add_string(json, "event", halting ? "halting" : left ? "stopped" : "finished");
        if (!halting && !left)
                add_string(json, "status", event->what);
        if (event->text)
                add_string(json, "cause", event->text);

        return json;
}

static void append_json(const Trace *trace, GString *line, const SimulationEvent *event) {
        g_autoptr(json_object) json =
                event->node == NODE_NONE ? run_event_to_json(event) : node_event_to_json(trace, event);

        g_string_append(line, json_object_to_json_string_ext(json, JSON_C_TO_STRING_NOSLASHESCAPE));
}

void trace_append_line(const Trace *trace, const Output *output, GString *line, const SimulationEvent *event) {
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(trace->tree, event->node);

        if (output->json) {
                append_json(trace, line, event);
                return;
        }

        output_appendf(output, line, STYLE_DIM, "%8.3fs", (double) event->time / G_USEC_PER_SEC);
        g_string_append_c(line, ' ');
        look_append_event(output, line, path ?: trace->title, event->what, 0, event->text ?: "");
}
