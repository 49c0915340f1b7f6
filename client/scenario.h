/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the leaves of a tree do in a simulation: a file that names leaves and says what becomes of them.
 *
 *   { "leaves": { "LoadConfig": [{ "result": "failure", "after": "150ms", "cause": "no such file",
 *                                  "cause_kind": "exit-status:2" }, "success"],
 *                 "Boot/Network/IsUp": { "result": "failure", "changes": [{ "at": "2s", "result": "success" }] } },
 *     "default": { "after": "10ms" },
 *     "halt": "5s" }
 */

#include <json-c/json_object.h>

#include "definition/diagnostics.h"
#include "engine/tree.h"

/* Of a condition, at a time since the start of the run. */
typedef struct Change {
        uint64_t at;
        int result;
        const char *cause, *cause_kind; /* NULL: none */
} Change;

/* What becomes of a leaf when it is started. All zero: the leaf does what its type makes of it. */
typedef struct Outcome {
        int result; /* a Status; IDLE: not given */
        bool timed; /* after was given */
        uint64_t after, halt;
        json_object *outputs;           /* an object, or NULL */
        const char *cause, *cause_kind; /* NULL: none */
        const Change *changes;
        uint32_t n_changes;
} Outcome;

typedef struct Scenario Scenario;

/* One without a file: all leaves succeed at once. */
Scenario *scenario_new(void);
void scenario_free(Scenario *scenario);

/* For that tree. A negative errno: there were errors, which are in the diagnostics. */
int scenario_read(const char *text, size_t length, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario);
int scenario_read_file(const char *path, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario);

/* What becomes of the leaf when it is started for the n-th time, from 0. */
const Outcome *scenario_outcome(const Scenario *scenario, const Tree *tree, NodeId leaf, uint32_t n);
/* When the run is to be halted, or SPAN_INFINITY. */
uint64_t scenario_halt(const Scenario *scenario);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)
