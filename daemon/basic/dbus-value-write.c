/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes JSON into messages, or only checks that it would fit. Integers are range-checked, strings are checked against
 * their type, and nothing is converted silently. Each error names its place in the JSON.
 */

#include <errno.h>
#include <glib.h>
#include <json-c/json_object.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"

/* The place of a value in the JSON, with the places around it. */
typedef struct Place {
        const struct Place *up;
        const char *noun; /* "element" with a number from 1, or "key" with its text */
        bool at_key;      /* the key itself is written, not its value */
        const char *key;
        size_t number;
        unsigned depth; /* number of containers around it */
} Place;

/* With a check, the writer continues with the next value after an error. */
typedef struct Writer {
        sd_bus_message *message; /* NULL: only check */
        size_t size;
        char **ret_error;
        const ValueCheck *check; /* receives the errors instead of ret_error; or NULL */
} Writer;

/* The limit of the specification; variants and dictionary entries count, too. */
#define DEPTH_MAX 64u
/* A dbus-daemon disconnects clients above this size. Each value counts as eight more bytes, whatever its type. */
#define SIZE_MAX_MIB 32u
/* Messages about a signature begin with this word. */
#define SIGNATURE "signature"

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

static void report(const Writer *writer, const Place *place, const char *text) {
        g_autoptr(GArray) steps = g_array_new(false, false, sizeof(ValueStep));
        bool at_key = place && place->at_key;

        for (; place; place = place->up) {
                ValueStep step = { .key = place->key, .index = place->number - 1 };

                g_array_prepend_val(steps, step);
        }

        writer->check->report((const ValueStep *) (const void *) steps->data, steps->len, at_key, text,
                              writer->check->userdata);
}

static int G_GNUC_PRINTF(4, 5) writer_fail(Writer *writer, const Place *place, int error, const char *format, ...) {
        g_autoptr(GString) text = g_string_new(NULL);
        va_list args;

        if (place && !writer->check) {
                place_format(place, text);
                g_string_append(text, ": ");
        }

        va_start(args, format);
        g_string_append_vprintf(text, format, args);
        va_end(args);

        if (writer->check)
                report(writer, place, text->str);
        else if (writer->ret_error)
                *writer->ret_error = g_strdup(text->str);
        return error;
}

static int writer_unexpected(Writer *writer, const Place *place, const char *expected, json_object *value) {
        g_autofree char *text = value_to_text(value);

        return writer_fail(writer, place, -EINVAL, "expected %s, not %s", expected, text);
}

/* For a correct value, sd-bus can only fail for lack of memory or space. */
static int writer_done(Writer *writer, const Place *place, int r) {
        return r >= 0 ? 0 : writer_fail(writer, place, r, "cannot be written to the message: %s", g_strerror(-r));
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

static int writer_put_bytes(Writer *writer, const Place *place, const void *bytes, size_t size) {
        int r = writer_grow(writer, place, size);

        if (r < 0 || !writer->message)
                return r;
        return writer_done(writer, place, sd_bus_message_append_array(writer->message, 'y', bytes, size));
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

/* The basic types that are integers. */
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

/* False: not an integer. Returns the sign and the magnitude. */
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

        /* Signed types have the width of their unsigned ones, in two's complement. */
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

static int write_string(Writer *writer, const Place *place, char type, json_object *value) {
        const char *expected = type == 'o'   ? "an object path such as \"/org/example\""
                               : type == 'g' ? "a signature"
                                             : "a string";
        const char *text = json_object_get_string(value);
        size_t length = (size_t) json_object_get_string_len(value);
        g_autofree char *problem = NULL;

        if (!json_object_is_type(value, json_type_string))
                return writer_unexpected(writer, place, expected, value);
        if (!g_utf8_validate(text, (gssize) length, NULL))
                return writer_unexpected(writer, place, "valid UTF-8 without NUL characters", value);
        problem = type == 'g' ? signature_error(text) : NULL;
        if (problem || (type == 'o' && !sd_bus_object_path_is_valid(text)))
                return writer_unexpected(writer, place, expected, value);

        return writer_put(writer, place, type, text, length);
}

static int write_basic(Writer *writer, const Place *place, char type, json_object *value) {
        const Range *range = range_of(type);

        if (range)
                return write_integer(writer, place, range, value);

        if (type == 'd') {
                bool is_number =
                        json_object_is_type(value, json_type_double) || json_object_is_type(value, json_type_int);
                double number = is_number ? json_object_get_double(value) : 0;

                /* value_read_all() refuses numbers that are not finite, too. */
                if (!is_number || !isfinite(number))
                        return writer_unexpected(writer, place, "a number", value);
                return writer_put(writer, place, 'd', &number, 0);
        }

        if (type == 'b') {
                int truth = json_object_get_boolean(value);

                if (!json_object_is_type(value, json_type_boolean))
                        return writer_unexpected(writer, place, "true or false", value);
                return writer_put(writer, place, 'b', &truth, 0);
        }

        return write_string(writer, place, type, value);
}

/* NULL: not an integer, or too large for any type. */
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

static json_object *basic_from_text(char type, const char *text) {
        json_object *value = NULL;
        char *end = NULL;
        double number;

        if (range_of(type)) {
                value = integer_from_text(text);
        } else if (type == 'd') {
                number = g_ascii_strtod(text, &end);
                if (end != text && *end == '\0' && !g_ascii_isspace(*text) && isfinite(number))
                        value = json_object_new_double(number);
        } else if (type == 'b' && (g_str_equal(text, "true") || g_str_equal(text, "false"))) {
                value = json_object_new_boolean(*text == 't');
        }

        return value ? value : json_object_new_string(text);
}

static int write_value(Writer *writer, const Place *place, const char *type, json_object *value);

/* A check reports all errors. */
static bool continues(const Writer *writer, int r) {
        return r >= 0 || writer->check;
}

static bool is_unknown(const Writer *writer, json_object *value) {
        return writer->check && writer->check->unknown(value, writer->check->userdata);
}

static int first_error(int before, int r) {
        return before < 0 ? before : r;
}

static int write_array(Writer *writer, const Place *place, const char *type, json_object *value) {
        int r;

        if (!json_object_is_type(value, json_type_array))
                return writer_unexpected(writer, place, g_str_equal(type, "ay") ? "an array or a string" : "an array",
                                         value);

        r = writer_open(writer, place, 'a', type + 1);
        for (size_t i = 0; continues(writer, r) && i < json_object_array_length(value); i++) {
                Place element = { .up = place, .noun = "element", .number = i + 1, .depth = place->depth + 1 };

                r = first_error(r, write_value(writer, &element, type + 1, json_object_array_get_idx(value, i)));
        }

        return r >= 0 ? writer_close(writer, place) : r;
}

static int write_entry(Writer *writer, const Place *place, const char *types, json_object *value) {
        g_autoptr(json_object) key = basic_from_text(types[0], place->key);
        Place inside = { .up = place->up, .noun = place->noun, .key = place->key, .depth = place->depth + 1 };
        Place at_key = inside;
        int r = writer_open(writer, place, 'e', types);

        at_key.at_key = true;
        if (r >= 0)
                r = write_basic(writer, &at_key, types[0], key);
        if (continues(writer, r))
                r = first_error(r, write_value(writer, &inside, types + 1, value));
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

                if (continues(writer, r))
                        r = first_error(r, write_entry(writer, &inside, types, entry));
        }

        return r >= 0 ? writer_close(writer, place) : r;
}

/* Writes one value of an array for each complete type. If there are more or fewer, the caller has reported it. */
static int write_fields(Writer *writer, const Place *up, const char *noun, const char *types, json_object *values) {
        size_t n_values = json_object_array_length(values);
        size_t length;
        int r = 0;

        for (size_t i = 0; continues(writer, r) && *types && i < n_values; i++, types += length) {
                g_autofree char *type = NULL;
                Place place = { .up = up, .noun = noun, .number = i + 1, .depth = up ? up->depth + 1 : 0 };

                length = signature_first(types);
                if (types[length])
                        type = g_strndup(types, length);
                r = first_error(r, write_value(writer, &place, type ?: types, json_object_array_get_idx(values, i)));
        }

        return r;
}

static int write_struct(Writer *writer, const Place *place, const char *type, json_object *value) {
        g_autofree char *types = g_strndup(type + 1, strlen(type) - 2);
        unsigned count = signature_count(types);
        bool is_array = json_object_is_type(value, json_type_array);
        int r = 0;

        if (!is_array || json_object_array_length(value) != count) {
                g_autofree char *expected = g_strdup_printf("an array of %u value%s", count, count == 1 ? "" : "s");

                r = writer_unexpected(writer, place, expected, value);
        }

        if (r >= 0)
                r = writer_open(writer, place, 'r', types);
        if (is_array && continues(writer, r))
                r = first_error(r, write_fields(writer, place, "field", types, value));
        return r >= 0 ? writer_close(writer, place) : r;
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

/* Returns what is wrong with the signature of a variant, or NULL. The text leaves the word "signature" out: a check
 * points at the member of that name. */
static char *type_problem(const char *type) {
        g_autofree char *error = NULL;

        if (value_check_signature(type, &error) < 0) {
                size_t skipped = g_str_has_prefix(error, SIGNATURE) ? strlen(SIGNATURE) + 1 : 0;

                return g_strdup(error + skipped);
        }

        return signature_count(type) != 1 ? g_strdup_printf("'%s' must be one type", type) : NULL;
}

/* When the bus refuses a value, the message names the variant; a check points at the very member. */
static int write_typed(Writer *writer, const Place *place, json_object *signature, json_object *value) {
        const char *type = json_object_get_string(signature);
        g_autofree char *problem = NULL;
        Place inside = *place;
        int r;

        if (is_unknown(writer, signature))
                return 0;

        problem = type_problem(type);
        inside.depth++;
        if (writer->check)
                inside = (Place){ .up = place, .noun = "key", .key = "signature", .depth = place->depth + 1 };
        if (problem)
                return writer_fail(writer, &inside, -EINVAL, "%s%s", writer->check ? "" : SIGNATURE " ", problem);

        if (writer->check)
                inside.key = "value";
        r = writer_open(writer, place, 'v', type);
        if (r >= 0)
                r = write_value(writer, &inside, type, value);
        return r >= 0 ? writer_close(writer, place) : r;
}

static int write_variant(Writer *writer, const Place *place, json_object *value) {
        const char *type = guess_type(value);
        json_object *signature = NULL, *typed = NULL;
        Place inside = *place;
        int r;

        /* {"signature": "u", "value": 7} */
        if (json_object_is_type(value, json_type_object) && json_object_object_length(value) == 2 &&
            json_object_object_get_ex(value, "signature", &signature) &&
            json_object_is_type(signature, json_type_string) && json_object_object_get_ex(value, "value", &typed))
                return write_typed(writer, place, signature, typed);
        if (!type)
                return writer_unexpected(writer, place, "a value", value);

        inside.depth++;
        r = writer_open(writer, place, 'v', type);
        if (r >= 0)
                r = write_value(writer, &inside, type, value);
        return r >= 0 ? writer_close(writer, place) : r;
}

static int write_value(Writer *writer, const Place *place, const char *type, json_object *value) {
        if (is_unknown(writer, value))
                return 0;
        if (type[0] == 'v')
                return write_variant(writer, place, value);
        if (type[0] == '(')
                return write_struct(writer, place, type, value);
        if (type[0] != 'a')
                return write_basic(writer, place, type[0], value);
        if (type[1] == '{')
                return write_dictionary(writer, place, type, value);
        if (type[1] == 'y' && json_object_is_type(value, json_type_string))
                return writer_put_bytes(writer, place, json_object_get_string(value),
                                        (size_t) json_object_get_string_len(value));
        return write_array(writer, place, type, value);
}

static int write_all(Writer *writer, const char *signature, json_object *args) {
        size_t given = args && json_object_is_type(args, json_type_array) ? json_object_array_length(args) : 0;
        unsigned wanted = signature_count(signature);
        int r = 0;

        if (args && !json_object_is_type(args, json_type_array)) {
                g_autofree char *text = value_to_text(args);

                return writer_fail(writer, NULL, -EINVAL, "expected an array of arguments, not %s", text);
        }

        if (given != wanted)
                r = writer_fail(writer, NULL, -EINVAL, "signature '%s' takes %u argument%s, not %zu%s", signature,
                                wanted, wanted == 1 ? "" : "s", given,
                                *signature ? "" : "; 'signature' has their types, such as \"s\" for a string");

        return given > 0 && continues(writer, r)
                       ? first_error(r, write_fields(writer, NULL, "argument", signature, args))
                       : r;
}

int value_append(sd_bus_message *message, const char *signature, json_object *args, char **ret_error) {
        int r = value_check_signature(signature, ret_error);

        return r < 0 ? r : write_all(&(Writer){ .message = message, .ret_error = ret_error }, signature, args);
}

int value_check(const char *signature, json_object *args, char **ret_error) {
        return value_append(NULL, signature, args, ret_error);
}

void value_check_all(const char *signature, json_object *args, const ValueCheck *check) {
        g_autofree char *error = NULL;

        if (value_check_signature(signature, &error) >= 0)
                write_all(&(Writer){ .check = check }, signature, args);
}
