/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Truth and comparison of variables. */

#include <errno.h>
#include <stdlib.h>

#include "script/variable.h"

/* FLT_EPSILON, which is what BehaviorTree.CPP allows for. */
#define NUMBERS_DIFFER 1.2e-7

bool variable_is_true(const Blackboard *blackboard, const char *key) {
        json_object *value;

        if (!blackboard_get(blackboard, key, &value) || !value)
                return false;

        return !json_object_is_type(value, json_type_boolean) || json_object_get_boolean(value);
}

static bool as_integer(const char *text, int64_t *ret_integer) {
        char *end;

        errno = 0;
        *ret_integer = g_ascii_strtoll(text, &end, 10);
        return *text != 0 && *end == 0 && errno == 0;
}

static bool as_number(const char *text, double *ret_number) {
        char *end;

        errno = 0;
        *ret_number = g_ascii_strtod(text, &end);
        return *text != 0 && *end == 0 && errno == 0;
}

static bool texts_match(const char *a, const char *b) {
        double x, y;
        int64_t i, j;

        if (g_str_equal(a, b))
                return true;
        if (as_integer(a, &i) && as_integer(b, &j))
                return i == j;

        return as_number(a, &x) && as_number(b, &y) && ABS(x - y) <= NUMBERS_DIFFER;
}

uint32_t value_match(json_object *value, const char *const *cases) {
        uint32_t n = 0;

        if (!value)
                return g_strv_length((char **) cases);

        while (cases[n] && !texts_match(cases[n], json_object_get_string(value)))
                n++;

        return n;
}

uint32_t variable_match(const Blackboard *blackboard, const char *key, const char *const *cases) {
        json_object *value = NULL;

        blackboard_get(blackboard, key, &value);
        return value_match(value, cases);
}
