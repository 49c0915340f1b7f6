/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements params.h: one setter for each kind of parameter. A setter sets the field, or reports all errors of the
 * value and returns -EINVAL.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/sorted.h"
#include "basic/span.h"
#include "definition/declarations.h"
#include "definition/params/param-report.h"
#include "definition/text/text.h"
#include "script/reference.h"

static bool is_string(json_object *value) {
        return json_object_is_type(value, json_type_string);
}

/* True if the value may become any value, or, below, any text, when references are filled in. */
bool param_may_be_anything(const ParamSetter *setter, json_object *value) {
        g_autofree char *variable = setter->provisional ? reference_key(value) : NULL;

        return variable != NULL;
}

/* Then it is checked after the references are filled in. */
static bool may_become_text(const ParamSetter *setter, json_object *value) {
        return setter->provisional && is_string(value) && reference_inside(value);
}

static int set_bool(const ParamSetter *setter, const Place *place, bool *field, json_object *value) {
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

static int set_int(const ParamSetter *setter, const Place *place, const Param *param, int64_t *field,
                   json_object *value) {
        const char *text = is_string(value) ? json_object_get_string(value) : "";
        bool is_word = *text && text[strspn(text, G_CSET_a_2_z)] == 0, fits; /* such as "forever" */
        int64_t number;

        if (param_may_be_anything(setter, value))
                return 0;
        if (!as_integer(value, &number, &fits))
                return param->min == -1 && !setter->origin && is_word
                               ? param_report(setter, place, "expected a whole number, not \"%s\"; -1 means no limit",
                                              text)
                               : param_report_kind(setter, place, "a whole number", value);
        if (!fits || (param_has_min(param) && number < param->min) || (param_has_max(param) && number > param->max))
                return param_report_range(setter, place, param, value);

        *field = number;
        return 0;
}

static int set_number(const ParamSetter *setter, const Place *place, const Param *param, double *field,
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
static const char *get_text(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
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

/* Checks the name of a variable, if the parameter is one: -EINVAL after a report that the name is invalid. */
static int check_name(const ParamSetter *setter, const Place *place, bool at_key, const Param *param,
                      const char *name) {
        char *problem = param_is_name(param) ? variable_name_problem(name, !param->local) : NULL;

        return problem ? param_report_instead(setter, place, at_key, NULL, problem) : 0;
}

static int set_string(const ParamSetter *setter, const Place *place, const Param *param, const char **field,
                      json_object *value) {
        g_autofree char *variable = param->shown && !is_string(value) ? param_variable_at(setter, place) : NULL;
        const char *text =
                variable
                        ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                        : get_text(setter, place, "a string", value);

        if (!text || check_name(setter, place, false, param, text) < 0)
                return -EINVAL;

        if (param->format && !may_become_text(setter, value) &&
            param_check_format(setter, place, false, param->format, text) < 0)
                return -EINVAL;

        *field = arena_string(setter->arena, text, strlen(text));
        return 0;
}

static int set_json(const ParamSetter *setter, const Place *place, const Param *param, json_object **field,
                    json_object *value) {
        bool known = !param_may_be_anything(setter, value);
        int r = 0;

        if (known && param->elements) {
                uint64_t scratch[2]; /* the elements are only checked */

                if (!json_object_is_type(value, json_type_array))
                        return param_report_kind(setter, place, "an array", value);
                if (param->not_empty && json_object_array_length(value) == 0)
                        return param_report_empty(setter, place, "list");

                for (size_t i = 0; i < json_object_array_length(value); i++) {
                        Place element = { .parent = place, .index = i };

                        if (param_set_at(setter, &element, param->elements, scratch,
                                         json_object_array_get_idx(value, i)) < 0)
                                r = -EINVAL;
                }
        } else if (known && param->value_format)
                r = param->value_format->check(setter, place, value);
        if (r < 0)
                return r;

        *field = arena_own(setter->arena, json_object_get(value));
        return 0;
}

static int set_span(const ParamSetter *setter, const Place *place, const Param *param, uint64_t *field,
                    json_object *value) {
        const char *text;
        uint64_t usec;
        int r;

        if (may_become_text(setter, value))
                return 0;
        if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double))
                return param_report_span(setter, place, false, value);

        text = get_text(setter, place, PARAM_SPAN_EXPECTED, value);
        if (!text)
                return -EINVAL;

        r = span_parse(text, &usec);
        if (r < 0)
                return param_report_span(setter, place, r == -ERANGE, value);
        if ((param->positive && usec == 0) || (param->min > 0 && usec < (uint64_t) param->min) ||
            (param->max > 0 && usec > (uint64_t) param->max))
                return param_report_range(setter, place, param, value);
        if (g_regex_match_simple("\\dM\\b", text, 0, 0))
                setter->report(&(ParamFinding){ .place = place,
                                                .trap = true,
                                                .text = g_strdup_printf("\"%s\": M are months; minutes are \"min\" "
                                                                        "or \"m\"",
                                                                        text) },
                               setter->userdata);

        *field = usec;
        return 0;
}

static int set_enum(const ParamSetter *setter, const Place *place, const Param *param, int *field, json_object *value) {
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

/* The string inside a list or map, with the prefix before it. Here, a reference to a number or a boolean is replaced by
 * its text, because these parameters can only hold texts. NULL: reported. */
static const char *copy_element(const ParamSetter *setter, const Place *place, const char *prefix, json_object *value) {
        g_autofree char *variable =
                json_object_is_type(value, json_type_string) ? NULL : param_variable_at(setter, place);
        bool scalar = json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double) ||
                      json_object_is_type(value, json_type_boolean);
        g_autofree char *element = NULL;
        const char *text;

        if (variable && json_object_is_type(value, json_type_array) && !place->key) {
                param_report(setter, place, "{%s} is a list; \"{%s...}\" becomes its elements", variable, variable);
                return NULL;
        }
        if (variable && scalar)
                text = json_object_get_string(value);
        else
                text = get_text(setter, place, "a string", value);
        if (!text)
                return NULL;

        element = g_strconcat(prefix, text, NULL);
        return arena_string(setter->arena, element, strlen(element));
}

/* Checks an element of PARAM_STRINGS. */
static int check_element(const ParamSetter *setter, const Place *place, const Param *param, const TextFormat *format,
                         const char *text, json_object *value) {
        g_autofree char *instead = NULL;
        char *problem = param->causes ? cause_pattern_problem(text, &instead) : NULL;

        if (problem)
                return param_report_instead(setter, place, false, instead, problem);
        if (may_become_text(setter, value) || (*text == 0 && param_is_name(param)))
                return 0;
        if (check_name(setter, place, false, param, text) < 0)
                return -EINVAL;
        if (param_is_refused(param, text))
                return param_report_enum(setter, place, param, value);

        return format ? param_check_format(setter, place, false, format, text) : 0;
}

static int set_strings(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                       json_object *value) {
        const char **strings, *text;
        size_t n;
        int r = 0;

        if (param_may_be_anything(setter, value))
                return 0;

        /* A single string is a list with one element. */
        if (param->single && !json_object_is_type(value, json_type_array)) {
                text = get_text(setter, place, "a string or an array of strings", value);
                if (!text || check_element(setter, place, param, param->first_format ?: param->format, text, value) < 0)
                        return -EINVAL;

                strings = arena_alloc(setter->arena, 2 * sizeof(char *));
                strings[0] = arena_string(setter->arena, text, strlen(text));
                *field = strings;
                return 0;
        }
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
                strings[i] = strings[i] ?: "";
        }

        *field = strings;
        return r;
}

static int set_string_map(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
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
                if (text && check_name(setter, &element, false, param, text + strlen(prefix)) < 0)
                        r = -EINVAL;
                if (text && param->format && !may_become_text(setter, member) &&
                    param_check_format(setter, &element, false, param->format, text + strlen(prefix)) < 0)
                        r = -EINVAL;
                if (text)
                        strings[n++] = text;
                else
                        r = -EINVAL;
        }

        qsort(strings, n, sizeof(char *), compare_texts);
        if (r == 0)
                *field = strings;
        return r;
}

/* The text of a script: a string, or an array with its lines. NULL after a report. To be freed. */
static char *get_lines(const ParamSetter *setter, const Place *place, const char *expected, json_object *value) {
        size_t n = json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
        g_autoptr(GString) lines = g_string_new(NULL);
        bool wrong = false;

        if (!json_object_is_type(value, json_type_array))
                return g_strdup(get_text(setter, place, expected, value));
        if (n == 0) {
                param_report_empty(setter, place, "list");
                return NULL;
        }

        for (size_t i = 0; i < n; i++) {
                Place line = { .parent = place, .index = i };
                const char *text =
                        get_text(setter, &line, "code, a string for each line", json_object_array_get_idx(value, i));

                wrong = wrong || !text;
                g_string_append_printf(lines, "%s%s", i > 0 ? "\n" : "", text ?: "");
        }

        return wrong ? NULL : g_string_free(g_steal_pointer(&lines), false);
}

static int set_script(const ParamSetter *setter, const Place *place, const Param *param, const Script **field,
                      json_object *value) {
        bool is_code = param->kind == PARAM_CODE;
        g_autofree char *text = get_lines(setter, place,
                                          is_code ? "code, a string or an array of lines"
                                                  : "an expression, a string or an array of lines",
                                          value);
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

static int set_expressions(const ParamSetter *setter, const Place *place, const Param *param, const NamedScript **field,
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

                if (check_name(setter, &element, true, param, key) < 0)
                        r = -EINVAL;

                scripts[n].name = arena_string(setter->arena, key, strlen(key));
                if (set_script(setter, &element, param, &scripts[n++].script, member) < 0)
                        r = -EINVAL;
        }

        qsort(scripts, n, sizeof(NamedScript), compare_scripts);
        if (r == 0)
                *field = scripts;
        return r;
}

static int set_object(const ParamSetter *setter, const Place *place, const Param *param, const void **field,
                      json_object *value) {
        uint64_t misspelt = 0;
        void *values;
        int r = 0;

        if (param_may_be_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_object)) {
                g_autoptr(GString) expected = g_string_new("an object with");

                for (const Param *member = param->members; member->name; member++)
                        g_string_append_printf(expected, "%s'%s'",
                                               member == param->members ? " "
                                               : member[1].name         ? ", "
                                                                        : " or ",
                                               member->name);
                return param_report_kind(setter, place, expected->str, value);
        }

        values = arena_alloc(setter->arena, param->members_size);
        params_set_defaults(setter->arena, param->members, values);

        json_object_object_foreach(value, key, member) {
                const Param *found = params_find(param->members, key, strlen(key));
                Place at = { .parent = place, .key = key };

                if (!found) {
                        const char *meant = param_nearest_member(param, key);

                        r = param_report_unknown(setter, place, param, key);
                        if (meant && !json_object_object_get_ex(value, meant, NULL)) {
                                found = params_find(param->members, meant, strlen(meant));
                                misspelt |= UINT64_C(1) << (found - param->members);
                        }
                }
                if (found && param_set_at(setter, &at, found, values, member) < 0)
                        r = -EINVAL;
        }

        for (const Param *needed = param->members; needed->name; needed++)
                if (needed->required && !(misspelt & UINT64_C(1) << (needed - param->members)) &&
                    !json_object_object_get_ex(value, needed->name, NULL))
                        r = param_report(setter, place, "'%s' is missing: %c%s", needed->name,
                                         g_ascii_tolower(*needed->doc), needed->doc + 1);

        if (r == 0)
                *field = values;
        return r;
}

int param_set_at(const ParamSetter *setter, const Place *place, const Param *param, void *values, json_object *value) {
        void *field = (char *) values + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                return set_bool(setter, place, field, value);
        case PARAM_INT:
                return set_int(setter, place, param, field, value);
        case PARAM_NUMBER:
                return set_number(setter, place, param, field, value);
        case PARAM_STRING:
                return set_string(setter, place, param, field, value);
        case PARAM_SPAN:
                return set_span(setter, place, param, field, value);
        case PARAM_ENUM:
                return set_enum(setter, place, param, field, value);
        case PARAM_STRINGS:
                return set_strings(setter, place, param, field, value);
        case PARAM_STRING_MAP:
                return set_string_map(setter, place, param, field, value);
        case PARAM_JSON:
                return set_json(setter, place, param, field, value);
        case PARAM_OBJECT:
                return set_object(setter, place, param, field, value);
        case PARAM_EXPRESSION:
        case PARAM_CODE:
                return set_script(setter, place, param, field, value);
        case PARAM_EXPRESSIONS:
                return set_expressions(setter, place, param, field, value);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

int param_set(const ParamSetter *setter, const Param *param, void *values, json_object *value) {
        Place place = { .key = param->name };

        return param_set_at(setter, &place, param, values, value);
}

/* Defaults are part of the program, so a wrong one is a bug in its table. */
static void on_bad_default(const ParamFinding *finding, void *userdata) {
        g_error("the default of the parameter %s: %s", finding->place->key, finding->text);
}

static void on_bad_value(uint32_t item, char *text, void *userdata) {
        (void) item;
        g_error("the default of the parameter %s: %s", ((const Param *) userdata)->name, text);
}

void params_set_defaults(Arena *arena, const Param *params, void *values) {
        ParamSetter setter = { .arena = arena, .report = on_bad_default };
        g_autoptr(GString) scratch = g_string_new(NULL);

        for (const Param *param = params; param && param->name; param++) {
                g_autoptr(json_object) value = NULL;
                g_autofree char *error = NULL;
                g_auto(Text) text = {};
                size_t offset;

                if (!param->fallback)
                        continue;

                if (text_read(param->fallback, strlen(param->fallback), &text, &offset, &error) < 0)
                        on_bad_value(0, error, (Param *) param);
                text_to_json(&text, 0, scratch, on_bad_value, (Param *) param, &value);
                param_set(&setter, param, values, value);
        }
}

bool param_is_script(const Param *param) {
        return param->kind == PARAM_EXPRESSION || param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSIONS;
}

bool param_takes_references(const Param *param, bool literal) {
        return !param_is_script(param) && !param->literal && !param->plain && !param->causes && !param_is_name(param) &&
               (!literal || param->late);
}

const Param *params_find(const Param *params, const char *key, size_t length) {
        for (const Param *param = params; param && param->name; param++)
                if (param->name[0] == key[0] && strncmp(param->name, key, length) == 0 && param->name[length] == 0)
                        return param;

        return NULL;
}
