/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements declarations.h: the types of variables, by name and by value. */

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/declarations.h"
#include "script/blackboard.h"
#include "script/secrets.h"

const char *const variable_type_names[] = {
        [VARIABLE_ANY] = "any",       [VARIABLE_BOOL] = "bool",     [VARIABLE_INT] = "int",
        [VARIABLE_NUMBER] = "number", [VARIABLE_STRING] = "string", [VARIABLE_LIST] = "list",
        [VARIABLE_OBJECT] = "object", [VARIABLE_TYPE_MAX_] = NULL,
};

static const char *const expected[VARIABLE_TYPE_MAX_] = {
        [VARIABLE_ANY] = "any value",    [VARIABLE_BOOL] = "true or false", [VARIABLE_INT] = "a whole number",
        [VARIABLE_NUMBER] = "a number",  [VARIABLE_STRING] = "a string",    [VARIABLE_LIST] = "a list",
        [VARIABLE_OBJECT] = "an object",
};

VariableType variable_type_of(json_object *value) {
        static const VariableType types[] = {
                [json_type_null] = VARIABLE_ANY,      [json_type_boolean] = VARIABLE_BOOL,
                [json_type_double] = VARIABLE_NUMBER, [json_type_int] = VARIABLE_NUMBER,
                [json_type_object] = VARIABLE_OBJECT, [json_type_array] = VARIABLE_LIST,
                [json_type_string] = VARIABLE_STRING,
        };

        return types[json_object_get_type(value)];
}

const char *variable_type_describe(VariableType type) {
        return expected[type];
}

bool variable_type_is_number(VariableType type) {
        return type == VARIABLE_INT || type == VARIABLE_NUMBER;
}

char *variable_name_problem(const char *name, bool at) {
        g_autofree char *shown = excerpt(name, strlen(name));
        const char *plain = name + (at && *name == '@');

        if (strlen(plain) > BLACKBOARD_KEY_MAX)
                return g_strdup_printf("'%s' is too long for the name of a variable, which has %u characters at most",
                                       shown, BLACKBOARD_KEY_MAX);
        if (*plain == '/')
                return g_strdup_printf(
                        "'%s' is a path, not the name of a variable; a process gets a file by 'properties', "
                        "such as {\"StandardOutput\": \"append:/var/log/x.log\"}",
                        shown);
        if (!blackboard_key_valid(plain))
                return g_strdup_printf("'%s' cannot be the name of a variable (a letter or '_', then letters, digits, "
                                       "'_' and '-')%s",
                                       shown, strchr(plain, '.') ? "; a '.' leads to a member of its value" : "");
        if (keyword_is(plain, strlen(plain)))
                return g_strdup_printf("'%s' cannot be the name of a variable, because it is a word of Lua and no "
                                       "expression could read it",
                                       shown);

        return NULL;
}

const Declaration *declaration_find(const Declaration *declarations, const char *name) {
        for (const Declaration *declaration = declarations; declaration && declaration->name; declaration++)
                if (g_str_equal(declaration->name, name))
                        return declaration;

        return NULL;
}

/* Floating-point numbers from here on have no fractional part. */
#define WHOLE_FROM 0x1p53

static bool accepts(const Declaration *declaration, json_object *value) {
        double number;

        switch (declaration->type) {
        case VARIABLE_ANY:
                return true;
        case VARIABLE_BOOL:
                return json_object_is_type(value, json_type_boolean);
        case VARIABLE_INT:
                /* 5.0 is a whole number, too, as in parameters. */
                if (!json_object_is_type(value, json_type_double))
                        return json_object_is_type(value, json_type_int);

                number = json_object_get_double(value);
                return isfinite(number) && (ABS(number) >= WHOLE_FROM || number == (double) (int64_t) number);
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

/* name: of the variable, if the place of the message does not have it; or NULL. */
static char *describe_problem(const Declaration *declaration, const char *name, json_object *value) {
        g_autofree char *shown = NULL;
        const char *text;

        /* If the default is null, the variable may be null. */
        if (accepts(declaration, value) || (!value && !declaration->required && !declaration->fallback))
                return NULL;

        text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        shown = declaration->secret ? g_strdup(SECRET_SHOWN) : excerpt(text, strlen(text));
        return name ? g_strdup_printf("expected %s for '%s', but got %s", expected[declaration->type], name, shown)
                    : g_strdup_printf("expected %s, but got %s", expected[declaration->type], shown);
}

char *declaration_problem(const Declaration *declaration, json_object *value) {
        return describe_problem(declaration, NULL, value);
}

int declaration_check(const Declaration *declaration, json_object *value, char **ret_error) {
        char *problem = describe_problem(declaration, declaration->name, value);

        if (!problem)
                return 0;

        *ret_error = problem;
        return -EINVAL;
}
