/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the JSON variables of a run, in scopes. Scripts, references and leaves read and set them.
 *
 * A run has an outermost scope. Another scope is either isolated (that of a SubTree), or local: it has a few variables
 * of its own, and finds all others in its parent. In every scope, "@key" is a variable of the outermost scope.
 *
 * Values are shared, not copied, so they must never be changed in place.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/limit.h"
#include "basic/users.h"

typedef struct Blackboard Blackboard;

/* An outermost scope. The limits are borrowed, and must outlive it. */
Blackboard *blackboard_new(const Limits *limits);
/* An isolated scope. The outermost one is borrowed, and must outlive it. */
Blackboard *blackboard_new_scope(Blackboard *outermost);
/* A local scope with variables of these names (NULL-terminated). Its parent is borrowed, and must outlive it. */
Blackboard *blackboard_new_local(Blackboard *parent, const char *const *names);
void blackboard_free(Blackboard *blackboard);

/* The names of its secret variables (NULL-terminated, borrowed), whose values are sealed, see script/secrets.h. */
void blackboard_set_secrets(Blackboard *blackboard, const char *const *names);
/* Is the variable secret? */
bool blackboard_seals(const Blackboard *blackboard, const char *key);
/* Takes the value, and returns it as the variable gets it: sealed if it is secret. For records. */
json_object *blackboard_sealed(const Blackboard *blackboard, const char *key, json_object *value);

/* The real values of the scope's own secret variables, as an object; a new reference. NULL: there are none. */
json_object *blackboard_own_secrets(const Blackboard *blackboard);
/* Takes the real value of a secret variable, if it was lost. Nobody is told of it, since what can be seen is the same.
 */
void blackboard_restore_secret(Blackboard *blackboard, const char *key, json_object *value);
/* Has one of them changed, in any scope of this outermost one, since the last call? */
bool blackboard_take_secrets_changed(Blackboard *outermost);

/* Equal, and with the same signs of their zeros. */
bool blackboard_same_value(json_object *a, json_object *b);

/* Takes the value (NULL is JSON null). Setting the same value again is not a change,
 * except that of a secret variable. */
void blackboard_set(Blackboard *blackboard, const char *key, json_object *value);
/* Borrowed. False: there is no such variable. */
bool blackboard_get(const Blackboard *blackboard, const char *key, json_object **ret_value);

/* For repeated lookups of a variable; NULL: it is not set. The result is valid as long as its scope exists; the id of a
 * scope is never used again. If the variable is unset later, its value is NULL. */
typedef struct BlackboardVariable BlackboardVariable;
const BlackboardVariable *blackboard_find(const Blackboard *blackboard, const char *key);
json_object *blackboard_variable_value(const BlackboardVariable *variable);
uint64_t blackboard_id(const Blackboard *blackboard);

const Blackboard *blackboard_outermost(const Blackboard *blackboard);
/* Is "key" the same variable as "@key" here? */
bool blackboard_is_outermost(const Blackboard *blackboard, const char *key);
/* All variables that are visible here without '@', as an object sorted by key; a new reference. */
json_object *blackboard_to_json(const Blackboard *blackboard);

/* The same for the scope's own variables only. */
json_object *blackboard_own_to_json(const Blackboard *blackboard);

/* Replaces the scope's own variables by the members of the object. Setting the same value again is not a change. */
void blackboard_reset(Blackboard *blackboard, json_object *variables);

/* A number that grows whenever a variable that is visible here changes. */
uint64_t blackboard_version(const Blackboard *blackboard);

/*
 * Calls back after one of the variables (NULL-terminated) has changed. The callback may set variables, and free this
 * and other watches. A watch of a scope that was freed is never called, and must still be freed.
 */
typedef struct BlackboardWatch BlackboardWatch;
typedef void (*BlackboardChanged)(void *userdata);
BlackboardWatch *blackboard_watch(Blackboard *blackboard, const char *const *keys, BlackboardChanged callback,
                                  void *userdata);
void blackboard_watch_free(BlackboardWatch *watch);

/* How often a variable got another value, in any scope of this outermost one. */
uint64_t blackboard_n_sets(const Blackboard *outermost);
/* For now() and random() in expressions: the wall clock in µs, and random bits. */
typedef struct BlackboardMoment {
        uint64_t time, random;
} BlackboardMoment;

/* What uses an outermost scope. */
typedef struct BlackboardHost {
        /* Called whenever a variable got another value, in any scope of the outermost one. Must not set variables.
         * NULL: nobody wants to know. */
        void (*set)(const char *key, json_object *value, void *userdata);
        /* n: a number that is new each time in an evaluation. NULL: there is no time. */
        BlackboardMoment (*moment)(uint64_t n, void *userdata);
} BlackboardHost;

/* The host is borrowed. NULL: none. */
void blackboard_set_host(Blackboard *outermost, const BlackboardHost *host, void *userdata);
/* All 0 if there is no time. */
BlackboardMoment blackboard_moment(const Blackboard *blackboard, uint64_t n);

/*
 * The limit of all variables of a run together, in bytes (LIMIT_VARIABLES). A value counts about as many bytes as its
 * JSON. Callers that add new values must check the limit; blackboard_set() does not.
 */
uint64_t blackboard_bytes_max(const Limits *limits);
/* The error message for exceeding the limit. To be freed. */
char *blackboard_full_text(const Limits *limits);
/* The limits of the run. */
const Limits *blackboard_limits(const Blackboard *blackboard);

uint64_t blackboard_bytes_of(json_object *value);
/* The change in bytes if the variable is set to the value. */
int64_t blackboard_growth(const Blackboard *blackboard, const char *key, json_object *value);
bool blackboard_has_room(const Blackboard *blackboard, int64_t growth);
/* Why it has none; to be freed. */
char *blackboard_lack_text(const Blackboard *blackboard, int64_t growth);
/* From now on, its variables count for the user, who must outlive it; NULL: for nobody. */
void blackboard_set_user(Blackboard *blackboard, User *user);

/* The index of the first case (NULL-terminated) that the value equals: as text, as integers ("01" and 1), or as numbers
 * that differ by no more than a single-precision rounding ("2.50" and 2.5). The number of cases if none does. */
uint32_t blackboard_match_value(json_object *value, const char *const *cases);

#define BLACKBOARD_KEY_MAX 255u
/* A letter or underscore, then letters, digits, '_' and '-', BLACKBOARD_KEY_MAX characters at most. */
bool blackboard_key_valid(const char *key);
/* A key, or '@' and a key. */
bool blackboard_name_valid(const char *name);
/* Is it a keyword of Lua? It cannot be the name of a variable in an expression. A btd without Lua refuses it, too: a
 * tree file is correct for both or for none. */
bool keyword_is(const char *word, size_t length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Blackboard, blackboard_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BlackboardWatch, blackboard_watch_free)
