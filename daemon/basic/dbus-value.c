/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks signatures, by recursive descent, no deeper than the specification allows; compares values and shows them.
 * dbus-value-write.c and dbus-value-read.c convert them.
 */

#include <errno.h>
#include <glib.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/dbus-value.h"
#include "basic/excerpt.h"

#define SIGNATURE_LENGTH_MAX 255u
#define ARRAYS_MAX 32u
#define STRUCTS_MAX 32u

/* The nesting of arrays and structures in a signature. */
typedef struct Depth {
        unsigned arrays, structs;
} Depth;

bool signature_is_basic(char type) {
        return type != '\0' && strchr("ybnqiuxtdsogh", type);
}

bool signature_has(const char *signature, char type) {
        return strchr(signature, type) != NULL;
}

static char *skip_type(const char **p, Depth depth);

static char *skip_struct(const char **p, Depth depth) {
        if (++depth.structs > STRUCTS_MAX)
                return g_strdup_printf("structures are nested more than %u levels deep", STRUCTS_MAX);
        if (**p == ')')
                return g_strdup("a structure '()' must have fields");

        while (**p != ')') {
                char *problem;

                if (**p == '\0')
                        return g_strdup("a '(' is not closed");
                problem = skip_type(p, depth);
                if (problem)
                        return problem;
        }

        (*p)++;
        return NULL;
}

static char *skip_dictionary(const char **p, Depth depth) {
        char *problem;

        if (!signature_is_basic(**p))
                return g_strdup("the key of a dictionary must have a basic type");
        (*p)++;

        if (**p == '}' || **p == '\0')
                return g_strdup("a dictionary needs the type of its values");
        problem = skip_type(p, depth);
        if (problem)
                return problem;

        if (**p != '}')
                return g_strdup("the values of a dictionary have one type, then comes '}'");
        (*p)++;
        return NULL;
}

static char *skip_array(const char **p, Depth depth) {
        if (++depth.arrays > ARRAYS_MAX)
                return g_strdup_printf("arrays are nested more than %u levels deep", ARRAYS_MAX);

        if (**p == '{') {
                (*p)++;
                return skip_dictionary(p, depth);
        }
        if (strchr(")}", **p))
                return g_strdup("an array 'a' needs the type of its elements");
        return skip_type(p, depth);
}

static char *skip_type(const char **p, Depth depth) {
        char type = *(*p)++;

        if (signature_is_basic(type) || type == 'v')
                return NULL;
        if (type == 'a')
                return skip_array(p, depth);
        if (type == '(')
                return skip_struct(p, depth);
        if (type == '{')
                return g_strdup("a dictionary '{' must follow an 'a'");
        if (type == ')' || type == '}')
                return g_strdup_printf("a '%c' closes nothing", type);
        if (g_ascii_isgraph(type))
                return g_strdup_printf("there is no type '%c'", type);
        return g_strdup("it may only contain the letters of types");
}

char *signature_error(const char *signature) {
        if (strlen(signature) > SIGNATURE_LENGTH_MAX)
                return g_strdup_printf("it is longer than %u characters", SIGNATURE_LENGTH_MAX);

        for (const char *p = signature; *p;) {
                char *problem = skip_type(&p, (Depth){ 0 });

                if (problem)
                        return problem;
        }

        return NULL;
}

size_t signature_first(const char *signature) {
        size_t length = strspn(signature, "a");
        unsigned open = 0;

        do {
                if (strchr("({", signature[length]))
                        open++;
                else if (strchr(")}", signature[length]))
                        open--;
                length++;
        } while (open > 0);

        return length;
}

unsigned signature_count(const char *signature) {
        unsigned n = 0;

        for (; *signature; signature += signature_first(signature))
                n++;
        return n;
}

int value_check_signature(const char *signature, char **ret_error) {
        g_autofree char *problem = signature_error(signature);

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
