/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Defines the node types of example-types.h, with tables as in a room of btd. They have no code to run. */

#include <glib.h>

#include "engine/tree.h"
#include "example-types.h"

static const char *const example_modes[] = { "replace", "fail", "isolate", NULL };

static const Param example_inner_params[] = {
        { .name = "key",
          .kind = PARAM_STRING,
          .offset = offsetof(ExampleInner, key),
          .required = true,
          .doc = "a key" },
        { .name = "initial",
          .kind = PARAM_SPAN,
          .offset = offsetof(ExampleInner, initial),
          .fallback = "\"1s\"",
          .min = 1000,
          .max = INT64_MAX,
          .doc = "the first delay" },
        { .name = "count", .kind = PARAM_INT, .offset = offsetof(ExampleInner, count), .doc = "how many" },
        {},
};

static const Param example_params[] = {
        { .name = "flag", .kind = PARAM_BOOL, .offset = offsetof(Example, flag), .fallback = "true", .doc = "a flag" },
        { .name = "count",
          .kind = PARAM_INT,
          .offset = offsetof(Example, count),
          .fallback = "3",
          .min = 1,
          .max = 10,
          .doc = "how often" },
        { .name = "ratio", .kind = PARAM_NUMBER, .offset = offsetof(Example, ratio), .max = 1, .doc = "a part" },
        { .name = "unit",
          .kind = PARAM_STRING,
          .offset = offsetof(Example, unit),
          .required = true,
          .doc = "its name" },
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(Example, timeout),
          .fallback = "\"infinity\"",
          .doc = "the limit" },
        { .name = "mode",
          .kind = PARAM_ENUM,
          .offset = offsetof(Example, mode),
          .fallback = "\"fail\"",
          .values = example_modes,
          .doc = "the mode" },
        { .name = "argv", .kind = PARAM_STRINGS, .offset = offsetof(Example, argv), .doc = "the arguments" },
        { .name = "env", .kind = PARAM_STRING_MAP, .offset = offsetof(Example, env), .doc = "the environment" },
        { .name = "args", .kind = PARAM_JSON, .offset = offsetof(Example, args), .doc = "values" },
        { .name = "inner",
          .kind = PARAM_OBJECT,
          .offset = offsetof(Example, inner),
          .members = example_inner_params,
          .members_size = sizeof(ExampleInner),
          .doc = "more" },
        { .name = "output",
          .kind = PARAM_STRING,
          .offset = offsetof(Example, output),
          .literal = true,
          .doc = "a key" },
        {},
};

/* Finds fault with a unit "bad", warns of a unit "odd"; a unit that is not known yet is neither. */
static void example_check(const Tree *tree, NodeId node, Findings *findings) {
        const Example *params = tree->nodes[node].params;

        if (g_strcmp0(params->unit, "bad") == 0)
                findings_error(findings, "unit", -1, "unit: a bad one");
        if (g_strcmp0(params->unit, "odd") == 0)
                findings_trap(findings, "unit", "unit: an odd one");
}

static const char *const example_aliases[] = { "Specimen", NULL };

const NodeType example_type = {
        .name = "Example",
        .aliases = example_aliases,
        .class = NODE_ACTION,
        .params = example_params,
        .params_size = sizeof(Example),
        .summary = "An example",
        .check = example_check,
};

const NodeType plain_type = { .name = "Plain", .class = NODE_CONDITION, .summary = "Takes nothing" };

static const NodeType couple_type = {
        .name = "Couple", .class = NODE_CONTROL, .min_children = 2, .max_children = 2, .summary = "Takes two"
};

static const NodeType few_type = {
        .name = "Few", .class = NODE_CONTROL, .min_children = 1, .max_children = 3, .summary = "Takes a few"
};

const NodeType many_type = {
        .name = "Many", .class = NODE_CONTROL, .min_children = 1, .max_children = UINT32_MAX, .summary = "Takes many"
};

static const Param wrapper_params[] = {
        { .name = "delay", .kind = PARAM_SPAN, .offset = 0, .required = true, .doc = "how long" },
        {},
};

static const NodeType wrapper_type = {
        .name = "Wrapper",
        .class = NODE_DECORATOR,
        .params = wrapper_params,
        .params_size = sizeof(uint64_t),
        .summary = "Takes one",
};

static const NodeType inverse_type = { .name = "Inverse", .class = NODE_DECORATOR, .summary = "Takes one, too" };

static const NodeType *const example_composites[] = { &couple_type,  &few_type,     &many_type,
                                                      &wrapper_type, &inverse_type, NULL };
static const NodeType *const example_leaves[] = { &example_type, &plain_type, NULL };
const NodeType *const *const example_tables[] = { example_composites, example_leaves, NULL };
