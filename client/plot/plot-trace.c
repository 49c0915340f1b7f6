/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes a timeline in the Trace Event Format, for btctl plot: complete events ("ph": "X"), with one thread for each
 * node, so that viewers show them in the order of the tree; and instants ("i") for what people did to the run. */

#include <json-c/json_object.h>

#include "basic/cleanup.h"
#include "client/plot/plot.h"
#include "client/view/output.h"

static json_object *metadata(const char *name, NodeId thread, const char *value) {
        json_object *event = json_object_new_object(), *arguments = json_object_new_object();

        json_object_object_add(event, "name", json_object_new_string(name));
        json_object_object_add(event, "ph", json_object_new_string("M"));
        json_object_object_add(event, "pid", json_object_new_int(1));
        json_object_object_add(event, "tid", json_object_new_int64(thread));
        json_object_object_add(arguments, "name", json_object_new_string(value));
        json_object_object_add(event, "args", arguments);
        return event;
}

static json_object *sort_index(NodeId thread) {
        json_object *event = metadata("thread_sort_index", thread, ""), *arguments = json_object_new_object();

        json_object_object_add(arguments, "sort_index", json_object_new_int64(thread));
        json_object_object_add(event, "args", arguments);
        return event;
}

/* A bar; or a part of it: the time before it, while the node waited, or the end of it, while it was halting. */
static json_object *complete(const PlotTitle *title, const Bar *bar, const char *name, const char *category,
                             uint64_t begin, uint64_t end, json_object *arguments) {
        json_object *event = json_object_new_object();

        json_object_object_add(event, "name", json_object_new_string(name));
        json_object_object_add(event, "cat", json_object_new_string(category));
        json_object_object_add(event, "ph", json_object_new_string("X"));
        json_object_object_add(event, "ts", json_object_new_uint64(title->started + begin));
        json_object_object_add(event, "dur", json_object_new_uint64(end - begin));
        json_object_object_add(event, "pid", json_object_new_int(1));
        json_object_object_add(event, "tid", json_object_new_int64(bar->node));
        json_object_object_add(event, "args", arguments);
        return event;
}

static void add_bar(json_object *events, const Timeline *timeline, const PlotTitle *title, const Bar *bar) {
        json_object *arguments = json_object_new_object();
        g_autofree char *path = tree_node_path(timeline->tree, bar->node);
        const char *name = tree_node_name(timeline->tree, bar->node), *status = status_to_string(bar->status);

        if (bar->waiting < bar->begin) {
                json_object *reason = json_object_new_object();

                if (bar->awaits)
                        json_object_object_add(reason, "for", json_object_new_string(bar->awaits));
                json_object_array_add(events,
                                      complete(title, bar, "waiting", "waiting", bar->waiting, bar->begin, reason));
        }

        json_object_object_add(arguments, "path", json_object_new_string(path));
        if (bar->label)
                json_object_object_add(arguments, "label", json_object_new_string(bar->label));
        json_object_object_add(arguments, "status", json_object_new_string(status));
        if (bar->detail)
                json_object_object_add(arguments, "cause", json_object_new_string(bar->detail));
        json_object_object_add(arguments, "critical", json_object_new_boolean(bar->critical));
        json_object_array_add(events, complete(title, bar, name, status, bar->begin, bar->end, arguments));

        if (bar->halting < bar->end)
                json_object_array_add(events, complete(title, bar, "halting", "halting", bar->halting, bar->end,
                                                       json_object_new_object()));
}

/* An action on the run: a line across all threads. */
static json_object *instant(const PlotTitle *title, const Mark *mark) {
        json_object *event = json_object_new_object(), *arguments = json_object_new_object();

        json_object_object_add(event, "name", json_object_new_string(mark->what));
        json_object_object_add(event, "cat", json_object_new_string("run"));
        json_object_object_add(event, "ph", json_object_new_string("i"));
        json_object_object_add(event, "s", json_object_new_string("p"));
        json_object_object_add(event, "ts", json_object_new_uint64(title->started + mark->time));
        json_object_object_add(event, "pid", json_object_new_int(1));
        json_object_object_add(event, "tid", json_object_new_int(0));
        if (mark->detail)
                json_object_object_add(arguments, "detail", json_object_new_string(mark->detail));
        json_object_object_add(event, "args", arguments);
        return event;
}

char *plot_trace(const Timeline *timeline, const PlotTitle *title) {
        g_autoptr(json_object) trace = json_object_new_object();
        json_object *events = json_object_new_array();

        json_object_object_add(trace, "traceEvents", events);
        json_object_object_add(trace, "displayTimeUnit", json_object_new_string("ms"));
        json_object_array_add(events, metadata("process_name", 0, title->run));
        for (NodeId node = 0; node < timeline->tree->n_nodes; node++) {
                if (timeline->last[node] == UINT32_MAX)
                        continue;
                json_object_array_add(events, metadata("thread_name", node, tree_node_name(timeline->tree, node)));
                json_object_array_add(events, sort_index(node));
        }
        for (unsigned i = 0; i < timeline->bars->len; i++)
                add_bar(events, timeline, title, &g_array_index(timeline->bars, Bar, i));
        for (unsigned i = 0; i < timeline->marks->len; i++)
                json_object_array_add(events, instant(title, &g_array_index(timeline->marks, Mark, i)));

        return output_json_text(trace, JSON_C_TO_STRING_PLAIN);
}
