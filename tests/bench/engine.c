/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How long a tick takes, beside the same control flow written by hand in C over the same leaves. Prints a line for each
 * shape: name, nanoseconds of the engine, nanoseconds of the baseline. Samples of both alternate, so that what the
 * machine does meanwhile meets both, and the medians count.
 */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine-leaves.h"
#include "samples.h"

#define SAMPLES 15
#define TICKS 1000000
#define WIDE 100000u
/* Coprime to WIDE: leaves end in an order that no prefetcher guesses. */
#define STRIDE 38197u

static const NodeType leaf_type = { .name = "Leaf", .class = NODE_ACTION };
static const NodeType condition_type = { .name = "Condition", .class = NODE_CONDITION };

static bool leaf_halted(Machine *machine, NodeId node) {
        return true;
}

static void timer_ignored(Machine *machine, NodeId node) {}

static void timer_armed(Machine *machine, NodeId node, uint64_t usec) {}

static Status condition_holds(Machine *machine, NodeId node) {
        return STATUS_SUCCESS;
}

static void condition_ignored(Machine *machine, NodeId node) {}

static const MachineHost host = {
        .leaf_start = leaf_answer,
        .leaf_halt = leaf_halted,
        .condition_evaluate = condition_holds,
        .condition_release = condition_ignored,
        .timer_arm = timer_armed,
        .timer_disarm = timer_ignored,
};

/* A tree is written as types by depth: each entry is opened one level below the last that is less deep. */
typedef struct Entry {
        unsigned depth;
        const char *type; /* NULL: a leaf */
        Status answer;
} Entry;

typedef Status (*Handwritten)(void);

typedef struct Shape {
        const char *name;
        const Entry *entries;
        size_t n_entries;
        Handwritten handwritten;
} Shape;

static const NodeType *find_type(const char *name) {
        if (strcmp(name, condition_type.name) == 0)
                return &condition_type;

        for (const NodeType *const *type = engine_types; *type; type++)
                if (strcmp((*type)->name, name) == 0)
                        return *type;

        fprintf(stderr, "bench-engine: the engine has no %s\n", name);
        exit(EXIT_FAILURE);
}

/* As the loader would fill them in where a file says nothing: only numbers are needed here. */
static void *default_params(const NodeType *type) {
        char *params = g_malloc0(MAX(type->params_size, 1u));

        for (const Param *param = type->params; param && param->name; param++)
                if (param->kind == PARAM_INT && param->fallback)
                        *(int64_t *) (void *) (params + param->offset) = strtoll(param->fallback, NULL, 10);
        return params;
}

static Tree *build(const Entry *entries, size_t n_entries, GPtrArray *params) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);
        unsigned open = 0;

        for (size_t i = 0; i < n_entries; i++) {
                const NodeType *type = entries[i].type ? find_type(entries[i].type) : &leaf_type;

                for (; open > entries[i].depth; open--)
                        tree_builder_close(builder);
                g_ptr_array_add(params, default_params(type));
                tree_builder_open(builder, type, NULL, params->pdata[params->len - 1]);
                open++;
        }
        for (; open > 0; open--)
                tree_builder_close(builder);

        return tree_builder_finish(builder);
}

/* Pairs of samples, taken in turns: their medians, and the median of their ratios. */
static void report(const char *name, double values[static SAMPLES], double baselines[static SAMPLES]) {
        double ratios[SAMPLES];

        for (unsigned i = 0; i < SAMPLES; i++)
                ratios[i] = values[i] / baselines[i];
        printf("%s\t%.2f\t%.2f\t%.2f\n", name, bench_median(values, SAMPLES), bench_median(baselines, SAMPLES),
               bench_median(ratios, SAMPLES));
}

/* The hand-written side. The pointer is volatile, so each call is a real one through a pointer, as the engine's are. */
static Status (*volatile leaf)(Machine *, NodeId) = leaf_answer;

static Status hand_sequence(void) {
        for (NodeId node = 1; node <= 8; node++) {
                Status status = leaf(NULL, node);
                if (status != STATUS_SUCCESS)
                        return status;
        }
        return STATUS_SUCCESS;
}

static Status hand_nested(void) {
        return leaf(NULL, 5) == STATUS_SUCCESS ? STATUS_SUCCESS : STATUS_FAILURE;
}

static Status hand_parallel(void) {
        unsigned succeeded = 0;

        for (NodeId node = 1; node <= 4; node++)
                if (leaf(NULL, node) == STATUS_FAILURE)
                        return STATUS_FAILURE;
                else if (++succeeded == 4)
                        return STATUS_SUCCESS;
        return STATUS_RUNNING;
}

static Status hand_fallback(void) {
        for (NodeId node = 1; node <= 8; node++) {
                Status status = leaf(NULL, node);
                if (status != STATUS_FAILURE)
                        return status;
        }
        return STATUS_FAILURE;
}

/* A check, one of two ways, no error, go. */
static Status hand_realistic(void) {
        if (leaf(NULL, 1) != STATUS_SUCCESS)
                return STATUS_FAILURE;
        if (leaf(NULL, 3) != STATUS_SUCCESS && leaf(NULL, 4) != STATUS_SUCCESS)
                return STATUS_FAILURE;
        if (leaf(NULL, 6) != STATUS_FAILURE)
                return STATUS_FAILURE;
        return leaf(NULL, 7);
}

#define LEAF(depth_)                                                                                                   \
        { .depth = depth_, .answer = STATUS_SUCCESS }
#define FAILING(depth_)                                                                                                \
        { .depth = depth_, .answer = STATUS_FAILURE }
#define INNER(depth_, type_)                                                                                           \
        { .depth = depth_, .type = type_ }

static const Entry sequence_entries[] = {
        INNER(0, "Sequence"), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1),
};
static const Entry nested_entries[] = {
        INNER(0, "Sequence"), INNER(1, "Sequence"), INNER(2, "Sequence"),
        INNER(3, "Sequence"), INNER(4, "Sequence"), LEAF(5),
};
static const Entry parallel_entries[] = {
        INNER(0, "Parallel"), LEAF(1), LEAF(1), LEAF(1), LEAF(1),
};
static const Entry fallback_entries[] = {
        INNER(0, "Fallback"), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1), LEAF(1),
};
static const Entry realistic_entries[] = {
        INNER(0, "Sequence"), LEAF(1), INNER(1, "Fallback"), FAILING(2), LEAF(2), INNER(1, "Inverter"),
        FAILING(2),           LEAF(1),
};

#define SHAPE(name_, entries_, handwritten_)                                                                           \
        { name_, entries_, G_N_ELEMENTS(entries_), handwritten_ }

static const Shape shapes[] = {
        SHAPE("engine: Sequence of 8 actions", sequence_entries, hand_sequence),
        SHAPE("engine: 5 nested Sequences, 1 leaf", nested_entries, hand_nested),
        SHAPE("engine: Parallel of 4", parallel_entries, hand_parallel),
        SHAPE("engine: Fallback of 8, first succeeds", fallback_entries, hand_fallback),
        SHAPE("engine: realistic tree of 8 nodes", realistic_entries, hand_realistic),
};

static double sample_engine(Machine *machine) {
        double begin = bench_now();

        for (unsigned i = 0; i < TICKS; i++) {
                if (machine_tick(machine) != STATUS_SUCCESS)
                        abort();
        }
        return (bench_now() - begin) / TICKS;
}

static double sample_handwritten(Handwritten handwritten) {
        /* Called through a pointer that is read each time, as machine_tick() is a call into a library. */
        Handwritten volatile tick = handwritten;
        double begin = bench_now();

        for (unsigned i = 0; i < TICKS; i++)
                if (tick() != STATUS_SUCCESS)
                        abort();
        return (bench_now() - begin) / TICKS;
}

static void measure_shape(const Shape *shape) {
        g_autoptr(GPtrArray) params = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Tree) tree = build(shape->entries, shape->n_entries, params);
        g_autoptr(Machine) machine = machine_new(tree, &host, NULL, 0);
        double engine[SAMPLES], handwritten[SAMPLES];
        Status answers[16];

        for (size_t i = 0; i < shape->n_entries; i++)
                answers[i] = shape->entries[i].answer;
        leaf_answers = answers;

        for (unsigned i = 0; i < SAMPLES; i++) {
                engine[i] = sample_engine(machine);
                handwritten[i] = sample_handwritten(shape->handwritten);
        }
        report(shape->name, engine, handwritten);
}

/* WIDE leaves below nodes of a width: as many machines as that takes. Something happens at all leaves of each but the
 * last, so that every machine goes on. */
typedef struct Wide {
        GPtrArray *params, *machines;
        Tree *tree;
        unsigned width;
        void (*happen)(Machine *machine, NodeId leaf);
} Wide;

static void leaf_succeeds(Machine *machine, NodeId leaf_) {
        machine_leaf_ended(machine, leaf_, STATUS_SUCCESS);
}

/* type: of the leaves, but for the last, which is an action. */
static void wide_init(Wide *wide, unsigned width, const char *root, const char *type,
                      void (*happen)(Machine *machine, NodeId leaf)) {
        g_autofree Entry *entries = g_new0(Entry, width + 1);

        entries[0] = (Entry) INNER(0, root);
        for (unsigned i = 1; i <= width; i++)
                entries[i] = (Entry) INNER(1, i < width ? type : NULL);

        wide->width = width;
        wide->happen = happen;
        wide->params = g_ptr_array_new_with_free_func(g_free);
        wide->tree = build(entries, width + 1, wide->params);
        wide->machines = g_ptr_array_new_with_free_func((GDestroyNotify) machine_free);
        for (unsigned i = 0; i < WIDE / width; i++)
                g_ptr_array_add(wide->machines, machine_new(wide->tree, &host, NULL, i));
}

static void wide_clear(Wide *wide) {
        g_ptr_array_unref(wide->machines);
        tree_free(wide->tree);
        g_ptr_array_unref(wide->params);
}

static void wide_for_each(Wide *wide, void (*input)(Machine *machine)) {
        for (unsigned i = 0; i < wide->machines->len; i++) {
                input(wide->machines->pdata[i]);
                machine_tick(wide->machines->pdata[i]);
        }
}

static double sample_wide(Wide *wide) {
        unsigned happened = 0;

        wide_for_each(wide, machine_start);
        double begin = bench_now();
        for (unsigned i = 0; i < WIDE; i++) {
                unsigned place = (unsigned) ((uint64_t) i * STRIDE % WIDE), child = place % wide->width;
                Machine *machine = wide->machines->pdata[place / wide->width];

                if (child == wide->width - 1)
                        continue;
                wide->happen(machine, child + 1);
                if (machine_tick(machine) != STATUS_RUNNING)
                        abort();
                happened++;
        }
        double took = bench_now() - begin;
        wide_for_each(wide, machine_halt);

        return took / happened;
}

static void measure_wide(const char *name, const char *root, const char *type,
                         void (*happen)(Machine *machine, NodeId leaf)) {
        g_autofree Status *running = g_new(Status, WIDE + 1);
        double narrow_samples[SAMPLES], wide_samples[SAMPLES];
        Wide narrow, wide;

        for (unsigned i = 0; i <= WIDE; i++)
                running[i] = STATUS_RUNNING;
        leaf_answers = running;
        wide_init(&narrow, 10, root, type, happen);
        wide_init(&wide, WIDE, root, type, happen);

        for (unsigned i = 0; i < SAMPLES; i++) {
                narrow_samples[i] = sample_wide(&narrow);
                wide_samples[i] = sample_wide(&wide);
        }
        report(name, wide_samples, narrow_samples);

        wide_clear(&wide);
        wide_clear(&narrow);
}

static size_t allocated(void) {
        struct mallinfo2 info = mallinfo2();

        return info.uordblks + info.hblkhd;
}

static void measure_memory(void) {
        g_autoptr(GPtrArray) params = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);
        const NodeType *sequence = find_type("Sequence");

        g_ptr_array_add(params, default_params(sequence));
        size_t before = allocated();
        tree_builder_open(builder, sequence, NULL, params->pdata[0]);
        for (unsigned i = 1; i < WIDE; i++) {
                tree_builder_open(builder, &leaf_type, NULL, NULL);
                tree_builder_close(builder);
        }
        tree_builder_close(builder);
        g_autoptr(Tree) tree = tree_builder_finish(builder);
        size_t with_tree = allocated();
        g_autoptr(Machine) machine = machine_new(tree, &host, NULL, 0);
        size_t with_run = allocated();

        printf("engine: bytes per node of a tree\t%.1f\n", (double) (with_tree - before) / WIDE);
        printf("engine: bytes per node of a run\t%.1f\n", (double) (with_run - with_tree) / WIDE);
}

int main(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
                measure_shape(&shapes[i]);
        measure_wide("engine: one of 100,000 in a Parallel ends, beside one of 10", "Parallel", NULL, leaf_succeeds);
        measure_wide("engine: one of 100,000 conditions changes, beside one of 10", "ReactiveSequence", "Condition",
                     machine_condition_changed);
        measure_memory();
        return EXIT_SUCCESS;
}
