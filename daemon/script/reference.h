/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks and expands the references in the parameters of nodes. In any string of a value, "{key}" is a variable,
 * "{key.member}" a member of its object, "{key[2]}" the second element of its list, "{secret:NAME}" a secret, and "{{"
 * a brace. In a list of strings, "{key...}" becomes the elements of the list. A string that consists of one reference
 * becomes the variable's value with its type; elsewhere the value is inserted as text (a string as it is, others as
 * JSON). Null is no text.
 * "{unit_escape:key}" is the variable as a text that is escaped for the name of a unit, and "{unit_escape_path:key}"
 * the same for a path. A '}' without a '{' is itself. Keys of objects have no references.
 */

#include "script/blackboard.h"
#include "script/secrets.h"

/* Does any string inside the value have a reference or an escaped brace? */
bool reference_inside(json_object *value);
/* The reference ("camera.device") if the value is a string that consists of one; else NULL. To be freed. */
char *reference_key(json_object *value);
/* Receives a syntax error of a reference, and its offset in the string. Takes the message. */
typedef void (*ReferenceFault)(char *text, size_t offset, void *userdata);

/* 1: there are references in the string; 0: none, but perhaps escaped braces; -EINVAL: errors were reported. */
int reference_check(const char *text, size_t length, ReferenceFault on_fault, void *userdata);

typedef struct Reference {
        char *name;        /* of the variable; to be freed */
        const char *steps; /* its members, ".device[2]" */
        size_t n_steps;    /* the length of this text */
        size_t start;      /* the offset of the name */
        bool spread;       /* "{key...}" */
        bool whole;        /* the string consists of it */
} Reference;

/* The next reference to a variable at or after *at, in a string with valid syntax. *at moves after it. */
bool reference_next(const char *text, size_t length, size_t *at, Reference *ret_reference);
/* Is the string "{key...}"? */
bool reference_spreads(const char *text, size_t length);
/* A copy of the value with all references and escaped braces expanded (a new reference). References to secrets are
 * kept. -ENOENT: no such variable; -EINVAL: bad syntax. */
int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error);

typedef struct ReferenceValues {
        const Blackboard *blackboard; /* may be NULL if there are noted values */
        json_object *noted;           /* the values from reference_note(); NULL: the present values of the variables */
        Secrets *secrets;             /* NULL: references to secrets are kept */
        bool null_is_text;            /* null is inserted as "null" */
        bool no_lists;                /* a list inside a text is an error */
} ReferenceValues;

/* The same with these values. Also has the errors of secrets_get(). */
int reference_reveal(const ReferenceValues *values, json_object *value, json_object **ret_value, char **ret_error);
/* A copy of the array in which the elements of the list are in the place of a "{key...}", as references: "{key[1]}",
 * "{key[2]}" and so on. */
int reference_spread(const ReferenceValues *values, json_object *array, json_object **ret_array, char **ret_error);
/* Adds the present values of the variables that the value refers to, to the object "noted". Variables that are not set
 * are left out. */
void reference_note(const Blackboard *blackboard, json_object *value, json_object *noted);
/* Have these variables still the noted values? */
bool reference_is_as_noted(const Blackboard *blackboard, json_object *value, json_object *noted);
/* Adds the names of the variables that the value refers to; to be freed by the array. */
void reference_add_names(json_object *value, GPtrArray *names);
/* Is there a reference to a secret in the string? */
bool reference_to_secret(const char *text, size_t length);
