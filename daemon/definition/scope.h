/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Scopes: which variables a node sees. 0 is the outermost, which is all there is without SubTree and ForEach. Each
 * SubTree has one of its own, which its child sees; each instance of the child of a ForEach has one, which holds only a
 * few variables itself. They are numbered in order of node.
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
        unsigned parent; /* the scope around it; of the outermost itself */
        /* What the tree declares: ended by one without a name. Of a local scope both NULL. */
        const Declaration *inputs, *outputs;
        json_object *blackboard;  /* the variables that the tree begins with, an object; or NULL */
        const char *const *names; /* of the variables that a local scope holds itself; or NULL */
} ScopeInfo;
