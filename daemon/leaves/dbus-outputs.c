/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The values of a message are read only when somebody wants them. */

#include "leaves/dbus-outputs.h"
#include "basic/cleanup.h"
#include "bus/value.h"

static size_t count_names(const DBusOutputs *outputs) {
        return outputs->names ? g_strv_length((char **) outputs->names) : 0;
}

char *dbus_outputs_problem(const DBusOutputs *outputs) {
        for (size_t i = 0; i < count_names(outputs); i++)
                if (*outputs->names[i] && !blackboard_name_valid(outputs->names[i]))
                        return g_strdup_printf("outputs: '%s' is not the name of a variable", outputs->names[i]);
        return NULL;
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

Status dbus_outputs_take(Leaf *leaf, const DBusOutputs *outputs, const char *what, sd_bus_message *message) {
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;

        if (count_names(outputs) == 0)
                return STATUS_SUCCESS;

        if (sd_bus_message_rewind(message, true) < 0 || value_read_all(message, &values, &error) < 0) {
                leaf_set_cause(leaf, "the %s cannot go to the outputs: %s", what, error);
                return STATUS_FAILURE;
        }
        return take_names(leaf, outputs, what, values);
}
