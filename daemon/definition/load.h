/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * From the text of a tree file, and of the files that it uses, to its tree. What is loaded points into the arena.
 */

#include "definition/access.h"
#include "definition/arena.h"
#include "definition/diagnostics.h"
#include "definition/extras.h"
#include "definition/restart.h"
#include "definition/scope.h"
#include "definition/sources.h"
#include "script/scripts.h"

/* The top of a tree file, beside its trees. */
typedef struct Header {
        int64_t btd;
        const char *description;
        bool autostart;
        uint64_t interval;
        RestartPolicy restart;
        int on_stop;          /* OnStop */
        const Access *access; /* NULL: nothing is said */
        const char *schema;
} Header;

#define HEADER_VERSION 1

extern const Param header_params[];
/* What a tree of several in one file can say, beside its variables and its root. */
extern const Param tree_params[];
/* What can be said of an input, and of an output. */
extern const Param input_params[], output_params[];

typedef struct ExtrasNode {
        NodeId node;
        const Extras *extras;
} ExtrasNode;

/* A parameter that has references: what it is made of each time its leaf starts. */
typedef struct Template {
        NodeId node;
        const Param *param;
        json_object *value; /* the arena's */
} Template;

/* From the node on, as far as the next one says, nodes see the variables of the scope. */
typedef struct ScopeStart {
        NodeId node;
        unsigned scope;
} ScopeStart;

typedef struct LoadedFile {
        char *path, *hash, *text;
} LoadedFile;

typedef struct Loaded {
        Arena *arena;
        Scripts *scripts; /* NULL: there are none */
        Tree *tree;       /* NULL: the file has no root */
        Header header;
        json_object *blackboard;
        const char *const *variables; /* all that its outermost scope can have, in order; NULL without a root */
        GArray *templates;            /* of Template, in order of node */
        GArray *extras;               /* of ExtrasNode, in order of node */
        GArray *scopes;               /* of ScopeInfo */
        GArray *scope_starts;         /* of ScopeStart, in order of node */
        GArray *files;                /* of LoadedFile: those that it uses */
} Loaded;

/* Takes the text, which is ended by a NUL at length, and gives it back; path may be NULL. -EINVAL: there were errors.
 */
int load_text(const char *path, char *text, size_t length, const NodeType *const *const *tables,
              const DefinitionSources *sources, Diagnostics *diagnostics, Loaded *ret_loaded);
void loaded_clear(Loaded *loaded);
