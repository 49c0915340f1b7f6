/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One line an event: when, what symbol, of what, what. */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "look.h"
#include "story-line.h"

/* What is told of events that are no change of status; the others have their word from there. */
static const struct {
        const char *what, *words;
} phrases[] = {
        { "started", "started" },
        { "cut", "what was before is not kept" },
        { "set", "set" },
        { "timer", "its time is over" },
        { "resumed", "resumed" },
        { "stepped", "goes one tick further" },
        { "breakpoint", "has a breakpoint from now on" },
        { "cleared", "has no breakpoint any more" },
        { "stands", "stands at its breakpoint" },
        { "forced", "is given the outcome " },
        { "locked", "has been given the lock " },
        { "recovered", "taken up again by a daemon that was started anew" },
        { "rerun", "started again by that daemon" },
};

static const char *words_of(const char *what) {
        for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++)
                if (g_str_equal(phrases[i].what, what))
                        return phrases[i].words;

        return NULL;
}

/* "who="eth0", n=3"; of what is long, such as the output of a program, the beginning. */
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

static void append_phrase(const Output *output, GString *line, const char *title, const StoryEvent *event) {
        const char *words = words_of(event->what) ?: event->what;

        look_append_symbol(output, line, event->what);
        output_appendf(output, line, STYLE_PLAIN, " %s: %s", title, words);
        if (event->text)
                output_appendf(output, line, STYLE_PLAIN, "%s%s", g_str_has_suffix(words, " ") ? "" : " ", event->text);
}

void story_line_append(const Output *output, GString *line, const Recording *recording, const StoryEvent *event) {
        g_autofree char *path =
                event->node == NODE_NONE ? NULL : tree_node_path(definition_tree(recording->definition), event->node);
        const char *title = path ?: recording->journal->header.run;

        output_appendf(output, line, STYLE_DIM, "%8.3fs", (double) event->time / G_USEC_PER_SEC);
        g_string_append_c(line, ' ');
        if (words_of(event->what))
                append_phrase(output, line, title, event);
        else
                look_append_event(output, line, title, event->what, event->duration, event->text ?: "");
        if (event->values && json_object_object_length(event->values) > 0) {
                if (event->text)
                        g_string_append_c(line, ',');
                output_append(output, line, STYLE_PLAIN, g_str_equal(event->what, "started") ? " with" : "");
                append_values(output, line, event->values);
        }
}

static void add_text(json_object *json, const char *key, const char *text) {
        json_object_object_add(json, key, json_object_new_string(text));
}

json_object *story_event_to_json(const Recording *recording, const StoryEvent *event) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "time_usec", json_object_new_uint64(event->time));
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
