/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks and expands the references in the parameters of nodes. In any string of a value, "{key}" is a variable,
 * "{secret:NAME}" a secret, and "{{" a brace. A string that consists of one reference becomes the variable's value with
 * its type; elsewhere the value is inserted as text (a string as it is, others as JSON). Null is no text.
 * "{unit_escape:key}" is the variable as a text that is escaped for the name of a unit, and "{unit_escape_path:key}"
 * the same for a path. A '}' without a '{' is itself. Keys of objects have no references.
 */

#include "script/blackboard.h"
#include "script/secrets.h"

/* Does any string inside the value have a reference or an escaped brace? */
bool reference_inside(json_object *value);
/* The key if the value is a string that consists of one reference; else NULL. To be freed. */
char *reference_key(json_object *value);
/* Receives a syntax error of a reference, and its offset in the string. Takes the message. */
typedef void (*ReferenceFault)(char *text, size_t offset, void *userdata);

/* 1: there are references in the string; 0: none, but perhaps escaped braces; -EINVAL: errors were reported. */
int reference_check(const char *text, size_t length, ReferenceFault on_fault, void *userdata);
/* The key of the next reference at or after *at, and the offset of this key, in a string with valid syntax. *at moves
 * after it. To be freed; NULL: there is none. */
char *reference_next(const char *text, size_t length, size_t *at, size_t *ret_start);
/* A copy of the value with all references and escaped braces expanded (a new reference). References to secrets are
 * kept. -ENOENT: no such variable; -EINVAL: bad syntax. */
int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error);

typedef struct ReferenceValues {
        const Blackboard *blackboard;
        json_object *noted; /* the values from reference_note(); NULL: the present values of the variables */
        Secrets *secrets;   /* NULL: references to secrets are kept */
        bool null_is_text;  /* null is inserted as "null" */
} ReferenceValues;

/* The same with these values. Also has the errors of secrets_get(). */
int reference_reveal(const ReferenceValues *values, json_object *value, json_object **ret_value, char **ret_error);
/* Adds the present values of the variables that the value refers to, to the object "noted". Variables that are not set
 * are left out. */
void reference_note(const Blackboard *blackboard, json_object *value, json_object *noted);
/* Have these variables still the noted values? */
bool reference_is_as_noted(const Blackboard *blackboard, json_object *value, json_object *noted);
/* Adds the names of the variables that the value refers to; to be freed by the array. */
void reference_add_names(json_object *value, GPtrArray *names);
/* Is there a reference to a secret in the string? */
bool reference_to_secret(const char *text, size_t length);
/* Is there one in any string of the value? */
bool reference_to_secret_inside(json_object *value);
