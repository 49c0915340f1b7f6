/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The JSON variables of a run, and the "{key}" references to them.
 *
 * In any string, "{key}" stands for a variable and "{{" for a brace. A string that is nothing but
 * one reference becomes the variable's value with its type; elsewhere the value is put into the
 * text (a string as it is, anything else as JSON). A '}' that closes nothing is itself. The keys of objects are
 * not looked at.
 *
 * Values are shared, not copied: whoever holds one must not change it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

typedef struct Blackboard Blackboard;

Blackboard *blackboard_new(void);
void blackboard_free(Blackboard *blackboard);

/* Takes the value (NULL is JSON null). */
void blackboard_set(Blackboard *blackboard, const char *key, json_object *value);
/* Borrowed. False: there is no such variable. */
bool blackboard_get(const Blackboard *blackboard, const char *key, json_object **ret_value);
/* All variables as one object, in order of key; a new reference. */
json_object *blackboard_to_json(const Blackboard *blackboard);

/* A letter or underscore, then letters, digits, '_', '-' and '.', 255 characters at most. */
bool blackboard_key_valid(const char *key);

/* Does any string inside the value have a reference or an escaped brace? */
bool reference_inside(json_object *value);
/* The key, when the value is a string that is nothing but one reference; else NULL. To be freed. */
char *reference_key(json_object *value);
/* 1: there are references inside; 0: none, but perhaps escaped braces; -EINVAL: the syntax of one is wrong, with a
 * text for people. */
int reference_check(json_object *value, char **ret_error);
/* A copy of the value with all references replaced and escapes undone (a new reference).
 * -ENOENT: no such variable; -EINVAL: bad syntax. */
int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Blackboard, blackboard_free)
