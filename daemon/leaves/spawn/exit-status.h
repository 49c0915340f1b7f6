/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes in a message how a process ended, and why systemd could not execute one. Spawn and the unit leaves use it.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

/* code is CLD_EXITED, CLD_KILLED or CLD_DUMPED; status the exit status or the signal, as in siginfo_t:
 * "exited with status 3", "was killed by SIGSEGV and dumped core". To be freed. */
char *exit_status_describe(int code, int status);

/* The same as facts: "status", or "signal" and "core_dumped"; none for a code of 0. */
void exit_status_add_facts(int code, int status, json_object *facts);

/* What it means when a process that systemd was to execute exits with this status before it was executed:
 * "its program could not be executed". NULL: not such a status. */
const char *exit_status_of_exec(int status);
