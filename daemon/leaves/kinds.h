/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the leaf kinds, which run the leaf types, for their table. A new kind needs a file in one of the folders, a
 * line here and one in kinds.c, besides its type (leaf-types/leaf-types.h).
 */

#include "run/inhibitor.h"
#include "run/leaf.h"
#include "run/own-connection.h"

/* For LeafServices: takes inhibitor locks from systemd-logind. */
extern const InhibitorKind logind_inhibitors;
/* The same: makes the connections of OwnConnection nodes. */
extern const OwnConnectionKind own_connections;

extern const LeafKind always_failure_kind;
extern const LeafKind always_success_kind;
extern const LeafKind command_kind;
extern const LeafKind condition_kind;
extern const LeafKind dbus_call_kind;
extern const LeafKind dbus_emit_kind;
extern const LeafKind dbus_name_kind;
extern const LeafKind dbus_property_kind;
extern const LeafKind dbus_signal_kind;
extern const LeafKind log_kind;
extern const LeafKind path_exists_kind;
extern const LeafKind script_kind;
extern const LeafKind sleep_kind;
extern const LeafKind spawn_kind;
extern const LeafKind unit_job_kind;
extern const LeafKind unit_state_kind;
extern const LeafKind write_file_kind;

/* For LeafServices: what runs the type of leaf in the daemon. NULL: nothing does. */
const LeafKind *leaf_kind_of(const NodeType *type);
