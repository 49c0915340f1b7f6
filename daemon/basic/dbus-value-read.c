/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads messages into JSON, with one function for each kind of type.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"

/* sd-bus has already checked the message, and limits its nesting. */
static int read_fail(int r, char **ret_error) {
        *ret_error = g_strdup_printf("cannot be read: %s", g_strerror(-r));
        return r;
}

/* The shortest text that gives the same number again. */
static json_object *double_to_json(double number) {
        char text[G_ASCII_DTOSTR_BUF_SIZE + 2];

        if (!isfinite(number))
                return NULL;

        for (int digits = 15; digits <= 17; digits++) {
                char format[8];

                snprintf(format, sizeof(format), "%%.%dg", digits);
                g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, format, number);
                if (g_ascii_strtod(text, NULL) == number)
                        break;
        }

        if (!strpbrk(text, ".e"))
                strcat(text, ".0");
        return json_object_new_double_s(number, text);
}

typedef union Basic {
        uint8_t y;
        int16_t n;
        uint16_t q;
        int32_t i;
        uint32_t u;
        int64_t x;
        uint64_t t;
        int b;
        double d;
        const char *s;
} Basic;

static json_object *basic_to_json(char type, const Basic *basic) {
        switch (type) {
        case SD_BUS_TYPE_BYTE:
                return json_object_new_int64(basic->y);
        case SD_BUS_TYPE_INT16:
                return json_object_new_int64(basic->n);
        case SD_BUS_TYPE_UINT16:
                return json_object_new_int64(basic->q);
        case SD_BUS_TYPE_INT32:
                return json_object_new_int64(basic->i);
        case SD_BUS_TYPE_UINT32:
                return json_object_new_int64(basic->u);
        case SD_BUS_TYPE_INT64:
                return json_object_new_int64(basic->x);
        case SD_BUS_TYPE_UINT64:
                return json_object_new_uint64(basic->t);
        case SD_BUS_TYPE_BOOLEAN:
                return json_object_new_boolean(basic->b);
        case SD_BUS_TYPE_DOUBLE:
                return double_to_json(basic->d);
        default:
                return json_object_new_string(basic->s);
        }
}

static int read_basic(sd_bus_message *message, char type, json_object **ret_value, char **ret_error) {
        Basic basic;
        int r;

        if (type == SD_BUS_TYPE_UNIX_FD) {
                *ret_error = g_strdup("it has a file descriptor, which cannot be carried");
                return -EOPNOTSUPP;
        }

        r = sd_bus_message_read_basic(message, type, &basic);
        if (r < 0)
                return read_fail(r, ret_error);

        *ret_value = basic_to_json(type, &basic);
        return 0;
}

static int read_bytes(sd_bus_message *message, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) array = NULL;
        const uint8_t *bytes = NULL;
        size_t size = 0, length;
        int r = sd_bus_message_read_array(message, SD_BUS_TYPE_BYTE, (const void **) &bytes, &size);

        if (r < 0)
                return read_fail(r, ret_error);

        length = size > 0 && bytes[size - 1] == '\0' ? size - 1 : size;
        if (length == 0 || g_utf8_validate((const char *) bytes, (gssize) length, NULL)) {
                *ret_value = json_object_new_string_len(length > 0 ? (const char *) bytes : "", (int) length);
                return 0;
        }

        array = json_object_new_array_ext((int) size);
        for (size_t i = 0; i < size; i++)
                json_object_array_add(array, json_object_new_int64(bytes[i]));
        *ret_value = g_steal_pointer(&array);
        return 0;
}

static int read_value(sd_bus_message *message, char type, const char *contents, json_object **ret_value,
                      char **ret_error);

/* 0: the container has ended. */
static int read_next(sd_bus_message *message, json_object **ret_value, char **ret_error) {
        const char *contents;
        char type;
        int r = sd_bus_message_peek_type(message, &type, &contents);

        if (r < 0)
                return read_fail(r, ret_error);
        if (r == 0)
                return 0;

        r = read_value(message, type, contents, ret_value, ret_error);
        return r < 0 ? r : 1;
}

static int read_rest(sd_bus_message *message, json_object **ret_values, char **ret_error) {
        g_autoptr(json_object) values = json_object_new_array();

        for (;;) {
                json_object *value = NULL;
                int r = read_next(message, &value, ret_error);

                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                json_object_array_add(values, value);
        }

        *ret_values = g_steal_pointer(&values);
        return 0;
}

static int read_entry(sd_bus_message *message, json_object *object, char **ret_error) {
        g_autoptr(json_object) key = NULL;
        const char *contents;
        json_object *value = NULL;
        char type;
        int r = sd_bus_message_peek_type(message, &type, &contents);

        if (r <= 0)
                return r < 0 ? read_fail(r, ret_error) : 0;

        r = sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, contents);
        if (r < 0)
                return read_fail(r, ret_error);

        r = read_next(message, &key, ret_error);
        if (r >= 0)
                r = read_next(message, &value, ret_error);
        if (r < 0)
                return r;

        json_object_object_add(object, key ? json_object_get_string(key) : "nan", value);
        r = sd_bus_message_exit_container(message);
        return r < 0 ? read_fail(r, ret_error) : 1;
}

static int read_entries(sd_bus_message *message, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) object = json_object_new_object();
        int r;

        do
                r = read_entry(message, object, ret_error);
        while (r > 0);
        if (r < 0)
                return r;

        *ret_value = g_steal_pointer(&object);
        return 0;
}

static int read_inside(sd_bus_message *message, char type, bool dictionary, json_object **ret_value, char **ret_error) {
        if (type == SD_BUS_TYPE_VARIANT)
                return read_next(message, ret_value, ret_error);
        return dictionary ? read_entries(message, ret_value, ret_error) : read_rest(message, ret_value, ret_error);
}

static int read_container(sd_bus_message *message, char type, const char *contents, json_object **ret_value,
                          char **ret_error) {
        bool dictionary = type == SD_BUS_TYPE_ARRAY && contents[0] == '{';
        g_autoptr(json_object) value = NULL;
        int r = sd_bus_message_enter_container(message, type, contents);

        if (r < 0)
                return read_fail(r, ret_error);
        r = read_inside(message, type, dictionary, &value, ret_error);
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(message);
        if (r < 0)
                return read_fail(r, ret_error);

        *ret_value = g_steal_pointer(&value);
        return 0;
}

static int read_value(sd_bus_message *message, char type, const char *contents, json_object **ret_value,
                      char **ret_error) {
        if (type == SD_BUS_TYPE_ARRAY && g_str_equal(contents, "y"))
                return read_bytes(message, ret_value, ret_error);
        if (type == SD_BUS_TYPE_ARRAY || type == SD_BUS_TYPE_STRUCT || type == SD_BUS_TYPE_VARIANT)
                return read_container(message, type, contents, ret_value, ret_error);
        return read_basic(message, type, ret_value, ret_error);
}

int value_read_all(sd_bus_message *message, json_object **ret_values, char **ret_error) {
        return read_rest(message, ret_values, ret_error);
}

int value_read_one(sd_bus_message *message, json_object **ret_value, char **ret_error) {
        int r = read_next(message, ret_value, ret_error);

        if (r == 0) {
                *ret_error = g_strdup("there is no value");
                return -ENODATA;
        }
        return r < 0 ? r : 0;
}
