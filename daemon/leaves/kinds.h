/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the leaf kinds, which run the leaf types (LEAF_TYPES in leaf-types/leaf-types.h). A new kind needs a file in
 * one of the folders.
 */

#include "leaf-types/leaf-types.h"
#include "run/leaf.h"

/* For LeafServices: takes inhibitor locks from systemd-logind. */
extern const InhibitorKind logind_inhibitors;
/* The same: makes the connections of OwnConnection nodes. */
extern const OwnConnectionKind own_connections;

#define DECLARE_LEAF_KIND(type, kind) extern const LeafKind kind;

LEAF_TYPES(DECLARE_LEAF_KIND)

/* For LeafServices: what runs the type of leaf in the daemon. NULL: nothing does. */
const LeafKind *leaf_kind_of(const NodeType *type);
