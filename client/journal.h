/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The last words of a unit, from the journal of this machine.
 */

#include <json-c/json_object.h>

#include "client.h"

/* Of the run of a unit that the facts of a cause are about: an array of objects with "time_usec", "identifier", "pid"
 * and "message", oldest first. Empty when there is nothing to be read here. */
json_object *journal_last_lines(const Client *client, json_object *facts);

/* The command that shows all of it: "journalctl -u cam.service". To be freed; NULL: the facts are not about a unit. */
char *journal_command(const Client *client, json_object *facts);

/* Each line begins behind that many columns. */
void journal_append(const Output *output, GString *text, json_object *lines, int columns);
