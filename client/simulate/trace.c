/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes the events of a simulation as lines, and compares them with a stored trace. */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "client/files.h"
#include "client/simulate/trace.h"
#include "client/view/event.h"

/* Seconds, with as few digits as possible. */
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
        bool said = g_str_equal(event->what, "warning"), left = g_str_equal(event->what, "running"),
             going_on = said || g_str_equal(event->what, "halting") || g_str_equal(event->what, "ready");
        json_object *json = json_object_new_object();

        json_object_object_add(json, "t", time_to_json(event->time));
        add_string(json, "event", going_on ? event->what : left ? "stopped" : "finished");
        if (!going_on && !left)
                add_string(json, "status", event->what);
        if (event->text)
                add_string(json, said ? "message" : "cause", event->text);

        return json;
}

static void append_json(const Trace *trace, GString *line, const SimulationEvent *event) {
        g_autoptr(json_object) json =
                event->node == NODE_NONE ? run_event_to_json(event) : node_event_to_json(trace, event);

        g_autofree char *text = output_json_text(json, 0);

        g_string_append(line, text);
}

void trace_append_line(const Trace *trace, const Output *output, GString *line, const SimulationEvent *event) {
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(trace->tree, event->node);
        g_autofree char *stamp = NULL;
        const Event shown = { .title = path ?: trace->title, .what = event->what, .text = event->text };

        if (output->json) {
                append_json(trace, line, event);
                return;
        }

        stamp = event_stamp(event->time);
        event_append(output, line, stamp, &shown);
}

/* Number of lines to show before a difference. */
#define CONTEXT 3u

struct Expectation {
        char **lines;
        unsigned n_lines, n_equal;
        char *other; /* the actual line at the first difference, or NULL. Later ones follow from it. */
};

Expectation *expectation_read(const char *path, char **ret_error) {
        g_autofree char *text = NULL;
        Expectation *expectation;
        size_t length;
        int r;

        r = file_read(path, &text, &length);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s cannot be read: %s", path, g_strerror(-r));
                return NULL;
        }

        if (length == 0 || !g_utf8_validate(text, (gssize) length, NULL)) {
                *ret_error = g_strdup_printf("%s is not a trace, as 'btctl simulate FILE > TRACE' writes it", path);
                return NULL;
        }

        if (g_str_has_suffix(text, "\n"))
                text[length - 1] = 0;

        expectation = g_new0(Expectation, 1);
        expectation->lines = g_strsplit(text, "\n", -1);
        expectation->n_lines = g_strv_length(expectation->lines);
        return expectation;
}

void expectation_free(Expectation *expectation) {
        if (!expectation)
                return;

        g_strfreev(expectation->lines);
        g_free(expectation->other);
        g_free(expectation);
}

bool expectation_is_json(const Expectation *expectation) {
        return expectation->n_lines > 0 && expectation->lines[0][0] == '{';
}

bool expectation_is_ascii(const Expectation *expectation) {
        for (char **line = expectation->lines; *line; line++)
                if (!g_str_is_ascii(*line))
                        return false;

        return true;
}

void expectation_compare(Expectation *expectation, const char *line) {
        if (expectation->other)
                return;

        if (expectation->n_equal < expectation->n_lines && g_str_equal(expectation->lines[expectation->n_equal], line))
                expectation->n_equal++;
        else
                expectation->other = g_strdup(line);
}

char *expectation_difference(Expectation *expectation, unsigned *ret_line) {
        unsigned n = expectation->n_equal;
        bool too_few = n < expectation->n_lines;
        GString *text;

        if (!too_few && !expectation->other)
                return NULL;

        text = g_string_new(NULL);
        for (unsigned i = n - MIN(n, CONTEXT); i < n; i++)
                g_string_append_printf(text, "  %s\n", expectation->lines[i]);

        g_string_append_printf(text, "- %s\n", too_few ? expectation->lines[n] : "(nothing more)");
        g_string_append_printf(text, "+ %s", expectation->other ?: "(nothing more)");
        *ret_line = n + 1;
        return g_string_free(text, false);
}

unsigned expectation_count(const Expectation *expectation) {
        return expectation->n_lines;
}
