/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* UnitState: a condition on the states of a unit. */

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit-name.h"
#include "leaf-types/unit.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/live-test.h"
#include "leaves/unit/unit-status.h"
#include "run/leaf.h"

typedef struct UnitState {
        char *unit;
        UnitStatus *status;
        LiveTest *test; /* NULL: none */
        Status value;
} UnitState;

static const char *const *wanted_state(const UnitStateParams *params) {
        static const char *const active[] = { "active", NULL };
        bool others = params->sub_state || params->result || params->load_state || params->test;

        return params->state || others ? params->state : active;
}

/* wanted NULL: anything will do. */
static bool is_one_of(const char *fact, const char *const *wanted) {
        return !wanted || (fact && g_strv_contains(wanted, fact));
}

/* What is wrong with the unit, or NULL. */
static char *state_complaint(const char *unit, const UnitStateParams *params, const UnitFacts *facts) {
        const char *const *wanted = NULL;
        g_autofree char *is = NULL, *list = NULL;
        const char *hint = "";

        if (!is_one_of(facts->load_state, params->load_state)) {
                wanted = params->load_state;
                is = g_strdup_printf("is %s", facts->load_state);
        } else if (!is_one_of(facts->active_state, wanted_state(params))) {
                wanted = wanted_state(params);
                is = g_strdup_printf("is %s (%s)", facts->active_state, facts->sub_state);
                hint = g_str_equal(facts->load_state, "not-found") ? ": there is no such unit" : "";
        } else if (!is_one_of(facts->sub_state, params->sub_state)) {
                wanted = params->sub_state;
                is = g_strdup_printf("is %s (%s)", facts->active_state, facts->sub_state);
        } else if (!is_one_of(facts->result, params->result)) {
                wanted = params->result;
                is = g_strdup_printf("has the result %s", facts->result ?: "of no service");
        } else {
                return NULL;
        }

        list = g_strjoinv(" or ", (char **) wanted);
        return g_strdup_printf("%s %s, not %s%s", unit, is, list, hint);
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

static json_object *seen_to_json(const UnitFacts *facts) {
        return facts_new("load_state", fact_text(facts->load_state), "state", fact_text(facts->active_state),
                         "sub_state", fact_text(facts->sub_state), "result", fact_text(facts->result), NULL);
}

/* facts NULL: they are not known. */
static void set_cause(Leaf *leaf, const UnitFacts *facts, const char *text) {
        const UnitStateParams *params = leaf->params;
        const UnitState *op = leaf->op;
        json_object *wanted = facts_new("load_state", wanted_to_json(params->load_state), "state",
                                        wanted_to_json(wanted_state(params)), "sub_state",
                                        wanted_to_json(params->sub_state), "result", wanted_to_json(params->result),
                                        NULL),
                    *json = facts_new("unit", fact_text(op->unit), "wanted", wanted, NULL);

        json_object_object_add(json, "seen", facts ? seen_to_json(facts) : NULL);
        leaf_set_cause_of(leaf, CAUSE_CONDITION, json, "%s", text);
}

static Status look_at_unknown(Leaf *leaf) {
        const UnitStateParams *params = leaf->params;
        const UnitState *op = leaf->op;
        const char *problem = unit_status_problem(op->status);
        Status status = problem ? unknown_status(params->unknown) : STATUS_RUNNING;

        if (status == STATUS_FAILURE) {
                g_autofree char *text = g_strdup_printf("the state of %s is not known: %s", op->unit, problem);

                set_cause(leaf, NULL, text);
        }
        return status;
}

static Status look_at_test(Leaf *leaf, const UnitFacts *facts) {
        const UnitState *op = leaf->op;
        g_autoptr(json_object) value =
                facts_new("active_state", fact_text(facts->active_state), "sub_state", fact_text(facts->sub_state),
                          "result", fact_text(facts->result), "load_state", fact_text(facts->load_state), NULL);

        return live_test_evaluate(op->test, unit_state_test_names, &value);
}

static Status look_at(Leaf *leaf, const UnitFacts *facts) {
        const UnitState *op = leaf->op;
        g_autofree char *complaint = state_complaint(op->unit, leaf->params, facts);

        if (!complaint)
                return op->test ? look_at_test(leaf, facts) : STATUS_SUCCESS;

        set_cause(leaf, facts, complaint);
        return STATUS_FAILURE;
}

static Status look(Leaf *leaf) {
        UnitState *op = leaf->op;
        const UnitFacts *facts = unit_status_facts(op->status);

        op->value = facts ? look_at(leaf, facts) : look_at_unknown(leaf);
        return op->value;
}

static void on_changed(void *userdata) {
        leaf_set_value(userdata, look(userdata));
}

static Status unit_state_evaluate(Leaf *leaf) {
        UnitState *op = leaf->op;

        return op->test && live_test_is_stale(op->test) ? look(leaf) : op->value;
}

/* In a list that no unit could ever be right for. */
static Status unit_state_start(Leaf *leaf) {
        const UnitStateParams *params = leaf->params;
        UnitState *op = leaf->op;
        g_autofree char *error = NULL;
        Connection *connection;

        op->value = STATUS_FAILURE;
        if (unit_name_complete(params->unit, &op->unit, &error) < 0 ||
            dbus_bus_get(leaf, params->bus, &connection, &error) < 0) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return op->value;
        }

        if (params->test)
                op->test = live_test_new(leaf, params->test);
        op->status = unit_status_new(connection, op->unit, on_changed, leaf);
        return look(leaf);
}

static void unit_state_release(Leaf *leaf) {
        UnitState *op = leaf->op;

        live_test_free(op->test);
        unit_status_free(op->status);
        g_free(op->unit);
}

static void unit_state_describe(Leaf *leaf, GString *text) {
        UnitState *op = leaf->op;
        const char *problem = unit_status_problem(op->status);

        g_string_append_printf(text, "state of %s%s%s", op->unit, problem ? ": " : "", problem ?: "");
}

const LeafKind unit_state_kind = {
        .op_size = sizeof(UnitState),
        .start = unit_state_start,
        .evaluate = unit_state_evaluate,
        .release = unit_state_release,
        .describe = unit_state_describe,
};
