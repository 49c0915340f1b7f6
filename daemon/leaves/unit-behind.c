/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One question after the other, as far as the answers leave something to ask. */

#include "leaves/unit-behind.h"
#include "leaves/systemd.h"
#include "leaves/unit-required.h"

/* How long a Type=simple service must last to count as started. */
#define SETTLE_USEC (100 * 1000u)

struct UnitBehind {
        Timers *timers;
        Connection *connection;
        const char *unit, *path;
        UnitFacts *facts;
        const UnitBehindCallbacks *callbacks;
        void *userdata;

        Call *call;
        bool good;              /* the job is done */
        bool dependent;         /* it has failed since one of another unit has */
        UnitRequired *required; /* which it was */
        bool detailed;          /* all facts have been read */
        Timer *settling;        /* or it has settled */
};

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static void fail(const UnitBehind *behind, const sd_bus_error *error) {
        behind->callbacks->failed(error, behind->userdata);
}

static bool is_lost(const UnitBehind *behind, const sd_bus_error *error) {
        return error && behind->callbacks->lost(error, behind->userdata);
}

static void judge(UnitBehind *behind);

static void on_required(const char *unit, void *userdata) {
        UnitBehind *behind = userdata;

        unit_facts_set(&behind->facts->failed_required, unit);
        fail(behind, NULL);
}

/* Also where they could not be read, the little that is known is better than nothing. */
static void on_details(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBehind *behind = userdata;

        if (is_lost(behind, error))
                return;

        behind->detailed = true;
        if (reply)
                (void) unit_facts_read(behind->facts, reply);

        if (reply && behind->good)
                judge(behind);
        else if (behind->dependent)
                behind->required = unit_required_new(behind->connection, behind->path, on_required, behind);
        else
                fail(behind, NULL);
}

static void read_details(UnitBehind *behind) {
        call_free(behind->call);
        behind->call = systemd_get_all(behind->connection, behind->path, "", on_details, behind);
}

static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBehind *behind = userdata;
        const char *state;

        if (is_lost(behind, error))
                return;
        if (error) {
                fail(behind, error);
                return;
        }

        if (sd_bus_message_read(reply, "v", "s", &state) >= 0)
                unit_facts_set(&behind->facts->active_state, state);
        judge(behind);
}

static void read_state(void *userdata) {
        UnitBehind *behind = userdata;

        call_free(behind->call);
        behind->call = systemd_get(behind->connection, behind->path, SYSTEMD_UNIT, "ActiveState", on_state, behind);
}

static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitBehind *behind = userdata;
        const char *type;

        if (is_lost(behind, error))
                return;

        if (error)
                fail(behind, error);
        else if (sd_bus_message_read(reply, "v", "s", &type) >= 0 && (is(type, "simple") || is(type, "idle")))
                behind->settling = timer_new(behind->timers, SETTLE_USEC, read_state, behind);
        else
                behind->callbacks->done(behind->userdata);
}

/* A oneshot service is inactive when it has done its work, and any other may have done all that it had to do. */
static bool is_good(const UnitFacts *facts) {
        const char *state = facts->active_state;

        return facts->condition_result && (is(state, "active") || is(state, "reloading") || is(state, "inactive"));
}

static void judge(UnitBehind *behind) {
        bool lasts = is(behind->facts->active_state, "active") && g_str_has_suffix(behind->unit, ".service");

        if (!is_good(behind->facts) && behind->detailed) {
                fail(behind, NULL);
        } else if (!is_good(behind->facts)) {
                read_details(behind);
        } else if (!lasts || behind->settling) {
                behind->callbacks->done(behind->userdata);
        } else {
                call_free(behind->call);
                behind->call = systemd_get(behind->connection, behind->path, SYSTEMD_SERVICE, "Type", on_type, behind);
        }
}

UnitBehind *unit_behind_new(Timers *timers, Connection *connection, const char *unit, const char *path,
                            UnitFacts *facts, const UnitBehindCallbacks *callbacks, void *userdata) {
        UnitBehind *behind = g_new(UnitBehind, 1);

        *behind = (UnitBehind){
                .timers = timers,
                .connection = connection,
                .unit = unit,
                .path = path,
                .facts = facts,
                .callbacks = callbacks,
                .userdata = userdata,
        };
        return behind;
}

void unit_behind_free(UnitBehind *behind) {
        if (!behind)
                return;

        unit_required_free(behind->required);
        call_free(behind->call);
        timer_free(behind->settling);
        g_free(behind);
}

void unit_behind_explain(UnitBehind *behind, const char *result) {
        behind->dependent = is(result, "dependency");
        read_details(behind);
}

void unit_behind_check_all(UnitBehind *behind) {
        behind->good = true;
        read_details(behind);
}

void unit_behind_check_state(UnitBehind *behind) {
        behind->good = true;
        read_state(behind);
}

void unit_behind_judge(UnitBehind *behind) {
        behind->good = behind->detailed = true;
        judge(behind);
}
