/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares JSON values with parameters. A field is named in messages as in Lua: Config["mode"][0]. */

#include <glib.h>
#include <json-c/json_tokener.h>
#include <stdbool.h>
#include <stddef.h>

#include "bus/value.h"
#include "definition/params/param-report.h"
#include "leaves/dbus/value-matcher.h"

static int field_check(const ParamSetter *setter, const Place *place, json_object *value) {
        int r = 0;

        if (!json_object_is_type(value, json_type_array))
                return param_report_kind(setter, place, "an array of keys and indices", value);

        for (size_t i = 0; i < json_object_array_length(value); i++) {
                json_object *step = json_object_array_get_idx(value, i);
                Place at = { .parent = place, .index = i };

                if (!json_object_is_type(step, json_type_string) &&
                    !(json_object_is_type(step, json_type_int) && json_object_get_int64(step) >= 0))
                        r = param_report_kind(setter, &at, "a key or an index from 0", step);
        }

        return r;
}

static json_object *field_schema(void) {
        return json_tokener_parse("{\"type\": \"array\", \"items\": {\"anyOf\": [{\"type\": \"string\"}, "
                                  "{\"type\": \"integer\", \"minimum\": 0}]}}");
}

const ValueFormat matcher_field_format = { .check = field_check, .schema = field_schema };

static bool step_into(json_object *value, json_object *step, json_object **ret_inner) {
        int64_t index;

        if (json_object_is_type(step, json_type_string))
                return json_object_is_type(value, json_type_object) &&
                       json_object_object_get_ex(value, json_object_get_string(step), ret_inner);

        index = json_object_get_int64(step);
        if (!json_object_is_type(value, json_type_array) || index >= (int64_t) json_object_array_length(value))
                return false;

        *ret_inner = json_object_array_get_idx(value, (size_t) index);
        return true;
}

static bool follow(json_object *field, json_object *value, json_object **ret_found) {
        for (size_t i = 0; field && i < json_object_array_length(field); i++)
                if (!step_into(value, json_object_array_get_idx(field, i), &value))
                        return false;

        *ret_found = value;
        return true;
}

static char *describe_field(const char *name, json_object *field) {
        GString *text = g_string_new(name);

        for (size_t i = 0; field && i < json_object_array_length(field); i++) {
                g_autofree char *step = value_to_text(json_object_array_get_idx(field, i));

                g_string_append_printf(text, "[%s]", step);
        }
        return g_string_free(text, FALSE);
}

static bool is_true(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_boolean:
                return json_object_get_boolean(value);
        case json_type_int:
        case json_type_double:
                return json_object_get_double(value) != 0;
        case json_type_string:
                return json_object_get_string_len(value) > 0;
        case json_type_array:
                return json_object_array_length(value) > 0;
        case json_type_object:
                return json_object_object_length(value) > 0;
        default:
                return false;
        }
}

static bool is_one_of(json_object *value, json_object *choices) {
        for (size_t i = 0; i < json_object_array_length(choices); i++)
                if (value_equal(value, json_object_array_get_idx(choices, i)))
                        return true;
        return false;
}

static bool fits(const ValueMatcher *matcher, json_object *value) {
        if (matcher->equals)
                return value_equal(value, matcher->equals);
        if (matcher->one_of)
                return is_one_of(value, matcher->one_of);
        return is_true(value);
}

/* "Powered is false, not true" */
static char *describe_mismatch(const ValueMatcher *matcher, const char *name, json_object *value) {
        g_autofree char *field = describe_field(name, matcher->field), *is = value_to_text(value), *should = NULL;
        json_object *wanted = matcher->equals ? matcher->equals : matcher->one_of;

        if (wanted)
                should = value_to_text(wanted);
        else if (json_object_is_type(value, json_type_boolean))
                should = g_strdup("true");
        else
                return g_strdup_printf("%s is %s", field, is);

        return g_strdup_printf("%s is %s, not %s%s", field, is, wanted && !matcher->equals ? "one of " : "", should);
}

bool matcher_find_field(const ValueMatcher *matcher, const char *name, json_object *value, json_object **ret_field,
                        char **ret_text) {
        g_autofree char *field = NULL, *text = NULL;

        if (follow(matcher->field, value, ret_field))
                return true;

        field = describe_field(name, matcher->field);
        text = value_to_text(value);
        *ret_text = g_strdup_printf("there is no %s: %s is %s", field, name, text);
        return false;
}

bool matcher_matches(const ValueMatcher *matcher, const char *name, json_object *field, char **ret_text) {
        if (fits(matcher, field))
                return true;

        *ret_text = describe_mismatch(matcher, name, field);
        return false;
}

json_object *matcher_wanted(const ValueMatcher *matcher) {
        if (matcher->equals)
                return json_object_get(matcher->equals);
        if (matcher->one_of)
                return json_object_get(matcher->one_of);
        return json_object_new_boolean(true);
}
