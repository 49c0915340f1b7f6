/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A service may answer when it pleases, so what arrives later need not have been said later. When a signal has told a
 * value, the answer to an older question is not taken. When it has only told that there is another value, neither is
 * it, and the question is asked again; but not twice in a row, or a value that changes faster than it can be asked for
 * would never be known.
 */

#include "bus/property.h"
#include "basic/cleanup.h"
#include "bus/property-signals.h"
#include "bus/value.h"

static void problem_clear(PropertyProblem *problem) {
        g_free(problem->text);
        sd_bus_error_free(&problem->error);
        *problem = (PropertyProblem){ 0 };
}

Property *property_new(Connection *connection, const PropertyAddress *address, void (*unused)(Property *property),
                       void *userdata) {
        Property *property = g_new0(Property, 1);

        property->connection = connection;
        property->address = *address;
        property->address.property = g_strdup(address->property);
        property->unused = unused;
        property->userdata = userdata;
        return property;
}

void property_free(Property *property) {
        if (!property)
                return;

        call_free(property->get);
        json_object_put(property->value);
        problem_clear(&property->problem);
        g_free((char *) property->address.property);
        g_free(property);
}

void property_drop_unused(Property *property) {
        if (audience_is_over(&property->audience) && !property->kept)
                property->unused(property);
}

static void property_tell(Property *property) {
        audience_tell(&property->audience);
        property_drop_unused(property);
}

/* Takes the value. */
static void property_set(Property *property, json_object *value) {
        g_autoptr(json_object) old = property->value;
        bool same = property->state == PROPERTY_KNOWN && value_equal(old, value);

        property->state = PROPERTY_KNOWN;
        property->value = value;
        property->may_start = false;
        if (!same)
                property_tell(property);
}

/* Takes what is in the problem. */
static void property_set_unknown(Property *property, PropertyProblem problem) {
        g_clear_pointer(&property->value, json_object_put);
        problem_clear(&property->problem);

        property->state = PROPERTY_UNKNOWN;
        property->problem = problem;
        if (!problem.lost)
                property->may_start = false;
        property_tell(property);
}

static void property_unreadable(Property *property, const char *reason) {
        PropertyProblem problem = { .text = g_strdup_printf("%s cannot be read: %s", property->address.property,
                                                            reason) };

        property_set_unknown(property, problem);
}

static PropertyProblem absence(const Property *property) {
        return (PropertyProblem){ .text = g_strdup_printf("%s is not on the bus", property->address.destination) };
}

static void property_failed(Property *property, const sd_bus_error *error) {
        PropertyProblem problem = { 0 };

        if (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                property_set_unknown(property, absence(property));
                return;
        }

        problem.text = g_strdup_printf("%s cannot be read: %s: %s", property->address.property, error->name,
                                       error->message ?: "no reason given");
        sd_bus_error_copy(&problem.error, error);
        property_set_unknown(property, problem);
}

/* Nothing that was asked will be answered. */
static void property_forget(Property *property, PropertyProblem problem) {
        g_clear_pointer(&property->get, call_free);
        property_set_unknown(property, problem);
}

void property_absent(Property *property) {
        property_forget(property, absence(property));
}

void property_gone(Property *property) {
        const PropertyAddress *address = &property->address;
        PropertyProblem problem = { .text = g_strdup_printf("%s of %s is gone", address->interface, address->path) };

        property_forget(property, problem);
}

void property_lost(Property *property) {
        const char *bus = connection_name(property->connection);
        PropertyProblem problem = { .text = g_strdup_printf("the connection to the bus '%s' was lost", bus),
                                    .lost = true };

        property_forget(property, problem);
}

static int read_reply(sd_bus_message *reply, json_object **ret_value, char **ret_problem) {
        if (sd_bus_message_has_signature(reply, "v"))
                return value_read_one(reply, ret_value, ret_problem);

        *ret_problem =
                g_strdup_printf("the reply is of type \"%s\", not \"v\"", sd_bus_message_get_signature(reply, true));
        return -EBADMSG;
}

static void take_reply(Property *property, sd_bus_message *reply, const sd_bus_error *error) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *problem = NULL;

        if (error)
                property_failed(property, error);
        else if (read_reply(reply, &value, &problem) < 0)
                property_unreadable(property, problem);
        else
                property_set(property, g_steal_pointer(&value));
}

static void on_value(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Property *property = userdata;
        bool stale = property->stale, taken = !property->moot && (!stale || property->passed);

        g_clear_pointer(&property->get, call_free);
        property->passed = stale && !taken;
        if (stale)
                property_get(property);
        if (taken)
                take_reply(property, reply, error);
}

static int make_get(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        const Property *property = userdata;
        const PropertyAddress *address = &property->address;
        g_autoptr(sd_bus_message) message = NULL;
        int r = sd_bus_message_new_method_call(bus, &message, address->destination, address->path, PROPERTIES_INTERFACE,
                                               "Get");

        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, property->may_start);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", address->interface, address->property);
        if (r < 0)
                return r;

        *ret_message = g_steal_pointer(&message);
        return 0;
}

void property_get(Property *property) {
        call_free(property->get);
        property->stale = property->moot = false;
        property->get =
                connection_call_made(property->connection, property->address.destination, make_get, on_value, property);
}

void property_get_unless_asked(Property *property) {
        if (!property->get)
                property_get(property);
}

void property_invalidate(Property *property) {
        if (property->get)
                property->stale = true;
        else
                property_get(property);
}

int property_read(Property *property, sd_bus_message *message) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *problem = NULL;
        int r = value_read_one(message, &value, &problem);

        if (r < 0) {
                property_unreadable(property, problem);
                return r;
        }

        property->stale = false;
        property->moot = true;
        property_set(property, g_steal_pointer(&value));
        return 0;
}
