/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * JSON into messages, one function for each shape of a type. Each carries along the place it is at, so that an error
 * can name it. Without a message it is only a check.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus/signature.h"
#include "bus/value.h"

/* As the specification has it, variants and dictionary entries included. */
#define DEPTH_MAX 64u
/* Above this a dbus-daemon throws its client out. Eight bytes are counted for each value, whatever its type. */
#define SIZE_MAX_MIB 32u

/* From the outermost to the one that is being written. */
typedef struct Place {
        const struct Place *up;
        const char *noun; /* "element" with a number from 1, or "key" with its text */
        const char *key;
        size_t number;
        unsigned depth; /* of containers around it */
} Place;

typedef struct Writer {
        sd_bus_message *message; /* NULL: only check */
        size_t size;
        char **ret_error;
} Writer;

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

static void place_format(const Place *place, GString *text) {
        if (place->up) {
                place_format(place->up, text);
                g_string_append(text, ", ");
        }

        if (place->key)
                g_string_append_printf(text, "%s \"%s\"", place->noun, place->key);
        else
                g_string_append_printf(text, "%s %zu", place->noun, place->number);
}

G_GNUC_PRINTF(4, 5)
static int writer_fail(Writer *writer, const Place *place, int error, const char *format, ...) {
        GString *text = g_string_new(NULL);
        va_list args;

        place_format(place, text);
        g_string_append(text, ": ");
        va_start(args, format);
        g_string_append_vprintf(text, format, args);
        va_end(args);

        *writer->ret_error = g_string_free(text, FALSE);
        return error;
}

static int writer_unexpected(Writer *writer, const Place *place, const char *expected, json_object *value) {
        g_autofree char *text = value_to_text(value);

        return writer_fail(writer, place, -EINVAL, "expected %s, not %s", expected, text);
}

/* What sd-bus says of a value that is right can only be a lack of memory or of space. */
static int writer_done(Writer *writer, const Place *place, int r) {
        return r >= 0 ? 0 : writer_fail(writer, place, r, "cannot be put into the message: %s", g_strerror(-r));
}

static int writer_grow(Writer *writer, const Place *place, size_t size) {
        writer->size += size + 8;
        if (writer->size <= (size_t) SIZE_MAX_MIB << 20)
                return 0;

        return writer_fail(writer, place, -ERANGE, "too large for a message, which holds %u MiB", SIZE_MAX_MIB);
}

static int writer_put(Writer *writer, const Place *place, char type, const void *value, size_t size) {
        int r = writer_grow(writer, place, size);

        if (r < 0 || !writer->message)
                return r;
        return writer_done(writer, place, sd_bus_message_append_basic(writer->message, type, value));
}

static int writer_open(Writer *writer, const Place *place, char type, const char *contents) {
        int r = writer_grow(writer, place, 0);

        if (r < 0)
                return r;
        if (place->depth >= DEPTH_MAX)
                return writer_fail(writer, place, -ERANGE, "nested too deeply, D-Bus allows %u levels", DEPTH_MAX);
        if (!writer->message)
                return 0;
        return writer_done(writer, place, sd_bus_message_open_container(writer->message, type, contents));
}

static int writer_close(Writer *writer, const Place *place) {
        return writer->message ? writer_done(writer, place, sd_bus_message_close_container(writer->message)) : 0;
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

static int write_basic(Writer *writer, const Place *place, char type, json_object *value) {
        const Range *range = range_of(type);

        if (range)
                return write_integer(writer, place, range, value);
        if (type == 'd')
                return write_double(writer, place, value);
        if (type == 'b')
                return write_boolean(writer, place, value);
        return write_string(writer, place, type, value);
}

static int write_value(Writer *writer, const Place *place, const char *type, json_object *value);

static int write_bytes(Writer *writer, const Place *place, json_object *value) {
        size_t length = (size_t) json_object_get_string_len(value);
        int r = writer_grow(writer, place, length);

        if (r < 0 || !writer->message)
                return r;
        return writer_done(writer, place,
                           sd_bus_message_append_array(writer->message, 'y', json_object_get_string(value), length));
}

static int write_array(Writer *writer, const Place *place, const char *type, json_object *value) {
        int r;

        if (!json_object_is_type(value, json_type_array))
                return writer_unexpected(writer, place, g_str_equal(type, "ay") ? "an array or a string" : "an array",
                                         value);

        r = writer_open(writer, place, 'a', type + 1);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(value); i++) {
                Place element = { .up = place, .noun = "element", .number = i + 1, .depth = place->depth + 1 };

                r = write_value(writer, &element, type + 1, json_object_array_get_idx(value, i));
        }

        return r >= 0 ? writer_close(writer, place) : r;
}

/* What the text of a key says, as a value of the type; where it says nothing of the kind, the text. */
static json_object *key_value(char type, const char *key) {
        char *end = NULL;

        if (type == 'b' && (g_str_equal(key, "true") || g_str_equal(key, "false")))
                return json_object_new_boolean(*key == 't');

        if (type == 'd' && *key && !g_ascii_isspace(*key)) {
                double number = g_ascii_strtod(key, &end);

                if (*end == '\0' && isfinite(number))
                        return json_object_new_double(number);
        }

        if (range_of(type) && g_regex_match_simple("^(0|-?[1-9][0-9]*)$", key, G_REGEX_DOLLAR_ENDONLY, 0)) {
                errno = 0;
                if (*key == '-') {
                        int64_t number = g_ascii_strtoll(key, NULL, 10);

                        if (errno == 0)
                                return json_object_new_int64(number);
                } else {
                        uint64_t number = g_ascii_strtoull(key, NULL, 10);

                        if (errno == 0)
                                return json_object_new_uint64(number);
                }
        }

        return json_object_new_string(key);
}

static int write_entry(Writer *writer, const Place *place, const char *types, json_object *value) {
        g_autoptr(json_object) key = key_value(types[0], place->key);
        Place inside = { .up = place->up, .noun = place->noun, .key = place->key, .depth = place->depth + 1 };
        int r = writer_open(writer, place, 'e', types);

        if (r >= 0)
                r = write_basic(writer, &inside, types[0], key);
        if (r >= 0)
                r = write_value(writer, &inside, types + 1, value);
        return r >= 0 ? writer_close(writer, place) : r;
}

static int write_dictionary(Writer *writer, const Place *place, const char *type, json_object *value) {
        g_autofree char *types = g_strndup(type + 2, strlen(type) - 3);
        int r;

        if (!json_object_is_type(value, json_type_object))
                return writer_unexpected(writer, place, "an object", value);

        r = writer_open(writer, place, 'a', type + 1);
        json_object_object_foreach(value, key, entry) {
                Place inside = { .up = place, .noun = "key", .key = key, .depth = place->depth + 1 };

                if (r >= 0)
                        r = write_entry(writer, &inside, types, entry);
        }

        return r >= 0 ? writer_close(writer, place) : r;
}

/* One value of an array for each complete type. */
static int write_fields(Writer *writer, const Place *up, const char *noun, const char *types, json_object *values) {
        size_t length;
        int r = 0;

        for (size_t i = 0; r >= 0 && *types; i++, types += length) {
                g_autofree char *type = g_strndup(types, length = signature_first(types));
                Place place = { .up = up, .noun = noun, .number = i + 1, .depth = up ? up->depth + 1 : 0 };

                r = write_value(writer, &place, type, json_object_array_get_idx(values, i));
        }

        return r;
}

static int write_struct(Writer *writer, const Place *place, const char *type, json_object *value) {
        g_autofree char *types = g_strndup(type + 1, strlen(type) - 2);
        unsigned count = signature_count(types);
        int r;

        if (!json_object_is_type(value, json_type_array) || json_object_array_length(value) != count) {
                g_autofree char *expected = g_strdup_printf("an array of %u value%s", count, count == 1 ? "" : "s");

                return writer_unexpected(writer, place, expected, value);
        }

        r = writer_open(writer, place, 'r', types);
        if (r >= 0)
                r = write_fields(writer, place, "field", types, value);
        return r >= 0 ? writer_close(writer, place) : r;
}

/* {"signature": "u", "value": 7} */
static bool names_its_type(json_object *value, const char **ret_signature, json_object **ret_value) {
        json_object *signature = NULL;

        if (!json_object_is_type(value, json_type_object) || json_object_object_length(value) != 2 ||
            !json_object_object_get_ex(value, "signature", &signature) ||
            !json_object_is_type(signature, json_type_string) || !json_object_object_get_ex(value, "value", ret_value))
                return false;

        *ret_signature = json_object_get_string(signature);
        return true;
}

static const char *guess_type(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_boolean:
                return "b";
        case json_type_int:
                return json_object_get_uint64(value) > INT64_MAX ? "t" : "x";
        case json_type_double:
                return "d";
        case json_type_string:
                return "s";
        case json_type_array:
                return "av";
        case json_type_object:
                return "a{sv}";
        default:
                return NULL;
        }
}

static int write_variant(Writer *writer, const Place *place, json_object *value) {
        Place inside = { .up = place->up,
                         .noun = place->noun,
                         .key = place->key,
                         .number = place->number,
                         .depth = place->depth + 1 };
        const char *type = NULL;
        int r;

        if (names_its_type(value, &type, &value)) {
                g_autofree char *problem = NULL;

                if (value_check_signature(type, &problem) < 0)
                        return writer_fail(writer, place, -EINVAL, "%s", problem);
                if (signature_count(type) != 1)
                        return writer_fail(writer, place, -EINVAL, "signature '%s' must be one type", type);
        } else
                type = guess_type(value);
        if (!type)
                return writer_unexpected(writer, place, "a value", value);

        r = writer_open(writer, place, 'v', type);
        if (r >= 0)
                r = write_value(writer, &inside, type, value);
        return r >= 0 ? writer_close(writer, place) : r;
}

static int write_value(Writer *writer, const Place *place, const char *type, json_object *value) {
        if (type[0] == 'v')
                return write_variant(writer, place, value);
        if (type[0] == '(')
                return write_struct(writer, place, type, value);
        if (type[0] != 'a')
                return write_basic(writer, place, type[0], value);
        if (type[1] == '{')
                return write_dictionary(writer, place, type, value);
        if (type[1] == 'y' && json_object_is_type(value, json_type_string))
                return write_bytes(writer, place, value);
        return write_array(writer, place, type, value);
}

static int write_all(Writer *writer, const char *signature, json_object *args) {
        size_t given = args && json_object_is_type(args, json_type_array) ? json_object_array_length(args) : 0;
        unsigned wanted;
        int r = value_check_signature(signature, writer->ret_error);

        if (r < 0)
                return r;

        if (args && !json_object_is_type(args, json_type_array)) {
                g_autofree char *text = value_to_text(args);

                *writer->ret_error = g_strdup_printf("expected an array of arguments, not %s", text);
                return -EINVAL;
        }

        wanted = signature_count(signature);
        if (given != wanted) {
                *writer->ret_error = g_strdup_printf("signature '%s' takes %u argument%s, not %zu", signature, wanted,
                                                     wanted == 1 ? "" : "s", given);
                return -EINVAL;
        }

        return write_fields(writer, NULL, "argument", signature, args);
}

int value_append(sd_bus_message *message, const char *signature, json_object *args, char **ret_error) {
        return write_all(&(Writer){ .message = message, .ret_error = ret_error }, signature, args);
}

int value_check(const char *signature, json_object *args, char **ret_error) {
        return write_all(&(Writer){ .ret_error = ret_error }, signature, args);
}
