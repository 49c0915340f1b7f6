/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Variables of a run on the command line, KEY=JSON, for start, run, set and simulate.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "client/bus/client.h"

/* Checks the variables and prints what is wrong; returns an exit status. option: "--set ", or "" if they are operands.
 * */
int variables_check(const char *option, const GPtrArray *sets);

/* Adds the variables that a run was started with, from its run record. Returns an exit status. */
int variables_read_given(Client *client, const char *id, GPtrArray *sets);
/* The variables as an object, after variables_check(). */
json_object *variables_to_json(const GPtrArray *sets);
/* Prints the variables of a reply, an a{sv}: KEY=JSON, or JSON if the user wants that. Returns an exit status. */
int variables_print(Client *client, sd_bus_message *reply);
/* Appends them as a{ss}; a negative errno. */
int variables_append(sd_bus_message *message, const GPtrArray *sets);
