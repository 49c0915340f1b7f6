/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What it costs to write a run down: a leaf ends, and the tick that follows starts it again, with a run record and
 * without. Prints nanoseconds of both for each such round, separated by tabs. The run record is in the directory that
 * is given.
 */

#include <stdio.h>
#include <stdlib.h>

#include "run/run-inputs.h"
#include "samples.h"

#define SAMPLES 15
#define ROUNDS 20000u

static const NodeType leaf_type = { .name = "Leaf", .class = NODE_ACTION };
static const NodeType *const leaves[] = { &leaf_type, NULL };
static const NodeType *const *const tables[] = { engine_types, leaves, NULL };

static const char tree[] = "{ \"btd\": 1, \"root\": { \"type\": \"Repeat\", \"num_cycles\": -1, "
                           "\"child\": { \"type\": \"Leaf\" } } }";

static Status compute(RunLeaf *leaf, Cause **ret_cause, void *userdata) {
        return STATUS_RUNNING;
}

static void act(const Effect *effect, void *userdata) {}

static void record_failed(const char *error, void *userdata) {
        fprintf(stderr, "bench-record: %s\n", error);
        exit(EXIT_FAILURE);
}

static const RunHost host = {
        .compute = compute,
        .act = act,
        .record_failed = record_failed,
};

/* Nanoseconds a round. Takes the writer. */
static double measure(Definition *definition, RecordWriter *writer) {
        RunOrigin origin = { .id = "", .tree = "", .instance = "", .seed = 1, .start = 1 };
        g_autoptr(Run) run = run_make(&origin, definition, &host, NULL);
        double begin;

        run_set_writer(run, writer);
        input_start(run, NULL, 1);
        input_tick(run, 1);

        begin = bench_now();
        for (unsigned i = 0; i < ROUNDS; i++) {
                input_leaf_ended(run, 1, STATUS_SUCCESS, NULL, 1000 + i);
                input_tick(run, 1000 + i);
        }

        return (bench_now() - begin) / ROUNDS;
}

static RecordWriter *make_record(const char *path) {
        RecordHeader header = { .run = (char *) "bench.1" };
        g_autofree char *error = NULL;
        RecordWriter *writer;

        (void) remove(path);
        if (record_writer_create(path, &header, &limits_default, &writer, &error) < 0)
                record_failed(error, NULL);

        return writer;
}

int main(int argc, char **argv) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("bench");
        g_autofree char *path = g_build_filename(argc > 1 ? argv[1] : "/dev/shm", "bench.journal", NULL);
        double with[SAMPLES], without[SAMPLES];
        g_autoptr(Definition) definition = NULL;

        if (definition_load_text(tree, sizeof(tree) - 1, tables, NULL, diagnostics, &definition) < 0)
                abort();

        for (unsigned i = 0; i < SAMPLES; i++) {
                with[i] = measure(definition, make_record(path));
                without[i] = measure(definition, NULL);
        }

        (void) remove(path);
        printf("%.0f\t%.0f\n", bench_median(with, SAMPLES), bench_median(without, SAMPLES));
        return EXIT_SUCCESS;
}
