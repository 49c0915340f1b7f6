/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Converts the properties of transient units from JSON: in the terms of unit files ("MemoryMax": "64M"), or as
 * {"signature": "t", "value": 67108864} for those that are not in the table. Spawn uses it.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "engine/type.h"

/* Appends them, each as (sv), to an open array. -EINVAL with an error message. */
int spawn_properties_append(sd_bus_message *message, json_object *properties, char **ret_error);

/* The format of the parameter. */
extern const ValueFormat spawn_properties_format;
