/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From JSON text to a validated tree of 100,000 nodes, beside json-c parsing the same text and nothing more. Prints
 * milliseconds of both and the median of their ratios, separated by tabs.
 */

#include <json-c/json_tokener.h>
#include <stdio.h>
#include <stdlib.h>

#include "definition/definition.h"
#include "samples.h"

#define SAMPLES 15
#define NODES 100000

static const NodeType leaf_type = { .name = "Leaf", .class = NODE_ACTION };
static const NodeType *const leaves[] = { &leaf_type, NULL };
static const NodeType *const *const tables[] = { engine_types, leaves, NULL };

/* Small Sequences with names, as people write them. */
static GString *write_tree(void) {
        GString *text = g_string_new("{ \"btd\": 1, \"root\": { \"type\": \"Parallel\", \"children\": [\n");

        for (unsigned i = 0; i < NODES / 4; i++)
                g_string_append_printf(text,
                                       "%s  { \"type\": \"Sequence\", \"name\": \"Step%u\", \"children\": [\n"
                                       "    { \"type\": \"Leaf\", \"name\": \"Check\" },\n"
                                       "    { \"type\": \"Inverter\", \"child\": { \"type\": \"Leaf\" } } ] }",
                                       i > 0 ? ",\n" : "", i);

        g_string_append(text, " ] } }\n");
        return text;
}

static double load(const GString *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("bench");
        Definition *definition;
        double begin = bench_now(), took;

        if (definition_load_text(text->str, text->len, tables, NULL, diagnostics, &definition) < 0)
                abort();

        took = (bench_now() - begin) / 1e6;
        definition_unref(definition);
        return took;
}

static double parse(const GString *text) {
        double begin = bench_now(), took;
        json_object *value = json_tokener_parse(text->str);

        if (!value)
                abort();

        took = (bench_now() - begin) / 1e6;
        json_object_put(value);
        return took;
}

int main(void) {
        g_autoptr(GString) text = write_tree();
        double loaded[SAMPLES], parsed[SAMPLES], ratios[SAMPLES];

        for (unsigned i = 0; i < SAMPLES; i++) {
                loaded[i] = load(text);
                parsed[i] = parse(text);
                ratios[i] = loaded[i] / parsed[i];
        }

        printf("%.2f\t%.2f\t%.3f\n", bench_median(loaded, SAMPLES), bench_median(parsed, SAMPLES),
               bench_median(ratios, SAMPLES));
        return EXIT_SUCCESS;
}
