/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JSON values to D-Bus values and back, by signature (D-Bus specification, "Type System").
 *
 *   y n q u i x t   numbers, range-checked       b     true, false
 *   d               any number                   s o g strings, checked
 *   a               arrays; ay also a string     a{}   objects (keys that are not strings as text)
 *   ( )             arrays of the same length    v     a value whose type is guessed (bool b, integer x or t,
 *                                                      number d, string s, array av, object a{sv}), or an
 *                                                      object {"signature": "u", "value": 7}
 *
 * Back: ay becomes a string where it is valid UTF-8 without NUL but for a trailing one, else an array of numbers;
 * a variant its value; a number that JSON cannot hold (NaN, infinity) null.
 * File descriptors cannot be carried.
 */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Is it a signature that can be carried? -EINVAL with a text for people. */
int value_check_signature(const char *signature, char **ret_error);

/* Appends the values of the array args, one for each complete type of the signature. args NULL is an empty array.
 * -EINVAL or -ERANGE with a text for people that names the place ("argument 2, key \"mode\": ..."). */
int value_append(sd_bus_message *message, const char *signature, json_object *args, char **ret_error);
/* The same without a message: would they fit? */
int value_check(const char *signature, json_object *args, char **ret_error);

/* Reads all that is left of the message into an array of values; or one complete value. */
int value_read_all(sd_bus_message *message, json_object **ret_values, char **ret_error);
int value_read_one(sd_bus_message *message, json_object **ret_value, char **ret_error);

/* The same JSON; numbers by value, so that 1 and 1.0 are equal. */
bool value_equal(json_object *a, json_object *b);

/* As JSON on one line, cut off where it is long, for messages. To be freed. */
char *value_to_text(json_object *value);
