/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The variables of a scope as global names of Lua. All chunks share these, so each evaluation sets all the names that
 * its chunk has anything to do with: what another has left there is never seen.
 */

#include "script/script.h"

/* What is always on the stack, from the bottom. */
enum {
        BINDINGS_GLOBALS = 1, /* the variables */
        BINDINGS_VALUES,      /* those of the outermost scope that are not among them */
        BINDINGS_PLACES,      /* name -> which of these two tables an outermost variable is in */
        BINDINGS_OUTERMOST,   /* "_G" */
        BINDINGS_TOP = BINDINGS_OUTERMOST,
};

/* Once for each state, with an empty stack. */
void bindings_prepare(lua_State *lua);

/* Sets the names. -EINVAL: a text for people. */
int bindings_load(const Script *script, const Blackboard *blackboard, json_object *const *extra, char **ret_error);
/* Pushes what a variable is now. */
void bindings_push(const Script *script, const Blackboard *blackboard, const Use *use);
/* Lets all values go that are set. */
void bindings_clear(lua_State *lua);
