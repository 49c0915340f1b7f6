/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the variables of a tree: the inputs and outputs that it declares, with their types, and scopes, that is,
 * which variables a node can use. Checks values against the types.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

#include "engine/tree.h"

typedef enum VariableType {
        VARIABLE_ANY,
        VARIABLE_BOOL,
        VARIABLE_INT,
        VARIABLE_NUMBER,
        VARIABLE_STRING,
        VARIABLE_LIST,
        VARIABLE_OBJECT,
        VARIABLE_TYPE_MAX_,
} VariableType;

typedef struct Declaration {
        const char *name;        /* NULL: end of the array */
        int type;                /* VariableType */
        bool required;           /* an input without a default */
        bool kept;               /* an input whose last value the next run gets */
        bool secret;             /* an input whose value nobody sees */
        json_object *fallback;   /* the default of an input (NULL is null) */
        const char *description; /* NULL: none */
} Declaration;

/* The variables that a tree reads to know about its run, without a declaration. */
typedef enum OwnVariable {
        OWN_INSTANCE = 1 << 0, /* the instance of the run; null if it has none */
        OWN_RUN = 1 << 1,      /* an object: id, tree, instance */
} OwnVariable;

#define VARIABLE_INSTANCE "instance"
#define VARIABLE_RUN "run"

/* The reason why the name is not valid for a variable; NULL: it is valid. at: it may begin with '@'. To be freed. */
char *variable_name_problem(const char *name, bool at);

/* "any", "bool", ...; NULL-terminated. */
extern const char *const variable_type_names[];

/* The type of a value; null is VARIABLE_ANY. */
VariableType variable_type_of(json_object *value);
/* "a list", "a string", ...: what a value of the type is. */
const char *variable_type_describe(VariableType type);
bool variable_type_is_number(VariableType type);

/* declarations may be NULL. NULL: no declaration has this name. */
const Declaration *declaration_find(const Declaration *declarations, const char *name);

/* 'expected a whole number, but got "many"'; NULL: the value is valid for the variable. To be freed. */
char *declaration_problem(const Declaration *declaration, json_object *value);
/* The same with the name. -EINVAL with an error message: "expected a whole number for 'tries', but got [1]". */
int declaration_check(const Declaration *declaration, json_object *value, char **ret_error);
/*
 * Scope 0 is the outermost, and the only one without SubTree and ForEach. Each SubTree has its own scope for
 * its child. Each copy of the child of a ForEach has a local scope, which adds only a few variables. Scopes are
 * numbered in the order of nodes.
 */
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
        const char *const *secrets; /* the names of its secret inputs; NULL: none */
        json_object *blackboard;    /* the initial variables of the tree, an object; or NULL */
        const char *const *names;   /* of the variables of a local scope; or NULL */
} ScopeInfo;
