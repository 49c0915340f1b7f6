/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs vector files: builds each tree through the loader and the engine that the daemon uses, ticks it according to the
 * vector, and compares the traces. Prints a line for each file, and the first difference of a vector that fails.
 *
 * Vectors with one of the tags below are left out, because btd has another rule there; deviations.json has the same
 * vectors with btd's traces.
 */

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "run/variables.h"
#include "translate.h"

#define ENGINE_TYPES_MAX 100u

static const char *const deviating_tags[] = {
        "sticky-running",     "stale-skip-count",         "condition-not-reset",
        "precondition-latch", "parallel-exact-threshold", NULL,
};

typedef struct LeafParams {
        const char *const *outcomes;
} LeafParams;

static const Param leaf_params[] = {
        { .name = "outcomes",
          .kind = PARAM_STRINGS,
          .offset = offsetof(LeafParams, outcomes),
          .required = true,
          .doc = "What its ticks give, one after the other: R, S, F or K" },
        {},
};

static const NodeType leaf_type = {
        .name = "Leaf",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE,
        .params = leaf_params,
        .params_size = sizeof(LeafParams),
        .summary = "A scripted leaf",
};

static const NodeType *const leaves[] = { &leaf_type, NULL };
static const NodeType *const *const *tables;

/* Some vectors have thresholds beyond the number of children, which the loader refuses. What the engine makes of them
 * was recorded, too. */
static void make_tables(void) {
        static NodeType unchecked[2];
        static const NodeType *types[ENGINE_TYPES_MAX];
        static const NodeType *const *const all[] = { types, leaves, NULL };
        size_t n_unchecked = 0;

        for (size_t i = 0; engine_types[i]; i++) {
                g_assert(i + 1 < ENGINE_TYPES_MAX);
                types[i] = engine_types[i];
                if (g_str_equal(types[i]->name, "Parallel") || g_str_equal(types[i]->name, "ParallelAll")) {
                        unchecked[n_unchecked] = *types[i];
                        unchecked[n_unchecked].check = NULL;
                        types[i] = &unchecked[n_unchecked++];
                }
        }

        tables = all;
}

/* A vector that runs. */
typedef struct Trial {
        const char *name;
        Machine *machine;
        Variables *variables;
        unsigned *n_ticks; /* of each leaf */
        json_object *events;
} Trial;

static const char *const status_names[STATUS_MAX_] = { "IDLE",    "RUNNING", "SUCCESS", "FAILURE",
                                                       "SKIPPED", "HALTED",  "ERROR" };

static void record(Trial *trial, char *event) {
        g_autofree char *text = event;

        json_object_array_add(trial->events, json_object_new_string(text));
}

static Status on_leaf_tick(Machine *machine, NodeId node) {
        Trial *trial = machine_userdata(machine);
        const Tree *tree = machine_tree(machine);
        const LeafParams *params = tree->nodes[node].params;
        unsigned n = g_strv_length((char **) params->outcomes);
        char outcome = params->outcomes[trial->n_ticks[node]++ % n][0];
        Status status = outcome == 'R'   ? STATUS_RUNNING
                        : outcome == 'S' ? STATUS_SUCCESS
                        : outcome == 'F' ? STATUS_FAILURE
                                         : STATUS_SKIPPED;

        record(trial, g_strdup_printf("tick %s %s", tree_node_name(tree, node), status_names[status]));
        return status;
}

static bool on_leaf_halt(Machine *machine, NodeId node) {
        record(machine_userdata(machine), g_strdup_printf("halt %s", tree_node_name(machine_tree(machine), node)));
        return true;
}

static Variables *variables_of(Machine *machine) {
        const Trial *trial = machine_userdata(machine);

        return trial->variables;
}

static Verdict on_guard(Machine *machine, NodeId node, Guard guard) {
        return variables_guard(variables_of(machine), node, guard);
}

static Verdict on_test(Machine *machine, NodeId node, const Script *condition) {
        return variables_test(variables_of(machine), node, condition);
}

static uint32_t on_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        return variables_match(variables_of(machine), node, variable, of, cases);
}

static bool on_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return variables_next_element(variables_of(machine), node, list, variable, index);
}

static void on_timer(Machine *machine, NodeId node) {}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {}

static const MachineHost host = {
        .leaf_start = on_leaf_tick,
        .leaf_poll = on_leaf_tick,
        .leaf_halt = on_leaf_halt,
        .guard = on_guard,
        .test = on_test,
        .match = on_match,
        .next_element = on_next_element,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer,
};

static json_object *member(json_object *object, const char *key) {
        json_object *value = NULL;

        json_object_object_get_ex(object, key, &value);
        return value;
}

static bool list_has(json_object *list, json_object *value) {
        for (size_t i = 0; list && i < json_object_array_length(list); i++)
                if (json_object_equal(json_object_array_get_idx(list, i), value))
                        return true;

        return false;
}

/* The events of a tick, as an entry of a trace. */
static json_object *entry_new(Trial *trial, Status status, bool woke) {
        json_object *entry = json_object_new_object();

        json_object_object_add(entry, "status", json_object_new_string(status_names[status]));
        json_object_object_add(entry, "events", trial->events);
        if (woke)
                json_object_object_add(entry, "wake", json_object_new_boolean(true));

        trial->events = json_object_new_array();
        return entry;
}

static bool compare(Trial *trial, json_object *trace, size_t n, Status status, bool woke) {
        g_autoptr(json_object) is = entry_new(trial, status, woke);
        json_object *expected = json_object_array_get_idx(trace, n);

        if (expected && json_object_equal(is, expected))
                return true;

        printf("%s: entry %zu:\n  expected %s\n  but is   %s\n", trial->name, n + 1,
               expected ? json_object_to_json_string(expected) : "nothing", json_object_to_json_string(is));
        return false;
}

static void set_variables(Trial *trial, json_object *values, size_t tick) {
        json_object *now = values ? json_object_array_get_idx(values, tick - 1) : NULL;

        if (!now)
                return;

        json_object_object_foreach(now, key, value)
                blackboard_set(variables_outermost(trial->variables), key, json_object_get(value));
}

static bool compare_error(const Trial *trial, json_object *vector) {
        const char *is = machine_error(trial->machine, NULL);
        const char *expected = json_object_get_string(member(vector, "error"));

        if (g_strcmp0(is, expected) == 0)
                return true;

        printf("%s: error: expected %s, but is %s\n", trial->name, expected ?: "none", is ?: "none");
        return false;
}

static bool play(Trial *trial, json_object *vector) {
        json_object *trace = member(vector, "trace"), *halts = member(vector, "halt_after");
        int n_ticks = json_object_get_int(member(vector, "ticks"));
        size_t n = 0;
        Status status = STATUS_IDLE;

        for (int tick = 1; tick <= n_ticks && status != STATUS_ERROR; tick++) {
                g_autoptr(json_object) number = json_object_new_int(tick);
                bool woke;

                set_variables(trial, member(vector, "variable_values"), (size_t) tick);
                machine_start(trial->machine);
                status = machine_tick_full(trial->machine);
                if (!compare(trial, trace, n++, status, machine_woke(trial->machine)))
                        return false;

                if (status == STATUS_ERROR || !list_has(halts, number))
                        continue;

                machine_halt(trial->machine);
                woke = machine_woke(trial->machine);
                if (!compare(trial, trace, n++, machine_tick(trial->machine), woke))
                        return false;
        }

        if (n < json_object_array_length(trace)) {
                printf("%s: ends after %zu of %zu entries\n", trial->name, n, json_object_array_length(trace));
                return false;
        }

        return compare_error(trial, vector);
}

static Definition *load(const char *name, json_object *tree) {
        g_autoptr(json_object) file = translate_tree(tree);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(name);
        const char *text = json_object_to_json_string(file);
        Definition *definition = NULL;

        if (definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition) < 0)
                for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                        g_autofree char *line = diagnostics_format(diagnostics, i);

                        printf("%s\n", line);
                }

        return definition;
}

static bool run_vector(json_object *vector) {
        const char *name = json_object_get_string(member(vector, "name"));
        g_autoptr(Definition) definition = load(name, member(vector, "tree"));
        g_autoptr(Variables) variables = NULL;
        g_autoptr(Machine) machine = NULL;
        g_autofree unsigned *n_ticks = NULL;
        Trial trial = { .name = name };
        bool same;

        if (!definition)
                return false;

        n_ticks = g_new0(unsigned, definition_tree(definition)->n_nodes);
        variables = variables_new(definition, "", "", "");
        machine = machine_new(definition_tree(definition), &host, &trial, 0);
        trial.n_ticks = n_ticks;
        trial.machine = machine;
        trial.variables = variables;
        trial.events = json_object_new_array();

        same = play(&trial, vector);
        json_object_put(trial.events);
        return same;
}

static bool deviates(json_object *vector) {
        for (const char *const *tag = deviating_tags; *tag; tag++) {
                g_autoptr(json_object) text = json_object_new_string(*tag);

                if (list_has(member(vector, "tags"), text))
                        return true;
        }

        return false;
}

static bool is_deviations(const char *path) {
        g_autofree char *name = g_path_get_basename(path);

        return strstr(name, "deviations") != NULL;
}

/* The number of vectors that fail, or -1. */
static int run_file(const char *path) {
        g_autoptr(json_object) vectors = json_object_from_file(path);
        int n = 0, n_failed = 0, n_left_out = 0;

        if (!vectors || !json_object_is_type(vectors, json_type_array)) {
                printf("%s: %s\n", path, vectors ? "is not an array of vectors" : json_util_get_last_err());
                return -1;
        }

        for (size_t i = 0; i < json_object_array_length(vectors); i++) {
                json_object *vector = json_object_array_get_idx(vectors, i);

                if (!is_deviations(path) && deviates(vector)) {
                        n_left_out++;
                        continue;
                }

                n++;
                n_failed += !run_vector(vector);
        }

        printf("%s: %d of %d vectors match (%d left out)\n", path, n - n_failed, n, n_left_out);
        return n_failed;
}

int main(int argc, char *argv[]) {
        bool failed = false;

        if (argc < 2) {
                fprintf(stderr, "usage: conformance FILE...\n");
                return 2;
        }

        make_tables();
        for (int i = 1; i < argc; i++)
                failed |= run_file(argv[i]) != 0;

        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
