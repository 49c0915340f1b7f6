/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks signatures, compares values and shows them. value-write.c and value-read.c convert them.
 */

#include <errno.h>
#include <glib.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "bus/signature.h"
#include "bus/value.h"

int value_check_signature(const char *signature, char **ret_error) {
        g_autofree char *problem = signature_problem(signature);

        if (!problem && !signature_has(signature, 'h'))
                return 0;

        *ret_error = g_strdup_printf("signature '%s': %s", signature,
                                     problem ? problem : "file descriptors ('h') cannot be carried");
        return -EINVAL;
}

char *value_to_text(json_object *value) {
        const char *text =
                json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

        return excerpt(text, strlen(text));
}

static bool is_number(json_object *value) {
        return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

/* Converts the double, because it has too few bits for some integers. */
static bool integer_equals(json_object *integer, double number) {
        int64_t value = json_object_get_int64(integer);

        if (value < 0)
                return number >= -0x1p63 && number < 0 && (double) (int64_t) number == number &&
                       (int64_t) number == value;

        return number >= 0 && number < 0x1p64 && (double) (uint64_t) number == number &&
               (uint64_t) number == json_object_get_uint64(integer);
}

static bool numbers_equal(json_object *a, json_object *b) {
        bool a_is_integer = json_object_is_type(a, json_type_int), b_is_integer = json_object_is_type(b, json_type_int);

        if (a_is_integer && !b_is_integer)
                return integer_equals(a, json_object_get_double(b));
        if (!a_is_integer && b_is_integer)
                return integer_equals(b, json_object_get_double(a));
        if (!a_is_integer)
                return json_object_get_double(a) == json_object_get_double(b);

        return json_object_get_int64(a) == json_object_get_int64(b) &&
               json_object_get_uint64(a) == json_object_get_uint64(b);
}

static bool arrays_equal(json_object *a, json_object *b) {
        size_t length = json_object_array_length(a);

        if (json_object_array_length(b) != length)
                return false;
        for (size_t i = 0; i < length; i++)
                if (!value_equal(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
                        return false;
        return true;
}

static bool objects_equal(json_object *a, json_object *b) {
        if (json_object_object_length(a) != json_object_object_length(b))
                return false;
        json_object_object_foreach(a, key, value) {
                json_object *other;

                if (!json_object_object_get_ex(b, key, &other) || !value_equal(value, other))
                        return false;
        }
        return true;
}

bool value_equal(json_object *a, json_object *b) {
        if (is_number(a) && is_number(b))
                return numbers_equal(a, b);
        if (json_object_get_type(a) != json_object_get_type(b))
                return false;
        if (json_object_is_type(a, json_type_array))
                return arrays_equal(a, b);
        if (json_object_is_type(a, json_type_object))
                return objects_equal(a, b);
        return json_object_equal(a, b);
}
