/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One question for each thing to look at, asked all at once. */

#include "leaves/unit-before.h"
#include "leaves/systemd.h"

struct UnitBefore {
        Call *calls[4];
        unsigned n_awaited;
        bool conditional;
        UnitFacts *facts;
        UnitBeforeKnown known;
        void *userdata;
};

/* Has a property that is a list any elements? */
static bool has_elements(sd_bus_message *reply) {
        const char *contents;

        return sd_bus_message_peek_type(reply, NULL, &contents) > 0 &&
               sd_bus_message_enter_container(reply, SD_BUS_TYPE_VARIANT, contents) > 0 &&
               sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, contents + 1) > 0 &&
               sd_bus_message_at_end(reply, false) == 0;
}

static void answered(UnitBefore *before, const sd_bus_error *error) {
        if (error || --before->n_awaited == 0)
                before->known(before->conditional, error, before->userdata);
}

static void on_conditions(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBefore *before = userdata;

        before->conditional |= reply && has_elements(reply);
        answered(before, error);
}

static void on_invocation(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBefore *before = userdata;

        if (reply)
                (void) unit_facts_read_one(before->facts, "InvocationID", reply);
        answered(before, error);
}

static void on_change(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBefore *before = userdata;

        if (reply)
                (void) unit_facts_read_one(before->facts, "StateChangeTimestampMonotonic", reply);
        answered(before, error);
}

UnitBefore *unit_before_new(Connection *connection, const char *path, unsigned looks, UnitFacts *facts,
                            UnitBeforeKnown known, void *userdata) {
        static const struct {
                UnitBeforeLook look;
                const char *interface, *property;
                CallDone done;
        } questions[] = {
                { UNIT_BEFORE_CONDITIONS, SYSTEMD_UNIT, "Conditions", on_conditions },
                { UNIT_BEFORE_EXEC_CONDITIONS, SYSTEMD_SERVICE, "ExecCondition", on_conditions },
                { UNIT_BEFORE_INVOCATION, SYSTEMD_UNIT, "InvocationID", on_invocation },
                { UNIT_BEFORE_CHANGE, SYSTEMD_UNIT, "StateChangeTimestampMonotonic", on_change },
        };
        UnitBefore *before = g_new(UnitBefore, 1);

        *before = (UnitBefore){ .facts = facts, .known = known, .userdata = userdata };
        for (size_t i = 0; i < G_N_ELEMENTS(questions); i++)
                if (looks & questions[i].look)
                        before->calls[before->n_awaited++] =
                                systemd_get(connection, path, questions[i].interface, questions[i].property,
                                            questions[i].done, before);

        return before;
}

void unit_before_free(UnitBefore *before) {
        if (!before)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(before->calls); i++)
                call_free(before->calls[i]);
        g_free(before);
}
