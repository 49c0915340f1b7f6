/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares all leaf types for their table. A new kind of leaf needs a file in one of the folders, a line here, and a
 * line in registry.c.
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
