/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Properties of transient units, as users write them in JSON: in the terms of unit files ("MemoryMax": "64M"), or
 * as {"signature": "t", "value": 67108864} for those that are not in the table.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

/* Appends them, each as (sv), to an array that is open. -EINVAL with a text for people: they are no object, or
 * something in it is wrong. */
int spawn_properties_append(sd_bus_message *message, json_object *properties, char **ret_error);

/* Could they be appended? */
int spawn_properties_check(json_object *properties, char **ret_error);
