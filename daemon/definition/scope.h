/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes scopes, that is, which variables a node can use. Scope 0 is the outermost, and the only one without SubTree
 * and ForEach. Each SubTree has its own scope for its child. Each copy of the child of a ForEach has a local scope,
 * which adds only a few variables. Scopes are numbered in the order of nodes.
 */

#include "definition/declarations.h"
#include "engine/tree.h"

typedef enum ScopeKind {
        SCOPE_OUTERMOST,
        SCOPE_SUBTREE,
        SCOPE_LOCAL,
} ScopeKind;

typedef struct ScopeInfo {
        ScopeKind kind;
        NodeId node;     /* the root; the SubTree; the child of the ForEach */
        unsigned parent; /* the scope around it; for the outermost, itself */
        /* The declarations of the tree; the last one has no name. Both NULL for a local scope. */
        const Declaration *inputs, *outputs;
        json_object *blackboard;  /* the initial variables of the tree, an object; or NULL */
        const char *const *names; /* of the variables of a local scope; or NULL */
} ScopeInfo;
