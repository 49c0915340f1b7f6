/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parameters that are one value: a truth, a number, a text, or what a text stands for. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/span.h"
#include "definition/param-kinds.h"
#include "definition/param-report.h"
#include "script/reference.h"

static bool is_string(json_object *value) {
        return json_object_is_type(value, json_type_string);
}

/* May the value become anything at all, or any text at least? */
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

        /* Beyond these limits all numbers are whole. */
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
        if (!isfinite(number) || (param_has_min(param) && number < (double) param->min) ||
            (param_has_max(param) && number > (double) param->max))
                return param_report_range(setter, place, param, value);

        *field = number;
        return 0;
}

/* The text of a string that a parameter can hold, or NULL after a report. */
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

int param_set_string(const ParamSetter *setter, const Place *place, const Param *param, const char **field,
                     json_object *value) {
        g_autofree char *variable = param->shown && !is_string(value) ? param_variable_at(setter, place) : NULL;
        const char *text =
                variable
                        ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                        : param_get_text(setter, place, "a string", value);

        if (!text)
                return -EINVAL;

        *field = arena_string(setter->arena, text, strlen(text));
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
        if ((param->min > 0 && usec < (uint64_t) param->min) || (param->max > 0 && usec > (uint64_t) param->max))
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
