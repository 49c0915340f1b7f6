/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads the text of a tree file, with the files that it uses, and makes its tree. The results point into the arena.
 * definition.c uses it.
 */

#include "definition/common-attributes.h"
#include "definition/declarations.h"
#include "definition/diagnostics.h"
#include "definition/header.h"
#include "definition/params/arena.h"
#include "definition/sources.h"
#include "script/scripts.h"

typedef struct NodeAttributes {
        NodeId node;
        const CommonAttributes *attributes;
} NodeAttributes;

/* A parameter with references. Its value is made each time the leaf starts. */
typedef struct Template {
        NodeId node;
        const Param *param;
        json_object *value; /* owned by the arena */
} Template;

/* From this node to the next start, nodes have the variables of the scope. */
typedef struct ScopeStart {
        NodeId node;
        unsigned scope;
} ScopeStart;

typedef struct LoadedFile {
        char *path, *hash, *text;
        char **found;  /* the names by which it was found on the search path ("cam.json"), NULL-terminated */
        char *extends; /* as definition_file_extends() */
} LoadedFile;

typedef struct Loaded {
        Arena *arena;
        Scripts *scripts; /* NULL: there are none */
        Tree *tree;       /* NULL: the file has no root */
        Header header;
        json_object *blackboard;
        Limits limits;                /* for it and its runs */
        const char *const *variables; /* of the outermost scope, sorted; NULL without a root */
        unsigned own_variables;       /* those of them that are OwnVariable */
        GArray *templates;            /* of Template, in order of node */
        GArray *attributes;           /* of NodeAttributes, in order of node */
        GArray *scopes;               /* of ScopeInfo */
        GArray *scope_starts;         /* of ScopeStart, in order of node */
        GArray *files;                /* of LoadedFile: those that it uses */
} Loaded;

/* Takes the text, which must have a NUL byte at length, and returns it to the caller at the end; path may be NULL.
 * -EINVAL: errors were found. */
int load_text(const char *path, char *text, size_t length, const NodeType *const *const *tables,
              const DefinitionSources *sources, Diagnostics *diagnostics, Loaded *ret_loaded);
/* Releases only the JSON values. They may be shared, and their counts are not atomic, so call it in the thread that
 * uses them. */
void loaded_clear_values(Loaded *loaded);
/* Frees everything; in any thread, if the values were released before. */
void loaded_clear(Loaded *loaded);
