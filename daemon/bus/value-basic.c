/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whole numbers are range-checked, strings are what their type says, and nothing is converted in silence. */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bus/signature.h"
#include "bus/value-basic.h"

/* The basic types that are whole numbers. */
typedef struct Range {
        char type;
        int64_t min;
        uint64_t max;
} Range;

static const Range ranges[] = {
        { 'y', 0, UINT8_MAX },  { 'n', INT16_MIN, INT16_MAX }, { 'q', 0, UINT16_MAX }, { 'i', INT32_MIN, INT32_MAX },
        { 'u', 0, UINT32_MAX }, { 'x', INT64_MIN, INT64_MAX }, { 't', 0, UINT64_MAX },
};

static const Range *range_of(char type) {
        for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++)
                if (ranges[i].type == type)
                        return &ranges[i];
        return NULL;
}

/* False: not a whole number. Its value is the magnitude, with its sign apart. */
static bool whole_number(json_object *value, bool *ret_negative, uint64_t *ret_magnitude) {
        double number;

        if (json_object_is_type(value, json_type_int)) {
                int64_t integer = json_object_get_int64(value);

                *ret_negative = integer < 0;
                *ret_magnitude = integer < 0 ? -(uint64_t) integer : json_object_get_uint64(value);
                return true;
        }

        number = json_object_get_double(value);
        if (!json_object_is_type(value, json_type_double) || !(fabs(number) < 0x1p64) ||
            (double) (uint64_t) fabs(number) != fabs(number))
                return false;

        *ret_negative = number < 0;
        *ret_magnitude = (uint64_t) fabs(number);
        return true;
}

static int write_integer(Writer *writer, const Place *place, const Range *range, json_object *value) {
        bool negative = false;
        uint64_t magnitude = 0, bits;
        union {
                uint8_t y;
                uint16_t q;
                uint32_t u;
                uint64_t t;
        } buffer;

        if (!whole_number(value, &negative, &magnitude) ||
            (negative ? magnitude > -(uint64_t) range->min : magnitude > range->max)) {
                g_autofree char *expected = g_strdup_printf(
                        "a whole number from %" G_GINT64_FORMAT " to %" G_GUINT64_FORMAT, range->min, range->max);
                int r = writer_unexpected(writer, place, expected, value);

                return json_object_is_type(value, json_type_int) ? -ERANGE : r;
        }

        /* Signed types are as wide as their unsigned ones, in two's complement. */
        bits = negative ? -magnitude : magnitude;
        if (range->type == 'y')
                buffer.y = (uint8_t) bits;
        else if (strchr("nq", range->type))
                buffer.q = (uint16_t) bits;
        else if (strchr("iu", range->type))
                buffer.u = (uint32_t) bits;
        else
                buffer.t = bits;
        return writer_put(writer, place, range->type, &buffer, 0);
}

static int write_double(Writer *writer, const Place *place, json_object *value) {
        double number = json_object_get_double(value);

        if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
                return writer_unexpected(writer, place, "a number", value);
        return writer_put(writer, place, 'd', &number, 0);
}

static int write_boolean(Writer *writer, const Place *place, json_object *value) {
        int truth = json_object_get_boolean(value);

        if (!json_object_is_type(value, json_type_boolean))
                return writer_unexpected(writer, place, "true or false", value);
        return writer_put(writer, place, 'b', &truth, 0);
}

static bool is_signature(const char *text) {
        g_autofree char *problem = signature_problem(text);

        return !problem;
}

static int write_string(Writer *writer, const Place *place, char type, json_object *value) {
        const char *expected = type == 'o'   ? "an object path such as \"/org/example\""
                               : type == 'g' ? "a signature"
                                             : "a string";
        const char *text = json_object_get_string(value);
        size_t length = (size_t) json_object_get_string_len(value);

        if (!json_object_is_type(value, json_type_string))
                return writer_unexpected(writer, place, expected, value);
        if (!g_utf8_validate(text, (gssize) length, NULL))
                return writer_unexpected(writer, place, "valid UTF-8 without NUL characters", value);
        if ((type == 'o' && !sd_bus_object_path_is_valid(text)) || (type == 'g' && !is_signature(text)))
                return writer_unexpected(writer, place, expected, value);

        return writer_put(writer, place, type, text, length);
}

int write_basic(Writer *writer, const Place *place, char type, json_object *value) {
        const Range *range = range_of(type);

        if (range)
                return write_integer(writer, place, range, value);
        if (type == 'd')
                return write_double(writer, place, value);
        if (type == 'b')
                return write_boolean(writer, place, value);
        return write_string(writer, place, type, value);
}

/* NULL: it is none, or too large for any type. */
static json_object *integer_from_text(const char *text) {
        if (!g_regex_match_simple("^(0|-?[1-9][0-9]*)$", text, G_REGEX_DOLLAR_ENDONLY, 0))
                return NULL;

        errno = 0;
        if (*text == '-') {
                int64_t number = g_ascii_strtoll(text, NULL, 10);

                return errno == 0 ? json_object_new_int64(number) : NULL;
        } else {
                uint64_t number = g_ascii_strtoull(text, NULL, 10);

                return errno == 0 ? json_object_new_uint64(number) : NULL;
        }
}

static json_object *double_from_text(const char *text) {
        char *end = NULL;
        double number = g_ascii_strtod(text, &end);

        if (end == text || *end != '\0' || g_ascii_isspace(*text) || !isfinite(number))
                return NULL;
        return json_object_new_double(number);
}

json_object *basic_from_text(char type, const char *text) {
        json_object *value = NULL;

        if (range_of(type))
                value = integer_from_text(text);
        else if (type == 'd')
                value = double_from_text(text);
        else if (type == 'b' && (g_str_equal(text, "true") || g_str_equal(text, "false")))
                value = json_object_new_boolean(*text == 't');

        return value ? value : json_object_new_string(text);
}
