/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A field is followed from the outside, and named in texts as Lua would: Config["mode"][0]. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "bus/value.h"
#include "leaves/claim.h"

static char *field_problem(json_object *field) {
        g_autofree char *text = value_to_text(field);

        if (!json_object_is_type(field, json_type_array))
                return g_strdup_printf("field: expected an array of keys and indices, not %s", text);

        for (size_t i = 0; i < json_object_array_length(field); i++) {
                json_object *step = json_object_array_get_idx(field, i);
                g_autofree char *step_text = value_to_text(step);

                if (!json_object_is_type(step, json_type_string) &&
                    !(json_object_is_type(step, json_type_int) && json_object_get_int64(step) >= 0))
                        return g_strdup_printf("field: expected a key or an index from 0, not %s", step_text);
        }
        return NULL;
}

char *claim_problem(const Claim *claim) {
        if (claim->one_of && !json_object_is_type(claim->one_of, json_type_array)) {
                g_autofree char *text = value_to_text(claim->one_of);

                return g_strdup_printf("one_of: expected an array of values, not %s", text);
        }
        if (claim->equals && claim->one_of)
                return g_strdup("give equals or one_of, not both");
        return claim->field ? field_problem(claim->field) : NULL;
}

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

static bool fits(const Claim *claim, json_object *value) {
        if (claim->equals)
                return value_equal(value, claim->equals);
        if (claim->one_of)
                return is_one_of(value, claim->one_of);
        return is_true(value);
}

/* "Powered is false, not true" */
static char *describe_mismatch(const Claim *claim, const char *name, json_object *value) {
        g_autofree char *field = describe_field(name, claim->field), *is = value_to_text(value), *should = NULL;
        json_object *wanted = claim->equals ? claim->equals : claim->one_of;

        if (wanted)
                should = value_to_text(wanted);
        else if (json_object_is_type(value, json_type_boolean))
                should = g_strdup("true");
        else
                return g_strdup_printf("%s is %s", field, is);

        return g_strdup_printf("%s is %s, not %s%s", field, is, wanted && !claim->equals ? "one of " : "", should);
}

bool claim_find_field(const Claim *claim, const char *name, json_object *value, json_object **ret_field,
                      char **ret_text) {
        g_autofree char *field = NULL, *text = NULL;

        if (follow(claim->field, value, ret_field))
                return true;

        field = describe_field(name, claim->field);
        text = value_to_text(value);
        *ret_text = g_strdup_printf("there is no %s: %s is %s", field, name, text);
        return false;
}

bool claim_holds(const Claim *claim, const char *name, json_object *field, char **ret_text) {
        if (fits(claim, field))
                return true;

        *ret_text = describe_mismatch(claim, name, field);
        return false;
}

json_object *claim_wanted(const Claim *claim) {
        if (claim->equals)
                return json_object_get(claim->equals);
        if (claim->one_of)
                return json_object_get(claim->one_of);
        return json_object_new_boolean(true);
}
