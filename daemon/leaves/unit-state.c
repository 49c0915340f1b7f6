/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * UnitState: is a unit in the state asked for? Follows the signals of systemd.
 *
 * A unit that nobody needs is unloaded, and looking at it would load it again, which would be signalled, and so on.
 * So when it is unloaded it is taken to be inactive, which it is, without a look. It is looked at when the
 * watch begins and when units have been loaded anew (daemon-reload), and its signals tell the rest.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "engine/tree.h"
#include "leaves/leaf.h"
#include "leaves/registry.h"
#include "leaves/systemd.h"
#include "leaves/unit-name.h"
#include "leaves/unit-watch.h"

static const SignalPattern reloading_pattern = {
        .sender = SYSTEMD_NAME,
        .interface = SYSTEMD_MANAGER,
        .member = "Reloading",
};

typedef struct UnitStateParams {
        const char *unit;
        const char *state, *sub_state, *result, *load_state;
        const char *bus;
} UnitStateParams;

typedef struct UnitState {
        char *unit;
        Connection *connection;
        Subscription *subscription;
        Match *reloading;
        Call *load;       /* which object is it? The name may be an alias */
        char *path;       /* once that is known */
        UnitWatch *watch; /* of that object */
        Match *removed;   /* its being unloaded */
        Status told;      /* IDLE: nothing yet */
} UnitState;

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static const char *wanted_state(const UnitStateParams *params) {
        bool others = params->sub_state || params->result || params->load_state;

        return params->state || others ? params->state : "active";
}

/* What is wrong with the unit, or NULL. */
static char *state_complaint(const char *unit, const UnitStateParams *params, const UnitFacts *facts) {
        const char *state = wanted_state(params);

        if (params->load_state && !is(facts->load_state, params->load_state))
                return g_strdup_printf("%s is %s, not %s", unit, facts->load_state, params->load_state);
        if (state && !is(facts->active_state, state))
                return g_strdup_printf("%s is %s (%s), not %s%s", unit, facts->active_state, facts->sub_state, state,
                                       is(facts->load_state, "not-found") ? ": there is no such unit" : "");
        if (params->sub_state && !is(facts->sub_state, params->sub_state))
                return g_strdup_printf("%s is %s (%s), not %s", unit, facts->active_state, facts->sub_state,
                                       params->sub_state);
        if (params->result && !is(facts->result, params->result))
                return g_strdup_printf("%s has the result %s, not %s", unit, facts->result ?: "of no service",
                                       params->result);

        return NULL;
}

static json_object *states_to_json(const char *load_state, const char *state, const char *sub_state,
                                   const char *result) {
        return facts_new("load_state", fact_text(load_state), "state", fact_text(state), "sub_state",
                         fact_text(sub_state), "result", fact_text(result), NULL);
}

/* facts NULL: they are not known. */
static json_object *states_to_facts(const char *unit, const UnitStateParams *params, const UnitFacts *facts) {
        json_object *json = facts_new(
                "unit", fact_text(unit), "wanted",
                states_to_json(params->load_state, wanted_state(params), params->sub_state, params->result), NULL);

        json_object_object_add(
                json, "seen",
                facts ? states_to_json(facts->load_state, facts->active_state, facts->sub_state, facts->result) : NULL);
        return json;
}

/* complaint NULL: all is as it should be. A state that is still wrong has its cause told, but is no news. */
static void unit_state_report(Leaf *leaf, const char *complaint, const UnitFacts *facts) {
        Status value = complaint ? STATUS_FAILURE : STATUS_SUCCESS;
        UnitState *op = leaf->op;

        if (complaint)
                leaf_set_cause_of(leaf, CAUSE_CONDITION, states_to_facts(op->unit, leaf->params, facts), "%s",
                                  complaint);
        if (op->told == value)
                return;

        op->told = value;
        leaf_set_value(leaf, value);
}

static void unit_state_tell(Leaf *leaf) {
        UnitState *op = leaf->op;
        const UnitFacts *facts = unit_watch_facts(op->watch);
        g_autofree char *complaint = state_complaint(op->unit, leaf->params, facts);

        unit_state_report(leaf, complaint, facts);
}

static void unit_state_unknown(Leaf *leaf, const sd_bus_error *error) {
        UnitState *op = leaf->op;
        g_autofree char *complaint =
                g_strdup_printf("the state of %s is not known: %s", op->unit, error->message ?: error->name);

        unit_state_report(leaf, complaint, NULL);
}

static void unit_state_read(void *userdata) {
        Leaf *leaf = userdata;
        UnitState *op = leaf->op;

        /* What signals tell before the answer comes is not the whole picture. */
        unit_facts_clear(unit_watch_facts(op->watch));
        unit_watch_read(op->watch);
}

static void on_failed(const sd_bus_error *error, void *userdata) {
        unit_state_unknown(userdata, error);
}

static void on_changed(void *userdata) {
        Leaf *leaf = userdata;
        UnitState *op = leaf->op;
        const UnitFacts *facts = unit_watch_facts(op->watch);

        if (!facts->load_state)
                return;

        /* A unit that was not there and is up must have been loaded meanwhile. While it is up it stays loaded, so
         * there is no harm in a look. */
        if (!is(facts->load_state, "loaded") && !is(facts->active_state, "inactive"))
                unit_watch_read(op->watch);

        unit_state_tell(leaf);
}

static void on_removed(sd_bus_message *message, void *userdata) {
        Leaf *leaf = userdata;
        UnitState *op = leaf->op;
        UnitFacts *facts = unit_watch_facts(op->watch);

        if (!facts->load_state)
                return;

        unit_facts_set(&facts->active_state, "inactive");
        unit_facts_set(&facts->sub_state, "dead");
        if (facts->result)
                unit_facts_set(&facts->result, "success");
        unit_state_tell(leaf);
}

static Match *match_removed(Leaf *leaf, const char *path) {
        UnitState *op = leaf->op;
        SignalPattern pattern = {
                .sender = SYSTEMD_NAME,
                .interface = SYSTEMD_MANAGER,
                .member = "UnitRemoved",
                .arg = path,
                .arg_number = 1,
                .arg_is_path = true,
        };

        return connection_match(op->connection, &pattern, on_removed, NULL, leaf);
}

static void unit_state_watch(Leaf *leaf, const char *path) {
        static const UnitWatchCallbacks callbacks = {
                .ready = unit_state_read,
                .changed = on_changed,
                .failed = on_failed,
        };
        UnitState *op = leaf->op;

        if (is(op->path, path)) {
                unit_state_read(leaf);
                return;
        }

        unit_facts_set(&op->path, path);
        match_free(op->removed);
        unit_watch_free(op->watch);
        op->removed = match_removed(leaf, path);
        op->watch = unit_watch_new(op->connection, path, &callbacks, leaf);
}

static void on_loaded(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *path;

        if (error)
                unit_state_unknown(userdata, error);
        else if (sd_bus_message_read(reply, "o", &path) >= 0)
                unit_state_watch(userdata, path);
}

static void unit_state_load(void *userdata) {
        Leaf *leaf = userdata;
        UnitState *op = leaf->op;
        g_autoptr(sd_bus_message) message =
                systemd_message(op->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "LoadUnit", "s", op->unit);

        call_free(op->load);
        op->load = connection_call(op->connection, message, on_loaded, leaf);
}

static void on_lost(const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        UnitState *op = leaf->op;

        if (op->watch)
                unit_facts_clear(unit_watch_facts(op->watch));
        unit_state_unknown(leaf, error);
}

/* The signal comes twice, before and after. */
static void on_reloading(sd_bus_message *message, void *userdata) {
        int begins;

        if (sd_bus_message_read(message, "b", &begins) >= 0 && !begins)
                unit_state_load(userdata);
}

static Status unit_state_start(Leaf *leaf) {
        static const SubscriptionCallbacks callbacks = { .subscribed = unit_state_load, .lost = on_lost };
        const UnitStateParams *params = leaf->params;
        UnitState *op = leaf->op;
        g_autofree char *error = NULL;

        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            buses_get(leaf->services->buses, params->bus, &op->connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return STATUS_FAILURE;
        }

        op->reloading = connection_match(op->connection, &reloading_pattern, on_reloading, NULL, leaf);
        op->subscription = subscription_new(op->connection, &callbacks, leaf);
        if (subscription_is_active(op->subscription))
                unit_state_load(leaf);

        return STATUS_RUNNING;
}

static void unit_state_release(Leaf *leaf) {
        UnitState *op = leaf->op;

        call_free(op->load);
        match_free(op->removed);
        unit_watch_free(op->watch);
        match_free(op->reloading);
        subscription_free(op->subscription);
        g_free(op->path);
        g_free(op->unit);
}

static void unit_state_describe(Leaf *leaf, GString *text) {
        UnitState *op = leaf->op;

        g_string_append_printf(text, "state of %s", op->unit);
}

static char *unit_state_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        static const char *const states[] = {
                "active", "reloading", "inactive", "failed", "activating", "deactivating", "maintenance", NULL,
        };
        const UnitStateParams *params = tree->nodes[node].params;

        *ret_is_error = true;
        if (params->state && !g_strv_contains(states, params->state)) {
                g_autofree char *list = g_strjoinv(", ", (char **) states);

                return g_strdup_printf("state: \"%s\" is none; there are %s", params->state, list);
        }

        return unit_name_check(params->unit);
}

static const Param unit_state_params[] = {
        {
                .name = "unit",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, unit),
                .required = true,
                .doc = "Name of the unit; without a suffix a service is meant",
        },
        {
                .name = "state",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, state),
                .doc = "Its active state: active, reloading, inactive, failed, activating or deactivating; active when "
                       "no "
                       "state at all is given",
        },
        {
                .name = "sub_state",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, sub_state),
                .doc = "Its state in the terms of its type, such as running, exited, dead, mounted or listening",
        },
        {
                .name = "result",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, result),
                .doc = "How it ended: success, exit-code, signal, timeout, ...",
        },
        {
                .name = "load_state",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, load_state),
                .doc = "Whether there is such a unit: loaded, not-found, masked, bad-setting or error",
        },
        {
                .name = "bus",
                .kind = PARAM_STRING,
                .offset = offsetof(UnitStateParams, bus),
                .doc = "Bus of the service manager; by default that of the daemon",
        },
        {},
};

static const LeafKind unit_state_kind = {
        .op_size = sizeof(UnitState),
        .start = unit_state_start,
        .release = unit_state_release,
        .describe = unit_state_describe,
};

const NodeType unit_state_type = {
        .name = "UnitState",
        .class = NODE_CONDITION,
        .params = unit_state_params,
        .params_size = sizeof(UnitStateParams),
        .summary = "Holds while a systemd unit is in the states given",
        .doc = "Follows the signals of systemd; nothing is polled. Fails also while the state is not known, because "
               "the bus "
               "or systemd is not there.",
        .check = unit_state_check,
        .leaf = &unit_state_kind,
};
