/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the leaf types, for btctl and for the leaf kinds (leaves/kinds.h), and the parameters that several of them
 * have in common. A new type needs its NodeType in one of the files of this folder, a line here, and a line in
 * leaf-types.c.
 */

#include "engine/type.h"

extern const NodeType always_failure_type;
extern const NodeType always_success_type;
extern const NodeType command_type;
extern const NodeType condition_type;
extern const NodeType dbus_call_type;
extern const NodeType dbus_emit_type;
extern const NodeType dbus_name_type;
extern const NodeType dbus_property_type;
extern const NodeType dbus_signal_type;
extern const NodeType log_type;
extern const NodeType path_exists_type;
extern const NodeType reload_unit_type;
extern const NodeType restart_unit_type;
extern const NodeType script_type;
extern const NodeType sleep_type;
extern const NodeType spawn_type;
extern const NodeType start_unit_type;
extern const NodeType stop_unit_type;
extern const NodeType unit_state_type;
extern const NodeType write_file_type;

/* All leaf types, NULL-terminated. */
extern const NodeType *const leaf_types[];

/* What to do with an action that was running when btd was restarted, and whose result cannot be known. In the order of
 * the values of the parameter, which is an int. */
typedef enum OnRecover {
        ON_RECOVER_FAIL,
        ON_RECOVER_RERUN,
} OnRecover;

extern const char *const on_recover_values[];

/* The entry in a table of parameters, of a struct with an int "on_recover". */
#define ON_RECOVER_PARAM(Type)                                                                                         \
        {                                                                                                              \
                .name = "on_recover", .kind = PARAM_ENUM, .offset = offsetof(Type, on_recover),                        \
                .values = on_recover_values, .fallback = "\"fail\"",                                                   \
                .doc = "What to do if btd is restarted meanwhile and cannot know how it ended"                         \
        }

/* The value of a condition while the state that it evaluates is not known, because its owner is gone or cannot be
 * asked. In the order of the values of the parameter, which is an int. */
extern const char *const unknown_values[];

/* FAILURE, SUCCESS or RUNNING. */
Status unknown_status(int unknown);

/* The entry in a table of parameters, of a struct with an int "unknown". */
#define UNKNOWN_PARAM(Type)                                                                                            \
        {                                                                                                              \
                .name = "unknown", .kind = PARAM_ENUM, .offset = offsetof(Type, unknown), .values = unknown_values,    \
                .fallback = "\"failure\"", .doc = "The outcome of the condition while its value is unknown",           \
        }

/* The formats of texts in parameters: D-Bus names (D-Bus specification, "Valid Names"), units (systemd.unit(5)), paths
 * and programs. */
extern const TextFormat bus_format, bus_name_format, object_path_format, interface_format, method_format, signal_format,
        property_format, signature_format;
extern const TextFormat unit_format;
extern const TextFormat path_format, watched_path_format, program_format, environment_name_format, account_format;
