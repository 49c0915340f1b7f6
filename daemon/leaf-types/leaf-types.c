/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the table of leaf types, in the order of the reference, and the values of the parameters that several types have
 * in common. */

#include "leaf-types/leaf-types.h"

/* clang-format off */
const NodeType *const leaf_types[] = {
        &dbus_call_type,
        &dbus_signal_type,
        &dbus_emit_type,
        &start_unit_type,
        &stop_unit_type,
        &restart_unit_type,
        &reload_unit_type,
        &spawn_type,
        &script_type,
        &sleep_type,
        &log_type,
        &always_success_type,
        &always_failure_type,
        &dbus_property_type,
        &dbus_name_type,
        &unit_state_type,
        &path_exists_type,
        &command_type,
        &condition_type,
        NULL,
};

const char *const on_recover_values[] = { "fail", "rerun", NULL };

const char *const unknown_values[] = { "failure", "success", "running", NULL };

Status unknown_status(int unknown) {
        static const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };

        return statuses[unknown];
}
