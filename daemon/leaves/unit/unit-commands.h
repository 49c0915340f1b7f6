/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The commands of a unit that have ended in its last start, from the properties of its settings: ExecStartPre= and so
 * on. They tell which of them is behind the result of the unit.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef struct UnitCommand {
        const char *setting; /* the property: "ExecStartPre"; NULL: the main process, as systemd follows it */
        char *program;
        int code, status;        /* as in siginfo_t */
        uint64_t started, ended; /* CLOCK_MONOTONIC µs */
} UnitCommand;

typedef struct UnitCommands {
        GArray *ended;    /* of UnitCommand; NULL: none */
        unsigned n_start; /* commands of ExecStart=, whether they have ended or not */
} UnitCommands;

void unit_commands_clear(UnitCommands *commands);

/* The name of the property as it is in UnitCommand; NULL: it has no commands. */
const char *unit_commands_setting(const char *property);

/* Reads such a property, a variant that is next in the message. Returns how many commands it has. */
int unit_commands_read(UnitCommands *commands, const char *setting, sd_bus_message *message);

/* Which one has led to the result? main: how the main process has ended, code 0: it has not; it stands for the command
 * of ExecStart=, unless the service has several, or forks. setting: only commands of this one; NULL: those that decide
 * on the result of the unit, so not ExecReload=. NULL: none is known. */
const UnitCommand *unit_commands_find(const UnitCommands *commands, const char *result, const UnitCommand *main,
                                      bool forks, const char *setting);

/* "its main process", "its ExecStartPost= command /bin/false". To be freed. */
char *unit_command_describe(const UnitCommand *command);

/* The setting that limits how long the command may take: "TimeoutStartSec="; NULL: several do. */
const char *unit_command_limit(const UnitCommand *command);
