/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the scenario of a simulation: what each leaf does. It is read from the file that btctl simulate gets with
 * --script; the simulated leaves follow it.
 *
 *   { "leaves": { "LoadConfig": [{ "result": "failure", "after": "150ms", "cause": "no such file",
 *                                  "cause_kind": "exit-status:2" }, "success"],
 *                 "Boot/Network/IsUp": { "result": "failure", "changes": [{ "at": "2s", "result": "success" }] } },
 *     "default": { "after": "10ms" },
 *     "set": [{ "at": "2s", "variables": { "mode": "eco" } }],
 *     "halt": "5s" }
 */

#include <json-c/json_object.h>

#include "definition/diagnostics.h"
#include "engine/tree.h"

/* A change of a condition, at a time since the start of the run. */
typedef struct Change {
        uint64_t at;
        int result;
        const char *cause, *cause_kind; /* NULL: none */
} Change;

/* The scripted behavior of one execution of a leaf. If all members are zero, the default of its type applies. */
typedef struct Outcome {
        int result; /* a Status; IDLE: not given */
        bool timed; /* after was given */
        uint64_t after, halt;
        json_object *outputs;           /* an object, or NULL */
        const char *cause, *cause_kind; /* NULL: none */
        const Change *changes;
        uint32_t n_changes;
} Outcome;

/* Variables that a user sets, at a time since the start of the run. */
typedef struct Setting {
        uint64_t at;
        json_object *variables;
} Setting;

typedef struct Scenario Scenario;

/* A scenario without a file: all leaves succeed at once. */
Scenario *scenario_new(void);
void scenario_free(Scenario *scenario);

/* Reads a scenario for that tree. A negative errno: the errors are in the diagnostics. */
int scenario_read(const char *text, size_t length, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario);
int scenario_read_file(const char *path, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario);

/* Returns the scripted behavior of the n-th execution of the leaf, counted from 0. */
const Outcome *scenario_outcome(const Scenario *scenario, const Tree *tree, NodeId leaf, uint32_t n);
/* When to halt the run, or SPAN_INFINITY. */
uint64_t scenario_halt(const Scenario *scenario);
const Setting *scenario_settings(const Scenario *scenario, uint32_t *ret_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)
