/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The inputs and outputs that a tree declares: variables with a type.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

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
        const char *name;        /* NULL behind the last */
        int type;                /* VariableType */
        bool required;           /* an input without a default */
        json_object *fallback;   /* the default of an input (NULL is null) */
        const char *description; /* NULL: none */
} Declaration;

/* "any", "bool", ...; NULL-terminated. */
extern const char *const variable_type_names[];

/* declarations may be NULL. NULL: none of this name. */
const Declaration *declaration_find(const Declaration *declarations, const char *name);

/* 'expected a whole number, but got "many"'; NULL: the variable can have the value. To be freed. */
char *declaration_problem(const Declaration *declaration, json_object *value);
/* The same with the name. -EINVAL with a text for people: 'tries: expected a whole number, but got "many"'. */
int declaration_check(const Declaration *declaration, json_object *value, char **ret_error);
