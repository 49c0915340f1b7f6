/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the items of a text to json-c's values. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "definition/text.h"

typedef struct Conversion {
        const Text *text;
        GString *scratch;
        uint32_t fault; /* the item that cannot be converted */
        char *error;
} Conversion;

static int convert(Conversion *conversion, uint32_t item, unsigned depth, json_object **ret_value);

static int fault(Conversion *conversion, uint32_t item, char *error) {
        conversion->fault = item;
        conversion->error = error;
        return -EINVAL;
}

static int convert_string(Conversion *conversion, uint32_t item, json_object **ret_value) {
        size_t length;
        const char *string = text_string(conversion->text, item, conversion->scratch, &length);

        *ret_value = json_object_new_string_len(string, (int) length);
        return 0;
}

/* Whole numbers that int64_t or uint64_t can hold are exact. Others keep their spelling for when they are written. */
static int convert_number(Conversion *conversion, uint32_t item, json_object **ret_value) {
        const TextItem *i = text_item(conversion->text, item);
        GString *digits = conversion->scratch;
        double number;

        g_string_truncate(digits, 0);
        g_string_append_len(digits, conversion->text->text + i->start, i->end - i->start);

        if (!strpbrk(digits->str, ".eE")) {
                guint64 magnitude;
                gint64 value;

                if (g_ascii_string_to_signed(digits->str, 10, INT64_MIN, INT64_MAX, &value, NULL))
                        *ret_value = json_object_new_int64(value);
                else if (g_ascii_string_to_unsigned(digits->str, 10, 0, UINT64_MAX, &magnitude, NULL))
                        *ret_value = json_object_new_uint64(magnitude);
                else
                        return fault(conversion, item, g_strdup("the number does not fit into 64 bits"));
                return 0;
        }

        number = g_ascii_strtod(digits->str, NULL);
        if (!isfinite(number))
                return fault(conversion, item, g_strdup("the number is too large"));

        *ret_value = json_object_new_double_s(number, digits->str);
        return 0;
}

static int convert_array(Conversion *conversion, uint32_t item, unsigned depth, json_object **ret_value) {
        uint32_t count = text_item(conversion->text, item)->count, element = item + 1;
        g_autoptr(json_object) array = json_object_new_array();

        for (uint32_t i = 0; i < count; i++, element = text_next(conversion->text, element)) {
                json_object *value;
                int r = convert(conversion, element, depth + 1, &value);

                if (r < 0)
                        return r;

                json_object_array_add(array, value);
        }

        *ret_value = g_steal_pointer(&array);
        return 0;
}

/* A key that is there already does not make the object longer: this way each key is looked up only once. */
static int convert_member(Conversion *conversion, uint32_t key, unsigned depth, json_object *object) {
        int n_before = json_object_object_length(object);
        g_autofree char *name = NULL;
        const char *string;
        json_object *value;
        size_t length;
        int r;

        r = convert(conversion, key + 1, depth + 1, &value);
        if (r < 0)
                return r;

        string = text_string(conversion->text, key, conversion->scratch, &length);
        name = g_strndup(string, length);
        json_object_object_add(object, name, value);
        if (json_object_object_length(object) == n_before) {
                g_autofree char *shown = excerpt(name, length);

                return fault(conversion, key, g_strdup_printf("'%s' is given twice", shown));
        }

        return 0;
}

static int convert_object(Conversion *conversion, uint32_t item, unsigned depth, json_object **ret_value) {
        uint32_t count = text_item(conversion->text, item)->count, key = item + 1;
        g_autoptr(json_object) object = json_object_new_object();

        for (uint32_t i = 0; i < count; i++, key = text_next(conversion->text, key + 1)) {
                int r = convert_member(conversion, key, depth, object);

                if (r < 0)
                        return r;
        }

        *ret_value = g_steal_pointer(&object);
        return 0;
}

static int convert(Conversion *conversion, uint32_t item, unsigned depth, json_object **ret_value) {
        if (depth > TEXT_VALUE_NESTING_MAX)
                return fault(conversion, item,
                             g_strdup_printf("a value is nested at most %u deep", TEXT_VALUE_NESTING_MAX));

        switch (text_kind(conversion->text, item)) {
        case TEXT_NULL:
                *ret_value = NULL;
                return 0;
        case TEXT_FALSE:
        case TEXT_TRUE:
                *ret_value = json_object_new_boolean(text_kind(conversion->text, item) == TEXT_TRUE);
                return 0;
        case TEXT_NUMBER:
                return convert_number(conversion, item, ret_value);
        case TEXT_STRING:
                return convert_string(conversion, item, ret_value);
        case TEXT_ARRAY:
                return convert_array(conversion, item, depth, ret_value);
        case TEXT_OBJECT:
                return convert_object(conversion, item, depth, ret_value);
        }

        g_assert_not_reached();
}

int text_to_json(const Text *text, uint32_t item, GString *scratch, json_object **ret_value, uint32_t *ret_item,
                 char **ret_error) {
        Conversion conversion = { .text = text, .scratch = scratch };
        int r = convert(&conversion, item, 0, ret_value);

        if (r < 0) {
                *ret_item = conversion.fault;
                *ret_error = conversion.error;
        }

        return r;
}
