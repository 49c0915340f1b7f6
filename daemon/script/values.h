/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JSON values as values of Lua, and back. An array is a table with the keys 1, 2, 3 and so on, an object one with
 * names as keys; null is nil. An empty table that has been an array or object still is that; one that a chunk has made
 * is an array.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <lua.h>
#include <stdbool.h>

#define VALUE_DEPTH_MAX 100

/* Once for each state, before any other function. */
void values_prepare(lua_State *lua);

/* -EINVAL: it is too deep, and only parts of it are on the stack; a text for people. */
int value_push(lua_State *lua, json_object *value, char **ret_error);

/* The value at an index, a new reference. Nothing is raised as long as the state gets its memory. -EINVAL: JSON cannot
 * have such a value, with a text for people that says where it is: "NAME.list[2]: a function cannot be kept in a
 * variable". The name can be empty. */
int value_read(lua_State *lua, int index, const char *name, json_object **ret_value, char **ret_error);

/* Are they equal, when an element or member that is not there counts as null? That is what is left of a value that has
 * been a table. */
bool value_same(json_object *a, json_object *b);
