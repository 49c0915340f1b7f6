/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads properties of the unit in steps: each step decides, or starts the next. It reads only what it needs, because
 * systemd takes long to send all details of many units.
 *
 * A job that starts a unit is "done" also when a condition of the unit was not met, and as soon as the process of a
 * Type=simple service was forked. A service can end right after it has reported that it is up, or was reloaded; systemd
 * can stop a unit that no other unit needs, or that is bound to one that is down. So such a unit must stay up for a
 * moment. Only a oneshot service may be inactive after its start: it has done its work. A unit that was up before the
 * request, was reloaded, or is up as soon as its process was forked, can be frozen.
 *
 * A job that stops a unit is "done" also when a socket, path or timer, a unit with Upholds=, a unit that systemd starts
 * because of OnSuccess= or OnFailure=, or a call to its bus name starts it again at once. So if there is any of these,
 * the stopped unit must stay down for a moment.
 */

#include "leaves/unit/unit-check.h"

#include <assert.h>

#include "basic/cleanup.h"
#include "leaf-types/unit-names.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-frozen.h"

/* How long a service must stay up to count as started, or down to count as stopped. */
#define SETTLE_USEC (UINT64_C(100) * 1000)

/* How often to wait so long for a unit that the end of the stopped one has started, and that is still starting. */
#define SETTLE_MAX 10u

#define READ_MAX 7u

typedef struct Property {
        const char *name;
        bool of_service; /* only services have it */
} Property;

typedef struct Reading {
        UnitCheck *check;
        const char *property;
        Call *call;
} Reading;

typedef void (*UnitCheckStep)(UnitCheck *check);

struct UnitCheck {
        UnitOrder order;
        UnitFacts *facts;
        Reading readings[READ_MAX];
        unsigned n_awaited; /* of these */
        Call *details;      /* all facts, or the states of the units that can start it */
        UnitCheckStep next;
        Timer *settling;
        unsigned n_settled; /* how often it has */
        uint64_t up_since;  /* when it was up first, as far as is known */
        bool was_up;        /* before the request */
        FrozenSearch *frozen;
        bool complete; /* all facts were read */
        const UnitCheckCallbacks *callbacks;
        void *userdata;
};

static void on_property(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const Reading *reading = userdata;
        UnitCheck *check = reading->check;

        /* An older systemd does not have each of them. */
        if (error && !sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_PROPERTY)) {
                check->callbacks->failed(error, check->userdata);
                return;
        }

        if (reply)
                (void) unit_facts_read_one(check->facts, reading->property, reply);
        if (--check->n_awaited == 0)
                check->next(check);
}

/* Reads the properties of the list, up to one without a name, then does the next step. The first is one of any unit. */
static void check_read(UnitCheck *check, const Property *properties, UnitCheckStep next) {
        bool service = g_str_has_suffix(check->order.unit, ".service");

        check->next = next;
        for (; properties->name; properties++) {
                Reading *reading = &check->readings[check->n_awaited];

                if (properties->of_service && !service)
                        continue;

                assert(check->n_awaited < READ_MAX);
                check->n_awaited++;
                call_free(reading->call);
                *reading = (Reading){ .check = check, .property = properties->name };
                reading->call = systemd_get(check->order.connection, check->order.path,
                                            properties->of_service ? SYSTEMD_SERVICE : SYSTEMD_UNIT, properties->name,
                                            on_property, reading);
        }
}

static void on_settled(void *userdata) {
        UnitCheck *check = userdata;

        g_clear_pointer(&check->settling, timer_free);
        check->next(check);
}

static void check_settle(UnitCheck *check, uint64_t usec, UnitCheckStep next) {
        check->next = next;
        check->settling = timer_new(check->order.timers, usec, on_settled, check);
}

static void check_tell(UnitCheck *check, bool good) {
        check->callbacks->known(good, check->userdata);
}

static bool is_stopped(const UnitCheck *check) {
        return unit_facts_are_down(check->facts) && check->facts->job == 0;
}

static void check_read_details(UnitCheck *check);

/* A unit that has failed when it was stopped is down, but people are told why it has failed. */
static void stop_is_known(UnitCheck *check) {
        if (is_stopped(check) && unit_fact_is(check->facts->active_state, "failed") && !check->complete)
                check_read_details(check);
        else
                check_tell(check, is_stopped(check));
}

static void on_activatable(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitCheck *check = userdata;
        g_auto(GStrv) names = NULL;

        if (reply && sd_bus_message_read_strv(reply, &names) >= 0 && names)
                check->facts->activatable = g_strv_contains((const char *const *) names, check->facts->bus_name);
        stop_is_known(check);
}

static void check_read_activatable(UnitCheck *check) {
        if (!check->facts->bus_name || !*check->facts->bus_name) {
                stop_is_known(check);
                return;
        }

        call_free(check->details);
        check->details = systemd_query_activatable(check->order.connection, on_activatable, check);
}

static bool is_named(char **names, const char *unit) {
        return names && g_strv_contains((const char *const *) names, unit);
}

static void unit_stays_stopped(UnitCheck *check);

/* The states of the units that can start it again. A unit of OnSuccess= or OnFailure= does something else in most
 * cases, and counts only as long as it may still start the unit. */
static void on_starters(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitCheck *check = userdata;
        UnitFacts *facts = check->facts;
        g_autoptr(GPtrArray) active = g_ptr_array_new();
        const char *unit, *state;
        bool starting = false;

        if (reply && sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") > 0)
                while (sd_bus_message_read(reply, "(ssssssouso)", &unit, NULL, NULL, &state, NULL, NULL, NULL, NULL,
                                           NULL, NULL) > 0) {
                        bool starts = unit_fact_is(state, "activating");

                        if (!is_named(facts->triggered_by, unit) && !is_named(facts->upheld_by, unit))
                                starting |= starts;
                        else if (starts || unit_state_is_up(state))
                                g_ptr_array_add(active, g_strdup(unit));
                }
        g_clear_pointer(&facts->starters, g_strfreev);
        if (active->len > 0) {
                g_ptr_array_add(active, NULL);
                facts->starters = (char **) g_ptr_array_steal(active, NULL);
        }
        if (starting && is_stopped(check) && check->n_settled < SETTLE_MAX)
                check_settle(check, SETTLE_USEC, unit_stays_stopped);
        else
                check_read_activatable(check);
}

static void add_names(GPtrArray *all, char **names) {
        for (; names && *names; names++)
                g_ptr_array_add(all, *names);
}

static void check_read_starters(UnitCheck *check) {
        const UnitFacts *facts = check->facts;
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        add_names(names, facts->triggered_by);
        add_names(names, facts->upheld_by);
        add_names(names, facts->on_success);
        add_names(names, facts->on_failure);
        if (names->len == 0) {
                check_read_activatable(check);
                return;
        }

        call_free(check->details);
        check->details = systemd_list_units(check->order.connection, names, on_starters, check);
}

static bool oneshot_worked(const UnitCheck *check);

/* If the details cannot be read, what is known decides. */
static void on_details(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitCheck *check = userdata;

        if (error && !check->facts->active_state) {
                check->callbacks->failed(error, check->userdata);
                return;
        }

        if (reply)
                (void) unit_facts_read(check->facts, reply);
        check->complete = true;
        check->facts->ended_since |= check->order.verb != UNIT_STOP && unit_facts_are_up(check->facts);
        if (check->order.verb != UNIT_STOP)
                check_tell(check, oneshot_worked(check));
        else if (is_stopped(check))
                check_tell(check, true);
        else
                check_read_starters(check);
}

/* The unit is not in the requested state: reads why. */
static void check_read_details(UnitCheck *check) {
        if (check->complete) {
                check_tell(check, false);
                return;
        }

        call_free(check->details);
        check->details = systemd_get_all(check->order.connection, check->order.path, "", on_details, check);
}

static void unit_is_stopped(UnitCheck *check) {
        if (is_stopped(check))
                check_read_starters(check);
        else
                check_read_details(check);
}

static void unit_stays_stopped(UnitCheck *check) {
        static const Property properties[] = { { "ActiveState" }, { "Job" }, {} };

        check->n_settled++;
        check_read(check, properties, unit_is_stopped);
}

static void unit_stops(UnitCheck *check) {
        UnitFacts *facts = check->facts;

        facts->job = 0; /* one that was queued meanwhile is another's */
        if (!unit_facts_are_down(facts))
                check_read_details(check);
        else if (unit_facts_have_starters(facts) || unit_facts_have_successors(facts) ||
                 (facts->bus_name && *facts->bus_name))
                check_settle(check, SETTLE_USEC, unit_stays_stopped);
        else
                stop_is_known(check);
}

/* Has a oneshot service done its work, so that it may be inactive? If nobody holds a reference to it, systemd may have
 * forgotten its results; then it reports that no conditions were tested. */
static bool oneshot_worked(const UnitCheck *check) {
        const UnitFacts *facts = check->facts;
        bool met = facts->condition_result || (check->complete && facts->tested_conditions == 0);

        return (check->order.verb == UNIT_START || check->order.verb == UNIT_RESTART) &&
               unit_fact_is(facts->active_state, "inactive") && unit_fact_is(facts->type, "oneshot") &&
               !facts->remain_after_exit && unit_fact_is(facts->result, "success") && met;
}

static void on_frozen(const char *frozen, void *userdata) {
        UnitCheck *check = userdata;

        unit_facts_set(&check->facts->frozen, frozen);
        if (frozen)
                check_read_details(check);
        else
                check_tell(check, true);
}

/* The processes of a unit that was up before, or is said to be up as soon as it has one, may be frozen. */
static void unit_is_read(UnitCheck *check) {
        const char *type = check->facts->type;

        if (check->was_up || check->order.verb == UNIT_RELOAD || unit_fact_is(type, "simple") ||
            unit_fact_is(type, "idle"))
                check->frozen = frozen_search_new(check->order.connection, check->order.unit, on_frozen, check);
        else
                check_tell(check, true);
}

/* The unit is up. before: it was up before the request. */
static void up_is_known(UnitCheck *check, bool before) {
        static const Property of_restarted[] = { { "NeedDaemonReload" }, {} };

        check->was_up = before;
        if (check->order.verb == UNIT_RESTART)
                check_read(check, of_restarted, unit_is_read);
        else
                unit_is_read(check);
}

static void oneshot_ended(UnitCheck *check) {
        if (oneshot_worked(check))
                up_is_known(check, false);
        else
                check_read_details(check);
}

static void unit_is_up(UnitCheck *check) {
        UnitFacts *facts = check->facts;

        facts->ended_since = unit_facts_are_up(facts) && facts->became_active != check->up_since;
        if (unit_facts_are_up(facts) && !facts->ended_since)
                up_is_known(check, false);
        else
                check_read_details(check);
}

static void unit_stays_up(UnitCheck *check) {
        static const Property properties[] = { { "ActiveState" }, { "ActiveEnterTimestampMonotonic" }, {} };

        check_read(check, properties, unit_is_up);
}

/* A unit that was up for long enough before the request needs not show that it lasts, unless it was reloaded. */
static void service_is_up(UnitCheck *check) {
        UnitFacts *facts = check->facts;
        const UnitOrder *order = &check->order;
        uint64_t now = timers_now(order->timers, TIMER_MONOTONIC), lasts = 0;

        if (order->since > 0 && order->verb != UNIT_RELOAD && facts->became_active > 0 && now > facts->became_active)
                lasts = now - facts->became_active;
        check->up_since = facts->became_active;
        facts->ended_since = order->verb == UNIT_RELOAD && order->since > 0 && facts->became_active > order->since;
        if (facts->ended_since)
                check_read_details(check);
        else if (lasts >= SETTLE_USEC)
                up_is_known(check, true);
        else
                check_settle(check, SETTLE_USEC - lasts, unit_stays_up);
}

/* No process has to stay, but systemd stops the unit if no other unit needs it, or if it needs another one. */
static void lasting_is_up(UnitCheck *check) {
        const UnitFacts *facts = check->facts;

        check->up_since = facts->became_active;
        if (facts->stop_when_unneeded || (facts->binds_to && *facts->binds_to))
                check_settle(check, SETTLE_USEC, unit_stays_up);
        else
                up_is_known(check, false);
}

static void unit_starts(UnitCheck *check) {
        static const Property
                of_service[] = { { "ActiveEnterTimestampMonotonic" }, {} },
                of_lasting[] = { { "ActiveEnterTimestampMonotonic" }, { "StopWhenUnneeded" }, { "BindsTo" }, {} },
                of_oneshot[] = { { "ConditionResult" }, { "Result", true }, { "RemainAfterExit", true }, {} };
        const UnitFacts *facts = check->facts;
        bool oneshot = unit_fact_is(facts->type, "oneshot");

        if (!unit_facts_are_up(facts)) {
                if (oneshot && unit_fact_is(facts->active_state, "inactive"))
                        check_read(check, of_oneshot, oneshot_ended);
                else
                        check_read_details(check);
        } else if (facts->type && !oneshot) {
                check_read(check, of_service, service_is_up);
        } else {
                check_read(check, of_lasting, lasting_is_up);
        }
}

bool unit_was_up_since(const UnitFacts *facts, uint64_t since) {
        bool worked = unit_fact_is(facts->type, "oneshot") && facts->exec_main_exited > since &&
                      unit_facts_show_success(facts);

        return facts->became_active > since || worked;
}

bool unit_was_started_again(const UnitFacts *facts) {
        uint64_t down = facts->left_inactive - facts->became_inactive; /* for how long */

        return unit_facts_have_starters(facts) ||
               (unit_facts_have_successors(facts) && down <= SETTLE_MAX * SETTLE_USEC) ||
               (facts->bus_name && *facts->bus_name && down <= SETTLE_USEC);
}

/* Others may have begun to stop the unit or to start it again, but not systemd because it has failed. */
static void judge_facts(UnitCheck *check) {
        const UnitFacts *facts = check->facts;
        /* Was a unit that is down now up for long enough? */
        bool lasted = !facts->type || unit_fact_is(facts->type, "oneshot") ||
                      facts->became_inactive <= facts->became_active ||
                      facts->became_inactive - facts->became_active >= SETTLE_USEC;
        bool met = facts->condition_result || facts->tested_conditions == 0,
             failed = unit_fact_is(facts->active_state, "failed") || unit_fact_is(facts->result, "exec-condition") ||
                      unit_sub_state_restarts(facts->sub_state);

        if (!unit_facts_are_up(facts))
                check_tell(check, met && !failed && lasted && unit_was_up_since(facts, check->order.since));
        else if (facts->type && !unit_fact_is(facts->type, "oneshot"))
                service_is_up(check);
        else
                check_tell(check, true);
}

UnitCheck *unit_check_new(const UnitOrder *order, UnitFacts *facts, bool complete, const UnitCheckCallbacks *callbacks,
                          void *userdata) {
        static const Property of_started[] = { { "ActiveState" }, { "Type", true }, {} };
        static const Property of_stopped[] = { { "ActiveState" },        { "TriggeredBy" },
                                               { "UpheldBy" },           { "OnSuccess" },
                                               { "OnFailure" },          { "BusName", true },
                                               { "ControlGroup", true }, {} };
        UnitCheck *check = g_new(UnitCheck, 1);

        *check = (UnitCheck){
                .order = *order,
                .facts = facts,
                .complete = complete,
                .callbacks = callbacks,
                .userdata = userdata,
        };
        facts->ended_since = facts->activatable = false;
        if (complete)
                check_settle(check, 0, judge_facts);
        else if (order->verb == UNIT_STOP)
                check_read(check, of_stopped, unit_stops);
        else
                check_read(check, of_started, unit_starts);
        return check;
}

void unit_check_free(UnitCheck *check) {
        if (!check)
                return;

        for (unsigned i = 0; i < READ_MAX; i++)
                call_free(check->readings[i].call);
        call_free(check->details);
        timer_free(check->settling);
        frozen_search_free(check->frozen);
        g_free(check);
}
