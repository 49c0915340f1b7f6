/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the properties of units by a table. The names of these properties are unique over the interfaces of all types
 * of units, so the interface is not checked.
 */

#include <string.h>
#include <systemd/sd-id128.h>

#include "leaves/unit/unit-facts.h"

typedef int (*FactRead)(sd_bus_message *message, void *fact);

static int read_string(sd_bus_message *message, void *fact) {
        const char *value;
        int r = sd_bus_message_read(message, "v", "s", &value);

        if (r >= 0)
                unit_facts_set(fact, value);

        return r;
}

static int read_bool(sd_bus_message *message, void *fact) {
        return sd_bus_message_read(message, "v", "b", fact);
}

static int read_int(sd_bus_message *message, void *fact) {
        return sd_bus_message_read(message, "v", "i", fact);
}

static int read_uint64(sd_bus_message *message, void *fact) {
        return sd_bus_message_read(message, "v", "t", fact);
}

/* Both the number and the path are those of one property. */
static int read_job(sd_bus_message *message, void *fact) {
        UnitFacts *facts = (UnitFacts *) (void *) ((char *) fact - offsetof(UnitFacts, job));
        const char *path;
        int r = sd_bus_message_read(message, "v", "(uo)", &facts->job, &path);

        if (r >= 0)
                unit_facts_set(&facts->job_path, path);

        return r;
}

/* All zero, or nothing: it has not been started. */
static int read_id(sd_bus_message *message, void *fact) {
        sd_id128_t id = SD_ID128_NULL;
        const void *bytes;
        size_t size;
        int r;

        r = sd_bus_message_enter_container(message, 'v', "ay");
        if (r >= 0)
                r = sd_bus_message_read_array(message, 'y', &bytes, &size);
        if (r < 0)
                return r;

        if (size == sizeof(id))
                memcpy(&id, bytes, size);
        unit_facts_set(fact, sd_id128_is_null(id) ? NULL : SD_ID128_TO_STRING(id));
        return sd_bus_message_exit_container(message);
}

/* The first one that was not met: kind, "|" for one of several, "!" for a negated one, its parameter, its state. */
static int read_conditions(sd_bus_message *message, UnitFacts *facts, char **fact) {
        const char *kind, *parameter;
        int trigger, negate, state, r;

        unit_facts_set(fact, NULL);

        r = sd_bus_message_enter_container(message, 'v', "a(sbbsi)");
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "(sbbsi)");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_read(message, "(sbbsi)", &kind, &trigger, &negate, &parameter, &state)) > 0) {
                facts->conditional = true;
                if (state < 0 && !*fact)
                        *fact = g_strconcat(kind, "=", trigger ? "|" : "", negate ? "!" : "", parameter, NULL);
        }
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_met(sd_bus_message *message, void *fact) {
        UnitFacts *facts = (UnitFacts *) (void *) ((char *) fact - offsetof(UnitFacts, unmet_condition));

        return read_conditions(message, facts, &facts->unmet_condition);
}

static int read_asserted(sd_bus_message *message, void *fact) {
        UnitFacts *facts = (UnitFacts *) (void *) ((char *) fact - offsetof(UnitFacts, unmet_assert));

        return read_conditions(message, facts, &facts->unmet_assert);
}

/* Commands: are there any? */
static int read_exec_conditions(sd_bus_message *message, void *fact) {
        int r = sd_bus_message_enter_container(message, 'v', "a(sasbttttuii)");

        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "(sasbttttuii)");
        while (r >= 0 && (r = sd_bus_message_at_end(message, false)) == 0) {
                *(bool *) fact = true;
                r = sd_bus_message_skip(message, "(sasbttttuii)");
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_strings(sd_bus_message *message, void *fact) {
        int r = sd_bus_message_enter_container(message, 'v', "as");

        g_clear_pointer((char ***) fact, g_strfreev);
        if (r >= 0)
                r = sd_bus_message_read_strv(message, fact);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static const struct {
        const char *name;
        FactRead read;
        size_t offset;
} facts_table[] = {
        { "LoadState", read_string, offsetof(UnitFacts, load_state) },
        { "ActiveState", read_string, offsetof(UnitFacts, active_state) },
        { "SubState", read_string, offsetof(UnitFacts, sub_state) },
        { "Result", read_string, offsetof(UnitFacts, result) },
        { "Type", read_string, offsetof(UnitFacts, type) },
        { "ConditionResult", read_bool, offsetof(UnitFacts, condition_result) },
        { "AssertResult", read_bool, offsetof(UnitFacts, assert_result) },
        { "Conditions", read_met, offsetof(UnitFacts, unmet_condition) },
        { "Asserts", read_asserted, offsetof(UnitFacts, unmet_assert) },
        { "ExecCondition", read_exec_conditions, offsetof(UnitFacts, conditional) },
        { "CollectMode", read_string, offsetof(UnitFacts, collect_mode) },
        { "ReloadResult", read_string, offsetof(UnitFacts, reload_result) },
        { "Refs", read_strings, offsetof(UnitFacts, referrers) },
        { "InvocationID", read_id, offsetof(UnitFacts, invocation_id) },
        { "Job", read_job, offsetof(UnitFacts, job) },
        { "StateChangeTimestampMonotonic", read_uint64, offsetof(UnitFacts, changed) },
        { "InactiveExitTimestampMonotonic", read_uint64, offsetof(UnitFacts, left_inactive) },
        { "InactiveEnterTimestampMonotonic", read_uint64, offsetof(UnitFacts, became_inactive) },
        { "ConditionTimestampMonotonic", read_uint64, offsetof(UnitFacts, tested_conditions) },
        { "AssertTimestampMonotonic", read_uint64, offsetof(UnitFacts, tested_asserts) },
        { "ExecMainCode", read_int, offsetof(UnitFacts, exec_main_code) },
        { "ExecMainStatus", read_int, offsetof(UnitFacts, exec_main_status) },
        { "StatusText", read_string, offsetof(UnitFacts, status_text) },
};

int unit_facts_read_one(UnitFacts *facts, const char *name, sd_bus_message *message) {
        for (size_t i = 0; i < G_N_ELEMENTS(facts_table); i++)
                if (strcmp(facts_table[i].name, name) == 0)
                        return facts_table[i].read(message, (char *) facts + facts_table[i].offset);

        return sd_bus_message_skip(message, "v");
}

int unit_facts_read(UnitFacts *facts, sd_bus_message *message) {
        const char *name;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0)
                        r = unit_facts_read_one(facts, name, message);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
        }

        return r < 0 ? r : sd_bus_message_exit_container(message);
}

void unit_facts_set(char **fact, const char *value) {
        g_free(*fact);
        *fact = g_strdup(value);
}

void unit_facts_clear(UnitFacts *facts) {
        g_free(facts->load_state);
        g_free(facts->active_state);
        g_free(facts->sub_state);
        g_free(facts->result);
        g_free(facts->type);
        g_free(facts->unmet_condition);
        g_free(facts->unmet_assert);
        g_free(facts->failed_required);
        g_free(facts->collect_mode);
        g_free(facts->reload_result);
        g_strfreev(facts->referrers);
        g_free(facts->invocation_id);
        g_free(facts->job_path);
        g_free(facts->status_text);
        *facts = (UnitFacts){};
}

char *unit_facts_describe(const UnitFacts *facts) {
        return g_strdup_printf("%s (%s)", facts->active_state ?: "unknown", facts->sub_state ?: "unknown");
}
