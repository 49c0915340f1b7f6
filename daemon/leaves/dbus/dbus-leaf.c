/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements dbus-leaf.h. A message is read only if there are outputs. */

#include "leaves/dbus/dbus-leaf.h"
#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "bus/buses.h"
#include "script/scripts.h"

int dbus_bus_get(Leaf *leaf, const char *name, Connection **ret_connection, char **ret_error) {
        g_autofree char *shown = name ? leaf_hide_secrets(leaf, name) : NULL;

        return buses_get(leaf->services->buses, name, shown ?: name, ret_connection, ret_error);
}

bool dbus_describe_connection(Connection *connection, GString *text) {
        if (connection_is_ready(connection))
                return false;

        g_string_append_printf(text, "connection to the bus '%s'", connection_name(connection));
        return true;
}

const char *dbus_error_kind(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ? CAUSE_CONNECTION_LOST : CAUSE_DBUS_ERROR;
}

json_object *dbus_error_facts(const sd_bus_error *error) {
        return facts_new("name", fact_text(error->name), "message", fact_text(error->message), NULL);
}

static size_t count_names(const DBusOutputs *outputs) {
        return outputs->names ? g_strv_length((char **) outputs->names) : 0;
}

static Status take_names(Leaf *leaf, const DBusOutputs *outputs, const char *what, json_object *values) {
        size_t n_outputs = count_names(outputs), n_values = json_object_array_length(values);

        if (n_values < n_outputs) {
                leaf_set_cause(leaf, "the %s has %zu value%s, but there %s %zu output%s", what, n_values,
                               n_values == 1 ? "" : "s", n_outputs == 1 ? "is" : "are", n_outputs,
                               n_outputs == 1 ? "" : "s");
                return STATUS_FAILURE;
        }

        for (size_t i = 0; i < n_outputs; i++)
                if (*outputs->names[i])
                        leaf_set_output(leaf, outputs->names[i], json_object_get(json_object_array_get_idx(values, i)));
        return STATUS_SUCCESS;
}

/* All are evaluated before any is set: they do not see each other's results. */
static Status take_expressions(Leaf *leaf, const NamedScript *expressions, json_object *values) {
        json_object *const extra[] = { values, json_object_array_get_idx(values, 0) };
        g_autoptr(json_object) results = json_object_new_array();

        for (const NamedScript *i = expressions; i->name; i++) {
                json_object *result = NULL;
                g_autofree char *error = NULL;

                if (script_evaluate(i->script, leaf->blackboard, extra, &result, &error) < 0) {
                        leaf_set_cause_of(leaf, CAUSE_EXPRESSION,
                                          facts_new("expression", fact_text(script_code(i->script)), NULL),
                                          "the output '%s': %s", i->name, error);
                        return STATUS_FAILURE;
                }
                json_object_array_add(results, result);
        }

        for (size_t i = 0; expressions[i].name; i++)
                leaf_set_output(leaf, expressions[i].name, json_object_get(json_object_array_get_idx(results, i)));
        return STATUS_SUCCESS;
}

Status dbus_outputs_take(Leaf *leaf, const DBusOutputs *outputs, const char *what, sd_bus_message *message) {
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;

        if (count_names(outputs) == 0 && !outputs->expressions)
                return STATUS_SUCCESS;

        if (sd_bus_message_rewind(message, true) < 0 || value_read_all(message, &values, &error) < 0) {
                leaf_set_cause(leaf, "the %s cannot go to the outputs: %s", what, error);
                return STATUS_FAILURE;
        }
        return outputs->expressions ? take_expressions(leaf, outputs->expressions, values)
                                    : take_names(leaf, outputs, what, values);
}

/* Waits for the owner of the previous connection to leave the bus. If the bus was restarted meanwhile, no message is
 * under way, and the unique name may belong to another client. */

json_object *dbus_recovery_memo(const Leaf *leaf, Connection *connection) {
        g_autofree char *id = NULL;
        json_object *memo;
        const char *sender;

        if (!leaf->durable || sd_bus_get_unique_name(connection_bus(connection), &sender) < 0)
                return NULL;

        id = connection_bus_id(connection);
        memo = json_object_new_object();
        json_object_object_add(memo, "sender", json_object_new_string(sender));
        json_object_object_add(memo, "bus", json_object_new_string(id));
        return memo;
}

static const char *member(json_object *memo, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(memo, name, &value);
        return json_object_get_string(value);
}

static bool is_same_bus(const DBusRecovery *recovery) {
        g_autofree char *id = connection_bus_id(recovery->connection);

        return g_strcmp0(id, recovery->bus) == 0;
}

/* Or was it there at all? */
static bool is_there(const DBusRecovery *recovery) {
        NameState state = name_state(&recovery->sender);

        return state == NAME_UNKNOWN || (state == NAME_OWNED && is_same_bus(recovery));
}

static void on_changed(void *userdata) {
        DBusRecovery *recovery = userdata;

        if (!is_there(recovery))
                leaf_lost(recovery->leaf);
}

Status dbus_recovery_begin(DBusRecovery *recovery, Leaf *leaf, Connection *connection) {
        const char *sender = member(leaf->memo, "sender");

        if (!sender || !sd_bus_service_name_is_valid(sender))
                return STATUS_IDLE;

        *recovery = (DBusRecovery){
                .leaf = leaf,
                .connection = connection,
                .bus = g_strdup(member(leaf->memo, "bus")),
                .sender.follower = { .changed = on_changed, .userdata = recovery },
        };
        name_use(connection_names(connection), &recovery->sender, sender);
        return is_there(recovery) ? STATUS_RUNNING : STATUS_IDLE;
}

void dbus_recovery_end(DBusRecovery *recovery) {
        if (recovery->leaf)
                name_leave(&recovery->sender);

        recovery->leaf = NULL;
        g_clear_pointer(&recovery->bus, g_free);
}
