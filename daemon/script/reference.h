/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * References inside of values. In any string, "{key}" stands for a variable, "{secret:NAME}" for a secret, and "{{" for
 * a brace. A string that is nothing but one reference becomes the variable's value with its type; elsewhere the value
 * is put into the text (a string as it is, anything else as JSON). A '}' that closes nothing is itself. The keys of
 * objects are not looked at.
 */

#include "script/blackboard.h"
#include "script/secrets.h"

/* Does any string inside the value have a reference or an escaped brace? */
bool reference_inside(json_object *value);
/* The key, when the value is a string that is nothing but one reference; else NULL. To be freed. */
char *reference_key(json_object *value);
/* 1: there are references inside; 0: none, but perhaps escaped braces; -EINVAL: the syntax of one is wrong, with a
 * text for people. */
int reference_check(json_object *value, char **ret_error);
/* The key of the next reference of a string whose syntax has been checked, at *at or behind it, and where its brace is;
 * *at moves behind it. To be freed; NULL: there is none. */
char *reference_next(const char *text, size_t length, size_t *at, size_t *ret_start);
/* A copy of the value with all references replaced and escapes undone (a new reference). Those to secrets stay as they
 * are. -ENOENT: no such variable; -EINVAL: bad syntax. */
int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error);
/* The same with the secrets put in, too: a NULL leaves them. Also the errors of secrets_get(). */
int reference_reveal(const Blackboard *blackboard, Secrets *secrets, json_object *value, json_object **ret_value,
                     char **ret_error);
/* Is there one to a secret, anywhere inside? */
bool reference_to_secret_inside(json_object *value);
