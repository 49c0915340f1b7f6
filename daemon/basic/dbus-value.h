/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Converts JSON to D-Bus values and back, by signature (D-Bus specification, "Type System"). The D-Bus leaves use it.
 *
 *   y n q u i x t   numbers, range-checked       b     true, false
 *   d               any number                   s o g strings, checked
 *   a               arrays; ay also a string     a{}   objects (keys that are not strings as text)
 *   ( )             arrays of the same length    v     a value whose type is guessed (bool b, integer x or t,
 *                                                      number d, string s, array av, object a{sv}), or an
 *                                                      object {"signature": "u", "value": 7}
 *
 * Back: ay becomes an array of numbers, whatever the bytes are; a variant becomes its value. A number that JSON cannot
 * hold (NaN, infinity) is an error. File descriptors are not supported.
 */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

/* NULL: the signature is valid (D-Bus specification, "Valid Signatures"); else an error message, to be freed. */
char *signature_error(const char *signature);
/* The length of the first complete type, and how many there are, of a valid signature. */
size_t signature_first(const char *signature);
unsigned signature_count(const char *signature);

/* Can values of this signature be converted? -EINVAL with an error message. */
int value_check_signature(const char *signature, char **ret_error);

/* Appends the values of the array args, one for each complete type of the signature. args NULL is an empty array.
 * -EINVAL or -ERANGE with an error message that names the place ("argument 2, key \"mode\": ..."). */
int value_append(sd_bus_message *message, const char *signature, json_object *args, char **ret_error);
/* The same without a message: only checks the values. */
int value_check(const char *signature, json_object *args, char **ret_error);

/* A step on the path from the array args to a value in it: the key of an object, else the index in an array. */
typedef struct ValueStep {
        const char *key;
        size_t index;
} ValueStep;

typedef struct ValueCheck {
        /* Is the value not known yet? Then it is not checked. */
        bool (*unknown)(json_object *value, void *userdata);
        /* at_key: the last step's key does not fit, not its value. */
        void (*report)(const ValueStep *steps, size_t n_steps, bool at_key, const char *text, void *userdata);
        void *userdata;
} ValueCheck;

/* The same, and reports all values that do not fit. Does not report a wrong signature. */
void value_check_all(const char *signature, json_object *args, const ValueCheck *check);

/* The limit for the weight of values of a message that others have sent, see basic/json-weight.h: larger ones would
 * stall the main loop. A byte of an array counts as 9, since equal bytes share a value. */
#define VALUE_ROOM_MAX (UINT64_C(2) << 20)

/* Reads the rest of the message into an array of values; or one complete value. room: as below. */
int value_read_all(sd_bus_message *message, uint64_t room, json_object **ret_values, char **ret_error);
int value_read_one(sd_bus_message *message, uint64_t room, json_object **ret_value, char **ret_error);
/* The same for a variable of a run: a structure (s) is JSON text. room: the weight that the values may have; decreased;
 * NULL: no limit. -EFBIG without an error message: they have more. */
int value_read_variable(sd_bus_message *message, uint64_t *room, json_object **ret_value, char **ret_error);

/* Does the message have a file descriptor, also inside of variants? Only so many values are visited. Moves the
 * position.
 */
bool value_has_descriptor(sd_bus_message *message, unsigned *n_left);

/* Skips one complete value, faster than sd_bus_message_skip(). -E2BIG: it has more than VALUE_SKIPPED_MAX values
 * inside, except those of arrays of numbers, which take no time. */
#define VALUE_SKIPPED_MAX 10000u
int value_skip(sd_bus_message *message);

/* The same JSON; numbers by value, so that 1 and 1.0 are equal. */
bool value_equal(json_object *a, json_object *b);
/* The same for a received value; a wanted text also stands for its bytes, with or without a NUL at the end. */
bool value_is(json_object *value, json_object *wanted);
/* The most room that a value needs if value_is() is true for it. */
uint64_t value_room(json_object *wanted);

/* As JSON on one line, shortened if long, for messages. To be freed. */
char *value_to_text(json_object *value);
