/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One setter for each kind of parameter. Each either sets its field or reports what is wrong; none stops at the
 * first fault of an array or object.
 */

#include <errno.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "basic/span.h"
#include "definition/params.h"
#include "definition/text.h"
#include "script/blackboard.h"

static void append_place(GString *text, const Place *place) {
        if (place->parent)
                append_place(text, place->parent);

        if (!place->key) {
                g_string_append_printf(text, "[%zu]", place->index);
                return;
        }

        if (place->parent)
                g_string_append_c(text, '.');
        if (place->parent) {
                g_autofree char *key = excerpt(place->key, strlen(place->key));

                g_string_append(text, key);
        } else
                g_string_append(text, place->key);
}

char *place_format(const Place *place) {
        GString *text = g_string_new(NULL);

        append_place(text, place);
        return g_string_free(text, false);
}

static int report(const ParamSetter *setter, const Place *place, const char *format, ...) G_GNUC_PRINTF(3, 4);

static int report(const ParamSetter *setter, const Place *place, const char *format, ...) {
        va_list args;

        va_start(args, format);
        setter->report(place, false, g_strdup_vprintf(format, args), setter->userdata);
        va_end(args);
        return -EINVAL;
}

/* What stood at the place before references were filled in. */
static json_object *origin_at(const ParamSetter *setter, const Place *place) {
        json_object *container, *member = NULL;

        if (!place->parent)
                return setter->origin;

        container = origin_at(setter, place->parent);
        if (place->key)
                return json_object_object_get_ex(container, place->key, &member) ? member : NULL;

        return json_object_is_type(container, json_type_array) ? json_object_array_get_idx(container, place->index)
                                                               : NULL;
}

/* The variable whose value stands at the place, or NULL. */
static char *variable_at(const ParamSetter *setter, const Place *place) {
        return setter->origin ? reference_key(origin_at(setter, place)) : NULL;
}

static char *value_excerpt(json_object *value) {
        const char *text =
                json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

        return excerpt(text, strlen(text));
}

static const char *describe_value(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_boolean:
                return json_object_get_boolean(value) ? "true" : "false";
        case json_type_int:
        case json_type_double:
                return "a number";
        case json_type_string:
                return "a string";
        case json_type_array:
                return "an array";
        case json_type_object:
                return "an object";
        default:
                return "null";
        }
}

static int report_kind(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
        g_autofree char *variable = variable_at(setter, place);

        if (variable) {
                g_autofree char *shown = value_excerpt(value);

                return report(setter, place, "expected %s, but {%s} is %s", expected, variable, shown);
        }

        return report(setter, place, "expected %s, not %s", expected, describe_value(value));
}

static bool is_string(json_object *value) {
        return json_object_is_type(value, json_type_string);
}

/* May the value become anything at all, or any text at least? */
static bool may_become_anything(const ParamSetter *setter, json_object *value) {
        g_autofree char *variable = setter->provisional ? reference_key(value) : NULL;

        return variable != NULL;
}

static bool may_become_text(const ParamSetter *setter, json_object *value) {
        return setter->provisional && is_string(value) && reference_inside(value);
}

/* "1 ... 5" in words. */
static char *describe_limits(const char *min, const char *max) {
        if (min && max)
                return g_str_equal(min, max) ? g_strdup(min) : g_strdup_printf("between %s and %s", min, max);
        if (min)
                return g_strdup_printf("at least %s", min);

        return max ? g_strdup_printf("at most %s", max) : NULL;
}

/* A maximum of 0 below the minimum is no maximum. */
static bool has_min(const Param *param) {
        return param->min != 0 || param->max != 0;
}

static bool has_max(const Param *param) {
        return param->max != 0 || param->min < 0;
}

static char *describe_range(const Param *param) {
        g_autofree char *min = NULL, *max = NULL;

        switch (param->kind) {
        case PARAM_INT:
        case PARAM_NUMBER:
                min = has_min(param) && param->min > INT64_MIN ? g_strdup_printf("%" PRId64, param->min) : NULL;
                max = has_max(param) && param->max < INT64_MAX ? g_strdup_printf("%" PRId64, param->max) : NULL;
                break;
        case PARAM_SPAN:
                min = param->min > 0 ? span_format((uint64_t) param->min) : NULL;
                max = param->max > 0 && param->max < INT64_MAX ? span_format((uint64_t) param->max) : NULL;
                break;
        default:
                return NULL;
        }

        return describe_limits(min, max);
}

static int report_range(const ParamSetter *setter, const Place *place, const Param *param, json_object *value) {
        g_autofree char *range = describe_range(param), *shown = value_excerpt(value);

        return report(setter, place, "%s is out of range; it must be %s", shown, range ?: "a 64-bit number");
}

static int set_bool(const ParamSetter *setter, const Place *place, bool *field, json_object *value) {
        if (may_become_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_boolean))
                return report_kind(setter, place, "true or false", value);

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

        if (!json_object_is_type(value, json_type_double) || !(rint(number) == number))
                return false;

        *ret_fits = number >= -0x1p63 && number < 0x1p63;
        *ret_number = *ret_fits ? (int64_t) number : 0;
        return true;
}

static int set_int(const ParamSetter *setter, const Place *place, const Param *param, int64_t *field,
                   json_object *value) {
        int64_t number;
        bool fits;

        if (may_become_anything(setter, value))
                return 0;
        if (!as_integer(value, &number, &fits))
                return report_kind(setter, place, "a whole number", value);
        if (!fits || (has_min(param) && number < param->min) || (has_max(param) && number > param->max))
                return report_range(setter, place, param, value);

        *field = number;
        return 0;
}

static int set_number(const ParamSetter *setter, const Place *place, const Param *param, double *field,
                      json_object *value) {
        double number = json_object_get_double(value);

        if (may_become_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
                return report_kind(setter, place, "a number", value);
        if (!isfinite(number) || (has_min(param) && number < (double) param->min) ||
            (has_max(param) && number > (double) param->max))
                return report_range(setter, place, param, value);

        *field = number;
        return 0;
}

/* The text of a string that a parameter can hold, or NULL after a report. */
static const char *get_text(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
        const char *text;

        if (!is_string(value)) {
                report_kind(setter, place, expected, value);
                return NULL;
        }

        text = json_object_get_string(value);
        if (strlen(text) != (size_t) json_object_get_string_len(value)) {
                report(setter, place, "the text contains a NUL character");
                return NULL;
        }

        return text;
}

static int set_string(const ParamSetter *setter, const Place *place, const char **field, json_object *value) {
        const char *text = get_text(setter, place, "a string", value);

        if (!text)
                return -EINVAL;

        *field = arena_string(setter->arena, text, strlen(text));
        return 0;
}

#define SPAN_EXPECTED "a time span such as \"150ms\" or \"1min 30s\""

static int report_bare_number(const ParamSetter *setter, const Place *place, json_object *value) {
        g_autofree char *variable = variable_at(setter, place), *shown = value_excerpt(value);

        if (variable)
                return report_kind(setter, place, SPAN_EXPECTED, value);

        return report(setter, place, "expected " SPAN_EXPECTED ", not the number %s; a number has no unit", shown);
}

static int report_bad_span(const ParamSetter *setter, const Place *place, json_object *value) {
        g_autofree char *shown = value_excerpt(value);
        const char *text = json_object_get_string(value);
        bool no_unit = *text && text[strspn(text, "0123456789. ")] == 0;

        return report(setter, place, "%s is not " SPAN_EXPECTED "%s", shown, no_unit ? "; it has no unit" : "");
}

static int report_long_span(const ParamSetter *setter, const Place *place, json_object *value) {
        g_autofree char *shown = value_excerpt(value);

        return report(setter, place, "%s is too long a time; \"infinity\" means no limit", shown);
}

static int set_span(const ParamSetter *setter, const Place *place, const Param *param, uint64_t *field,
                    json_object *value) {
        const char *text;
        uint64_t usec;
        int r;

        if (may_become_text(setter, value))
                return 0;
        if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double))
                return report_bare_number(setter, place, value);

        text = get_text(setter, place, SPAN_EXPECTED, value);
        if (!text)
                return -EINVAL;

        r = span_parse(text, &usec);
        if (r == -ERANGE)
                return report_long_span(setter, place, value);
        if (r < 0)
                return report_bad_span(setter, place, value);
        if ((param->min > 0 && usec < (uint64_t) param->min) || (param->max > 0 && usec > (uint64_t) param->max))
                return report_range(setter, place, param, value);

        *field = usec;
        return 0;
}

/* "a", "b", "c" */
static char *list_quoted(const char *const *words) {
        GString *list = g_string_new(NULL);

        for (size_t i = 0; words[i]; i++)
                g_string_append_printf(list, "%s\"%s\"", i > 0 ? ", " : "", words[i]);

        return g_string_free(list, false);
}

static int report_enum(const ParamSetter *setter, const Place *place, const Param *param, json_object *value) {
        g_autofree char *values = list_quoted(param->values), *shown = value_excerpt(value);
        Nearest nearest = { .word = json_object_get_string(value) };

        for (size_t i = 0; param->values[i]; i++)
                nearest_offer(&nearest, param->values[i]);

        if (nearest.best)
                return report(setter, place, "%s is none of %s; did you mean \"%s\"?", shown, values, nearest.best);

        return report(setter, place, "%s is none of %s", shown, values);
}

static int set_enum(const ParamSetter *setter, const Place *place, const Param *param, int *field, json_object *value) {
        if (may_become_text(setter, value))
                return 0;

        if (!is_string(value)) {
                g_autofree char *values = list_quoted(param->values);
                g_autofree char *expected = g_strdup_printf("one of %s", values);

                return report_kind(setter, place, expected, value);
        }

        for (int i = 0; param->values[i]; i++)
                if (g_str_equal(param->values[i], json_object_get_string(value))) {
                        *field = i;
                        return 0;
                }

        return report_enum(setter, place, param, value);
}

/* A string inside of a list or map, with what goes before it. There a reference to a number or a boolean means its
 * text: there is no other way to write that. NULL: reported. */
static const char *copy_element(const ParamSetter *setter, const Place *place, const char *prefix, json_object *value) {
        g_autofree char *variable = is_string(value) ? NULL : variable_at(setter, place);
        bool scalar = json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double) ||
                      json_object_is_type(value, json_type_boolean);
        g_autofree char *element = NULL;
        const char *text;

        if (variable && scalar)
                text = json_object_get_string(value);
        else
                text = get_text(setter, place, "a string", value);
        if (!text)
                return NULL;

        element = g_strconcat(prefix, text, NULL);
        return arena_string(setter->arena, element, strlen(element));
}

static int set_strings(const ParamSetter *setter, const Place *place, const char *const **field, json_object *value) {
        const char **strings;
        size_t n;
        int r = 0;

        if (may_become_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_array))
                return report_kind(setter, place, "an array of strings", value);

        n = json_object_array_length(value);
        strings = arena_alloc(setter->arena, (n + 1) * sizeof(char *));
        for (size_t i = 0; i < n; i++) {
                Place element = { .parent = place, .index = i };

                strings[i] = copy_element(setter, &element, "", json_object_array_get_idx(value, i));
                if (!strings[i])
                        r = -EINVAL;
        }

        if (r == 0)
                *field = strings;
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int set_string_map(const ParamSetter *setter, const Place *place, const char *const **field,
                          json_object *value) {
        const char **strings;
        size_t n = 0;
        int r = 0;

        if (may_become_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_object))
                return report_kind(setter, place, "an object of strings", value);

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

static int report_unknown_member(const ParamSetter *setter, const Place *place, const Param *param, const char *key) {
        Place at = { .parent = place, .key = key };
        g_autofree char *shown = excerpt(key, strlen(key));
        GString *text = g_string_new(NULL);
        Nearest nearest = { .word = key };

        for (const Param *member = param->members; member->name; member++)
                nearest_offer(&nearest, member->name);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        for (const Param *member = param->members; member->name; member++)
                g_string_append_printf(text, "%s%s", member != param->members ? ", " : " (it takes: ", member->name);
        g_string_append_c(text, ')');

        setter->report(&at, true, g_string_free(text, false), setter->userdata);
        return -EINVAL;
}

static int set_field(const ParamSetter *setter, const Place *place, const Param *param, void *values,
                     json_object *value);

static int set_object(const ParamSetter *setter, const Place *place, const Param *param, const void **field,
                      json_object *value) {
        void *values;
        int r = 0;

        if (may_become_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_object))
                return report_kind(setter, place, "an object", value);

        values = arena_alloc(setter->arena, param->members_size);
        params_set_defaults(setter->arena, param->members, values);

        json_object_object_foreach(value, key, member) {
                const Param *found = params_find(param->members, key, strlen(key));
                Place at = { .parent = place, .key = key };

                if (found ? set_field(setter, &at, found, values, member) < 0
                          : report_unknown_member(setter, place, param, key) < 0)
                        r = -EINVAL;
        }

        for (const Param *needed = param->members; needed->name; needed++)
                if (needed->required && !json_object_object_get_ex(value, needed->name, NULL))
                        r = report(setter, place, "'%s' is missing: %s", needed->name, needed->doc);

        if (r == 0)
                *field = values;
        return r;
}

static int set_field(const ParamSetter *setter, const Place *place, const Param *param, void *values,
                     json_object *value) {
        void *field = (char *) values + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                return set_bool(setter, place, field, value);
        case PARAM_INT:
                return set_int(setter, place, param, field, value);
        case PARAM_NUMBER:
                return set_number(setter, place, param, field, value);
        case PARAM_STRING:
                return set_string(setter, place, field, value);
        case PARAM_SPAN:
                return set_span(setter, place, param, field, value);
        case PARAM_ENUM:
                return set_enum(setter, place, param, field, value);
        case PARAM_STRINGS:
                return set_strings(setter, place, field, value);
        case PARAM_STRING_MAP:
                return set_string_map(setter, place, field, value);
        case PARAM_JSON:
                *(json_object **) field = arena_own(setter->arena, json_object_get(value));
                return 0;
        case PARAM_OBJECT:
                return set_object(setter, place, param, field, value);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

int param_set(const ParamSetter *setter, const Param *param, void *values, json_object *value) {
        Place place = { .key = param->name };

        return set_field(setter, &place, param, values, value);
}

/* Defaults are part of the program: a wrong one is a bug in its table. */
static void on_bad_default(const Place *place, bool at_key, char *text, void *userdata) {
        g_error("the default of the parameter %s: %s", place->key, text);
}

static json_object *parse_default(const Param *param) {
        g_autoptr(GString) scratch = g_string_new(NULL);
        g_autofree char *error = NULL;
        g_auto(Text) text = {};
        json_object *value = NULL;
        uint32_t item;
        size_t offset;

        if (text_read(param->fallback, strlen(param->fallback), &text, &offset, &error) < 0 ||
            text_to_json(&text, 0, scratch, &value, &item, &error) < 0)
                g_error("the default of the parameter %s: %s", param->name, error);

        return value;
}

void params_set_defaults(Arena *arena, const Param *params, void *values) {
        ParamSetter setter = { .arena = arena, .report = on_bad_default };

        for (const Param *param = params; param && param->name; param++)
                if (param->fallback) {
                        g_autoptr(json_object) value = parse_default(param);

                        param_set(&setter, param, values, value);
                }
}

const Param *params_find(const Param *params, const char *key, size_t length) {
        for (const Param *param = params; param && param->name; param++)
                if (param->name[0] == key[0] && strncmp(param->name, key, length) == 0 && param->name[length] == 0)
                        return param;

        return NULL;
}
