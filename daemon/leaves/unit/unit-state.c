/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * UnitState: a condition on the states of a unit. Leaves for the same unit of the same service manager share a Unit,
 * which reads the state and follows it by systemd's signals, through restarts of systemd and of the bus.
 *
 * systemd unloads a unit that nobody needs. Reading it would load it again, systemd would signal that, and so on. So a
 * unit that was unloaded counts as inactive, which it is, and is not read. The exception is a reload, which unloads all
 * units and loads them again.
 *
 * The unit is read when the watch begins and after each reload; the signals report all other changes. Until the reply
 * comes, the last state stays.
 */

#include "basic/audience.h"
#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit-names.h"
#include "leaf-types/unit.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/live-test.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-facts.h"
#include "run/leaf.h"

/* The name under which a connection keeps its units, a hash table of Unit by name. */
#define KEPT "units"

typedef struct Unit {
        char *name;
        Connection *connection;
        Subscription *subscription;
        Call *load;       /* which object is it? The name may be an alias */
        char *path;       /* once that is known */
        UnitWatch *watch; /* of that object */
        Match *removed;   /* its being unloaded */
        char *problem;
        char *told; /* the states that the audience was told of last; NULL: none */
        Audience audience;
} Unit;

static const UnitFacts *unit_facts(const Unit *unit) {
        const UnitFacts *facts = unit->watch ? unit_watch_facts(unit->watch) : NULL;

        return facts && facts->load_state ? facts : NULL;
}

static void unit_drop_unused(Unit *unit) {
        if (!audience_is_unused(&unit->audience))
                return;

        g_hash_table_remove(connection_data(unit->connection, KEPT), unit->name);
        call_free(unit->load);
        match_free(unit->removed);
        unit_watch_free(unit->watch);
        subscription_free(unit->subscription);
        g_free(unit->told);
        g_free(unit->problem);
        g_free(unit->path);
        g_free(unit->name);
        g_free(unit);
}

/* May free the unit. */
static void unit_tell(Unit *unit) {
        audience_tell(&unit->audience);
        unit_drop_unused(unit);
}

/* Ignore signals about other properties. */
static void unit_known(Unit *unit, const UnitFacts *facts) {
        g_autofree char *states = g_strjoin(" ", facts->load_state, facts->active_state ?: "", facts->sub_state ?: "",
                                            facts->result ?: "", NULL);

        g_clear_pointer(&unit->problem, g_free);
        if (unit_fact_is(unit->told, states))
                return;

        g_free(unit->told);
        unit->told = g_steal_pointer(&states);
        unit_tell(unit);
}

static void on_unknown(const sd_bus_error *error, void *userdata) {
        Unit *unit = userdata;

        /* Signals before the next reply do not give the complete state. */
        g_clear_pointer(&unit->told, g_free);
        if (unit->watch)
                unit_facts_clear(unit_watch_facts(unit->watch));
        g_free(unit->problem);
        unit->problem = g_strdup(error->message ?: error->name);
        unit_tell(unit);
}

static void on_changed(void *userdata) {
        Unit *unit = userdata;
        const UnitFacts *facts = unit_facts(unit);

        if (!facts)
                return;

        /* A unit that was not there and is up must have been loaded meanwhile. While it is up it stays loaded, so
         * reading it loads nothing. */
        if (!unit_fact_is(facts->load_state, "loaded") && !unit_fact_is(facts->active_state, "inactive"))
                unit_watch_read(unit->watch);

        unit_known(unit, facts);
}

static void on_removed(sd_bus_message *message, void *userdata) {
        Unit *unit = userdata;
        UnitFacts *facts = unit_watch_facts(unit->watch);

        if (!facts->load_state || !subscription_is_active(unit->subscription))
                return;

        unit_facts_set(&facts->active_state, "inactive");
        unit_facts_set(&facts->sub_state, "dead");
        if (facts->result)
                unit_facts_set(&facts->result, "success");
        unit_known(unit, facts);
}

static void on_loaded(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        static const UnitWatchCallbacks callbacks = {
                .changed = on_changed,
                .failed = on_unknown,
        };
        SignalPattern pattern = {
                .sender = SYSTEMD_NAME,
                .interface = SYSTEMD_MANAGER,
                .member = "UnitRemoved",
                .arg_number = 1,
                .arg_is_path = true,
        };
        Unit *unit = userdata;

        if (error) {
                on_unknown(error, unit);
        } else if (sd_bus_message_read(reply, "o", &pattern.arg) < 0) {
                return;
        } else if (unit_fact_is(unit->path, pattern.arg)) {
                unit_watch_read(unit->watch);
        } else {
                unit_facts_set(&unit->path, pattern.arg);
                match_free(unit->removed);
                unit_watch_free(unit->watch);
                unit->removed = connection_match(unit->connection, &pattern, on_removed, NULL, unit);
                unit->watch = unit_watch_new(unit->connection, unit->path, &callbacks, unit);
        }
}

static void unit_load(void *userdata) {
        Unit *unit = userdata;

        call_free(unit->load);
        unit->load = systemd_ask(unit->connection, on_loaded, unit, "LoadUnit", "s", unit->name);
}

/* name: complete. */
static Unit *unit_get(Connection *connection, const char *name) {
        static const SubscriptionCallbacks callbacks = { .subscribed = unit_load, .lost = on_unknown };
        GHashTable *units = connection_table(connection, KEPT);
        Unit *unit = g_hash_table_lookup(units, name);

        if (unit)
                return unit;

        unit = g_new0(Unit, 1);
        unit->name = g_strdup(name);
        unit->connection = connection;
        unit->subscription = subscription_new(connection, &callbacks, unit);
        if (subscription_is_active(unit->subscription))
                unit_load(unit);
        else
                unit->problem = connection_problem(connection);

        g_hash_table_insert(units, unit->name, unit);
        return unit;
}

typedef struct UnitState {
        Connection *connection; /* first, see dbus_leaf_obstacle() */
        Unit *unit;             /* NULL: the parameters were wrong */
        Follower follower;
        LiveTest *test; /* NULL: none */
        Status value;
} UnitState;

/* By default, what "systemctl is-active" calls active. */
static const char *const *wanted_state(const UnitStateParams *params) {
        bool others = params->sub_state || params->result || params->load_state || params->test;

        return params->state || others ? params->state : unit_up_states;
}

/* wanted NULL: anything will do. */
static bool is_one_of(const char *fact, const char *const *wanted) {
        return !wanted || (fact && g_strv_contains(wanted, fact));
}

/* What is wrong with the unit, or NULL. */
static char *state_complaint(const char *unit, const UnitStateParams *params, const UnitFacts *facts) {
        const char *const *wanted = NULL;
        g_autofree char *actual = NULL, *list = NULL;
        const char *hint = "";

        if (!is_one_of(facts->load_state, params->load_state)) {
                wanted = params->load_state;
                actual = g_strdup_printf("is %s", facts->load_state);
        } else if (!is_one_of(facts->active_state, wanted_state(params))) {
                wanted = wanted_state(params);
                actual = g_strdup_printf("is %s (%s)", facts->active_state, facts->sub_state);
                hint = g_str_equal(facts->load_state, "not-found") ? ": there is no such unit" : "";
        } else if (!is_one_of(facts->sub_state, params->sub_state)) {
                wanted = params->sub_state;
                actual = g_strdup_printf("is %s (%s)", facts->active_state, facts->sub_state);
        } else if (!is_one_of(facts->result, params->result)) {
                wanted = params->result;
                actual = g_strdup_printf("has the result %s", facts->result ?: "of no service");
        } else {
                return NULL;
        }

        list = wanted == unit_up_states ? g_strdup("active") : g_strjoinv(" or ", (char **) wanted);
        return g_strdup_printf("%s %s, not %s%s", unit, actual, list, hint);
}

/* One as itself, more as an array. */
static json_object *wanted_to_json(const char *const *wanted) {
        json_object *array;

        if (!wanted || !wanted[1])
                return fact_text(wanted ? wanted[0] : NULL);

        array = json_object_new_array();
        for (; *wanted; wanted++)
                json_object_array_add(array, fact_text(*wanted));
        return array;
}

static Status evaluate(Leaf *leaf) {
        const UnitStateParams *params = leaf->params;
        UnitState *op = leaf->op;
        const UnitFacts *facts = unit_facts(op->unit);
        const char *problem = op->unit->problem;
        g_autofree char *text = NULL;

        if (facts) {
                text = state_complaint(op->unit->name, params, facts);
                op->value = text ? STATUS_FAILURE : STATUS_SUCCESS;
        } else {
                text = g_strdup_printf("the state of %s is not known: %s", op->unit->name, problem ?: "");
                op->value = problem ? unknown_status(params->unknown) : STATUS_RUNNING;
        }

        if (op->value == STATUS_FAILURE) {
                json_object *wanted = facts_new("load_state", wanted_to_json(params->load_state), "state",
                                                wanted_to_json(wanted_state(params)), "sub_state",
                                                wanted_to_json(params->sub_state), "result",
                                                wanted_to_json(params->result), NULL),
                            *seen = NULL, *json = facts_new("unit", fact_text(op->unit->name), "wanted", wanted, NULL);

                if (facts)
                        seen = facts_new("load_state", fact_text(facts->load_state), "state",
                                         fact_text(facts->active_state), "sub_state", fact_text(facts->sub_state),
                                         "result", fact_text(facts->result), NULL);
                json_object_object_add(json, "seen", seen);
                leaf_set_cause_of(leaf, CAUSE_CONDITION, json, "%s", text);
        } else if (facts && op->test) {
                g_autoptr(json_object) value = facts_new(
                        "active_state", fact_text(facts->active_state), "sub_state", fact_text(facts->sub_state),
                        "result", fact_text(facts->result), "load_state", fact_text(facts->load_state), NULL);

                op->value = live_test_evaluate(op->test, unit_state_test_names, &value);
        }
        return op->value;
}

static void on_state_changed(void *userdata) {
        leaf_set_value(userdata, evaluate(userdata));
}

static Status unit_state_evaluate(Leaf *leaf) {
        UnitState *op = leaf->op;

        return op->test && live_test_is_stale(op->test) ? evaluate(leaf) : op->value;
}

/* An empty list would match no unit. */
static Status unit_state_start(Leaf *leaf) {
        const UnitStateParams *params = leaf->params;
        UnitState *op = leaf->op;
        g_autofree char *unit = NULL, *error = NULL;

        op->value = STATUS_FAILURE;
        if (unit_name_complete(params->unit, &unit, &error) < 0 ||
            dbus_bus_get(leaf, params->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return op->value;
        }

        if (params->test)
                op->test = live_test_new(leaf, params->test);
        op->unit = unit_get(op->connection, unit);
        op->follower = (Follower){ .changed = on_state_changed, .userdata = leaf };
        audience_join(&op->unit->audience, &op->follower);
        return evaluate(leaf);
}

static void unit_state_release(Leaf *leaf) {
        UnitState *op = leaf->op;

        live_test_free(op->test);
        if (!op->unit)
                return;

        audience_leave(&op->unit->audience, &op->follower);
        unit_drop_unused(op->unit);
}

static void unit_state_describe(Leaf *leaf, GString *text) {
        const UnitState *op = leaf->op;
        const char *problem = op->unit->problem;

        g_string_append_printf(text, "state of %s%s%s", op->unit->name, problem ? ": " : "", problem ?: "");
}

const LeafKind unit_state_kind = {
        .op_size = sizeof(UnitState),
        .start = unit_state_start,
        .evaluate = unit_state_evaluate,
        .release = unit_state_release,
        .obstacle = dbus_leaf_obstacle,
        .describe = unit_state_describe,
};
