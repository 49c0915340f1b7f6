/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Converts items of a text to values of json-c. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/text.h"

typedef struct Conversion {
        const Text *text;
        GString *scratch;
        TextFault on_fault;
        void *userdata;
        int result;
} Conversion;

static json_object *convert(Conversion *conversion, uint32_t item, unsigned depth);

/* Reports the error; there is no value then. */
static json_object *fail(Conversion *conversion, uint32_t item, char *text) {
        conversion->on_fault(item, text, conversion->userdata);
        conversion->result = -EINVAL;
        return NULL;
}

static json_object *convert_string(Conversion *conversion, uint32_t item) {
        size_t length;
        const char *string = text_string(conversion->text, item, conversion->scratch, &length);

        return json_object_new_string_len(string, (int) length);
}

/* Whole numbers that fit into int64_t or uint64_t are exact. Other numbers keep their spelling, so that they are
 * written as they were read. */
static json_object *convert_number(Conversion *conversion, uint32_t item) {
        const TextItem *i = text_item(conversion->text, item);
        GString *digits = conversion->scratch;
        double number;

        g_string_truncate(digits, 0);
        g_string_append_len(digits, conversion->text->text + i->start, i->end - i->start);

        if (!strpbrk(digits->str, ".eE")) {
                guint64 magnitude;
                gint64 value;

                if (g_ascii_string_to_signed(digits->str, 10, INT64_MIN, INT64_MAX, &value, NULL))
                        return json_object_new_int64(value);
                if (g_ascii_string_to_unsigned(digits->str, 10, 0, UINT64_MAX, &magnitude, NULL))
                        return json_object_new_uint64(magnitude);

                return fail(conversion, item, g_strdup("the number does not fit into 64 bits"));
        }

        number = g_ascii_strtod(digits->str, NULL);
        return isfinite(number) ? json_object_new_double_s(number, digits->str)
                                : fail(conversion, item, g_strdup("the number is too large"));
}

static json_object *convert_array(Conversion *conversion, uint32_t item, unsigned depth) {
        uint32_t count = text_item(conversion->text, item)->count, element = item + 1;
        json_object *array = json_object_new_array();

        for (uint32_t i = 0; i < count; i++, element = text_next(conversion->text, element))
                json_object_array_add(array, convert(conversion, element, depth + 1));

        return array;
}

static void convert_member(Conversion *conversion, uint32_t key, unsigned depth, json_object *object) {
        json_object *value = convert(conversion, key + 1, depth + 1);
        size_t length;
        const char *string = text_string(conversion->text, key, conversion->scratch, &length);
        g_autofree char *name = g_strndup(string, length), *shown = NULL;

        if (!json_object_object_get_ex(object, name, NULL)) {
                json_object_object_add(object, name, value);
                return;
        }

        json_object_put(value);
        shown = excerpt(name, length);
        conversion->on_fault(key, g_strdup_printf("'%s' is given twice", shown), conversion->userdata);
        if (conversion->result == 0)
                conversion->result = -EEXIST;
}

static json_object *convert_object(Conversion *conversion, uint32_t item, unsigned depth) {
        uint32_t count = text_item(conversion->text, item)->count, key = item + 1;
        json_object *object = json_object_new_object();

        for (uint32_t i = 0; i < count; i++, key = text_next(conversion->text, key + 1))
                convert_member(conversion, key, depth, object);

        return object;
}

static json_object *convert(Conversion *conversion, uint32_t item, unsigned depth) {
        if (depth > TEXT_VALUE_NESTING_MAX)
                return fail(conversion, item,
                            g_strdup_printf("a value is nested at most %u deep", TEXT_VALUE_NESTING_MAX));

        switch (text_kind(conversion->text, item)) {
        case TEXT_NULL:
                return NULL;
        case TEXT_FALSE:
        case TEXT_TRUE:
                return json_object_new_boolean(text_kind(conversion->text, item) == TEXT_TRUE);
        case TEXT_NUMBER:
                return convert_number(conversion, item);
        case TEXT_STRING:
                return convert_string(conversion, item);
        case TEXT_ARRAY:
                return convert_array(conversion, item, depth);
        case TEXT_OBJECT:
                return convert_object(conversion, item, depth);
        }

        g_assert_not_reached();
}

int text_to_json(const Text *text, uint32_t item, GString *scratch, TextFault on_fault, void *userdata,
                 json_object **ret_value) {
        Conversion conversion = { .text = text, .scratch = scratch, .on_fault = on_fault, .userdata = userdata };
        json_object *value = convert(&conversion, item, 0);

        if (conversion.result == -EINVAL)
                json_object_put(value);
        else
                *ret_value = value;

        return conversion.result;
}
