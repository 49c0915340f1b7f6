/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * JSON into messages, one function for each shape of a type.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus/signature.h"
#include "bus/value-basic.h"
#include "bus/value-writer.h"
#include "bus/value.h"

static int write_value(Writer *writer, const Place *place, const char *type, json_object *value);

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

static int write_entry(Writer *writer, const Place *place, const char *types, json_object *value) {
        g_autoptr(json_object) key = basic_from_text(types[0], place->key);
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
                g_autofree char *type = NULL;
                Place place = { .up = up, .noun = noun, .number = i + 1, .depth = up ? up->depth + 1 : 0 };

                length = signature_first(types);
                if (types[length])
                        type = g_strndup(types, length);
                r = write_value(writer, &place, type ?: types, json_object_array_get_idx(values, i));
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
                return writer_put_bytes(writer, place, json_object_get_string(value),
                                        (size_t) json_object_get_string_len(value));
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
