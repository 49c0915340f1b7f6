/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets variables to the values of a message. The message is read only if there are outputs. */

#include "leaves/dbus/dbus-outputs.h"
#include "basic/cleanup.h"
#include "bus/value.h"
#include "script/scripts.h"

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
