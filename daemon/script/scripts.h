/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The expressions and the code of a tree: chunks of Lua that see the variables of a scope under their names, and the
 * outermost scope's as "_G.key".
 *
 * What a chunk computes depends on these variables alone: it can reach nothing else, and keeps nothing. It may run for
 * a bounded number of steps, and use a bounded amount of memory.
 */

#include <stdbool.h>
#include <stddef.h>

#include "script/blackboard.h"

typedef struct Scripts Scripts;
typedef struct Script Script;

typedef enum ScriptKind {
        SCRIPT_EXPRESSION, /* has a value, sets nothing */
        SCRIPT_CODE,       /* statements, which may set variables */
} ScriptKind;

Scripts *scripts_new(void);
/* All that has been compiled goes with it. */
void scripts_free(Scripts *scripts);

/*
 * extra: names of what the evaluator will give besides the variables (NULL-terminated, borrowed), or NULL.
 * -EINVAL: a text for people, and the byte of the code that it is about.
 */
int scripts_compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra, const Script **ret,
                    char **ret_error, size_t *ret_offset);

const char *script_code(const Script *script);
/* The variables that it may read, sorted, each once: "key", or "@key" where it says _G.key. */
const char *const *script_reads(const Script *script);
/* The same, of those that it may assign. What is changed inside of (config.tries = 3) counts as read. */
const char *const *script_writes(const Script *script);

/*
 * extra: a value for each of the names, in their order (borrowed; NULL is null), or NULL when there are none.
 * -EINVAL, with a text for people: "battery < 20: attempt to compare nil with number (battery is not set)".
 */
int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error);
/* A new reference; NULL is null. */
int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error);
/* Sets all variables that have another value afterwards, or none of them when there was an error. */
int script_run(const Script *script, Blackboard *blackboard, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scripts, scripts_free)
