/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Formats the errors of parameters: the expected value, the actual one, and how to correct it. If the value comes from
 * a variable, the message names the variable.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "basic/span.h"
#include "definition/hints.h"
#include "definition/params/param-report.h"
#include "script/reference.h"

static void append_place(GString *text, const Place *place) {
        g_autofree char *key = NULL;

        if (place->parent)
                append_place(text, place->parent);

        if (!place->key) {
                g_string_append_printf(text, "[%zu]", place->index);
                return;
        }

        key = excerpt(place->key, strlen(place->key));
        g_string_append_printf(text, "%s%s", place->parent ? "." : "", key);
}

char *place_format(const Place *place) {
        GString *text = g_string_new(NULL);

        append_place(text, place);
        return g_string_free(text, false);
}

int param_report(const ParamSetter *setter, const Place *place, const char *format, ...) {
        va_list args;

        va_start(args, format);
        param_report_instead(setter, place, false, NULL, g_strdup_vprintf(format, args));
        va_end(args);
        return -EINVAL;
}

int param_report_key(const ParamSetter *setter, const Place *place, const char *format, ...) {
        va_list args;

        va_start(args, format);
        param_report_instead(setter, place, true, NULL, g_strdup_vprintf(format, args));
        va_end(args);
        return -EINVAL;
}

int param_report_instead(const ParamSetter *setter, const Place *place, bool at_key, const char *instead, char *text) {
        const ParamFinding finding = { .place = place, .at_key = at_key, .instead = instead, .text = text };

        setter->report(&finding, setter->userdata);
        return -EINVAL;
}

/* The value at the place before references were filled in. */
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

/* The variable whose value is at the place, or NULL. */
char *param_variable_at(const ParamSetter *setter, const Place *place) {
        return setter->origin ? reference_key(origin_at(setter, place)) : NULL;
}

static char *value_excerpt(json_object *value) {
        const char *text =
                json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

        return excerpt(text, strlen(text));
}

/* How to write the value, if it is what is expected, but in another form. */
static char *form_hint(const char *expected, json_object *value) {
        const char *text = json_object_get_string(value);
        json_type type = json_object_get_type(value);
        bool is_string = type == json_type_string;

        if (is_string && g_str_equal(expected, "true or false") &&
            (g_str_equal(text, "true") || g_str_equal(text, "false")))
                return g_strdup("; write it without quotes");
        if (is_string && g_str_has_suffix(expected, "number") &&
            g_regex_match_simple("^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$", text, G_REGEX_DOLLAR_ENDONLY, 0))
                return g_strdup("; write it without quotes");
        if (is_string && g_str_has_prefix(expected, "an array of ")) {
                g_auto(GStrv) words = g_strsplit_set(text, " ", -1);
                g_autoptr(json_object) list = json_object_new_array();
                g_autofree char *shown = NULL;

                /* The words of a command line: "; write [\"ls\", \"-l\"]". */
                for (char **word = words; *word; word++)
                        if (**word)
                                json_object_array_add(list, json_object_new_string(*word));
                shown = value_excerpt(list);
                return g_strdup_printf("; write %s", shown);
        }
        if (is_string && g_str_equal(expected, "an array") && g_regex_match_simple("^[A-Za-z_]\\w*$", text, 0, 0))
                return g_strdup_printf("; write [\"%s\"], or \"{%s}\" for a variable", text, text);
        if (type == json_type_int && g_str_has_prefix(expected, "an array"))
                return g_strdup_printf(strstr(expected, "string") ? "; write [\"%s\"]" : "; write [%s]", text);
        if (type == json_type_object && g_str_equal(expected, "an array"))
                return g_strdup("; write it in [ ]");
        if (type == json_type_object && g_str_equal(expected, "an array of strings"))
                return g_strdup(
                        "; write the names only, and what they stand for elsewhere, such as nodes in 'children'");
        if (type == json_type_array && g_str_equal(expected, "an object of strings"))
                return g_strdup("; write {\"NAME\": \"VALUE\"}");
        if ((type == json_type_int || type == json_type_double || type == json_type_boolean) &&
            (g_str_equal(expected, "a string") || g_str_has_prefix(expected, "an expression, ") ||
             g_str_has_prefix(expected, "code, ")))
                return g_strdup("; write it in double quotes");
        if ((type == json_type_object || type == json_type_array) && g_str_has_prefix(expected, "code, "))
                return g_strdup("; a hook is code in Lua: to run nodes, use a TryCatch, a Fallback or a Finally");

        return g_strdup("");
}

int param_report_kind(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
        g_autofree char *variable = param_variable_at(setter, place), *shown = value_excerpt(value), *hint = NULL;

        if (variable)
                return param_report(setter, place, "expected %s, but {%s} is %s", expected, variable, shown);

        hint = setter->origin ? NULL
               : json_object_is_type(value, json_type_array) &&
                               (g_strcmp0(place->key, "unit") == 0 || g_strcmp0(place->key, "path") == 0)
                       ? g_strdup("; each has a node of its own, in a Sequence or Parallel, or in a ForEach")
                       : form_hint(expected, value);
        return param_report(setter, place, "expected %s, not %s%s", expected, shown, hint ?: "");
}

bool param_has_min(const Param *param) {
        return param->min != 0 || param->max != 0;
}

bool param_has_max(const Param *param) {
        return param->max != 0 || param->min < 0;
}

/* "between 1 and 5"; NULL: there are no limits. An upper limit that is only that of the field is told only to a value
 * above it. */
static char *describe_range(const Param *param, json_object *value) {
        g_autofree char *min = NULL, *max = NULL;

        if (param->positive && param->kind == PARAM_NUMBER && param_has_max(param))
                return g_strdup_printf("above 0 and at most %" PRId64, param->max);
        if (param->positive)
                return g_strdup("above 0");

        switch (param->kind) {
        case PARAM_INT:
        case PARAM_NUMBER:
                min = param_has_min(param) && param->min > INT64_MIN ? g_strdup_printf("%" PRId64, param->min) : NULL;
                max = param_has_max(param) &&
                                      (param->max < UINT32_MAX || json_object_get_double(value) > (double) param->max)
                              ? g_strdup_printf("%" PRId64, param->max)
                              : NULL;
                break;
        case PARAM_SPAN:
                min = param->min > 0 ? span_format((uint64_t) param->min) : NULL;
                max = param->max > 0 && param->max < INT64_MAX ? span_format((uint64_t) param->max) : NULL;
                break;
        default:
                return NULL;
        }

        if (min && max)
                return g_str_equal(min, max) ? g_strdup(min) : g_strdup_printf("between %s and %s", min, max);

        return min ? g_strdup_printf("at least %s", min) : max ? g_strdup_printf("at most %s", max) : NULL;
}

int param_report_range(const ParamSetter *setter, const Place *place, const Param *param, json_object *value) {
        g_autofree char *range = describe_range(param, value), *shown = value_excerpt(value);

        return param_report(setter, place, "%s is out of range; it must be %s", shown, range ?: "a 64-bit number");
}

int param_report_span(const ParamSetter *setter, const Place *place, bool too_long, json_object *value) {
        static const struct {
                const char *pattern, *hint;
        } known[] = {
                { "^[0-9. ]+$", "; it has no unit" },
                { "^(for)?ever$|^inf$|^infinite$|^never$|^none$|^unlimited$", "; no limit is \"infinity\"" },
                { "\\*|^@|^[a-z]+ly$", "; a timer unit starts a tree at a time: see btd-run@.service(8)" },
                { "^[0-9]+:[0-9]", "; hours, minutes and seconds are \"1h 30min 5s\"" },
                { "^[0-9.]+ ?[a-z]+ ?[0-9]+$", "; its last number has no unit" },
                { "^[0-9.]+ ?[A-Za-z]", "; units are us, ms, s, min, h, d, w, M (months) and y" },
                { "^-[0-9]", "; it cannot be negative" },
        };
        g_autofree char *variable = param_variable_at(setter, place), *shown = value_excerpt(value);
        const char *text = json_object_get_string(value), *hint = "";

        if (!json_object_is_type(value, json_type_string)) {
                if (variable)
                        return param_report_kind(setter, place, PARAM_SPAN_EXPECTED, value);

                return param_report(setter, place,
                                    "expected " PARAM_SPAN_EXPECTED ", not the number %s; a number has no unit", shown);
        }
        if (too_long)
                return param_report(setter, place, "%s is too long a time; \"infinity\" means no limit", shown);

        for (size_t i = 0; i < G_N_ELEMENTS(known) && !*hint; i++)
                if (g_regex_match_simple(known[i].pattern, text, G_REGEX_DOLLAR_ENDONLY, 0))
                        hint = known[i].hint;

        return param_report(setter, place, "%s is not " PARAM_SPAN_EXPECTED "%s", shown, hint);
}

char *param_names_describe(const Param *param) {
        GString *list = g_string_new(NULL);

        for (size_t i = 0; param->values[i]; i++)
                g_string_append_printf(list, "%s\"%s\"", i > 0 ? ", " : "", param->values[i]);

        return g_string_free(list, false);
}

#define NAMES_MAX 40u

static Nearest nearest_value(const Param *param, const char *text) {
        Nearest nearest = { .word = text };

        for (size_t i = 0; param->values[i]; i++)
                nearest_offer(&nearest, param->values[i]);

        return nearest;
}

bool param_is_refused(const Param *param, const char *text) {
        Nearest nearest;

        if (!param->values || g_strv_contains(param->values, text))
                return false;

        nearest = nearest_value(param, text);
        return !param->open || nearest_is_close(&nearest);
}

int param_report_enum(const ParamSetter *setter, const Place *place, const Param *param, json_object *value) {
        g_autofree char *values = param_names_describe(param), *shown = value_excerpt(value);
        const Hint *hint = hint_find(HINT_VALUE, param->name, json_object_get_string(value));
        Nearest nearest = nearest_value(param, json_object_get_string(value));

        if (hint && g_strv_contains(param->values, hint->instead))
                nearest.best = hint->instead;
        if (!nearest.best)
                return param_report(setter, place, "%s is none of %s", shown, values);

        /* A long list would hide the rest of the message. */
        return param_report_instead(
                setter, place, false, nearest.best,
                g_strv_length((char **) param->values) > NAMES_MAX
                        ? g_strdup_printf("%s is not known; did you mean \"%s\"?", shown, nearest.best)
                        : g_strdup_printf("%s is none of %s; did you mean \"%s\"?", shown, values, nearest.best));
}

int param_report_empty(const ParamSetter *setter, const Place *place, const char *what) {
        return param_report(setter, place, "the %s is empty; it needs at least one entry", what);
}

int param_check_format(const ParamSetter *setter, const Place *place, bool at_key, const TextFormat *format,
                       const char *text) {
        g_autofree char *shown = excerpt(text, strlen(text));
        char *problem = NULL, *trap;

        if (format->problem)
                problem = format->problem(text);
        else if (!format->valid(text))
                problem = g_strdup_printf("'%s' is not %s such as \"%s\"", shown, format->name, format->example);
        if (problem)
                return param_report_instead(setter, place, at_key, NULL, problem);

        trap = format->trap ? format->trap(text) : NULL;
        if (trap)
                setter->report(&(ParamFinding){ .place = place, .at_key = at_key, .trap = true, .text = trap },
                               setter->userdata);
        return 0;
}

const char *param_nearest_member(const Param *param, const char *key) {
        Nearest nearest = { .word = key };

        for (const Param *member = param->members; member->name; member++)
                nearest_offer(&nearest, member->name);

        return nearest.best;
}

int param_report_unknown(const ParamSetter *setter, const Place *place, const Param *param, const char *key) {
        Place at = { .parent = place, .key = key };
        g_autofree char *shown = excerpt(key, strlen(key));
        const char *nearest = param_nearest_member(param, key);
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest)
                g_string_append_printf(text, "; did you mean '%s'?", nearest);
        for (const Param *member = param->members; member->name; member++)
                g_string_append_printf(text, "%s%s", member != param->members ? ", " : " (it takes: ", member->name);
        g_string_append_c(text, ')');

        return param_report_instead(setter, &at, true, nearest, g_string_free(text, false));
}
