/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gets the arguments of a process past systemd unchanged: the unit executes the program btd-exec, which takes them from
 * its environment. systemd 252 writes a transient unit to a file and reads it back at a reload. This changes some
 * arguments and directories: "a;b" becomes "a\;b". Arguments that systemd does not change need no btd-exec.
 */

#include "leaf-types/spawn.h"

/* The beginning of the status that btd-exec sends to the service manager before it executes the program. If that
 * failed, it sends another one. */
#define SPAWN_HANDOVER_EXECUTES "Executes "

/* The reason why systemd would change an argument, such as "an argument has a ';'". NULL: it changes none. */
const char *spawn_handover_reason(const SpawnParams *params);
/* The same for what no program can get past it, because of the property that is named then. NULL: there is no such
 * thing. */
char *spawn_handover_complaint(const SpawnParams *params, const char **ret_property);

/* Does the process get the variable, "NAME=value", from btd-exec, since systemd or btd-exec itself would understand it
 * in a way of its own? */
bool spawn_handover_has_variable(const char *variable);
/* Is that the directory, which systemd then does not see? */
bool spawn_handover_has_directory(const SpawnParams *params);

/* The variables for btd-exec, each "NAME=value". */
char **spawn_handover_variables(const SpawnParams *params);

/* What the program is called in the log, where systemd would write "btd-exec": its name, with a '_' for each character
 * that systemd would change. */
char *spawn_handover_identifier(const SpawnParams *params);
