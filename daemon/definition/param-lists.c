/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets parameters that are lists or maps of texts, and those that are compiled. All errors of a value are reported. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/excerpt.h"
#include "definition/param-kinds.h"
#include "definition/param-report.h"
#include "script/reference.h"

/* The string inside a list or map, with the prefix before it. Here, a reference to a number or a boolean is replaced by
 * its text, because these parameters can only hold texts. NULL: reported. */
static const char *copy_element(const ParamSetter *setter, const Place *place, const char *prefix, json_object *value) {
        g_autofree char *variable =
                json_object_is_type(value, json_type_string) ? NULL : param_variable_at(setter, place);
        bool scalar = json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double) ||
                      json_object_is_type(value, json_type_boolean);
        g_autofree char *element = NULL;
        const char *text;

        if (variable && scalar)
                text = json_object_get_string(value);
        else
                text = param_get_text(setter, place, "a string", value);
        if (!text)
                return NULL;

        element = g_strconcat(prefix, text, NULL);
        return arena_string(setter->arena, element, strlen(element));
}

/* A text with references is checked after they are filled in. */
static bool is_unknown(const ParamSetter *setter, json_object *value) {
        return setter->provisional && reference_inside(value);
}

/* Checks an element of PARAM_STRINGS. */
static int check_element(const ParamSetter *setter, const Place *place, const Param *param, const TextFormat *format,
                         const char *text, json_object *value) {
        g_autofree char *instead = NULL;
        char *problem = param->causes ? cause_pattern_problem(text, &instead) : NULL;

        if (problem)
                return param_report_instead(setter, place, false, instead, problem);
        if (is_unknown(setter, value) || (*text == 0 && param_is_name(param)))
                return 0;
        if (param_check_name(setter, place, false, param, text) < 0)
                return -EINVAL;
        if (param->values && !g_strv_contains(param->values, text))
                return param_report_enum(setter, place, param, value);

        return format ? param_check_format(setter, place, false, format, text) : 0;
}

/* A single string is a list with one element. */
static int set_single(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                      json_object *value) {
        const char *text = param_get_text(setter, place, "a string or an array of strings", value);
        const char **strings;

        if (!text || check_element(setter, place, param, param->first_format ?: param->format, text, value) < 0)
                return -EINVAL;

        strings = arena_alloc(setter->arena, 2 * sizeof(char *));
        strings[0] = arena_string(setter->arena, text, strlen(text));
        *field = strings;
        return 0;
}

int param_set_strings(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                      json_object *value) {
        const char **strings;
        size_t n;
        int r = 0;

        if (param_may_be_anything(setter, value))
                return 0;
        if (param->single && !json_object_is_type(value, json_type_array))
                return set_single(setter, place, param, field, value);
        if (!json_object_is_type(value, json_type_array))
                return param_report_kind(setter, place, "an array of strings", value);

        n = json_object_array_length(value);
        if (n == 0 && param->not_empty)
                return param_report_empty(setter, place, "list");

        strings = arena_alloc(setter->arena, (n + 1) * sizeof(char *));
        for (size_t i = 0; i < n; i++) {
                const TextFormat *format = i == 0 && param->first_format ? param->first_format : param->format;
                json_object *given = json_object_array_get_idx(value, i);
                Place element = { .parent = place, .index = i };

                strings[i] = copy_element(setter, &element, "", given);
                if (!strings[i] || check_element(setter, &element, param, format, strings[i], given) < 0)
                        r = -EINVAL;
        }

        if (r == 0)
                *field = strings;
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int param_set_string_map(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                         json_object *value) {
        const char **strings;
        size_t n = 0;
        int r = 0;

        if (param_may_be_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_object))
                return param_report_kind(setter, place, "an object of strings", value);

        strings = arena_alloc(setter->arena, ((size_t) json_object_object_length(value) + 1) * sizeof(char *));
        json_object_object_foreach(value, key, member) {
                Place element = { .parent = place, .key = key };
                g_autofree char *prefix = g_strconcat(key, "=", NULL);
                const char *text = NULL;

                if (*key == 0 || strchr(key, '=')) {
                        g_autofree char *shown = excerpt(key, strlen(key));

                        r = param_report_key(setter, &element, "'%s' is no name: it is empty or has a '='", shown);
                } else if (param->key_format && param_check_format(setter, &element, true, param->key_format, key) < 0)
                        r = -EINVAL;

                text = copy_element(setter, &element, prefix, member);
                if (text && param_check_name(setter, &element, false, param, text + strlen(prefix)) < 0)
                        r = -EINVAL;
                if (text && param->format && !is_unknown(setter, member) &&
                    param_check_format(setter, &element, false, param->format, text + strlen(prefix)) < 0)
                        r = -EINVAL;
                if (text)
                        strings[n++] = text;
                else
                        r = -EINVAL;
        }

        qsort(strings, n, sizeof(char *), compare_strings);
        if (r == 0)
                *field = strings;
        return r;
}

int param_set_script(const ParamSetter *setter, const Place *place, const Param *param, const Script **field,
                     json_object *value) {
        bool is_code = param->kind == PARAM_CODE;
        const char *text = param_get_text(setter, place, is_code ? "code, a string" : "an expression, a string", value);
        Place at = *place;
        char *error;
        int r;

        if (!text)
                return -EINVAL;

        r = setter->compile(param, is_code, text, field, &error, &at.offset, setter->userdata);
        if (r < 0) {
                at.inside = true;
                param_report_instead(setter, &at, false, NULL, error);
        }

        return r;
}

static int compare_scripts(const void *a, const void *b) {
        return strcmp(((const NamedScript *) a)->name, ((const NamedScript *) b)->name);
}

int param_set_expressions(const ParamSetter *setter, const Place *place, const Param *param, const NamedScript **field,
                          json_object *value) {
        NamedScript *scripts;
        size_t n = 0;
        int r = 0;

        if (!json_object_is_type(value, json_type_object))
                return param_report_kind(setter, place, "an object of expressions", value);

        scripts = arena_alloc(setter->arena, ((size_t) json_object_object_length(value) + 1) * sizeof(NamedScript));
        json_object_object_foreach(value, key, member) {
                Place element = { .parent = place, .key = key };

                if (param->key_format && param_check_format(setter, &element, true, param->key_format, key) < 0)
                        r = -EINVAL;

                if (param_check_name(setter, &element, true, param, key) < 0)
                        r = -EINVAL;

                scripts[n].name = arena_string(setter->arena, key, strlen(key));
                if (param_set_script(setter, &element, param, &scripts[n++].script, member) < 0)
                        r = -EINVAL;
        }

        qsort(scripts, n, sizeof(NamedScript), compare_scripts);
        if (r == 0)
                *field = scripts;
        return r;
}
