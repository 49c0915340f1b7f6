/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parameters of Spawn and Command, and how a transient unit gets them: its properties, and the arguments of its
 * process. Their types check them with it, and what runs them uses it.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "engine/type.h"

/* Values of SpawnParams.as */
enum {
        SPAWN_AS_AUTO,
        SPAWN_AS_UNIT,
        SPAWN_AS_CHILD,
};

/* The variable gets the standard output in this form. The order is that of the values of the parameter. */
typedef enum OutputFormat {
        OUTPUT_TEXT,
        OUTPUT_LINES,
        OUTPUT_WORDS,
        OUTPUT_JSON,
        OUTPUT_BYTES,
} OutputFormat;

typedef struct SpawnParams {
        const char *const *argv;
        const char *const *env;
        const char *cwd, *user, *group;
        int as;
        json_object *properties;
        const char *input;
        const char *stdout_key, *stderr_key;
        int stdout_format; /* OutputFormat */
        int64_t output_limit;
        bool cut_output;
        json_object *success_exit;
        uint64_t timeout;
        int kill_signal;
        uint64_t kill_timeout;
        int on_recover;
        /* Only of Command. */
        uint64_t interval;
        int unknown;
} SpawnParams;

/* The number of kill_signal. */
int spawn_params_signal(const SpawnParams *params);

/*
 * Converts the properties of transient units from JSON (spawn-properties.c): in the terms of unit files
 * ("MemoryMax": "64M"), or as {"signature": "t", "value": 67108864} for those that are not in the table.
 */

/* Appends them, each as (sv), to an open array. -EINVAL with an error message. */
int spawn_properties_append(sd_bus_message *message, json_object *properties, char **ret_error);

/* Why a property contradicts a parameter that is given; to be freed. NULL: none does. */
char *spawn_properties_conflict(json_object *properties, const SpawnParams *params, const char **ret_property);

/* The format of the parameter. */
extern const ValueFormat spawn_properties_format;

/*
 * Gets the arguments of a process past systemd unchanged (spawn-handover.c): the unit executes the program btd-exec,
 * which takes them from its environment. systemd 252 writes a transient unit to a file and reads it back at a reload.
 * This changes some arguments and directories: "a;b" becomes "a\;b". Arguments that systemd does not change need no
 * btd-exec.
 */

/* The beginning of the status that btd-exec sends to the service manager before it executes the program. If that
 * failed, it sends another one. */
#define SPAWN_HANDOVER_EXECUTES "Executes "

/* The reason why systemd would change an argument, such as "an argument has a ';'". NULL: it changes none. */
const char *spawn_handover_reason(const SpawnParams *params);
/* The same for arguments that btd-exec cannot pass on, because of a property; ret_property is its name. NULL: there are
 * none. */
char *spawn_handover_complaint(const SpawnParams *params, const char **ret_property);

/* Does the process get the variable, "NAME=value", from btd-exec, because systemd would change it or btd-exec itself
 * would use it? */
bool spawn_handover_has_variable(const char *variable);
/* Does the process get its directory from btd-exec, so that systemd does not see it? */
bool spawn_handover_has_directory(const SpawnParams *params);

/* The variables for btd-exec, each "NAME=value". */
char **spawn_handover_variables(const SpawnParams *params);

/* The name of the program for the log, where systemd would write "btd-exec". Characters that systemd would change are
 * replaced by '_'. */
char *spawn_handover_identifier(const SpawnParams *params);
