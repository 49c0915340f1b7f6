/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the compiled expressions and code of a tree: chunks of Lua that see the variables of a scope under their names,
 * and the outermost scope's as "_G.key". The loader compiles them; nodes and leaves evaluate them.
 *
 * The result of a chunk depends on these variables alone: it has access to nothing else, and keeps no state. Its steps
 * and its memory are limited.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/blackboard.h"

typedef struct Scripts Scripts;
typedef struct Script Script;
/* A Lua file, whose functions scripts can use. */
typedef struct Library Library;

typedef enum ScriptKind {
        SCRIPT_EXPRESSION, /* has a value, sets nothing */
        SCRIPT_CODE,       /* statements, which may set variables */
} ScriptKind;

Scripts *scripts_new(void);
/* Frees all compiled scripts, too. */
void scripts_free(Scripts *scripts);

/*
 * The file is executed anew in each evaluation that uses one of the names that it defines, so it keeps no state,
 * either. It has no access to variables: they are arguments of its functions. It can use the names of other libraries.
 * name: for error messages. Otherwise as scripts_compile().
 */
int scripts_add_library(Scripts *scripts, const char *name, const char *code, const Library **ret, char **ret_error,
                        size_t *ret_offset);
/* The names of its functions and other values, sorted. */
const char *const *library_defines(const Library *library);
/* The first place in its text with the name. */
size_t library_find(const Library *library, const char *name);
/* The first name that neither it nor another one of the libraries (of Library) defines; NULL: there is none. */
const char *library_lacks(const Library *library, const GPtrArray *libraries);
/* Executes it once, with those before it. -EINVAL: with an error message, and the place of the line. */
int library_try(const Library *library, const GPtrArray *libraries, char **ret_error, size_t *ret_offset);

/*
 * extra: names of values that each evaluation passes besides the variables (NULL-terminated, borrowed), or NULL.
 * members: if these values are objects with known members, their names (NULL-terminated): a script that uses another
 * one is refused. NULL: a script can use any member.
 * libraries: of Library, which it can use; or NULL. Referenced.
 * -EINVAL: with an error message, and the offset in the code that it is about.
 */
int scripts_compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra,
                    const char *const *members, GPtrArray *libraries, const Script **ret, char **ret_error,
                    size_t *ret_offset);

const char *script_code(const Script *script);
/* For error messages: the lines of the code are these lines of a file, and then 0. Both are borrowed. */
void script_set_lines(const Script *script, const char *file, const uint32_t *lines);
/* The variables that it may read, sorted, each once: "key", or "@key" for _G.key. */
const char *const *script_reads(const Script *script);
/* The variables that it may assign, likewise. A variable that is changed inside (config.tries = 3) counts as read. */
const char *const *script_writes(const Script *script);

/* A part of a script that makes sense for values of some types only: "list.length", "n == '3'"; or that is probably a
 * mistake whatever the values are (warning). */
typedef struct ScriptDemand {
        char *warning;      /* NULL: the rest says what depends on the type of a variable */
        char *name;         /* of the variable, as in script_reads() */
        size_t offset;      /* in the code */
        char *member;       /* which is read; or NULL */
        char *literal;      /* that it is compared with; or NULL */
        bool is_test;       /* the whole expression is the variable */
        bool is_text;       /* the literal is a text; else a number */
        bool orders;        /* by "<" and the like */
        const char *advice; /* "; '#list' is the length", or "" */
} ScriptDemand;

/* Of ScriptDemand. */
const GArray *script_demands(const Script *script);

/*
 * extra: a value for each of the names, in their order (borrowed; NULL is null), or NULL if there are none.
 * -EINVAL, with an error message: "battery < 20: attempt to compare nil with number (battery is not set)".
 */
int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error);
/* A new reference; NULL is null. */
int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error);
/* Sets all variables that the code has changed; none of them if there was an error. ret_set: these variables, an
 * object; may be NULL. */
int script_run(const Script *script, Blackboard *blackboard, json_object **ret_set, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scripts, scripts_free)
