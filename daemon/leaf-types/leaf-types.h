/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the leaf types, for btctl and for the leaf kinds (leaves/kinds.h), and the parameters that several of them
 * have in common. A new type needs its NodeType in one of the files of this folder, its LeafKind, and a
 * line here.
 */

#include "engine/type.h"

/* All leaf types, in the order of the reference, each with the LeafKind that runs it. */
#define LEAF_TYPES(X)                                                                                                  \
        X(dbus_call_type, dbus_call_kind)                                                                              \
        X(dbus_signal_type, dbus_signal_kind)                                                                          \
        X(dbus_emit_type, dbus_emit_kind)                                                                              \
        X(start_unit_type, unit_job_kind)                                                                              \
        X(stop_unit_type, unit_job_kind)                                                                               \
        X(restart_unit_type, unit_job_kind)                                                                            \
        X(reload_unit_type, unit_job_kind)                                                                             \
        X(spawn_type, spawn_kind)                                                                                      \
        X(write_file_type, write_file_kind)                                                                            \
        X(script_type, script_kind)                                                                                    \
        X(sleep_type, sleep_kind)                                                                                      \
        X(log_type, log_kind)                                                                                          \
        X(always_success_type, always_success_kind)                                                                    \
        X(always_failure_type, always_failure_kind)                                                                    \
        X(dbus_property_type, dbus_property_kind)                                                                      \
        X(dbus_name_type, dbus_name_kind)                                                                              \
        X(unit_state_type, unit_state_kind)                                                                            \
        X(path_exists_type, path_exists_kind)                                                                          \
        X(command_type, command_kind)                                                                                  \
        X(condition_type, condition_kind)

#define DECLARE_LEAF_TYPE(type, kind) extern const NodeType type;

LEAF_TYPES(DECLARE_LEAF_TYPE)

/* The same, NULL-terminated. */
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

/* The entry for a time limit, of a struct with an uint64_t "timeout". text: its .doc */
#define TIMEOUT_PARAM(Type, usual, text)                                                                               \
        { .name = "timeout", .kind = PARAM_SPAN, .offset = offsetof(Type, timeout), .fallback = usual, text, }

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
