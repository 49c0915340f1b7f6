/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "basic/cleanup.h"
#include "client/view/style.h"
#include "simulated.h"

#define UNTIL_DEFAULT (3600 * (uint64_t) G_USEC_PER_SEC)

typedef struct Recorder {
        const Tree *tree;
        Output output;
        GString *lines;
} Recorder;

static Scenario *read_scenario(const Definition *definition, const char *script) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("script");
        g_autofree char *json = tree_text_to_json(script);
        Scenario *scenario = NULL;

        if (scenario_read(json, strlen(json), definition_tree(definition), diagnostics, &scenario) < 0) {
                g_autofree char *error = diagnostics_format(diagnostics, 0);

                g_error("%s", error);
        }

        return scenario;
}

static void on_event(const RunEvent *event, void *userdata) {
        const Recorder *recorder = userdata;
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(recorder->tree, event->node),
                        *stamp = event_stamp(event->time);

        if (recorder->output.json) {
                g_autoptr(json_object) json = event_to_json("run", path, 0, event);
                g_autofree char *text = output_json_text(json, 0);

                g_string_append(recorder->lines, text);
        } else
                event_append(&recorder->output, recorder->lines, stamp, "run", path, event);
        g_string_append_c(recorder->lines, '\n');
}

static void on_counted(const RunEvent *event, void *userdata) {
        ++*(unsigned *) userdata;
}

unsigned simulated_count(Definition *definition, const char *script, const SimulationOptions *options,
                         Status *ret_status) {
        g_autoptr(Scenario) scenario = read_scenario(definition, script);
        unsigned n_events = 0;

        *ret_status = simulate(definition, scenario, options, on_counted, &n_events);
        return n_events;
}

char *simulated_play(Definition *definition, const char *script, const SimulationOptions *options, bool json,
                     Status *ret_status) {
        g_autoptr(Scenario) scenario = read_scenario(definition, script);
        SimulationOptions used = *options;
        Recorder recorder = {
                .tree = definition_tree(definition),
                .output = { .json = json, .ascii = true },
                .lines = g_string_new(NULL),
        };

        used.until = used.until ?: UNTIL_DEFAULT;
        *ret_status = simulate(definition, scenario, &used, on_event, &recorder);
        return g_string_free(recorder.lines, FALSE);
}
