/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The variables of a scope as global names of Lua. All chunks share these, so each evaluation sets all the names that
 * its chunk has anything to do with: what another has left there is never seen.
 */

#include "script/script.h"

/* Once for each state. */
void bindings_prepare(lua_State *lua);

/* Sets the names; may raise an error. */
void bindings_load(const Script *script, const Blackboard *blackboard, json_object *const *extra);
/* Pushes what a variable is now. */
void bindings_push(const Script *script, const Blackboard *blackboard, const Use *use);
/* Lets all values go. */
void bindings_clear(const Script *script, const Blackboard *blackboard);
