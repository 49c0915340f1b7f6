/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Converts JSON to values of Lua, and back, for scripts.c. An array is a table with the keys 1, 2, 3 and so on, an
 * object is one with names as keys; null is nil. An empty table that comes from an array or object becomes the same
 * again; a new empty table of a chunk becomes an array.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <lua.h>
#include <stdbool.h>

/* Once for each state, before any other function. */
void values_prepare(lua_State *lua);

/* Before each evaluation. */
void values_begin(lua_State *lua);

/* The list on top of the stack, which a function has made, is compared by value, as those from JSON are. */
void values_mark_list(lua_State *lua);

/* -EINVAL: it is too deep, with an error message; parts of it are left on the stack. */
int value_push(lua_State *lua, json_object *value, char **ret_error);

/* The value at an index, a new reference. Raises no error as long as the state gets its memory. -EINVAL: JSON has no
 * such value; the message has its place: "NAME.list[2]: a function cannot be stored in a variable". The name can be
 * empty. */
int value_read(lua_State *lua, int index, const char *name, json_object **ret_value, char **ret_error);

/* Are they equal, if a missing element or member counts as null? A value that was a table in Lua loses its nulls. */
bool value_same(json_object *a, json_object *b);
