/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * From the text of a tree file to its tree. What is loaded points into the arena.
 */

#include "definition/arena.h"
#include "definition/diagnostics.h"
#include "definition/restart.h"
#include "engine/machine.h"

/* The top of a tree file, beside its root and its blackboard. */
typedef struct Header {
        int64_t btd;
        const char *description;
        bool autostart;
        uint64_t interval;
        RestartPolicy restart;
        const char *schema;
} Header;

#define HEADER_VERSION 1

extern const Param header_params[];

/* The guards of a node: the names of variables, NULL where there is none. */
typedef struct Guards {
        const char *variables[GUARD_WHILE + 1];
} Guards;

extern const Param guard_params[];

typedef struct GuardedNode {
        NodeId node;
        const Guards *guards;
} GuardedNode;

/* A parameter that has references: what it is made of each time its leaf starts. */
typedef struct Template {
        NodeId node;
        const Param *param;
        json_object *value; /* the arena's */
} Template;

typedef struct Loaded {
        Arena *arena;
        Tree *tree;
        Header header;
        json_object *blackboard;
        GArray *templates; /* of Template, in order of node */
        GArray *guarded;   /* of GuardedNode, in order of node */
} Loaded;

/* The text is ended by a NUL at length. -EINVAL: there were errors. */
int load_text(const char *text, size_t length, const NodeType *const *const *tables, Diagnostics *diagnostics,
              Loaded *ret_loaded);
void loaded_clear(Loaded *loaded);
