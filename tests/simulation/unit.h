/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A unit of the simulated systemd, with at most one job. Its name decides how it behaves:
 *
 *   sim-KIND-TREE-NODE.service   a unit that is installed, for the leaf of that node; see UnitKind
 *   btd-RUN-NODE-ATTEMPT.service a transient unit
 *
 * As in systemd, a unit that is neither active nor failed nor referenced is unloaded, with the results of its last
 * start.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef enum UnitKind {
        KIND_ONESHOT,     /* o: runs, then is inactive */
        KIND_FAILING,     /* f: runs, and fails */
        KIND_SIMPLE,      /* s: is active when it has started */
        KIND_CONDITIONAL, /* c: a oneshot with a condition that is met */
        KIND_UNMET,       /* u: ... that is not met */
        KIND_PRESENT,     /* p: a simple service that is already active */
        KIND_NEVER,       /* n: must never be started */
        KIND_SHARED,      /* w: a oneshot that several leaves wait for */
        KIND_TRANSIENT,
        KIND_NONE,
} UnitKind;

typedef struct LoadedUnit LoadedUnit;

typedef struct UnitJob {
        unsigned id;
        const char *type;
        unsigned stage; /* changes with the type: what was planned before does not happen */
        LoadedUnit *unit;
        bool running;
        bool wanted;           /* by the daemon, and not done yet */
        bool of_administrator; /* who has created it */
        GPtrArray *askers;     /* of Link: the ones that get JobRemoved */
} UnitJob;

struct LoadedUnit {
        char *name, *path;
        UnitKind kind;
        unsigned tree, node; /* of its leaf */
        const char *active, *sub, *result;
        uint64_t invocation;
        uint64_t changed, left_inactive, became_inactive, became_active, tested_conditions,
                exited; /* times; 0: never */
        int code, status;
        bool condition_result;
        bool collects_failures; /* CollectMode=inactive-or-failed */
        UnitJob *job;
        unsigned process;      /* the number of its process; 0: none */
        int output;            /* the descriptor that it writes to, or -1 */
        GPtrArray *references; /* of Link, one entry for each reference */
};

LoadedUnit *loaded_unit_new(const char *name);
void loaded_unit_free(LoadedUnit *unit);

/* Drops the results of its last start. */
void loaded_unit_forget(LoadedUnit *unit);
void loaded_unit_set_state(LoadedUnit *unit, const char *active, const char *sub);
/* Can it be unloaded? */
bool loaded_unit_is_idle(const LoadedUnit *unit);

/* Appends the property as a variant. False: there is no such property. */
bool loaded_unit_append_property(const LoadedUnit *unit, const char *property, sd_bus_message *message);
/* Appends all properties as a{sv}. */
void loaded_unit_append_all(const LoadedUnit *unit, sd_bus_message *message);
/* The same for the properties of PropertiesChanged. */
void loaded_unit_append_changes(const LoadedUnit *unit, sd_bus_message *message);
