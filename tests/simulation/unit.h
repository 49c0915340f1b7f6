/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A unit of the simulated systemd, with at most one job. What it is like follows from its name:
 *
 *   sim-KIND-TREE-NODE.service   a unit that is installed, for the leaf of that node; see UnitKind
 *   btd-RUN-NODE-ATTEMPT.service a transient unit, which is there while it was asked for
 *
 * As with systemd, one that is neither active nor has failed nor is wanted by anybody is forgotten, and with it all
 * that is known of its last start.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef enum UnitKind {
        KIND_ONESHOT,     /* o: runs, and is inactive again */
        KIND_FAILING,     /* f: runs, and fails */
        KIND_SIMPLE,      /* s: is active from its start on */
        KIND_CONDITIONAL, /* c: a oneshot with a condition that is met */
        KIND_UNMET,       /* u: ... that is not met */
        KIND_PRESENT,     /* p: a simple one that is active already */
        KIND_NEVER,       /* n: nothing starts it but an error of the daemon */
        KIND_TRANSIENT,
        KIND_NONE,
} UnitKind;

typedef struct LoadedUnit LoadedUnit;

typedef struct UnitJob {
        unsigned id;
        const char *type;
        LoadedUnit *unit;
        bool running;
        GPtrArray *askers; /* of Link, who are told of its end */
} UnitJob;

struct LoadedUnit {
        char *name, *path;
        UnitKind kind;
        unsigned tree, node; /* whose leaf it belongs to */
        const char *active, *sub, *result;
        uint64_t invocation;
        uint64_t changed, left_inactive, became_inactive, tested_conditions; /* when, 0: never */
        int code, status;
        bool condition_result;
        UnitJob *job;
        unsigned process;      /* number of the one that runs, 0: none */
        int output;            /* where it writes to, or -1 */
        GPtrArray *references; /* of Link, each as often as it has asked for one */
};

LoadedUnit *loaded_unit_new(const char *name);
void loaded_unit_free(LoadedUnit *unit);

/* Forgets what is known of its last start. */
void loaded_unit_forget(LoadedUnit *unit);
void loaded_unit_set_state(LoadedUnit *unit, const char *active, const char *sub);
/* Nobody needs it any more. */
bool loaded_unit_is_idle(const LoadedUnit *unit);

/* Properties as variants. False: there is no such one. */
bool loaded_unit_append_property(const LoadedUnit *unit, const char *property, sd_bus_message *message);
/* As an a{sv}. */
void loaded_unit_append_all(const LoadedUnit *unit, sd_bus_message *message);
/* Those that change. */
void loaded_unit_append_changes(const LoadedUnit *unit, sd_bus_message *message);
