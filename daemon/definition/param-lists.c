/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parameters that are lists or maps of texts, and those that are compiled. None stops at its first fault. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/excerpt.h"
#include "definition/param-kinds.h"
#include "definition/param-report.h"

/* A string inside of a list or map, with what goes before it. There a reference to a number or a boolean means its
 * text: there is no other way to write that. NULL: reported. */
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

static int check_pattern(const ParamSetter *setter, const Place *place, const Param *param, const char *text) {
        g_autofree char *problem = param->causes ? cause_pattern_problem(text) : NULL;

        return problem ? param_report(setter, place, "%s", problem) : 0;
}

/* A string alone is a list of one. */
static int set_single(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                      json_object *value) {
        const char *text = param_get_text(setter, place, "a string or an array of strings", value);
        const char **strings;

        if (!text || check_pattern(setter, place, param, text) < 0)
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
        strings = arena_alloc(setter->arena, (n + 1) * sizeof(char *));
        for (size_t i = 0; i < n; i++) {
                Place element = { .parent = place, .index = i };

                strings[i] = copy_element(setter, &element, "", json_object_array_get_idx(value, i));
                if (!strings[i] || check_pattern(setter, &element, param, strings[i]) < 0)
                        r = -EINVAL;
        }

        if (r == 0)
                *field = strings;
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int param_set_string_map(const ParamSetter *setter, const Place *place, const char *const **field, json_object *value) {
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

                        setter->report(&element, true,
                                       g_strdup_printf("'%s' is no name: it is empty or has a '='", shown),
                                       setter->userdata);
                } else
                        text = copy_element(setter, &element, prefix, member);

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
                setter->report(&at, false, error, setter->userdata);
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

                scripts[n].name = arena_string(setter->arena, key, strlen(key));
                if (param_set_script(setter, &element, param, &scripts[n++].script, member) < 0)
                        r = -EINVAL;
        }

        qsort(scripts, n, sizeof(NamedScript), compare_scripts);
        if (r == 0)
                *field = scripts;
        return r;
}
