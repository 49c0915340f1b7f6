/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The JSON variables of a run, in scopes.
 *
 * A run has an outermost scope. Another scope is either isolated from all that is around it (what a SubTree sees), or
 * local: it holds a few names of its own, and every other name is that of the scope around it. Wherever a variable is
 * named, "@key" is the outermost scope's.
 *
 * Values are shared, not copied: whoever holds one must not change it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Blackboard Blackboard;

Blackboard *blackboard_new(void);
/* An isolated scope. The outermost one is borrowed, and must be there longer. */
Blackboard *blackboard_new_scope(Blackboard *outermost);
/* A local scope that holds these names (NULL-terminated). Its parent is borrowed, and must be there longer. */
Blackboard *blackboard_new_local(Blackboard *parent, const char *const *names);
void blackboard_free(Blackboard *blackboard);

/* Takes the value (NULL is JSON null). A value that equals the one before is no change. */
void blackboard_set(Blackboard *blackboard, const char *key, json_object *value);
/* Borrowed. False: there is no such variable. */
bool blackboard_get(const Blackboard *blackboard, const char *key, json_object **ret_value);

/* For who asks for the same variables again and again: one that is set, or NULL. It is there as long as the scope,
 * whose id no other scope ever has; when it is unset, its value is NULL. */
typedef struct BlackboardVariable BlackboardVariable;
const BlackboardVariable *blackboard_find(const Blackboard *blackboard, const char *key);
json_object *blackboard_variable_value(const BlackboardVariable *variable);
uint64_t blackboard_id(const Blackboard *blackboard);

const Blackboard *blackboard_outermost(const Blackboard *blackboard);
/* Is "key" the same variable as "@key" here? */
bool blackboard_is_outermost(const Blackboard *blackboard, const char *key);
/* All variables that can be named here without '@', as one object in order of key; a new reference. */
json_object *blackboard_to_json(const Blackboard *blackboard);

/* Of these, only those that the scope itself holds. */
json_object *blackboard_own_to_json(const Blackboard *blackboard);

/* From now on the scope itself has these variables, an object, and no others. Setting the same again is no change. */
void blackboard_reset(Blackboard *blackboard, json_object *variables);

/* Another number whenever a variable that can be seen from here has got another value. */
uint64_t blackboard_version(const Blackboard *blackboard);

/*
 * Calls back after one of the variables (NULL-terminated) has got another value. The callback may set variables, and
 * free this and other watches. A watch of a scope that is gone is never called, and still to be freed.
 */
typedef struct BlackboardWatch BlackboardWatch;
typedef void (*BlackboardChanged)(void *userdata);
BlackboardWatch *blackboard_watch(Blackboard *blackboard, const char *const *keys, BlackboardChanged callback,
                                  void *userdata);
void blackboard_watch_free(BlackboardWatch *watch);

/* Calls back whenever a variable has got another value, in whichever scope of this outermost one. The callback only
 * looks. NULL: no more. */
typedef void (*BlackboardObserver)(const char *key, json_object *value, void *userdata);
void blackboard_observe(Blackboard *outermost, BlackboardObserver observer, void *userdata);

/*
 * All variables of a run, in all scopes, may come to so many bytes (LIMIT_VARIABLES), about as many as they have as
 * JSON. Whoever brings in something new sees to it; the variables do so for nobody.
 */
uint64_t blackboard_bytes_max(void);
/* What is said about more. To be freed. */
char *blackboard_full_text(void);

uint64_t blackboard_bytes_of(json_object *value);
/* How many more, or fewer, there are when the variable has that value. */
int64_t blackboard_growth(const Blackboard *blackboard, const char *key, json_object *value);
bool blackboard_has_room(const Blackboard *blackboard, int64_t growth);

/* A letter or underscore, then letters, digits, '_', '-' and '.', 255 characters at most. */
bool blackboard_key_valid(const char *key);
/* The same, or '@' and the same. */
bool blackboard_name_valid(const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Blackboard, blackboard_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BlackboardWatch, blackboard_watch_free)
