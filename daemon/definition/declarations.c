/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The types of variables, by name and by value. */

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/declarations.h"

typedef struct TypeInfo {
        const char *name, *expected;
} TypeInfo;

static const TypeInfo types[VARIABLE_TYPE_MAX_] = {
        [VARIABLE_ANY] = { "any", "any value" },       [VARIABLE_BOOL] = { "bool", "true or false" },
        [VARIABLE_INT] = { "int", "a whole number" },  [VARIABLE_NUMBER] = { "number", "a number" },
        [VARIABLE_STRING] = { "string", "a string" },  [VARIABLE_LIST] = { "list", "a list" },
        [VARIABLE_OBJECT] = { "object", "an object" },
};

const char *variable_type_name(VariableType type) {
        return types[type].name;
}

VariableType variable_type_from_name(const char *name) {
        VariableType type = VARIABLE_ANY;

        while (type < VARIABLE_TYPE_MAX_ && !g_str_equal(types[type].name, name))
                type++;

        return type;
}

const Declaration *declaration_find(const Declaration *declarations, const char *name) {
        for (const Declaration *declaration = declarations; declaration && declaration->name; declaration++)
                if (g_str_equal(declaration->name, name))
                        return declaration;

        return NULL;
}

/* 5.0 is a whole number, too, as in parameters. */
static bool is_whole(json_object *value) {
        double number = json_object_get_double(value);

        return json_object_is_type(value, json_type_int) ||
               (json_object_is_type(value, json_type_double) && isfinite(number) && number == trunc(number));
}

static bool accepts(const Declaration *declaration, json_object *value) {
        switch (declaration->type) {
        case VARIABLE_ANY:
                return true;
        case VARIABLE_BOOL:
                return json_object_is_type(value, json_type_boolean);
        case VARIABLE_INT:
                return is_whole(value);
        case VARIABLE_NUMBER:
                return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
        case VARIABLE_STRING:
                return json_object_is_type(value, json_type_string);
        case VARIABLE_LIST:
                return json_object_is_type(value, json_type_array);
        case VARIABLE_OBJECT:
                return json_object_is_type(value, json_type_object);
        case VARIABLE_TYPE_MAX_:
                break;
        }

        g_assert_not_reached();
}

int declaration_check(const Declaration *declaration, json_object *value, char **ret_error) {
        g_autofree char *shown = NULL;
        const char *text;

        /* A default of null says that the variable may be null. */
        if (accepts(declaration, value) || (!value && !declaration->required && !declaration->fallback))
                return 0;

        text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        shown = excerpt(text, strlen(text));
        *ret_error = g_strdup_printf("%s: expected %s, but got %s", declaration->name,
                                     types[declaration->type].expected, shown);
        return -EINVAL;
}
