/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bus.h"
#include "clock.h"
#include "troubles.h"
#include "unit.h"
#include "witness.h"

static const char kind_letters[] = "ofscupnw";

static bool parse_name(LoadedUnit *unit) {
        const char *letter;
        char kind;
        unsigned run, attempt;

        if (sscanf(unit->name, "btd-t%u.%u-%u-%u.service", &unit->tree, &run, &unit->node, &attempt) == 4) {
                unit->kind = KIND_TRANSIENT;
                return true;
        }
        if (sscanf(unit->name, "sim-%c-%u-%u.service", &kind, &unit->tree, &unit->node) != 3)
                return false;

        letter = strchr(kind_letters, kind);
        if (!letter)
                return false;
        unit->kind = (UnitKind) (letter - kind_letters);
        return true;
}

static char *path_of(const char *name) {
        char *path = NULL;

        if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", name, &path) < 0)
                g_error("not the name of a unit: %s", name);
        return path;
}

LoadedUnit *loaded_unit_new(const char *name) {
        LoadedUnit *unit = g_new0(LoadedUnit, 1);

        unit->name = g_strdup(name);
        unit->path = path_of(name);
        unit->output = -1;
        unit->references = g_ptr_array_new();
        if (!parse_name(unit))
                unit->kind = KIND_NONE;
        unit->collects_failures = troubles_have(TROUBLE_FORGET) && unit->node % 3 == 0 && unit->kind != KIND_NONE;
        loaded_unit_forget(unit);
        if (unit->kind == KIND_PRESENT) {
                unit->changed = unit->left_inactive = unit->tested_conditions = 1;
                unit->active = "active";
                unit->sub = "running";
                unit->invocation = 1;
                unit->condition_result = true;
                witness_state(unit->tree, unit->node, unit->active);
        }
        return unit;
}

void loaded_unit_free(LoadedUnit *unit) {
        if (unit->output >= 0)
                close(unit->output);
        if (unit->job)
                g_ptr_array_unref(unit->job->askers);
        g_free(unit->job);
        g_ptr_array_unref(unit->references);
        free(unit->path);
        g_free(unit->name);
        g_free(unit);
}

void loaded_unit_forget(LoadedUnit *unit) {
        unit->active = "inactive";
        unit->sub = "dead";
        unit->result = "success";
        unit->condition_result = false;
        unit->invocation = unit->changed = 0;
        unit->left_inactive = unit->became_inactive = unit->became_active = unit->tested_conditions = unit->exited = 0;
        unit->code = unit->status = 0;
}

static bool is_down(const char *active) {
        return g_str_equal(active, "inactive") || g_str_equal(active, "failed");
}

void loaded_unit_set_state(LoadedUnit *unit, const char *active, const char *sub) {
        bool was_down = is_down(unit->active), down = is_down(active),
             was_up = g_str_equal(unit->active, "active") || g_str_equal(unit->active, "reloading");

        if (g_str_equal(unit->active, active) && g_str_equal(unit->sub, sub))
                return;

        unit->active = active;
        unit->sub = sub;
        unit->changed = clock_now();
        if (unit->kind != KIND_TRANSIENT)
                witness_state(unit->tree, unit->node, active);
        if (was_down && !down)
                unit->left_inactive = unit->changed;
        if (!was_down && down)
                unit->became_inactive = unit->changed;
        if (g_str_equal(active, "active") && !was_up)
                unit->became_active = unit->changed;
}

bool loaded_unit_is_idle(const LoadedUnit *unit) {
        bool over = g_str_equal(unit->active, "inactive") ||
                    (unit->collects_failures && g_str_equal(unit->active, "failed"));

        return over && !unit->job && unit->references->len == 0;
}

static int append_conditions(sd_bus_message *message, bool any, bool met) {
        int r = sd_bus_message_open_container(message, 'v', "a(sbbsi)");

        if (r >= 0)
                r = any ? sd_bus_message_append(message, "a(sbbsi)", 1, "ConditionPathExists", false, false,
                                                "/simulated", met ? 1 : -1)
                        : sd_bus_message_append(message, "a(sbbsi)", 0);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_invocation(sd_bus_message *message, uint64_t invocation) {
        uint64_t bytes[2] = { invocation, invocation ? UINT64_C(0x1234) : 0 };
        int r = sd_bus_message_open_container(message, 'v', "ay");

        if (r >= 0)
                r = sd_bus_message_append_array(message, 'y', bytes, sizeof(bytes));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_job(sd_bus_message *message, const UnitJob *job) {
        char path[64] = "/";

        if (job)
                (void) snprintf(path, sizeof(path), "/org/freedesktop/systemd1/job/%u", job->id);
        return sd_bus_message_append(message, "v", "(uo)", job ? job->id : 0u, path);
}

static int append_references(sd_bus_message *message, const GPtrArray *references) {
        int r = sd_bus_message_open_container(message, 'v', "as");

        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "s");
        for (unsigned i = 0; r >= 0 && i < references->len; i++)
                r = sd_bus_message_append(message, "s", link_unique(references->pdata[i]));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static const char *type_of(const LoadedUnit *unit) {
        switch (unit->kind) {
        case KIND_SIMPLE:
        case KIND_PRESENT:
                return "simple";
        case KIND_TRANSIENT:
                return "exec";
        default:
                return "oneshot";
        }
}

bool loaded_unit_append_property(const LoadedUnit *unit, const char *property, sd_bus_message *message) {
        bool conditional = unit->kind == KIND_CONDITIONAL || unit->kind == KIND_UNMET;

        if (g_str_equal(property, "LoadState"))
                (void) sd_bus_message_append(message, "v", "s", unit->kind == KIND_NONE ? "not-found" : "loaded");
        else if (g_str_equal(property, "ActiveState"))
                (void) sd_bus_message_append(message, "v", "s", unit->active);
        else if (g_str_equal(property, "SubState"))
                (void) sd_bus_message_append(message, "v", "s", unit->sub);
        else if (g_str_equal(property, "Result"))
                (void) sd_bus_message_append(message, "v", "s", unit->result);
        else if (g_str_equal(property, "Type"))
                (void) sd_bus_message_append(message, "v", "s", type_of(unit));
        else if (g_str_equal(property, "ConditionResult"))
                (void) sd_bus_message_append(message, "v", "b", unit->condition_result);
        else if (g_str_equal(property, "Conditions"))
                (void) append_conditions(message, conditional, unit->kind == KIND_CONDITIONAL);
        else if (g_str_equal(property, "ExecCondition"))
                (void) sd_bus_message_append(message, "v", "a(sasbttttuii)", 0);
        else if (g_str_equal(property, "InvocationID"))
                (void) append_invocation(message, unit->invocation);
        else if (g_str_equal(property, "Job"))
                (void) append_job(message, unit->job);
        else if (g_str_equal(property, "StateChangeTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->changed);
        else if (g_str_equal(property, "InactiveExitTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->left_inactive);
        else if (g_str_equal(property, "InactiveEnterTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->became_inactive);
        else if (g_str_equal(property, "ActiveEnterTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->became_active);
        else if (g_str_equal(property, "ExecMainExitTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->exited);
        else if (g_str_equal(property, "ConditionTimestampMonotonic"))
                (void) sd_bus_message_append(message, "v", "t", unit->tested_conditions);
        else if (g_str_equal(property, "CollectMode"))
                (void) sd_bus_message_append(message, "v", "s",
                                             unit->collects_failures ? "inactive-or-failed" : "inactive");
        else if (g_str_equal(property, "Refs"))
                (void) append_references(message, unit->references);
        else if (g_str_equal(property, "ExecMainCode"))
                (void) sd_bus_message_append(message, "v", "i", unit->code);
        else if (g_str_equal(property, "ExecMainStatus"))
                (void) sd_bus_message_append(message, "v", "i", unit->status);
        else
                return false;

        return true;
}

static void append_some(const LoadedUnit *unit, const char *const *properties, sd_bus_message *message) {
        (void) sd_bus_message_open_container(message, 'a', "{sv}");
        for (; *properties; properties++) {
                (void) sd_bus_message_open_container(message, 'e', "sv");
                (void) sd_bus_message_append(message, "s", *properties);
                (void) loaded_unit_append_property(unit, *properties, message);
                (void) sd_bus_message_close_container(message);
        }
        (void) sd_bus_message_close_container(message);
}

void loaded_unit_append_all(const LoadedUnit *unit, sd_bus_message *message) {
        static const char *const all[] = {
                "LoadState",
                "ActiveState",
                "SubState",
                "Result",
                "Type",
                "ConditionResult",
                "Conditions",
                "InvocationID",
                "ExecMainStatus",
                "Job",
                "StateChangeTimestampMonotonic",
                "InactiveExitTimestampMonotonic",
                "InactiveEnterTimestampMonotonic",
                "ActiveEnterTimestampMonotonic",
                "ExecMainExitTimestampMonotonic",
                "ConditionTimestampMonotonic",
                "CollectMode",
                "Refs",
                "ExecMainCode",
                NULL,
        };

        append_some(unit, all, message);
}

void loaded_unit_append_changes(const LoadedUnit *unit, sd_bus_message *message) {
        static const char *const some[] = {
                "ActiveState",
                "SubState",
                "Result",
                "ConditionResult",
                "InvocationID",
                "Job",
                "ExecMainStatus",
                "StateChangeTimestampMonotonic",
                "InactiveExitTimestampMonotonic",
                "InactiveEnterTimestampMonotonic",
                "ActiveEnterTimestampMonotonic",
                "ExecMainExitTimestampMonotonic",
                "ConditionTimestampMonotonic",
                "ExecMainCode",
                NULL,
        };

        append_some(unit, some, message);
}
