/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the table of leaf kinds: the code that runs each leaf type. */

#include "leaves/kinds.h"
#include "leaf-types/leaf-types.h"

static const struct {
        const NodeType *type;
        const LeafKind *kind;
} kinds[] = {
        { &dbus_call_type, &dbus_call_kind },
        { &dbus_signal_type, &dbus_signal_kind },
        { &dbus_emit_type, &dbus_emit_kind },
        { &start_unit_type, &unit_job_kind },
        { &stop_unit_type, &unit_job_kind },
        { &restart_unit_type, &unit_job_kind },
        { &reload_unit_type, &unit_job_kind },
        { &spawn_type, &spawn_kind },
        { &write_file_type, &write_file_kind },
        { &script_type, &script_kind },
        { &sleep_type, &sleep_kind },
        { &log_type, &log_kind },
        { &always_success_type, &always_success_kind },
        { &always_failure_type, &always_failure_kind },
        { &dbus_property_type, &dbus_property_kind },
        { &dbus_name_type, &dbus_name_kind },
        { &unit_state_type, &unit_state_kind },
        { &path_exists_type, &path_exists_kind },
        { &command_type, &command_kind },
        { &condition_type, &condition_kind },
};

const LeafKind *leaf_kind_of(const NodeType *type) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (kinds[i].type == type)
                        return kinds[i].kind;

        return NULL;
}
