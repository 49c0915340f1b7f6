/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl simulate: simulates a run of a tree file, and prints its events or compares them with a stored trace. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "client/files.h"
#include "client/simulate/simulation.h"
#include "client/simulate/trace.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"
#include "run/instance.h"

#define UNTIL_DEFAULT (3600 * (uint64_t) G_USEC_PER_SEC)

typedef struct Simulator {
        Client *client;
        Definition *definition;
        Scenario *scenario;
        Expectation *expectation; /* NULL: the trace is printed */
        SimulationOptions options;
        Output output;      /* of the trace */
        char *title, *left; /* left: why the run has not finished */
        char *instance;
} Simulator;

static void simulator_clear(Simulator *simulator) {
        g_clear_pointer(&simulator->definition, definition_unref);
        g_clear_pointer(&simulator->scenario, scenario_free);
        g_clear_pointer(&simulator->expectation, expectation_free);
        g_clear_pointer(&simulator->options.variables, json_object_put);
        g_clear_pointer(&simulator->title, g_free);
        g_clear_pointer(&simulator->left, g_free);
        g_clear_pointer(&simulator->instance, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Simulator, simulator_clear)

static int load_tree(Simulator *simulator, const char *file) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(file);
        int r;

        r = tree_load(simulator->client, file, diagnostics, &simulator->definition);
        report_diagnostics(diagnostics);
        if (r < 0)
                return EXIT_USAGE;

        if (!definition_tree(simulator->definition)) {
                report_error("%s: there is no root to run, only trees for other files", file);
                return EXIT_USAGE;
        }

        return EXIT_SUCCESS;
}

/* The same check as at a real start. */
static int check_variables(const Simulator *simulator) {
        g_autofree char *error = NULL;

        switch (definition_check_start(simulator->definition, simulator->options.variables, &error)) {
        case 0:
                return EXIT_SUCCESS;
        case -ENXIO:
                report_missing_input(error);
                return EXIT_USAGE;
        default:
                report_error("%s", error);
                return EXIT_USAGE;
        }
}

static int load_scenario(Simulator *simulator, const char *file) {
        g_autoptr(Diagnostics) diagnostics = NULL;
        int r;

        if (!file) {
                simulator->scenario = scenario_new();
                return EXIT_SUCCESS;
        }

        diagnostics = diagnostics_new(file);
        r = scenario_read_file(file, definition_tree(simulator->definition), diagnostics, &simulator->scenario);
        report_diagnostics(diagnostics);
        return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

/* The events are written in the form of the stored trace. */
static int load_expectation(Simulator *simulator, const char *file) {
        g_autofree char *error = NULL;

        if (!file)
                return EXIT_SUCCESS;

        simulator->expectation = expectation_read(file, &error);
        if (!simulator->expectation) {
                report_error("%s", error);
                return EXIT_USAGE;
        }

        simulator->output = (Output){
                .json = expectation_is_json(simulator->expectation),
                .ascii = expectation_is_ascii(simulator->expectation),
        };
        return EXIT_SUCCESS;
}

static int parse_options(Simulator *simulator) {
        const Options *options = &simulator->client->options;
        const char *seed = options->values[OPTION_SEED], *until = options->values[OPTION_UNTIL],
                   *instance = options->values[OPTION_INSTANCE];
        g_autofree char *error = NULL;
        int status;

        simulator->options.until = UNTIL_DEFAULT;
        if (until && span_parse(until, &simulator->options.until) < 0)
                return report_usage("--until: '%s' is not a time span such as '90s' or '1h 30min'", until);
        if (seed && !g_ascii_string_to_unsigned(seed, 10, 0, UINT64_MAX, &simulator->options.seed, NULL))
                return report_usage("--seed: '%s' is not a whole number", seed);

        simulator->options.instance = simulator->instance = instance_name(instance ?: "", true);
        if (instance_check(simulator->instance, &error) < 0)
                return report_usage("--instance: %s", error);

        status = variables_check("--set ", options->sets);
        if (status == EXIT_SUCCESS)
                simulator->options.variables = variables_to_json(options->sets);

        return status;
}

static void on_event(const RunEvent *event, void *userdata) {
        Simulator *simulator = userdata;
        const Tree *tree = definition_tree(simulator->definition);
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(tree, event->node);
        g_autoptr(GString) line = g_string_new(NULL);

        if (event->node == NODE_NONE && event->status == STATUS_RUNNING)
                simulator->left = g_strdup(event->text);
        if (simulator->client->output.quiet && !simulator->expectation)
                return;

        if (simulator->output.json) {
                g_autoptr(json_object) json = event_to_json(simulator->title, path, 0, event);
                g_autofree char *text = output_json_text(json, 0);

                g_string_append(line, text);
        } else {
                g_autofree char *stamp = event_stamp(event->time);

                event_append(&simulator->output, line, stamp, simulator->title, path, event);
        }

        if (simulator->expectation)
                expectation_compare(simulator->expectation, line->str);
        else if (simulator->output.json)
                puts(line->str);
        else
                output_print_line(&simulator->output, line);
}

static int report_comparison(Simulator *simulator) {
        const char *file = simulator->client->options.values[OPTION_EXPECT];
        g_autofree char *difference = NULL;
        g_auto(GStrv) lines = NULL;
        unsigned line;

        difference = expectation_difference(simulator->expectation, &line);
        if (!difference) {
                client_say(simulator->client, "%s: as expected, %u events", file,
                           expectation_count(simulator->expectation));
                return EXIT_SUCCESS;
        }

        report_error("%s:%u: the trace differs ('-': expected, '+': actual):", file, line);
        lines = g_strsplit(difference, "\n", -1);
        for (char **it = lines; *it; it++)
                report_line(*it);

        return EXIT_FAILURE;
}

int verb_simulate(Client *client, char **operands) {
        g_auto(Simulator) simulator = { .client = client, .output = client->output };
        const Options *options = &client->options;
        g_autofree char *file = NULL;
        Status result;
        int status;

        status = parse_options(&simulator);
        if (status == EXIT_SUCCESS)
                status = load_tree(&simulator, operands[0]);
        if (status == EXIT_SUCCESS)
                status = check_variables(&simulator);
        if (status == EXIT_SUCCESS)
                status = load_scenario(&simulator, options->values[OPTION_SCRIPT]);
        if (status == EXIT_SUCCESS)
                status = load_expectation(&simulator, options->values[OPTION_EXPECT]);
        if (status != EXIT_SUCCESS)
                return status;

        /* The tree is named after its file. */
        file = g_path_get_basename(operands[0]);
        simulator.title = g_str_has_suffix(file, ".json") ? g_strndup(file, strlen(file) - strlen(".json"))
                                                          : g_steal_pointer(&file);
        simulator.options.tree = simulator.title;
        result = simulate(simulator.definition, simulator.scenario, &simulator.options, on_event, &simulator);

        if (simulator.expectation)
                return report_comparison(&simulator);
        if (result == STATUS_RUNNING)
                return report_error("%s: %s", simulator.title, simulator.left);

        return report_exit_status(status_to_string(result));
}
