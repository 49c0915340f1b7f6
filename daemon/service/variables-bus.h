/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Variables as they go over the bus: a{ss}, of each its name and its value as JSON text.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

/* As an object. What handlers of methods return, with the error. */
int variables_bus_read(sd_bus_message *message, json_object **ret_variables, sd_bus_error *ret_error);

/* variables: an object. */
int variables_bus_append(sd_bus_message *message, json_object *variables);
/* One value, as s. */
int variables_bus_append_value(sd_bus_message *message, json_object *value);
