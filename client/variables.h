/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The variables of a run as they are given on the command line: KEY=JSON.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

/* option: "--set " where they are the values of that, "" where they are operands. Says what is wrong with them; returns
 * an exit status. */
int variables_check(const char *option, const GPtrArray *sets);

/* The variables as an object. They have to be right. */
json_object *variables_to_json(const GPtrArray *sets);
/* Appends them as a{ss}; a negative errno. */
int variables_append(sd_bus_message *message, const GPtrArray *sets);
