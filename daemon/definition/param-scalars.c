/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets parameters with a single value: a boolean, a number, a text, or a value that a text denotes. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/span.h"
#include "definition/declarations.h"
#include "definition/param-kinds.h"
#include "definition/param-report.h"
#include "script/reference.h"

static bool is_string(json_object *value) {
        return json_object_is_type(value, json_type_string);
}

/* True if the value may become any value, or, below, any text, when references are filled in. */
bool param_may_be_anything(const ParamSetter *setter, json_object *value) {
        g_autofree char *variable = setter->provisional ? reference_key(value) : NULL;

        return variable != NULL;
}

static bool may_become_text(const ParamSetter *setter, json_object *value) {
        return setter->provisional && is_string(value) && reference_inside(value);
}

int param_set_bool(const ParamSetter *setter, const Place *place, bool *field, json_object *value) {
        if (param_may_be_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_boolean))
                return param_report_kind(setter, place, "true or false", value);

        *field = json_object_get_boolean(value);
        return 0;
}

/* 5.0 is a whole number, too. */
static bool as_integer(json_object *value, int64_t *ret_number, bool *ret_fits) {
        double number = json_object_get_double(value);

        if (json_object_is_type(value, json_type_int)) {
                *ret_fits = number < 0 || json_object_get_uint64(value) <= INT64_MAX;
                *ret_number = json_object_get_int64(value);
                return true;
        }

        if (!json_object_is_type(value, json_type_double) || !isfinite(number))
                return false;

        /* All floating-point numbers outside these limits are whole. */
        *ret_fits = number >= -0x1p63 && number < 0x1p63;
        *ret_number = *ret_fits ? (int64_t) number : 0;
        return !*ret_fits || (double) *ret_number == number;
}

int param_set_int(const ParamSetter *setter, const Place *place, const Param *param, int64_t *field,
                  json_object *value) {
        int64_t number;
        bool fits;

        if (param_may_be_anything(setter, value))
                return 0;
        if (!as_integer(value, &number, &fits))
                return param_report_kind(setter, place, "a whole number", value);
        if (!fits || (param_has_min(param) && number < param->min) || (param_has_max(param) && number > param->max))
                return param_report_range(setter, place, param, value);

        *field = number;
        return 0;
}

int param_set_number(const ParamSetter *setter, const Place *place, const Param *param, double *field,
                     json_object *value) {
        double number = json_object_get_double(value);

        if (param_may_be_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
                return param_report_kind(setter, place, "a number", value);
        if (!isfinite(number) || (param->positive && number <= 0) ||
            (param_has_min(param) && number < (double) param->min) ||
            (param_has_max(param) && number > (double) param->max))
                return param_report_range(setter, place, param, value);

        *field = number;
        return 0;
}

/* The text of a string, which must contain no NUL character; NULL after a report. */
const char *param_get_text(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
        const char *text;

        if (!is_string(value)) {
                param_report_kind(setter, place, expected, value);
                return NULL;
        }

        text = json_object_get_string(value);
        if (strlen(text) != (size_t) json_object_get_string_len(value)) {
                param_report(setter, place, "the text contains a NUL character");
                return NULL;
        }

        return text;
}

int param_check_name(const ParamSetter *setter, const Place *place, bool at_key, const Param *param, const char *name) {
        char *problem = param_is_name(param) ? variable_name_problem(name, !param->local) : NULL;

        return problem ? param_report_instead(setter, place, at_key, NULL, problem) : 0;
}

int param_set_string(const ParamSetter *setter, const Place *place, const Param *param, const char **field,
                     json_object *value) {
        g_autofree char *variable = param->shown && !is_string(value) ? param_variable_at(setter, place) : NULL;
        const char *text =
                variable
                        ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                        : param_get_text(setter, place, "a string", value);

        if (!text || param_check_name(setter, place, false, param, text) < 0)
                return -EINVAL;

        if (param->format && !may_become_text(setter, value) &&
            param_check_format(setter, place, false, param->format, text) < 0)
                return -EINVAL;

        *field = arena_string(setter->arena, text, strlen(text));
        return 0;
}

/* Checks each element; the values that are set are not used. */
static int check_elements(const ParamSetter *setter, const Place *place, const Param *param, json_object *value) {
        uint64_t scratch[2];
        int r = 0;

        if (!json_object_is_type(value, json_type_array))
                return param_report_kind(setter, place, "an array", value);
        if (param->not_empty && json_object_array_length(value) == 0)
                return param_report_empty(setter, place, "list");

        for (size_t i = 0; i < json_object_array_length(value); i++) {
                Place element = { .parent = place, .index = i };

                if (param_set_at(setter, &element, param->elements, scratch, json_object_array_get_idx(value, i)) < 0)
                        r = -EINVAL;
        }

        return r;
}

int param_set_json(const ParamSetter *setter, const Place *place, const Param *param, json_object **field,
                   json_object *value) {
        int r = 0;

        if ((param->elements || param->value_format) && !param_may_be_anything(setter, value))
                r = param->elements ? check_elements(setter, place, param, value)
                                    : param->value_format->check(setter, place, value);
        if (r < 0)
                return r;

        *field = arena_own(setter->arena, json_object_get(value));
        return 0;
}

int param_set_span(const ParamSetter *setter, const Place *place, const Param *param, uint64_t *field,
                   json_object *value) {
        const char *text;
        uint64_t usec;
        int r;

        if (may_become_text(setter, value))
                return 0;
        if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double))
                return param_report_bare_number(setter, place, value);

        text = param_get_text(setter, place, PARAM_SPAN_EXPECTED, value);
        if (!text)
                return -EINVAL;

        r = span_parse(text, &usec);
        if (r == -ERANGE)
                return param_report_long_span(setter, place, value);
        if (r < 0)
                return param_report_bad_span(setter, place, value);
        if ((param->positive && usec == 0) || (param->min > 0 && usec < (uint64_t) param->min) ||
            (param->max > 0 && usec > (uint64_t) param->max))
                return param_report_range(setter, place, param, value);

        *field = usec;
        return 0;
}

int param_set_enum(const ParamSetter *setter, const Place *place, const Param *param, int *field, json_object *value) {
        if (may_become_text(setter, value))
                return 0;

        if (!is_string(value)) {
                g_autofree char *values = param_names_describe(param);
                g_autofree char *expected = g_strdup_printf("one of %s", values);

                return param_report_kind(setter, place, expected, value);
        }

        for (int i = 0; param->values[i]; i++)
                if (g_str_equal(param->values[i], json_object_get_string(value))) {
                        *field = i;
                        return 0;
                }

        return param_report_enum(setter, place, param, value);
}
