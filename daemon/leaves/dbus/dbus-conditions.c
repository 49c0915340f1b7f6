/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DBusName is a condition on the owner of a bus name. DBusProperty is a condition on the value of a D-Bus property, or
 * on a part of it. */

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "bus/names.h"
#include "bus/property-watch.h"
#include "leaf-types/dbus.h"
#include "leaf-types/leaf-types.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/live-test.h"
#include "leaves/unit/systemd.h"

/* The largest value in a cause; value_room() counts up to 9 bytes for each of a text. */
#define SEEN_ROOM_MAX (9u * 1024)

typedef struct DBusName {
        Connection *connection;
        NameUse name;
        Listener *listener;
} DBusName;

static json_object *name_facts(Leaf *leaf, json_object *seen) {
        const DBusNameParams *params = leaf->params;
        json_object *facts = facts_new("destination", fact_text(params->address.destination), NULL);

        json_object_object_add(facts, "seen", seen);
        json_object_object_add(facts, "wanted", json_object_new_boolean(true));
        return facts;
}

static Status evaluate_name(Leaf *leaf) {
        const DBusNameParams *params = leaf->params;
        const DBusName *op = leaf->op;
        g_autofree char *problem = NULL;

        switch (name_state(&op->name)) {
        case NAME_OWNED:
                return STATUS_SUCCESS;
        case NAME_ABSENT:
                leaf_set_cause_of(leaf, CAUSE_CONDITION, name_facts(leaf, json_object_new_boolean(false)),
                                  "%s is not on the bus", params->address.destination);
                return STATUS_FAILURE;
        default:
                problem = connection_problem(op->connection);
                leaf_set_cause_of(leaf, CAUSE_CONNECTION_LOST, name_facts(leaf, NULL), "%s", problem);
                return unknown_status(params->unknown);
        }
}

/* May free the leaf. */
static void on_owner_changed(void *userdata) {
        leaf_set_value(userdata, evaluate_name(userdata));
}

/* Also called if the bus cannot be reached. May free the leaf. */
static void on_bus_lost(Connection *connection, void *userdata) {
        on_owner_changed(userdata);
}

static Status dbus_name_start(Leaf *leaf) {
        static const ListenerCallbacks callbacks = { .lost = on_bus_lost };
        const DBusNameParams *params = leaf->params;
        DBusName *op = leaf->op;

        op->connection = dbus_connection_get(leaf, &params->address);
        if (!op->connection)
                return STATUS_FAILURE;

        op->name.follower = (Follower){ .changed = on_owner_changed, .userdata = leaf };
        name_use(connection_names(op->connection), &op->name, params->address.destination);
        op->listener = connection_listen(op->connection, &callbacks, leaf);
        return name_state(&op->name) == NAME_UNKNOWN ? STATUS_RUNNING : evaluate_name(leaf);
}

static void dbus_name_release(Leaf *leaf) {
        DBusName *op = leaf->op;

        name_leave(&op->name);
        g_clear_pointer(&op->listener, listener_free);
}

static void dbus_name_describe(Leaf *leaf, GString *text) {
        const DBusNameParams *params = leaf->params;

        g_string_append_printf(text, "owner of %s", params->address.destination);
}

const LeafKind dbus_name_kind = {
        .op_size = sizeof(DBusName),
        .start = dbus_name_start,
        .release = dbus_name_release,
        .obstacle = dbus_leaf_obstacle,
        .describe = dbus_name_describe,
};

typedef struct DBusProperty {
        Connection *connection;
        PropertyWatch *watch;
        LiveTest *test;             /* NULL: there is none */
        Status value;               /* RUNNING: not known yet */
        bool known;                 /* it was read */
        Timer *timer;               /* until it is read again; NULL: it is not */
        unsigned n_errors;          /* in a row, instead of a value */
        Subscription *subscription; /* for properties of systemd, which signals only to those who want it */
} DBusProperty;

/* A node that lasts longer wants to know whether the service signals changes. */
#define LONG_USEC (UINT64_C(1) * 1000 * 1000)

/* Many services take their name before they have their objects, and send no signal when they have them. So after an
 * error the property is read again, this many times, after delays that begin with LONG_USEC and double. */
#define ERRORS_MAX 6u

/* The part of the value that the field names. False: there is none. */
static bool follow(json_object *field, json_object *value, json_object **ret_found) {
        for (size_t i = 0; field && i < json_object_array_length(field); i++) {
                json_object *step = json_object_array_get_idx(field, i);

                if (json_object_is_type(step, json_type_string)) {
                        if (!json_object_is_type(value, json_type_object) ||
                            !json_object_object_get_ex(value, json_object_get_string(step), &value))
                                return false;
                } else {
                        int64_t index = json_object_get_int64(step);

                        if (!json_object_is_type(value, json_type_array) ||
                            index >= (int64_t) json_object_array_length(value))
                                return false;
                        value = json_object_array_get_idx(value, (size_t) index);
                }
        }

        *ret_found = value;
        return true;
}

static char *shown_value(Leaf *leaf, json_object *value) {
        g_autoptr(json_object) hidden = leaf_hide_value(leaf, value);

        return value_to_text(hidden);
}

static char *describe_field(Leaf *leaf, const char *name, json_object *field) {
        GString *text = g_string_new(name);

        for (size_t i = 0; field && i < json_object_array_length(field); i++) {
                g_autofree char *step = shown_value(leaf, json_object_array_get_idx(field, i));

                g_string_append_printf(text, "[%s]", step);
        }
        return g_string_free(text, FALSE);
}

static bool fits(const ValueMatcher *matcher, json_object *value) {
        if (matcher->equals)
                return value_is(value, matcher->equals);
        if (!matcher->one_of) {
                switch (json_object_get_type(value)) {
                case json_type_boolean:
                        return json_object_get_boolean(value);
                case json_type_int:
                case json_type_double:
                        return json_object_get_double(value) != 0;
                case json_type_string:
                        return json_object_get_string_len(value) > 0;
                case json_type_array:
                        return json_object_array_length(value) > 0;
                case json_type_object:
                        return json_object_object_length(value) > 0;
                default:
                        return false;
                }
        }

        for (size_t i = 0; i < json_object_array_length(matcher->one_of); i++)
                if (value_is(value, json_object_array_get_idx(matcher->one_of, i)))
                        return true;
        return false;
}

/* "Powered is false, not true" */
static char *describe_mismatch(Leaf *leaf, const ValueMatcher *matcher, const char *name, json_object *value) {
        g_autofree char *field = describe_field(leaf, name, matcher->field), *is = shown_value(leaf, value),
                        *should = NULL;
        json_object *wanted = matcher->equals ? matcher->equals : matcher->one_of;

        if (wanted)
                should = shown_value(leaf, wanted);
        else if (json_object_is_type(value, json_type_boolean))
                should = g_strdup("true");
        else
                return g_strdup_printf("%s is %s", field, is);

        return g_strdup_printf("%s is %s, not %s%s", field, is, wanted && !matcher->equals ? "one of " : "", should);
}

static void set_cause(Leaf *leaf, const char *kind, json_object *facts, json_object *seen, const char *text) {
        const DBusPropertyParams *params = leaf->params;
        json_object *wanted = params->matcher.equals ?: params->matcher.one_of;
        /* A large value would be copied into the run record and each status. */
        bool large = value_room(seen) > SEEN_ROOM_MAX;
        g_autofree char *shown = large ? shown_value(leaf, seen) : NULL;

        json_object_object_add(facts, "destination", fact_text(params->address.destination));
        json_object_object_add(facts, "path", fact_text(params->address.path));
        json_object_object_add(facts, "property", fact_text(params->property));
        json_object_object_add(facts, "seen", large ? fact_text(shown) : json_object_get(seen));
        json_object_object_add(facts, "wanted", wanted ? json_object_get(wanted) : json_object_new_boolean(true));
        leaf_set_cause_of(leaf, kind, facts, "%s", text);
}

/* NULL: as far as btd knows, the service reports changes. */
static char *dbus_property_remark(const Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;
        g_autofree char *span = params->interval == SPAN_INFINITY ? NULL : span_format(params->interval);

        if (!op->watch || property_watch_signals(op->watch) != SIGNALS_NEVER)
                return NULL;

        return span ? g_strdup_printf("the service reports no changes, so it is read every %s", span)
                    : g_strdup("the service reports no changes, so the node needs an \"interval\"");
}

static Status judge(Leaf *leaf, json_object *value) {
        const DBusPropertyParams *params = leaf->params;
        const ValueMatcher *matcher = &params->matcher;
        const DBusProperty *op = leaf->op;
        g_autofree char *text = NULL, *mismatch = NULL, *remark = NULL;
        json_object *field;

        if (!follow(matcher->field, value, &field)) {
                g_autofree char *name = describe_field(leaf, params->property, matcher->field),
                                *is = shown_value(leaf, value);

                text = g_strdup_printf("there is no %s: %s is %s", name, params->property, is);
                set_cause(leaf, CAUSE_CONDITION, json_object_new_object(), NULL, text);
                return unknown_status(params->unknown);
        }

        if (op->test) {
                Status status = live_test_evaluate(op->test, dbus_property_test_names, &field);

                /* The value comes from the service, so a test that raises an error is no ERROR of the tree. */
                return status == STATUS_ERROR ? unknown_status(params->unknown) : status;
        }

        if (fits(matcher, field))
                return STATUS_SUCCESS;

        mismatch = describe_mismatch(leaf, matcher, params->property, field);
        remark = dbus_property_remark(leaf);
        text = g_strconcat(mismatch, remark ? "; " : NULL, remark, NULL);
        set_cause(leaf, CAUSE_CONDITION, json_object_new_object(), field, text);
        return STATUS_FAILURE;
}

static void on_time_to_read(void *userdata) {
        Leaf *leaf = userdata;
        const DBusPropertyParams *params = leaf->params;
        DBusProperty *op = leaf->op;

        g_clear_pointer(&op->timer, timer_free);
        property_watch_learn(op->watch);
        if (params->interval != SPAN_INFINITY)
                op->timer = timer_new(leaf->services->timers, params->interval, on_time_to_read, leaf);
        else if (op->n_errors == 0)
                return;

        property_watch_read(op->watch);
}

/* The value is known, or known to be unknown. */
static void plan_reading(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        DBusProperty *op = leaf->op;
        const PropertyProblem *problem =
                property_watch_state(op->watch) == PROPERTY_UNKNOWN ? property_watch_problem(op->watch) : NULL;
        bool failed = problem && (!problem->text || sd_bus_error_is_set(&problem->error));
        uint64_t delay = params->interval;

        op->n_errors = failed ? op->n_errors + 1 : 0;
        if (delay != SPAN_INFINITY ? op->timer != NULL : op->known && (!failed || op->n_errors > ERRORS_MAX))
                return;

        if (delay == SPAN_INFINITY)
                delay = LONG_USEC << (MAX(op->n_errors, 1) - 1);
        timer_free(op->timer);
        op->timer = timer_new(leaf->services->timers, delay, on_time_to_read, leaf);
}

static char *dbus_property_obstacle(const Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;

        if (op->watch && property_watch_is_starting(op->watch))
                return dbus_activation_obstacle(op->connection, &params->address);

        return dbus_obstacle(op->connection);
}

static Status judge_state(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;
        g_autofree char *obstacle = NULL, *span = NULL, *late = NULL;
        const PropertyProblem *problem;
        bool told;

        switch (property_watch_state(op->watch)) {
        case PROPERTY_KNOWN:
                return judge(leaf, property_watch_value(op->watch));
        case PROPERTY_UNKNOWN:
                problem = property_watch_problem(op->watch);
                told = sd_bus_error_is_set(&problem->error);
                if (!problem->text) {
                        obstacle = dbus_property_obstacle(leaf);
                        span = span_format(PROPERTY_ANSWER_USEC);
                        late = obstacle ? g_strdup_printf("waited %s for %s", span, obstacle)
                                        : g_strdup_printf("%s has not answered within %s", params->address.destination,
                                                          span);
                }
                set_cause(leaf,
                          problem->lost ? CAUSE_CONNECTION_LOST
                          : late        ? CAUSE_TIMEOUT
                          : told        ? CAUSE_DBUS_ERROR
                                        : CAUSE_CONDITION,
                          told ? dbus_error_facts(&problem->error) : json_object_new_object(), NULL,
                          late ?: problem->text);
                return unknown_status(params->unknown);
        default:
                return op->value;
        }
}

/* The value as it is now. The variable comes first, so that it has the value when the node completes; an unknown value
 * leaves it as it is. */
static Status take_state(Leaf *leaf) {
        const DBusPropertyParams *params = leaf->params;
        const DBusProperty *op = leaf->op;
        json_object *field;

        if (params->output && property_watch_state(op->watch) == PROPERTY_KNOWN &&
            follow(params->matcher.field, property_watch_value(op->watch), &field))
                leaf_set_output(leaf, params->output, json_object_get(field));
        return judge_state(leaf);
}

/* May free the leaf. */
static void on_value_changed(void *userdata) {
        Leaf *leaf = userdata;
        DBusProperty *op = leaf->op;
        Status value = take_state(leaf);
        bool news = value != op->value;

        plan_reading(leaf);
        op->known = true;
        op->value = value;
        if (news)
                leaf_set_value(leaf, value);
}

static Status dbus_property_evaluate(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        if (op->test && live_test_is_stale(op->test))
                op->value = judge_state(leaf);
        return op->value;
}

static void on_subscribed(void *userdata) {
        const Leaf *leaf = userdata;
        const DBusProperty *op = leaf->op;

        property_watch_read(op->watch);
}

static Status dbus_property_start(Leaf *leaf) {
        static const SubscriptionCallbacks callbacks = { .subscribed = on_subscribed }; /* the watch tells of a loss */
        const DBusPropertyParams *params = leaf->params;
        const DBusAddress *where = &params->address;
        PropertyAddress address = { where->destination, where->path, where->interface, params->property };
        DBusProperty *op = leaf->op;

        op->connection = dbus_connection_get(leaf, where);
        if (!op->connection)
                return STATUS_FAILURE;

        op->value = STATUS_RUNNING;
        op->watch = property_watch_new(op->connection, leaf->services->timers, &address, on_value_changed, leaf);
        if (params->test)
                op->test = live_test_new(leaf, params->test);
        if (g_str_equal(where->destination, SYSTEMD_NAME))
                op->subscription = subscription_new(op->connection, &callbacks, leaf);

        op->value = take_state(leaf);
        if (property_watch_state(op->watch) != PROPERTY_ASKED) {
                plan_reading(leaf);
                op->known = true;
        }
        return op->value;
}

static void dbus_property_release(Leaf *leaf) {
        DBusProperty *op = leaf->op;

        g_clear_pointer(&op->timer, timer_free);
        g_clear_pointer(&op->subscription, subscription_free);
        g_clear_pointer(&op->watch, property_watch_free);
        g_clear_pointer(&op->test, live_test_free);
}

static void dbus_property_describe(Leaf *leaf, GString *text) {
        const DBusPropertyParams *params = leaf->params;

        g_string_append_printf(text, "value of %s.%s from %s", params->address.interface, params->property,
                               params->address.destination);
}

const LeafKind dbus_property_kind = {
        .op_size = sizeof(DBusProperty),
        .start = dbus_property_start,
        .evaluate = dbus_property_evaluate,
        .release = dbus_property_release,
        .obstacle = dbus_property_obstacle,
        .remark = dbus_property_remark,
        .describe = dbus_property_describe,
};
