/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the last log lines of a unit from the journal of this machine, for btctl status and replay.
 */

#include <json-c/json_object.h>
#include <systemd/sd-journal.h>

#include "client/bus/client.h"

/* The lines of the unit's run that the facts of a cause are about: an array of objects with "time_usec", "identifier",
 * "pid" and "message", oldest first. Empty if the journal cannot be read here. finished: when the run has finished, in
 * CLOCK_REALTIME µs: if that was just now, waits a little until the first line can be read. */
json_object *journal_last_lines(const Client *client, json_object *facts, uint64_t finished);

/* The command that shows the whole log: "journalctl -u cam.service". To be freed; NULL: the facts are not about a unit.
 * */
char *journal_command(const Client *client, json_object *facts);

/* The field of the current entry, as valid UTF-8. To be freed; NULL: the entry has no such field. */
char *journal_read_field(sd_journal *journal, const char *field);

/* Appends the lines, indented by that many columns. */
void journal_append(const Output *output, GString *text, json_object *lines, int columns);
